// `agtmux watch --format jsonl`: one event a line, always with the same fields. Panes come from the feed with the version
// of each change; windows and sessions are sums over panes, so their lists are compared with what was told before.

import type { ApiClient } from '../api/client.ts';
import { type LeanQuery, withQuery } from '../api/client-lean.ts';
import type { FeedEvent } from '../api/client-types.ts';
import type { FeedValue, ListFilters, PaneItem, SessionList, StatusReply, WindowList } from '../api/schemas.ts';
import type { ShellEventItem } from '../api/schemas-shells.ts';
import { schemaVersion } from '../api/version.ts';
import { AgtmuxError } from '../model/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { changesOf, emptyFeed, type FeedChange, feedAfter, isPane, isShell } from '../view/feed.ts';
import { isWanted } from '../view/lists.ts';
import type { ListScope, WatchScope } from './commands.ts';
import { sleep } from './context.ts';
import { escapeEffects } from './json.ts';
import { output } from './output.ts';
import { type Parsed, statesOf } from './parse.ts';
import { askRunning, isDown } from './running.ts';

export interface EventOptions {
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

export async function printEvents(options: EventOptions): Promise<void> {
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
