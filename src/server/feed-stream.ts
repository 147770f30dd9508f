// One client of the feed over server-sent events (FED2). It takes from the shared ring only what its socket accepts, so a
// slow reader holds one message and nothing more; when the feed gives up on it, its socket is ended.

import type { ServerResponse } from 'node:http';
import type { FeedScope } from '../api/feed.ts';
import { schemaVersion } from '../api/version.ts';
import type { FeedRow } from '../feed/feed.ts';
import { limits } from '../model/limits.ts';
import type { ShellEvent } from '../model/shells.ts';
import type { Clock } from '../platform/clock.ts';
import { listSessions, listWindows } from '../view/lists.ts';
import { isoTime, noticeItem, paneItem, shellEventItem, shellItem, targetItem } from '../view/lists-items.ts';
import { handshake, safeJson, unwrap } from './replies.ts';
import type { DaemonService, FeedCursor, FeedMessage, Subscriber } from './service.ts';

type Data = Exclude<FeedMessage<FeedRow>, { type: 'cut' }>;

interface StreamOptions {
  readonly clock: Clock;
  readonly scope: FeedScope;
  readonly since: FeedCursor | null;
}

/** Throws E_FEED_FULL before anything is written. */
export function streamFeed(service: DaemonService, outgoing: ServerResponse, options: StreamOptions): void {
  const stream = new FeedStream(service, outgoing, options);
  stream.start();
}

export function parseCursor(text: string): FeedCursor | null {
  const match = /^(.+):(\d{1,15})$/.exec(text);
  const [, epoch, version] = match ?? [];
  return epoch === undefined || version === undefined ? null : { epoch, version: Number(version) };
}

class FeedStream {
  readonly #service: DaemonService;
  readonly #outgoing: ServerResponse;
  readonly #options: StreamOptions;
  readonly #subscriber: Subscriber<FeedRow>;
  /** The socket has not taken what was written. */
  #isBlocked = false;
  /** A whole list was just sent. */
  #isResting = false;
  #isOver = false;
  #cancelHeartbeat: () => void = () => undefined;
  #cancelRest: () => void = () => undefined;

  constructor(service: DaemonService, outgoing: ServerResponse, options: StreamOptions) {
    this.#service = service;
    this.#outgoing = outgoing;
    this.#options = options;
    this.#subscriber = unwrap(
      service.feed.subscribe({
        ...(options.since === null ? {} : { since: options.since }),
        onReady: () => this.#pump(),
        onCut: (reason) => this.#cut(reason),
      }),
    );
  }

  start(): void {
    const outgoing = this.#outgoing;
    outgoing.on('close', () => this.#leave());
    outgoing.on('drain', () => {
      this.#isBlocked = false;
      this.#pump();
    });
    outgoing.writeHead(200, {
      ...handshake(this.#service.status().version),
      'content-type': 'text/event-stream',
      connection: 'close',
    });
    outgoing.flushHeaders();
    this.#beat();
    this.#pump();
  }

  #pump(): void {
    while (!this.#isBlocked && !this.#isResting && !this.#isOver) {
      const message = this.#subscriber.take(this.#isListScope() ? undefined : limits.feedTakeChangesMax);
      if (message === null) return;
      if (message.type === 'cut') {
        this.#cut(message.reason);
        return;
      }
      if (!this.#isListScope()) this.#write(this.#rowsBytes(message));
      else if (isAboutLists(message)) this.#writeList();
    }
  }

  #writeList(): void {
    this.#write(this.#listEvent());
    this.#rest();
  }

  /** Clients that keep up ask for the same changes: they are written out once, and all share the bytes. */
  #rowsBytes(message: Data): string | Uint8Array {
    if (message.type === 'snapshot') return this.#rowsEvent(message);
    const { feed } = this.#service;
    const key = `${this.#options.scope} ${message.from} ${message.to}`;
    const last = written.get(feed);
    if (last?.key === key) return last.bytes;
    const bytes = Buffer.from(this.#rowsEvent(message));
    written.set(feed, { key, bytes });
    return bytes;
  }

  #write(text: string | Uint8Array): void {
    if (!this.#outgoing.write(text)) this.#isBlocked = true;
  }

  #isListScope(): boolean {
    const { scope } = this.#options;
    return scope === 'windows' || scope === 'sessions';
  }

  #wants(key: string): boolean {
    const { scope } = this.#options;
    return scope === 'all' || key.startsWith(prefixes[scope]);
  }

  #head(): { readonly schema_version: number; readonly generated_at: string } {
    return { schema_version: schemaVersion, generated_at: isoTime(this.#service.toWall(this.#service.now())) };
  }

  #rowsEvent(message: Data): string {
    const { epoch } = this.#service.feed;
    if (message.type === 'snapshot') {
      const items = message.items
        .filter((item) => this.#wants(item.key))
        .map(({ key, value }) => ({ key, value: this.#item(value) }));
      const events = this.#events(message.after === null ? [] : this.#service.shells.eventsAfter(message.after));
      const data = { ...this.#head(), epoch, version: message.version, items, events };
      return sse('snapshot', `${epoch}:${message.version}`, data);
    }
    const events = this.#events(message.changes.flatMap(({ value }) => (isEvent(value) ? [value] : [])));
    const changes = message.changes
      .filter(({ key, value }) => this.#wants(key) && !isEvent(value))
      .map(({ version, key, value }) => ({ version, key, value: value === null ? null : this.#item(value) }));
    // An id alone moves the client's place on; it is not told as an event.
    if (changes.length + events.length === 0) return `id: ${epoch}:${message.to}\n\n`;
    const { from, to } = message;
    return sse('changes', `${epoch}:${to}`, { ...this.#head(), from, to, changes, events });
  }

  #item(row: FeedRow): unknown {
    const toWall = (time: number): number => this.#service.toWall(time);
    if ('identity' in row) return paneItem(row, toWall);
    if (isEvent(row)) return shellEventItem(row, toWall);
    if ('notice_id' in row) return noticeItem(row, toWall);
    return 'last_log' in row ? shellItem(row, toWall) : targetItem(row, toWall);
  }

  #events(happened: readonly ShellEvent[]): readonly unknown[] {
    return this.#wants(prefixes.shells) ? happened.map((event) => this.#item(event)) : [];
  }

  #listEvent(): string {
    const service = this.#service;
    const { epoch } = service.feed;
    const version = this.#subscriber.version();
    const input = {
      rows: service.rows(),
      targets: service.targets(),
      now: service.now(),
      toWall: (time: number) => service.toWall(time),
    };
    const list = this.#options.scope === 'windows' ? unwrap(listWindows(input)) : unwrap(listSessions(input));
    return sse('list', `${epoch}:${version}`, { ...this.#head(), epoch, version, list });
  }

  #rest(): void {
    this.#isResting = true;
    this.#cancelRest = this.#options.clock.after(limits.feedListPauseMs, () => {
      this.#isResting = false;
      this.#pump();
    });
  }

  /** Not while blocked: what a stuck reader does not take must not pile up. */
  #beat(): void {
    this.#cancelHeartbeat = this.#options.clock.after(limits.feedHeartbeatMs, () => {
      if (!this.#isBlocked) this.#write(': alive\n\n');
      this.#beat();
    });
  }

  /** A reader that still reads is told why; a stuck one would only keep its socket. */
  #cut(reason: string): void {
    if (this.#isOver) return;
    const isBlocked = this.#isBlocked;
    this.#leave();
    if (isBlocked) this.#outgoing.destroy();
    else this.#outgoing.end(`event: cut\ndata: ${safeJson({ reason })}\n\n`);
  }

  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelHeartbeat();
    this.#cancelRest();
    this.#subscriber.close();
  }
}

/** The last changes that were written out, of each feed. */
const written = new WeakMap<DaemonService['feed'], { readonly key: string; readonly bytes: Uint8Array }>();

const isEvent = (row: FeedRow | null): row is ShellEvent => row !== null && 'seq' in row;

const rows = 'row:';
const prefixes = {
  panes: rows,
  windows: rows,
  sessions: rows,
  targets: 'target:',
  shells: 'shell',
  notices: 'notice:',
} as const;

/** Lists of windows and sessions are sums over panes: nothing in them changes with a shell or a notice. */
const isAboutLists = (message: Data): boolean =>
  message.type === 'snapshot' ||
  message.changes.some(({ key }) => !key.startsWith(prefixes.shells) && !key.startsWith(prefixes.notices));

function sse(event: string, id: string, data: unknown): string {
  return `event: ${event}\nid: ${id}\ndata: ${safeJson(data)}\n\n`;
}
