// The Gemini wire: generateContent whole and as a stream.

import type { ServerResponse } from 'node:http';
import type { Turn } from './replies.ts';
import {
  type Bill,
  beginStream,
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
  promptTokenCount: fresh + cached,
  cachedContentTokenCount: cached,
  candidatesTokenCount: output,
  totalTokenCount: fresh + cached + output,
});

/** Context that the program or a hook puts before the person's words. */
const isAddition = (text: string): boolean => /^<(session_context|hook_context)/.test(text);

/** Small questions to the model about the conversation itself; it wants JSON in a shape it names. */
function errandOf(body: Readonly<Record<string, unknown>>): string | null {
  const settings = recordOf(body.generationConfig);
  const shape = settings.responseJsonSchema ?? settings.responseSchema;
  if (shape === undefined && settings.responseMimeType !== 'application/json') return null;
  const properties = Object.keys(recordOf(recordOf(shape).properties));
  const values: Readonly<Record<string, unknown>> = { next_speaker: 'user', model_choice: 'pro', complexity_score: 20 };
  return JSON.stringify(
    Object.fromEntries(properties.map((name) => [name, values[name] ?? (name.endsWith('confidence') ? 0 : 'fine')])),
  );
}

function turnOf(body: Readonly<Record<string, unknown>>): Turn {
  const tools = listOf(body.tools)
    .flatMap((tool) => listOf(tool.functionDeclarations))
    .map((tool) => toolOf(tool.name, tool.parametersJsonSchema ?? tool.parameters));
  const said = listOf(body.contents)
    .filter(({ role }) => role === 'user')
    .flatMap(({ parts }) => listOf(parts))
    .flatMap((part): readonly Said[] => {
      if (part.functionResponse !== undefined) return [{ by: 'tool', result: JSON.stringify(part.functionResponse) }];
      const text = textOf(part.text);
      return text === '' || isAddition(text) ? [] : [{ by: 'person', text }];
    });
  const errand = errandOf(body);
  return { prompts: promptsOf(said), tools, errand: errand ?? (tools.length === 0 ? 'A short task' : null) };
}

function piece(parts: readonly object[], finishReason: 'STOP' | 'MAX_TOKENS' | null, bill: Bill): object {
  const content = { role: 'model', parts };
  const end = finishReason === null ? {} : { finishReason };
  return { candidates: [{ content, index: 0, ...end }], usageMetadata: usageOf(bill) };
}

function streamWriter(response: ServerResponse, bill: Bill): Writer {
  let last: object[] = [];
  return {
    begin: () => beginStream(response),
    word: (text) => sendEvent(response, piece([{ text }], null, bill)),
    tool: (name, input) => {
      last = [{ functionCall: { id: nextId('call'), name, args: input } }];
    },
    end: (isCut) => {
      sendEvent(
        response,
        piece(last.length > 0 ? last : [{ text: ' ' }], isCut === true ? 'MAX_TOKENS' : 'STOP', bill),
      );
      response.end();
    },
  };
}

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

export const geminiWire: Wire = {
  serves: (path) => /\/models\/[^/]+:(generate|streamGenerate)Content$/.test(path),
  turn: turnOf,
  writer: (response, _body, path, bill) => {
    if (path.endsWith(':streamGenerateContent')) return streamWriter(response, bill);
    return wholeWriter((text, call) => {
      const parts: object[] = text === '' ? [] : [{ text }];
      if (call !== null) parts.push({ functionCall: { name: call.name, args: call.input } });
      sendJson(response, piece(parts, 'STOP', bill));
    });
  },
  failure: (status, message) => ({ error: { code: status, message, status: statusNames[status] ?? 'UNKNOWN' } }),
};
