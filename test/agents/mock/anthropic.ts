// The Anthropic messages wire: what Claude Code speaks.

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
  textOf,
  toolOf,
  type Wire,
  type Writer,
  wholeWriter,
} from './wire.ts';

const usageOf = ({ fresh, cached, output }: Bill): object => ({
  input_tokens: fresh,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
  output_tokens: output,
});

/** What the program adds to a prompt by itself. */
const isReminder = (text: string): boolean =>
  text.trimStart().startsWith('<system-reminder>') || text === 'Tool loaded.';

function turnOf(body: Readonly<Record<string, unknown>>): Turn {
  const tools = listOf(body.tools).map((tool) => toolOf(tool.name, tool.input_schema));
  const said = listOf(body.messages)
    .filter((message) => message.role === 'user')
    .flatMap(({ content }) => (typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)))
    .flatMap((part): readonly Said[] => {
      // What a search for tools found is on offer from then on, and no result of a task.
      if (listOf(part.content).some(({ type }) => type === 'tool_reference')) return [];
      if (part.type === 'tool_result') return [{ by: 'tool', result: contentOf(part.content) }];
      const text = textOf(part.text);
      return text === '' || isReminder(text) ? [] : [{ by: 'person', text }];
    });
  const title = JSON.stringify({ title: 'A short task', branch: 'a-short-task' });
  return { prompts: promptsOf(said), tools, errand: tools.length === 0 ? title : null };
}

function streamWriter(response: ServerResponse, model: unknown, bill: Bill): Writer {
  let index = -1;
  let isTextOpen = false;
  let reason = 'end_turn';
  const send = (type: string, data: object): void => sendEvent(response, { type, ...data }, type);
  const openBlock = (block: object): void => {
    index += 1;
    send('content_block_start', { index, content_block: block });
  };
  const closeText = (): void => {
    if (isTextOpen) send('content_block_stop', { index });
    isTextOpen = false;
  };
  return {
    begin: () => {
      beginStream(response);
      const message = {
        id: nextId('msg'),
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        usage: usageOf({ ...bill, output: 1 }),
      };
      send('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } });
      send('ping', {});
    },
    word: (text) => {
      if (!isTextOpen) openBlock({ type: 'text', text: '' });
      isTextOpen = true;
      send('content_block_delta', { index, delta: { type: 'text_delta', text } });
    },
    tool: (name, input) => {
      closeText();
      openBlock({ type: 'tool_use', id: nextId('toolu'), name, input: {} });
      send('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) } });
      send('content_block_stop', { index });
      reason = 'tool_use';
    },
    end: (isCut) => {
      closeText();
      send('message_delta', {
        delta: { stop_reason: isCut === true ? 'max_tokens' : reason, stop_sequence: null },
        usage: { output_tokens: bill.output },
      });
      send('message_stop', {});
      response.end();
    },
  };
}

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};

export const anthropicWire: Wire = {
  serves: (path) => path.endsWith('/v1/messages'),
  turn: turnOf,
  writer: (response, body, _path, bill) => {
    if (body.stream === true) return streamWriter(response, body.model, bill);
    return wholeWriter((text, call) => {
      const content: object[] = text === '' ? [] : [{ type: 'text', text }];
      if (call !== null)
        content.push({ type: 'tool_use', id: nextId('toolu'), name: call.name, input: recordOf(call.input) });
      const reason = call === null ? 'end_turn' : 'tool_use';
      const usage = usageOf(bill);
      const message = { id: nextId('msg'), type: 'message', role: 'assistant', model: body.model, content, usage };
      sendJson(response, { ...message, stop_reason: reason, stop_sequence: null });
    });
  },
  failure: (status, message) => ({ type: 'error', error: { type: errorTypes[status] ?? 'api_error', message } }),
};
