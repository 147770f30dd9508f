// `agtmux watch`: a list that is kept current, as a table that is drawn anew, or as events for programs. Lives on the
// feed; ends in good order with Ctrl-C or when nobody reads any more.

import { createClient } from '../api/client.ts';
import { type LeanQuery, withQuery } from '../api/client-lean.ts';
import type { ShellEventItem } from '../api/schemas-shells.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { foreign, sanitizeColoured } from '../text/sanitize.ts';
import { paint } from '../view/paint.ts';
import { shellEventText } from '../view/shell-events.ts';
import type { WatchScope } from './commands.ts';
import { askDaemon } from './connect.ts';
import { type Action, type Context, daemonSocket } from './context.ts';
import { type DurationBounds, durationOf } from './duration.ts';
import { filterQuery } from './list.ts';
import { columnsOf, hasColour, output, print, whileRead } from './output.ts';
import type { Parsed } from './parse.ts';
import { askRunning, isDown } from './running.ts';
import { printEvents } from './watch-events.ts';

export const watch: Action = async (parsed, context) => {
  const scope = scopeOf(parsed);
  const query = queryOf(scope, parsed);
  const intervalMs = durationOf('interval', parsed.value('interval'), intervalBounds);
  const leaving = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => leaving.abort());
  // Starts the daemon, and refuses filters that cannot be right, before anything is drawn.
  await askDaemon(context, { path: withQuery(`/v1/${scope}`, query) });
  const client = createClient({ socketPath: daemonSocket, clock: context.clock });
  if (parsed.value('format') === 'jsonl') {
    const { clock } = context;
    await whileRead(clock, 'json', () =>
      printEvents({ scope, query, parsed, client, intervalMs, clock, signal: leaving.signal }),
    );
    return;
  }
  if (parsed.has('since')) throw new AgtmuxError('E_USAGE', '--since needs --format jsonl');
  const table = new Table(scope, query, parsed, context);
  if (parsed.has('once')) {
    print(await table.text());
    return;
  }
  const dirty = new Doorbell(context.clock);
  leaving.signal.addEventListener('abort', () => dirty.ring());
  output().on('resize', () => dirty.ring());
  const follow = async (): Promise<void> => {
    for await (const event of client.events({ scope: 'all', signal: leaving.signal })) {
      if (event.type === 'snapshot' || event.type === 'changes') table.happened(event.data.events ?? []);
      if (event.type !== 'connected') dirty.ring();
    }
  };
  const following = follow().finally(() => leaving.abort());
  const drawn = () => drawUntilLeft(table, dirty, intervalMs ?? limits.watchIntervalMs, leaving.signal);
  await whileRead(context.clock, 'text', drawn).finally(() => leaving.abort());
  await following;
};

function scopeOf(parsed: Parsed): WatchScope {
  const scope = parsed.value('scope');
  return scope === 'windows' || scope === 'sessions' || scope === 'shells' ? scope : 'panes';
}

function queryOf(scope: WatchScope, parsed: Parsed): LeanQuery {
  if (scope !== 'shells') return filterQuery(scope, parsed);
  const wrong = agentFilters.find((name) => parsed.has(name));
  if (wrong === undefined) return { completed: true, failed: true };
  throw new AgtmuxError('E_USAGE', `--${wrong} filters agents, and --scope shells shows none`, {
    next: 'omit one of them',
  });
}

const agentFilters = [
  ...['target', 'all-targets', 'target-session', 'session', 'state', 'agent'],
  ...['needs-action', 'all-panes', 'ended', 'sort'],
];

const intervalBounds: DurationBounds = { minMs: 50, maxMs: 3_600_000, words: 'from 50ms to 60m' };

/** Rung by whoever has news; heard after a pause, or when it is rung. */
class Doorbell {
  readonly #clock: Clock;
  #isRung = false;
  #wake: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  /** At least `pauseMs`, unless `signal` is over; then until the bell rings, at most `patienceMs` more. */
  async wait(pauseMs: number, patienceMs: number | null, signal: AbortSignal): Promise<void> {
    await this.#rest(pauseMs, () => signal.aborted);
    await this.#rest(patienceMs, () => this.#isRung || signal.aborted);
    this.#isRung = false;
  }

  #rest(ms: number | null, isOver: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      let cancel: Cancel = () => undefined;
      const end = (): void => {
        cancel();
        this.#wake = () => undefined;
        resolve();
      };
      this.#wake = () => {
        if (isOver()) end();
      };
      if (isOver()) end();
      else if (ms !== null) cancel = this.#clock.after(ms, end);
    });
  }
}

/** What happened last to shells, below the table. */
const happenedMax = 3;

class Table {
  readonly #scope: WatchScope;
  readonly #query: LeanQuery;
  readonly #parsed: Parsed;
  readonly #context: Context;
  #happened: readonly ShellEventItem[] = [];

  constructor(scope: WatchScope, query: LeanQuery, parsed: Parsed, context: Context) {
    this.#scope = scope;
    this.#query = query;
    this.#parsed = parsed;
    this.#context = context;
  }

  async text(): Promise<string> {
    const view = { format: 'text', columns: columnsOf(), ...(hasColour(this.#parsed) ? { colour: 1 } : {}) };
    const path = withQuery(`/v1/${this.#scope}`, { ...this.#query, ...view });
    return [(await askRunning({ path })).body.trimEnd(), ...this.#lastLines()].join('\n');
  }

  happened(events: readonly ShellEventItem[]): void {
    this.#happened = [...this.#happened, ...events].slice(-happenedMax);
  }

  #lastLines(): readonly string[] {
    const lines = this.#happened.map(shellEventText);
    return lines.length === 0
      ? []
      : ['', ...lines.map((line) => (hasColour(this.#parsed) ? paint(line, 'dim') : line))];
  }

  /** What to show while there is no daemon. Nobody who watches starts what another person stopped. */
  async textOrTrouble(): Promise<string> {
    try {
      return await this.text();
    } catch (problem) {
      if (!isDown(problem)) throw problem;
      return `The daemon stopped; this continues when it is back (agtmux ${this.#context.version}).`;
    }
  }
}

async function drawUntilLeft(table: Table, dirty: Doorbell, intervalMs: number, signal: AbortSignal): Promise<void> {
  const isScreen = output().isTTY;
  let last = '';
  if (isScreen) output().write('\u001b[?1049h\u001b[?25l');
  try {
    while (!signal.aborted) {
      const text = await table.textOrTrouble();
      if (signal.aborted) break;
      if (isScreen) draw(text);
      else if (text !== last) print(`${text}\n`);
      last = text;
      // On a terminal ages go on by themselves; in a file only news counts.
      await dirty.wait(intervalMs, isScreen ? 0 : null, signal);
    }
  } finally {
    if (isScreen) output().write(`\u001b[?25h\u001b[?1049l${last}\n`);
  }
}

/** Line by line over what stood there: clearing first would flicker. */
export function draw(text: string): void {
  const rows = Math.max(1, output().rows || 24);
  const lines = text.split('\n').slice(0, rows);
  const shown = lines.map((line) => `${sanitizeColoured(foreign(line))}\u001b[K`);
  output().write(`\u001b[H${shown.join('\r\n')}\u001b[J`);
}
