// What every wire format has to offer to the mock server, and the reading of foreign JSON that they share.

import type { ServerResponse } from 'node:http';
import type { OfferedTool, Turn } from './replies.ts';

type Json = Readonly<Record<string, unknown>>;

/** One answer on its way: words, perhaps a tool call, and the end. */
export interface Writer {
  /** Everything before the first word; what makes an agent see that the model has begun. */
  begin(): void;
  word(text: string): void;
  tool(name: string, input: unknown, namespace?: string): void;
  /** Cut: the model would have had more to say. */
  end(isCut?: boolean): void;
}

/** What one answer costs in tokens, as every wire tells it in its own way. */
export interface Bill {
  /** Of what was asked: not out of a cache. */
  readonly fresh: number;
  readonly cached: number;
  readonly output: number;
}

export interface Wire {
  /** Whether a path belongs to this wire. */
  serves(path: string): boolean;
  turn(body: Json): Turn;
  writer(response: ServerResponse, body: Json, path: string, bill: Bill): Writer;
  failure(status: number, message: string): unknown;
}

export function recordOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The text of a message, which is a string or a list of parts. */
export function contentOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return listOf(value)
    .map((part) => textOf(part.text))
    .join('\n');
}

export function toolOf(name: unknown, schema: unknown): OfferedTool {
  return { name: textOf(name), properties: Object.keys(recordOf(recordOf(schema).properties)), schema };
}

export type Said = { readonly by: 'person'; readonly text: string } | { readonly by: 'tool'; readonly result: string };

/** Prompts with the tool results that followed each. */
export function promptsOf(said: readonly Said[]): Turn['prompts'] {
  const prompts: { text: string; results: number; result: string | null }[] = [];
  for (const one of said) {
    const last = prompts.at(-1);
    if (one.by === 'person') prompts.push({ text: one.text, results: 0, result: null });
    else if (last !== undefined) {
      last.results += 1;
      last.result = one.result;
    }
  }
  return prompts;
}

let lastNumber = 0;
export function nextId(prefix: string): string {
  lastNumber += 1;
  return `${prefix}_${lastNumber}`;
}

export function beginStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
}

/** One server-sent event; nothing when the agent has hung up. */
export function sendEvent(response: ServerResponse, data: unknown, name?: string): void {
  if (response.destroyed || response.writableEnded) return;
  response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
}

export function sendJson(
  response: ServerResponse,
  data: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(data));
}

/** For agents that want the answer in one piece. */
export function wholeWriter(send: (text: string, call: { name: string; input: unknown } | null) => void): Writer {
  let text = '';
  let call: { name: string; input: unknown } | null = null;
  return {
    begin: () => undefined,
    word: (piece) => {
      text += piece;
    },
    tool: (name, input) => {
      call = { name, input };
    },
    end: () => send(text, call),
  };
}
