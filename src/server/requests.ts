// What the server is willing to read: queries by their schema, bodies of JSON or JSON lines. Everything else is refused
// with a failure that names the place.

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

/** A query by its schema. Unknown names are refused: a filter with a typing error must not show everything. */
export function readQuery<Schema extends z.ZodObject>(
  schema: Schema,
  queries: Readonly<Record<string, readonly string[]>>,
): z.infer<Schema> {
  const names = Object.keys(schema.shape);
  const raw: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(queries)) {
    if (!names.includes(name)) {
      const words = names.length === 0 ? 'there are no parameters here' : `there are ${names.join(', ')}`;
      throw new AgtmuxError('E_FILTER', `there is no parameter "${name}"; ${words}`);
    }
    raw[name] = readParameter(schema.shape[name], name, values);
  }
  const read = schema.safeParse(raw);
  if (!read.success) throw new AgtmuxError('E_FILTER', issueText(read.error, raw));
  return read.data;
}

function readParameter(schema: z.core.$ZodType | undefined, name: string, values: readonly string[]): unknown {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  if (inner instanceof z.ZodArray) return values;
  const [value, ...others] = values;
  if (value === undefined || others.length > 0) throw new AgtmuxError('E_FILTER', `"${name}" is given several times`);
  if (inner instanceof z.ZodNumber) return /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (!(inner instanceof z.ZodBoolean)) return value;
  if (['', '1', 'true'].includes(value)) return true;
  return ['0', 'false'].includes(value) ? false : value;
}

/** In our own words where people come by it; the library's are for the rest. */
function issueText(error: z.ZodError, query: Readonly<Record<string, unknown>> = {}): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'invalid value';
  const place = issue.path.join('.');
  const said = query[place];
  if (issue.code === 'invalid_value' && typeof said === 'string') {
    return `there is no ${place} "${said}"; there are ${issue.values.join(', ')}`;
  }
  if (issue.code === 'too_small' && issue.origin === 'string' && issue.minimum === 1) return `${place} is empty`;
  return place === '' ? issue.message : `${place}: ${issue.message}`;
}

const jsonType = /^application\/(?:[\w.-]+\+)?json$/;
const linesType = /^application\/(?:x-)?(?:ndjson|jsonl|json-lines)$/;

function mediaType({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** A body that is no JSON is refused even where none is read: forms are what a page could send without being asked. */
export function checkMedia(request: IncomingMessage): void {
  if (!hasBody(request)) return;
  const type = mediaType(request);
  if (jsonType.test(type) || linesType.test(type)) return;
  throw new AgtmuxError('E_MEDIA', type === '' ? 'the body has no content-type' : `the body is ${type}, not JSON`);
}

/** Where nothing has to be said, as an empty object says it. */
export async function readJson(request: IncomingMessage, { isOptional = false } = {}): Promise<unknown> {
  return isOptional && !hasBody(request) ? {} : parseJson(await readText(request), 'the body');
}

export function readValue<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const read = schema.safeParse(value);
  if (!read.success) throw new AgtmuxError('E_INPUT', issueText(read.error));
  return read.data;
}

/** Envelopes stay raw: judging them is the engine's business, and each gets its own verdict. */
export async function readEvents(request: IncomingMessage): Promise<readonly unknown[]> {
  const text = await readText(request);
  if (linesType.test(mediaType(request))) return countedEvents(readLines(text));
  const value = parseJson(text, 'the body');
  if (!Array.isArray(value)) throw new AgtmuxError('E_INPUT', 'the body is not an array of events');
  return countedEvents(value);
}

/** Stops reading at the limit, but leaves the connection open for the refusal. */
function readText(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = Number(request.headers['content-length'] ?? 0);
    const refuse = (): void => {
      request.off('data', take);
      request.pause();
      reject(new AgtmuxError('E_TOO_LARGE', `the body is larger than ${limits.requestBytesMax} bytes`));
    };
    const take = (part: Buffer): void => {
      parts.push(part);
      bytes += part.length;
      if (bytes > limits.requestBytesMax) refuse();
    };
    if (bytes > limits.requestBytesMax) {
      refuse();
      return;
    }
    bytes = 0;
    request.on('data', take);
    request.once('end', () => resolve(Buffer.concat(parts).toString('utf8')));
    // Nobody is left to be told; the promise must settle all the same.
    request.once('close', () =>
      reject(new AgtmuxError('E_INPUT', 'the client disconnected before the end of the body')),
    );
  });
}

function readLines(text: string): readonly unknown[] {
  return text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [parseJson(line, `line ${index + 1}`)]));
}

function countedEvents(events: readonly unknown[]): readonly unknown[] {
  if (events.length <= limits.inboxEventsMax) return events;
  throw new AgtmuxError('E_TOO_LARGE', `${events.length} events at once, ${limits.inboxEventsMax} at most`);
}

function parseJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AgtmuxError('E_INPUT', `${place} is not JSON`, { cause });
  }
}
