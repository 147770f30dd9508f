// `agtmux shell log`: a page of what a shell printed, and with --follow what comes until it has ended, also across a
// restart of the daemon. What it printed is foreign text and passes the gate (SEC3).

import { get, pathTo, post } from '../api/requests.ts';
import type { ShellPageReply } from '../api/shells.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { foreign, sanitizeBlock } from '../text/sanitize.ts';
import { safe } from './act.ts';
import { logModes } from './commands-session.ts';
import { askDaemon } from './connect.ts';
import { type Action, type Context, sleep } from './context.ts';
import { note, output, print, whileRead } from './output.ts';
import type { Parsed } from './parse.ts';
import { askRunning, isDown } from './running.ts';
import { shellOf } from './shell.ts';

type Mode = (typeof logModes)[number];

interface Page {
  readonly body: string;
  readonly page: ShellPageReply;
}

export const shellLog: Action = async (parsed, context) => {
  const mode = logModes.find((one) => one === parsed.value('mode')) ?? 'tail';
  const lines = countOf(parsed);
  const cursor = parsed.value('cursor');
  const request = pageRequest(parsed.args[0] ?? '', mode, cursor, lines);
  const { body, reply } = await askDaemon(context, request, { isQuiet: true });
  const first: Page = { body, page: reply };
  show(parsed, first, parsed.has('follow') ? wholeLines(first.page) : first.page.lines);
  const format = parsed.has('json') ? 'json' : 'text';
  if (parsed.has('follow')) await whileRead(context.clock, format, () => follow(parsed, context, first.page));
  else tellRest(parsed, first.page, mode);
  if (output().isTTY && !parsed.has('json')) await markSeen(first.page.shell_id);
};

/** Someone at a terminal has looked at it: it is no news any more. That this was not noted is not worth a word. */
async function markSeen(id: string): Promise<void> {
  await askRunning(post(pathTo('/v1/shells/{ref}/seen', { ref: id }), {})).catch(() => undefined);
}

function countOf(parsed: Parsed): number | undefined {
  const text = parsed.value('lines');
  if (text === undefined) return undefined;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= limits.shellPageLinesMax) return count;
  throw new AgtmuxError('E_USAGE', `--lines must be a number from 1 to ${limits.shellPageLinesMax}`, {
    next: 'for example 50; use --follow or --cursor to read more',
  });
}

const pageRequest = (ref: string, mode: Mode, cursor?: string, lines?: number) =>
  get(pathTo('/v1/shells/{ref}/log', { ref }), { mode, cursor, lines });

/** A last line that is not whole comes again with the rest of it. */
const wholeLines = ({ lines, partial_line }: ShellPageReply): readonly string[] =>
  partial_line ? lines.slice(0, -1) : lines;

function show(parsed: Parsed, { body, page }: Page, lines: readonly string[]): void {
  if (parsed.has('json')) {
    print(body);
    return;
  }
  if (page.truncated) note('earlier output was dropped');
  if (page.diagnosis !== null) print(safeBlock(page.diagnosis));
  if (lines.length > 0) print(lines.map(safeBlock).join('\n'));
}

const safeBlock = (text: string): string => sanitizeBlock(foreign(text));

/** Beside what is shown, so that whoever pipes it gets nothing else. */
function tellRest(parsed: Parsed, { has_more, is_capped, cursor }: ShellPageReply, mode: Mode): void {
  if (parsed.has('json')) return;
  if (is_capped) note('its log is full: later output was not stored');
  if (has_more && mode === 'body') note(`there is more: --mode body --cursor ${safe(cursor)}`);
}

async function follow(parsed: Parsed, context: Context, first: ShellPageReply): Promise<void> {
  const leaving = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => leaving.abort());
  const { shell_id, attempt } = first;
  let { cursor } = first;
  let isLost = false;
  while (!leaving.signal.aborted) {
    // Looked at before the page: what it printed last is on the page then.
    const isOver = await hasEnded(shell_id, attempt).catch(nullIfDown);
    const next = isOver === null ? null : await pageFrom(shell_id, cursor).catch(nullIfDown);
    if (next === null && !isLost && !parsed.has('json')) note('the daemon stopped; this continues when it is back');
    isLost = next === null;
    if (next !== null) {
      const lines = isOver === true ? next.page.lines : wholeLines(next.page);
      if (lines.length > 0 || next.page.truncated) show(parsed, next, lines);
      cursor = next.page.cursor;
      if (isOver === true && !next.page.has_more) return tellEnd(parsed, context, shell_id);
      if (next.page.has_more) continue;
    }
    await sleep(context.clock, limits.watchIntervalMs);
  }
}

async function pageFrom(id: string, cursor: string): Promise<Page> {
  const { body, reply } = await askRunning(pageRequest(id, 'body', cursor));
  return { body, page: reply };
}

/** Nobody who watches starts what another person stopped. */
function nullIfDown(problem: unknown): null {
  if (isDown(problem)) return null;
  throw problem;
}

/** Also when it was run again since: that is another attempt. */
async function hasEnded(id: string, attempt: number): Promise<boolean> {
  const { reply } = await askRunning(get('/v1/shells', { ref: id }));
  const [item] = reply.items;
  return item === undefined || item.status !== 'running' || item.attempt !== attempt;
}

async function tellEnd(parsed: Parsed, context: Context, id: string): Promise<void> {
  if (parsed.has('json')) return;
  const { status, exit_code, words } = await shellOf(context, id);
  const code = exit_code === null ? '' : ` with status ${exit_code}`;
  note(`${id} ${status}${status === 'running' ? ' again' : code}${words === null ? '' : `: ${safe(words)}`}`);
}
