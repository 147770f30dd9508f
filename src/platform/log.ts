// The daemon's own log: one JSON object a line, bounded in every direction, with secrets left out by the name of their
// field. All text passes the gate that the caller provides (SEC3); where lines go is the caller's choice too.

import { limits } from '../model/limits.ts';
import type { Clock } from './clock.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(words: string, fields?: LogFields): void;
  info(words: string, fields?: LogFields): void;
  warn(words: string, fields?: LogFields): void;
  error(words: string, fields?: LogFields): void;
  /** The same log with these fields in every line. */
  with(fields: LogFields): Log;
}

export interface LogOptions {
  readonly clock: Clock;
  readonly level: LogLevel;
  /** Gets whole lines without the newline. A sink that throws loses the line; the next one that works tells how many. */
  readonly sink: (line: string) => void;
  /** Foreign text to harmless text; text/ has it, and this folder may not know it. */
  readonly gate: (text: string) => string;
  readonly lineCharsMax?: number;
}

export function createLog(options: LogOptions): Log {
  return logWith({ options, lost: 0 }, {});
}

interface Writer {
  readonly options: LogOptions;
  lost: number;
}

function logWith(writer: Writer, shared: LogFields): Log {
  const at =
    (level: LogLevel) =>
    (words: string, fields: LogFields = {}): void => {
      if (logLevels.indexOf(level) < logLevels.indexOf(writer.options.level)) return;
      write(writer, level, words, { ...shared, ...fields });
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => logWith(writer, { ...shared, ...fields }),
  };
}

function write(writer: Writer, level: LogLevel, words: string, fields: LogFields): void {
  try {
    writer.options.sink(lineOf(writer, level, words, fields));
    writer.lost = 0;
  } catch {
    // A log that cannot be written must not stop what it tells about; the loss is counted and told.
    writer.lost += 1;
  }
}

function lineOf(writer: Writer, level: LogLevel, words: string, fields: LogFields): string {
  const { clock, gate, lineCharsMax = limits.logLineCharsMax } = writer.options;
  const head = { at: new Date(clock.wallMs()).toISOString(), level };
  const told = writer.lost === 0 ? {} : { lines_lost: writer.lost };
  const shown = plainText(words, gate);
  const line = JSON.stringify({ ...head, words: shown, ...told, fields: plainValue(fields, gate, 0) });
  if (line.length <= lineCharsMax) return line;
  // The words stay, cut with room for their escapes: JSON may need six characters for one.
  const kept = shown.slice(0, Math.max(Math.floor((lineCharsMax - headCharsMax) / 6), 0));
  return JSON.stringify({ ...head, words: kept, ...told, cut: true });
}

/** Time, level, count of lost lines and punctuation of a line. */
const headCharsMax = 160;
const textCharsMax = limits.detailCharsMax;
const depthMax = 4;
const entriesMax = 64;
const secretPattern = /token|secret|passw|passphrase|authorization|cookie|credential|apikey|privatekey|nonce/;

/** `Api-Key`, `api_key` and `apiKey` are one word. */
function isSecretName(name: string): boolean {
  return secretPattern.test(name.toLowerCase().replace(/[^a-z]/g, ''));
}

function plainText(text: string, gate: (text: string) => string): string {
  // Cut first, so that the gate never works on megabytes, and again, because a gate may make text longer.
  return gate(text.slice(0, textCharsMax)).slice(0, textCharsMax);
}

/** A copy that JSON can show: no cycles, no foreign toJSON, no secrets, nothing endless. */
function plainValue(value: unknown, gate: (text: string) => string, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return plainText(value, gate);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
    case 'undefined':
      return value;
    case 'bigint':
      return value.toString();
    case 'symbol':
    case 'function':
      return undefined;
    case 'object':
      return value === null ? null : plainObject(value, gate, depth);
  }
}

function plainObject(value: object, gate: (text: string) => string, depth: number): unknown {
  if (depth >= depthMax) return '[deeper]';
  if (value instanceof Error) return plainError(value, gate, depth);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, entriesMax).map((item) => plainValue(item, gate, depth + 1) ?? null);
  const result: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value).slice(0, entriesMax)) {
    const shown = isSecretName(name) ? '[redacted]' : plainValue(item, gate, depth + 1);
    if (shown !== undefined) result[plainText(name, gate)] = shown;
  }
  return result;
}

function plainError(error: Error, gate: (text: string) => string, depth: number): unknown {
  const code = 'code' in error ? plainValue(error.code, gate, depth + 1) : undefined;
  const cause = error.cause === undefined ? undefined : plainValue(error.cause, gate, depth + 1);
  // Causes are told by their words; one stack is enough to find the place.
  const stack = depth > 1 || error.stack === undefined ? undefined : plainText(error.stack, gate);
  return { name: plainText(error.name, gate), message: plainText(error.message, gate), code, stack, cause };
}
