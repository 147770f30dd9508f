// `agtmux view-output`: the last lines of what an agent printed, or of its own record where its screen keeps none, and with
// --follow what comes. What it printed is foreign text and passes the gate (SEC3).

import type { ViewedOutputReply } from '../api/actions.ts';
import { get } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { foreign, sanitizeBlock, sanitizeLine } from '../text/sanitize.ts';
import { askDaemon } from './connect.ts';
import { type Action, type Context, sleep } from './context.ts';
import { errorOutput, output, print, whileRead } from './output.ts';
import type { Parsed } from './parse.ts';
import { refOf } from './refs.ts';
import { draw } from './watch.ts';

export const viewOutput: Action = async (parsed, context) => {
  const lines = countOf(parsed);
  const ref = await refOf(context, parsed.args[0]);
  const ask = (of: string): Promise<Seen> => look(context, of, lines, parsed.has('screen'));
  const first = await ask(ref);
  if (!parsed.has('json')) tell(first.seen);
  if (!parsed.has('follow')) return show(parsed, first.body, first.seen.lines);
  const leaving = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => leaving.abort());
  // From here on it is this agent, whoever has its pane or its name later.
  const again = (): Promise<Seen> => ask(first.seen.ref);
  if (output().isTTY && !parsed.has('json')) await followOnScreen(first, again, context, leaving.signal);
  else {
    const format = parsed.has('json') ? 'json' : 'text';
    await whileRead(context.clock, format, () => followInFile(parsed, first, again, context, leaving.signal));
  }
};

interface Seen {
  readonly body: string;
  readonly seen: ViewedOutputReply;
}

/** Beside what is shown, so that whoever pipes it gets nothing else. */
function tell({ words }: ViewedOutputReply): void {
  if (words !== undefined) errorOutput().write(`agtmux: ${sanitizeLine(foreign(words))}\n`);
}

async function look(context: Context, ref: string, lines: number, isScreen: boolean): Promise<Seen> {
  const query = { ref, lines, ...(isScreen ? { screen: true } : {}) };
  const request = get('/v1/output', query, { silenceMs: limits.actAnswerMs });
  const { body, reply } = await askDaemon(context, request, { isQuiet: true });
  return { body, seen: reply };
}

function countOf(parsed: Parsed): number {
  const text = parsed.value('lines');
  if (text === undefined) return limits.outputLinesDefault;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= limits.captureLinesMax) return count;
  throw new AgtmuxError('E_USAGE', `--lines must be a number from 1 to ${limits.captureLinesMax}`, {
    next: 'for example 50',
  });
}

const safeLines = (lines: readonly string[]): string => lines.map((line) => sanitizeBlock(foreign(line))).join('\n');

function show(parsed: Parsed, body: string, lines: readonly string[]): void {
  if (parsed.has('json')) print(body);
  else if (lines.length > 0) print(safeLines(lines));
}

async function followOnScreen(
  first: Seen,
  again: () => Promise<Seen>,
  { clock }: Context,
  signal: AbortSignal,
): Promise<void> {
  const rows = (): number => Math.max(1, output().rows || 24);
  let text = safeLines(first.seen.lines.slice(-rows()));
  output().write('\u001b[?1049h\u001b[?25l');
  try {
    while (!signal.aborted) {
      draw(text);
      await sleep(clock, limits.watchIntervalMs);
      if (!signal.aborted) text = safeLines((await again()).seen.lines.slice(-rows()));
    }
  } finally {
    output().write(`\u001b[?25h\u001b[?1049l${text}\n`);
  }
}

async function followInFile(
  parsed: Parsed,
  first: Seen,
  again: () => Promise<Seen>,
  { clock }: Context,
  signal: AbortSignal,
): Promise<void> {
  let last = first;
  show(parsed, first.body, first.seen.lines);
  while (!signal.aborted) {
    await sleep(clock, limits.watchIntervalMs);
    if (signal.aborted) return;
    const now = await again();
    const isOther = now.seen.from !== last.seen.from;
    if (isOther && !parsed.has('json')) tell(now.seen);
    const added = isOther ? now.seen.lines : linesAdded(last.seen.lines, now.seen.lines);
    if (added.length > 0) show(parsed, now.body, added);
    last = now;
  }
}

/** More lines than this that were drawn anew are another screen, and told as one. */
const redrawnMax = 500;

/**
 * What is new: the lines may have moved up, some may have come between others, and those at the bottom may have been drawn
 * anew. Those that only moved are not told again.
 */
export function linesAdded(before: readonly string[], after: readonly string[]): readonly string[] {
  let common = 0;
  let end = 0;
  for (let moved = 0; moved < before.length && before.length - moved > common; moved += 1) {
    let equal = 0;
    while (moved + equal < before.length && equal < after.length && before[moved + equal] === after[equal]) equal += 1;
    if (equal <= common) continue;
    common = equal;
    end = moved + equal;
  }
  const [old, rest] = [before.slice(end), after.slice(common)];
  // Without a line in common nobody can say which of them is the old one.
  if (common === 0 || old.length > redrawnMax || rest.length > redrawnMax) return rest;
  return notIn(old, rest);
}

/** What is left of `rest` without the longest row of lines that it has in common with `old`. */
function notIn(old: readonly string[], rest: readonly string[]): readonly string[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(rest.length + 1));
  const at = (row: number, column: number): number => table[row]?.[column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = rest.length - 1; column >= 0; column -= 1) {
      const isSame = old[row] === rest[column];
      const best = isSame ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
      table[row]?.fill(best, column, column + 1);
    }
  }
  const added: string[] = [];
  let row = 0;
  for (const [column, line] of rest.entries()) {
    // Old lines that lead to no longer row are gone.
    while (row < old.length && old[row] !== line && at(row + 1, column) === at(row, column)) row += 1;
    if (row < old.length && old[row] === line) row += 1;
    else added.push(line);
  }
  return added;
}
