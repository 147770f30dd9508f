// How the command line speaks: what goes to the terminal, how wide it is, whether in colour, and how a failure reads.

import { fstatSync } from 'node:fs';
import { AgtmuxError, errors, type Failure, failure } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { foreign, sanitizeBlock, sanitizeLine } from '../text/sanitize.ts';
import type { Parsed } from './parse.ts';

/** A terminal that does not tell its size. */
const columnsFallback = 80;

/**
 * The last gate before a terminal (SEC3), also for what a daemon answers: every character that does something there is
 * shown as JSON would write it, which a reader of JSON takes for the same. Line ends, tabs and colours stay.
 */
export const withoutEffects = (text: string): string =>
  text.replaceAll(effects, (found) =>
    found.length > 1 ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const effects = /\u001b\[[0-9;]*m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function print(text: string): void {
  output().write(withoutEffects(text.endsWith('\n') ? text : `${text}\n`));
}

/** For what names a path or a word of the user's: there colours are not ours either. */
export const printShown = (text: string): void => print(sanitizeBlock(foreign(text)));

/** For people, beside the output. */
export function note(text: string): void {
  errorOutput().write(withoutEffects(`agtmux: ${sanitizeLine(foreign(text))}\n`));
}

export function columnsOf(): number {
  const stdout = output();
  const asked = Number(process.env.COLUMNS);
  const wanted = stdout.isTTY
    ? stdout.columns || columnsFallback
    : Number.isSafeInteger(asked) && asked > 0
      ? asked
      : limits.tableColumnsDefault;
  return Math.min(wanted, limits.tableColumnsMax);
}

export function hasColour(parsed: Parsed): boolean {
  switch (parsed.value('color') ?? 'auto') {
    case 'always':
      return true;
    case 'never':
      return false;
    default: {
      const { NO_COLOR, TERM } = process.env;
      return output().isTTY && (NO_COLOR === undefined || NO_COLOR === '') && TERM !== 'dumb';
    }
  }
}

function asFailure(problem: unknown): Failure {
  if (problem instanceof AgtmuxError) return failure(problem.code, problem.message, problem.next);
  return failure('E_INTERNAL', problem instanceof Error ? (problem.stack ?? problem.message) : String(problem));
}

/** One line: what happened, what to do next, and a code for programs. */
export function report(problem: unknown, isJson: boolean): void {
  const { code, message, next } = asFailure(problem);
  // What went wrong often names what was given: an argument, a path (SEC3).
  const words = foreign(`agtmux: ${message}; ${next} [${code}]`);
  const line = isJson
    ? JSON.stringify({ error: { code, message, next } })
    : code === 'E_INTERNAL'
      ? sanitizeBlock(words)
      : sanitizeLine(words);
  errorOutput().write(withoutEffects(`${line}\n`));
  process.exitCode = errors[code].exit;
}

/** A reader that goes away (`| head`) is not a failure; a full disk behind `>` is one, and nobody needs a stack for it. */
const leave = (problem: NodeJS.ErrnoException): void => {
  if (problem.code === 'EPIPE') process.exit(process.exitCode);
  const { code, syscall } = problem;
  if (syscall !== 'write' || code === undefined) throw problem;
  const next = 'free disk space there, or write to another place';
  report(new AgtmuxError('E_FILE', `cannot write the output (${code})`, { next }), process.argv.includes('--json'));
  process.exit();
};

/** How long a reader that left may go unnoticed. */
const readerLookMs = 1_000;

/**
 * For what goes on and on: a reader that left (`| head -1`) ends us, though the next line may never come. Before a line of
 * JSON a blank says nothing to whoever reads it, and fails when nobody does; in a text for people nothing may be written.
 */
export async function whileRead<Value>(
  clock: Clock,
  format: 'json' | 'text',
  work: () => Promise<Value>,
): Promise<Value> {
  if (!isPipe()) return work();
  const cancel = format === 'text' ? await untilReaderGone() : writeBlanks(clock);
  try {
    return await work();
  } finally {
    cancel();
  }
}

/** Loaded only here: no other command needs to start programs so early. */
async function untilReaderGone(): Promise<Cancel> {
  const { onReaderGone } = await import('../platform/pipe-reader.ts');
  return onReaderGone(() => process.exit(process.exitCode));
}

function writeBlanks(clock: Clock): Cancel {
  const look = (): void => {
    if (!output().writableNeedDrain) output().write(' ');
    cancel = clock.after(readerLookMs, look);
  };
  let cancel = clock.after(readerLookMs, look);
  return () => cancel();
}

function isPipe(): boolean {
  try {
    const stat = fstatSync(process.stdout.fd);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}

/** A stream is made when it is first touched, which takes a millisecond; most commands need one of the two. */
function guarded(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  return stream.listeners('error').includes(leave) ? stream : stream.on('error', leave);
}

export const output = (): NodeJS.WriteStream => guarded(process.stdout);
export const errorOutput = (): NodeJS.WriteStream => guarded(process.stderr);

// JSON that the command line makes itself, safe to look at in a terminal.

/** Characters that do something in a terminal are escaped, which means the same to every reader of JSON (SEC3). */
export const escapeEffects = (value: unknown): string => withoutEffects(JSON.stringify(value));

/** How a document is wanted: as it goes to a program, or as text that fits this terminal. */
export function viewQuery(parsed: Parsed): { format: 'json' | 'text'; columns?: number; colour?: boolean } {
  if (parsed.has('json')) return { format: 'json' };
  return { format: 'text', columns: columnsOf(), ...(hasColour(parsed) ? { colour: true } : {}) };
}
