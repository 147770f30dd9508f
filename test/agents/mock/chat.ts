// The OpenAI chat completions wire: what most agents speak to a provider of one's own.

import type { ServerResponse } from 'node:http';
import type { Turn } from './replies.ts';
import {
  type Bill,
  beginStream,
  contentOf,
  listOf,
  nextId,
  promptsOf,
  recordOf,
  type Said,
  sendEvent,
  sendJson,
  toolOf,
  type Wire,
  type Writer,
  wholeWriter,
} from './wire.ts';

const usageOf = ({ fresh, cached, output }: Bill): object => ({
  prompt_tokens: fresh + cached,
  completion_tokens: output,
  total_tokens: fresh + cached + output,
  prompt_tokens_details: { cached_tokens: cached },
});

/** What agents put around the person's words: the time, the environment, reminders. */
const surrounded = /<(current_datetime|system-reminder|user_info|environment_details)>[\s\S]*?<\/\1>\s*/g;
const wrapped = /^<(user_query|user_input|user_message)\b[^>]*>\n?([\s\S]*?)\n?<\/\1>$/;
const saidIn = (text: string): string => {
  const own = text.replace(surrounded, '').trim();
  return wrapped.exec(own)?.[2] ?? own;
};

/** Asked by the agent for itself with the tools of the conversation at hand, and answered with nothing. */
const errands =
  /Reply with ONLY the suggestion|\bMEMORY\.md\b|Generate a session title|ultra-short dashboard line|^CWD: .*\s+Transcript:/;

function turnOf(body: Readonly<Record<string, unknown>>): Turn {
  const tools = listOf(body.tools).map((tool) => {
    const { name, parameters } = recordOf(tool.function);
    return toolOf(name, parameters);
  });
  const said = listOf(body.messages).flatMap(({ role, content }): readonly Said[] => {
    if (role === 'tool') return [{ by: 'tool', result: contentOf(content) }];
    const text = role === 'user' ? saidIn(contentOf(content)) : '';
    return text === '' ? [] : [{ by: 'person', text }];
  });
  const prompts = promptsOf(said);
  const last = listOf(body.messages).at(-1);
  const isErrand = last?.role === 'user' && errands.test(contentOf(last.content));
  return { prompts, tools, errand: tools.length === 0 ? 'A short task' : isErrand ? '' : null };
}

const callOf = (name: string, input: unknown): object => ({
  id: nextId('call'),
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
});

function streamWriter(response: ServerResponse, model: unknown, bill: Bill): Writer {
  const base = { id: nextId('chatcmpl'), object: 'chat.completion.chunk', created: 1, model };
  let reason = 'stop';
  const send = (delta: object, finish: string | null = null): void =>
    sendEvent(response, { ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  return {
    begin: () => {
      beginStream(response);
      send({ role: 'assistant', content: '' });
    },
    word: (text) => send({ content: text }),
    tool: (name, input) => {
      send({ tool_calls: [{ index: 0, ...callOf(name, input) }] });
      reason = 'tool_calls';
    },
    end: (isCut) => {
      send({}, isCut === true ? 'length' : reason);
      sendEvent(response, { ...base, choices: [], usage: usageOf(bill) });
      if (!response.destroyed) response.end('data: [DONE]\n\n');
    },
  };
}

export const chatWire: Wire = {
  serves: (path) => path.endsWith('/chat/completions'),
  turn: turnOf,
  writer: (response, body, _path, bill) => {
    if (body.stream === true) return streamWriter(response, body.model, bill);
    return wholeWriter((text, call) => {
      const calls = call === null ? {} : { tool_calls: [callOf(call.name, call.input)] };
      const message = { role: 'assistant', content: text, ...calls };
      const choice = { index: 0, message, finish_reason: call === null ? 'stop' : 'tool_calls' };
      const base = { id: nextId('chatcmpl'), object: 'chat.completion', created: 1, model: body.model };
      sendJson(response, { ...base, choices: [choice], usage: usageOf(bill) });
    });
  },
  failure: (status, message) => ({ error: { message, type: 'mock_error', code: `mock_${status}` } }),
};
