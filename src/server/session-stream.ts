// One reader of a session over server-sent events. It pulls page after page from where it stands, so a slow one skips the
// versions in between and holds up nobody.

import type { ServerResponse } from 'node:http';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { handshake, safeJson, unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';
import { managedReply, messagePage } from './session-items.ts';

interface StreamOptions {
  readonly clock: Clock;
  readonly ref: string;
  readonly after: number;
}

/** Throws E_REF_NOT_FOUND before anything is written. */
export function streamSession(service: DaemonService, outgoing: ServerResponse, options: StreamOptions): void {
  new SessionStream(service, outgoing, options).start();
}

class SessionStream {
  readonly #service: DaemonService;
  readonly #outgoing: ServerResponse;
  readonly #options: StreamOptions;
  readonly #stopFollowing: () => void;
  #cursor: number;
  /** What was told last of the session itself. */
  #told = '';
  #isReading = false;
  #hasMore = true;
  #isBlocked = false;
  #isOver = false;
  #cancelHeartbeat: () => void = () => undefined;

  constructor(service: DaemonService, outgoing: ServerResponse, options: StreamOptions) {
    this.#service = service;
    this.#outgoing = outgoing;
    this.#options = options;
    this.#cursor = options.after;
    this.#stopFollowing = unwrap(
      service.sessions.follow(options.ref, () => {
        this.#hasMore = true;
        void this.#pump();
      }),
    );
  }

  start(): void {
    const outgoing = this.#outgoing;
    outgoing.on('close', () => this.#leave());
    outgoing.on('drain', () => {
      this.#isBlocked = false;
      void this.#pump();
    });
    outgoing.writeHead(200, {
      ...handshake(this.#service.status().version),
      'content-type': 'text/event-stream',
      connection: 'close',
    });
    outgoing.flushHeaders();
    this.#beat();
    void this.#pump();
  }

  async #pump(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#hasMore && !this.#isBlocked && !this.#isOver) {
        this.#hasMore = false;
        await this.#step();
      }
    } catch {
      // What cannot be read now may be later: the reader comes back to where it stands, and nobody else is concerned.
      this.#leave();
      this.#outgoing.destroy();
    } finally {
      this.#isReading = false;
    }
  }

  async #step(): Promise<void> {
    const { ref } = this.#options;
    const { sessions } = this.#service;
    const page = await sessions.messages(ref, this.#cursor, limits.sessionPageDefault);
    const row = sessions.get(ref);
    if (this.#isOver) return;
    if (!page.ok || !row.ok) {
      this.#leave();
      this.#outgoing.end('event: gone\ndata: {}\n\n');
      return;
    }
    if (page.value.messages.length > 0) {
      this.#cursor = page.value.cursor;
      this.#hasMore = true;
      this.#write('messages', messagePage(this.#service, page.value));
    }
    // What it said last and when is told by the messages themselves.
    const { last_words: _words, updated_at: _at, tokens: _tokens, ...seen } = row.value;
    const told = JSON.stringify(seen);
    if (told === this.#told) return;
    this.#told = told;
    this.#write('session', managedReply(this.#service, row.value));
  }

  #write(event: string, data: unknown): void {
    const text = `event: ${event}\nid: ${this.#cursor}\ndata: ${safeJson(data)}\n\n`;
    if (!this.#outgoing.write(text)) this.#isBlocked = true;
  }

  /** Not while blocked: what a stuck reader does not take must not pile up. */
  #beat(): void {
    this.#cancelHeartbeat = this.#options.clock.after(limits.feedHeartbeatMs, () => {
      if (!this.#isBlocked) this.#outgoing.write(': alive\n\n');
      this.#beat();
    });
  }

  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelHeartbeat();
    this.#stopFollowing();
  }
}
