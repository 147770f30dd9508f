// `agtmux watch`: a list that is kept current, as a table that is drawn anew, or as events for programs. Lives on the
// feed; ends in good order with Ctrl-C or when nobody reads any more.

import { type ApiClient, createClient } from '../api/client.ts';
import type { FeedEvent } from '../api/client-types.ts';
import type { StatusReply } from '../api/daemon.ts';
import type { FeedValue } from '../api/feed.ts';
import type { ListFilters, PaneItem, SessionList, WindowList } from '../api/panes.ts';
import { type LeanQuery, withQuery } from '../api/requests.ts';
import type { ShellEventItem } from '../api/shells.ts';
import { schemaVersion } from '../api/version.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { foreign, sanitizeColoured } from '../text/sanitize.ts';
import { changesOf, emptyFeed, type FeedChange, feedAfter, isPane, isShell } from '../view/feed.ts';
import { isWanted } from '../view/lists.ts';
import { paint } from '../view/paint.ts';
import { shellEventText } from '../view/shell-events.ts';
import type { WatchScope } from './commands.ts';
import type { ListScope } from './commands-list.ts';
import { askDaemon } from './connect.ts';
import { type Action, type Context, daemonSocket, sleep } from './context.ts';
import { type DurationBounds, durationOf } from './duration.ts';
import { filterQuery } from './list-query.ts';
import { escapeEffects, hasColour, output, print, viewQuery, whileRead } from './output.ts';
import { type Parsed, statesOf } from './parse.ts';
import { askRunning, isDown } from './running.ts';

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
    const view = { ...viewQuery(this.#parsed), format: 'text' } as const;
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

// `agtmux watch --format jsonl`: one event a line, always with the same fields. Panes come from the feed with the version
// of each change; windows and sessions are sums over panes, so their lists are compared with what was told before.

interface EventOptions {
  readonly scope: WatchScope;
  readonly query: LeanQuery;
  readonly parsed: Parsed;
  readonly client: ApiClient;
  readonly intervalMs: number | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

type LineType = 'present' | 'changed' | 'gone' | 'lost' | 'event';

function line(version: number, type: LineType, key: string | null, item: unknown): void {
  output().write(`${escapeEffects({ schema_version: schemaVersion, version, type, key, item })}\n`);
}

async function printEvents(options: EventOptions): Promise<void> {
  const { client, scope, parsed, signal, clock, intervalMs } = options;
  const start = await startOf(options);
  if (start.isNothing) return;
  const told = linesOf(scope, options, start);
  const since = start.cursor === null ? {} : { since: start.cursor };
  const feed = scope === 'shells' ? 'shells' : 'panes';
  for await (const event of client.events({ scope: feed, signal, ...since })) {
    if (event.type === 'connected') continue;
    await told.take(event);
    if (parsed.has('once') && event.type !== 'lost') return;
    if (intervalMs !== null && !signal.aborted) await sleep(clock, intervalMs);
  }
}

function linesOf(scope: WatchScope, { parsed, query }: EventOptions, { timeMs }: Start) {
  switch (scope) {
    case 'panes':
      return new PaneLines(parsed, timeMs);
    case 'shells':
      return new ShellLines(timeMs);
    case 'windows':
    case 'sessions':
      return new ListLines(scope, query);
  }
}

interface Start {
  readonly cursor: string | null;
  readonly timeMs: number | null;
  /** With --once, and nothing has changed since. */
  readonly isNothing: boolean;
}

async function startOf({ parsed, scope }: EventOptions): Promise<Start> {
  const text = parsed.value('since');
  if (text === undefined) return { cursor: null, timeMs: null, isNothing: false };
  if (scope === 'windows' || scope === 'sessions') {
    throw new AgtmuxError('E_USAGE', '--since needs --scope panes or shells: windows and sessions have no versions');
  }
  if (/^\d{1,15}$/.test(text)) {
    const status = JSON.parse((await askRunning({ path: '/v1/status' })).body) as StatusReply;
    const isNothing = parsed.has('once') && Number(text) >= status.feed_version;
    return { cursor: `${status.feed_epoch}:${text}`, timeMs: null, isNothing };
  }
  const timeMs = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(timeMs)) return { cursor: null, timeMs, isNothing: false };
  throw new AgtmuxError('E_USAGE', '--since must be a feed version or an ISO time', {
    next: 'for example 2000123 or 2026-01-31T08:00:00Z',
  });
}

type Told = Exclude<FeedEvent, { type: 'connected' }>;

class PaneLines {
  readonly #filters: Omit<ListFilters, 'sort'>;
  readonly #sinceMs: number | null;
  readonly #shown = new Set<string>();
  #known = emptyFeed;
  #version = 0;

  constructor(parsed: Parsed, sinceMs: number | null) {
    this.#filters = {
      target: [...parsed.values('target')],
      target_session: [...parsed.values('target-session')],
      session: [...parsed.values('session')],
      state: [...statesOf('state', parsed)],
      agent: [...parsed.values('agent')],
      project: [...parsed.values('project')],
      branch: [...parsed.values('branch')],
      needs_action: parsed.has('needs-action'),
      all_panes: parsed.has('all-panes'),
      ended: parsed.has('ended'),
    };
    this.#sinceMs = sinceMs;
  }

  async take(event: Told): Promise<void> {
    if (event.type === 'lost') line(this.#version, 'lost', null, null);
    if (event.type !== 'snapshot' && event.type !== 'changes') return;
    this.#version = event.type === 'snapshot' ? event.data.version : event.data.to;
    const type = event.type === 'snapshot' ? 'present' : 'changed';
    for (const change of changesOf(this.#known, event)) this.#tell(change, type);
    this.#known = feedAfter(this.#known, [event]);
  }

  #tell({ version, key, value }: FeedChange, type: LineType): void {
    if (value !== null && isPane(value) && this.#wants(value)) {
      if (type === 'present' && this.#isOld(value)) return;
      this.#shown.add(key);
      line(version, type, key, value);
    } else if (this.#shown.delete(key)) {
      line(version, 'gone', key, null);
    }
  }

  #isOld({ since }: PaneItem): boolean {
    return this.#sinceMs !== null && (since === null || Date.parse(since) < this.#sinceMs);
  }

  /** A bad end is told however long ago it was: nothing would tell that its time is over. */
  #wants(item: PaneItem): boolean {
    return isWanted(item, { ...this.#filters, ended: this.#filters.ended || item.state === 'error' }, 0);
  }
}

/** Shells by their own versions, and among them what happened, each once (SHL7). */
class ShellLines {
  readonly #sinceMs: number | null;
  #known = emptyFeed;
  #version = 0;

  constructor(sinceMs: number | null) {
    this.#sinceMs = sinceMs;
  }

  async take(event: Told): Promise<void> {
    if (event.type === 'lost') line(this.#version, 'lost', null, null);
    if (event.type !== 'snapshot' && event.type !== 'changes') return;
    const { events = [] } = event.data;
    const changes = changesOf(this.#known, event);
    this.#version = event.type === 'snapshot' ? event.data.version : event.data.to;
    const lines = [
      ...events.map((one) => ({ version: one.seq, tell: () => this.#happened(one) })),
      ...changes.map((change) => ({ version: change.version, tell: () => this.#row(change, event.type) })),
    ];
    // The number of an event is the version it was told under: that is its place among changes. A snapshot is behind all.
    if (event.type === 'changes') lines.sort((one, other) => one.version - other.version);
    for (const { tell } of lines) tell();
    this.#known = feedAfter(this.#known, [event]);
  }

  #row({ version, key, value }: FeedChange, type: 'snapshot' | 'changes'): void {
    if (value === null) line(version, 'gone', key, null);
    else if (type === 'changes') line(version, 'changed', key, value);
    else if (!this.#isOld(value)) line(version, 'present', key, value);
  }

  #happened(event: ShellEventItem): void {
    line(event.seq, 'event', `shell:${event.shell_id}`, event);
  }

  #isOld(item: FeedValue): boolean {
    if (this.#sinceMs === null || !isShell(item)) return false;
    return Date.parse(item.ended_at ?? item.started_at) < this.#sinceMs;
  }
}

class ListLines {
  readonly #path: string;
  #told = new Map<string, string>();
  #isFirst = true;
  #version = 0;

  constructor(scope: ListScope, query: LeanQuery) {
    this.#path = withQuery(`/v1/${scope}`, query);
  }

  async take(event: Told): Promise<void> {
    if (event.type === 'lost') {
      line(this.#version, 'lost', null, null);
      return;
    }
    this.#version = event.type === 'changes' ? event.data.to : event.data.version;
    const items = await this.#items();
    if (items === null) return;
    const now = new Map(items.map((item) => [keyOf(item), JSON.stringify(item)]));
    for (const key of this.#told.keys()) if (!now.has(key)) line(this.#version, 'gone', key, null);
    for (const item of items) {
      const key = keyOf(item);
      const type = this.#isFirst ? 'present' : 'changed';
      if (this.#told.get(key) !== now.get(key)) line(this.#version, type, key, item);
    }
    this.#told = now;
    this.#isFirst = false;
  }

  /** Null when the daemon went in between; the feed tells of it. */
  async #items(): Promise<readonly (WindowList['items'][number] | SessionList['items'][number])[] | null> {
    try {
      return (JSON.parse((await askRunning({ path: this.#path })).body) as WindowList | SessionList).items;
    } catch (problem) {
      if (isDown(problem)) return null;
      throw problem;
    }
  }
}

function keyOf({ identity }: WindowList['items'][number] | SessionList['items'][number]): string {
  const { target, session_name } = identity;
  const place = [target ?? '*', session_name].map(encodeURIComponent).join('/');
  return 'window_id' in identity ? `window:${place}/${encodeURIComponent(identity.window_id)}` : `session:${place}`;
}
