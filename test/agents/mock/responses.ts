// The OpenAI responses wire: what Codex speaks.

import type { ServerResponse } from 'node:http';
import type { OfferedTool, Turn } from './replies.ts';
import {
  type Bill,
  beginStream,
  contentOf,
  listOf,
  nextId,
  promptsOf,
  type Said,
  sendEvent,
  textOf,
  toolOf,
  type Wire,
  type Writer,
} from './wire.ts';

/** What the program adds to a conversation in the role of the person. */
const isAddition = (text: string): boolean => /^\s*(<\w+|# AGENTS\.md)/.test(text);

/** What a search for tools gives back: more tools, and no result of a task. */
const searched = 'tool_search_output';
const search = 'tool_search';

function toolsIn(tool: Readonly<Record<string, unknown>>): readonly OfferedTool[] {
  if (tool.type === search) return [{ name: search, properties: [], schema: null }];
  if (tool.type !== 'namespace') return [toolOf(tool.name, tool.parameters)];
  const namespace = textOf(tool.name);
  return listOf(tool.tools).map((one) => ({ ...toolOf(one.name, one.parameters), namespace }));
}

function turnOf(body: Readonly<Record<string, unknown>>): Turn {
  const found = listOf(body.input).filter(({ type }) => type === searched);
  const tools = [...listOf(body.tools), ...found.flatMap((item) => listOf(item.tools))].flatMap(toolsIn);
  const said = listOf(body.input).flatMap((item): readonly Said[] => {
    if (item.type === searched) return [];
    if (textOf(item.type).endsWith('_output')) return [{ by: 'tool', result: JSON.stringify(item.output) }];
    const text = item.role === 'user' ? contentOf(item.content) : '';
    return text === '' || isAddition(text) ? [] : [{ by: 'person', text }];
  });
  const prompts = promptsOf(said);
  // For every prompt it has a title made in a conversation of its own, in which the prompt is quoted.
  const isTitle = prompts.some(({ text }) => text.startsWith('Generate a concise'));
  return { prompts, tools, errand: isTitle ? 'A short task' : null };
}

function streamWriter(response: ServerResponse, model: unknown, bill: Bill): Writer {
  const id = nextId('resp');
  const output: object[] = [];
  let sequence = 0;
  let message: { readonly id: string; text: string } | null = null;
  let isCall = false;
  const send = (type: string, data: object): void => {
    sendEvent(response, { type, sequence_number: sequence, ...data }, type);
    sequence += 1;
  };
  const place = (itemId: string): object => ({ item_id: itemId, output_index: output.length, content_index: 0 });
  const openMessage = (): { readonly id: string; text: string } => {
    const opened = { id: nextId('msg'), text: '' };
    const item = { id: opened.id, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    send('response.output_item.added', { output_index: output.length, item });
    const part = { type: 'output_text', text: '', annotations: [] };
    send('response.content_part.added', { ...place(opened.id), part });
    return opened;
  };
  const closeItem = (item: object): void => {
    send('response.output_item.done', { output_index: output.length, item });
    output.push(item);
  };
  const closeMessage = (): void => {
    if (message === null) return;
    const content = [{ type: 'output_text', text: message.text, annotations: [] }];
    closeItem({ id: message.id, type: 'message', role: 'assistant', status: 'completed', content });
    message = null;
  };
  return {
    begin: () => {
      beginStream(response);
      send('response.created', { response: { id, object: 'response', status: 'in_progress', model, output: [] } });
    },
    word: (text) => {
      message ??= openMessage();
      message.text += text;
      send('response.output_text.delta', { ...place(message.id), delta: text });
    },
    tool: (name, input, namespace) => {
      closeMessage();
      isCall = true;
      if (name === search) {
        const looking = { type: 'tool_search_call', call_id: nextId('call'), execution: 'client', arguments: input };
        closeItem({ id: nextId('ts'), ...looking, status: 'completed' });
        return;
      }
      const words = { name, ...(namespace === undefined ? {} : { namespace }) };
      const call = { type: 'function_call', ...words, call_id: nextId('call'), arguments: JSON.stringify(input) };
      const item = { id: nextId('fc'), ...call };
      send('response.output_item.added', { output_index: output.length, item: { ...item, status: 'in_progress' } });
      closeItem({ ...item, status: 'completed' });
    },
    end: (isCut) => {
      closeMessage();
      const { fresh, cached, output: said } = bill;
      const details = {
        input_tokens_details: { cached_tokens: cached },
        output_tokens_details: { reasoning_tokens: 0 },
      };
      const sums = { input_tokens: fresh + cached, output_tokens: said, total_tokens: fresh + cached + said };
      const usage = { ...sums, ...details };
      const whole = { id, object: 'response', status: 'completed', model, output, end_turn: !isCall, usage };
      const cut = { ...whole, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
      if (isCut === true) send('response.incomplete', { response: cut });
      else send('response.completed', { response: whole });
      response.end();
    },
  };
}

export const responsesWire: Wire = {
  serves: (path) => path.endsWith('/responses'),
  turn: turnOf,
  writer: (response, body, _path, bill) => streamWriter(response, body.model, bill),
  failure: (status, message) => ({
    error: { message, type: status === 429 ? 'rate_limit_exceeded' : 'mock_error', code: null },
  }),
};
