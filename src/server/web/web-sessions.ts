// Who may come in at the web server: links that wait, browsers that are in, tickets for their sockets. Only fingerprints of
// secrets are held, and every secret is compared as a whole (SEC2). Knows no request and no file.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { CallerClaim, WebCaller } from '../../model/actions.ts';
import { limits } from '../../model/limits.ts';
import type { RandomSource } from '../../platform/random.ts';

/** One browser. */
export interface WebSession {
  readonly id: string;
  readonly caller: WebCaller;
  readonly read_only: boolean;
  readonly made_at: number;
}

/** It as the one who asks (ACT6). */
export const claimOf = ({ caller }: WebSession): CallerClaim => ({ pid: null, hops: 0, web: caller });

/** As it is kept; times are the daemon's. */
export interface StoredSession extends WebSession {
  readonly cookie_hash: string;
  readonly key_hash: string;
  readonly used_at: number;
}

interface Held {
  readonly kept: StoredSession;
  usedAt: number;
  /** What it has open: feeds and sockets, which end with it. */
  readonly open: Set<() => void>;
}

interface Waiting<Value> {
  readonly value: Value;
  readonly expires_at: number;
}

/** What a link stands for. */
export type Admission = Pick<WebSession, 'read_only'> & { readonly caller: Omit<WebCaller, 'session'> };

export interface Ticket {
  readonly session: WebSession;
  readonly ref: string;
}

export interface Entry {
  readonly session: WebSession;
  readonly cookie: string;
  readonly key: string;
}

export interface WebSessionsParts {
  readonly random: Pick<RandomSource, 'hex'>;
  /** The daemon's own time, which goes on over a restart and never back. */
  readonly now: () => number;
  /** It is told of agents while no page of it is open: then it is in use all the same. */
  readonly isReached: (id: string) => boolean;
  readonly onLeave: (id: string) => void;
}

const secretBytes = 32;
const cookieForm = /^([0-9a-f]{8})\.([0-9a-f]{64})$/;
const secretForm = /^[0-9a-f]{64}$/;

export class WebSessions {
  readonly #parts: WebSessionsParts;
  readonly #tokens = new Map<string, Waiting<Admission>>();
  readonly #tickets = new Map<string, Waiting<Ticket>>();
  readonly #sessions = new Map<string, Held>();

  constructor(parts: WebSessionsParts) {
    this.#parts = parts;
  }

  load(sessions: readonly StoredSession[]): void {
    for (const kept of sessions) {
      this.#sessions.set(kept.id, { kept, usedAt: kept.used_at, open: new Set() });
    }
    this.sweep();
  }

  kept(): readonly StoredSession[] {
    return [...this.#sessions.values()].map(({ kept, usedAt }) => ({ ...kept, used_at: usedAt }));
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** False: nobody is in, and nobody holds a link. */
  get isNeeded(): boolean {
    return this.#sessions.size > 0 || this.#tokens.size > 0;
  }

  /** A link for one browser, good once and for a short time. */
  addToken(admission: Admission): { readonly token: string; readonly expires_at: number } {
    const expires_at = this.#parts.now() + limits.webTokenMs;
    const token = this.#parts.random.hex(secretBytes);
    put(this.#tokens, hashOf(token), { value: admission, expires_at }, limits.webTokensMax);
    return { token, expires_at };
  }

  /** Null: used, too old, or never given out. Whatever comes of it, the link is worth nothing afterwards. */
  enter(token: string): Entry | null {
    const admission = this.#take(this.#tokens, token);
    if (admission === null) return null;
    const { random, now } = this.#parts;
    const id = random.hex(4);
    const [secret, key] = [random.hex(secretBytes), random.hex(secretBytes)];
    const caller: WebCaller = { session: id, ...admission.caller };
    const session: WebSession = { id, caller, read_only: admission.read_only, made_at: now() };
    const kept = { ...session, cookie_hash: hashOf(secret), key_hash: hashOf(key), used_at: now() };
    this.#makeRoom();
    this.#sessions.set(id, { kept, usedAt: now(), open: new Set() });
    return { session, cookie: `${id}.${secret}`, key };
  }

  /** By what the browser sends along by itself, and by what only our page can know. */
  sessionOf(cookie: string | null, key: string | null): WebSession | null {
    const held = this.#heldBy(cookie);
    if (held === null || key === null || !secretForm.test(key) || !isSame(held.kept.key_hash, hashOf(key))) return null;
    held.usedAt = this.#parts.now();
    return held.kept;
  }

  /** By the cookie alone: whoever asks by it has to prove something else that only this browser was told. */
  sessionByCookie(cookie: string | null): WebSession | null {
    return this.#heldBy(cookie)?.kept ?? null;
  }

  addTicket(session: WebSession, ref: string): { readonly ticket: string; readonly expires_at: number } {
    const expires_at = this.#parts.now() + limits.webTicketMs;
    const ticket = this.#parts.random.hex(secretBytes);
    put(this.#tickets, hashOf(ticket), { value: { session, ref }, expires_at }, limits.webTicketsMax);
    return { ticket, expires_at };
  }

  /** A socket cannot bring the page's key along: the ticket that it was asked for with stands in for it. */
  useTicket(ticket: string, cookie: string | null): Ticket | null {
    const held = this.#heldBy(cookie);
    const used = this.#take(this.#tickets, ticket);
    return used === null || held === null || used.session.id !== held.kept.id ? null : used;
  }

  /** What ends when the session does. Gives back how to let go of it. */
  hold({ id }: WebSession, end: () => void): () => void {
    const held = this.#sessions.get(id);
    if (held === undefined) {
      end();
      return () => undefined;
    }
    held.open.add(end);
    return () => {
      held.open.delete(end);
      held.usedAt = this.#parts.now();
    };
  }

  leave(id: string): void {
    const held = this.#sessions.get(id);
    if (this.#sessions.delete(id)) this.#parts.onLeave(id);
    for (const end of [...(held?.open ?? [])]) end();
  }

  clear(): void {
    this.#tokens.clear();
    this.#tickets.clear();
    for (const id of [...this.#sessions.keys()]) this.leave(id);
  }

  /** Takes away what is too old. A page that still has its feed open is in use. */
  sweep(): void {
    const now = this.#parts.now();
    for (const waiting of [this.#tokens, this.#tickets]) {
      for (const [hash, { expires_at }] of waiting) if (now >= expires_at) waiting.delete(hash);
    }
    for (const [id, held] of [...this.#sessions]) if (this.#isOver(held, now)) this.leave(id);
  }

  #heldBy(cookie: string | null): Held | null {
    const [, id = '', secret = ''] = cookieForm.exec(cookie ?? '') ?? [];
    const held = this.#sessions.get(id);
    if (held === undefined || !isSame(held.kept.cookie_hash, hashOf(secret))) return null;
    return this.#isOver(held, this.#parts.now()) ? null : held;
  }

  #isOver({ kept, usedAt, open }: Held, now: number): boolean {
    const isIdle = open.size === 0 && now - usedAt >= limits.webIdleMs && !this.#parts.isReached(kept.id);
    return isIdle || now - kept.made_at >= limits.webSessionMs;
  }

  #take<Value>(from: Map<string, Waiting<Value>>, secret: string): Value | null {
    if (!secretForm.test(secret)) return null;
    const hash = hashOf(secret);
    const waiting = from.get(hash);
    from.delete(hash);
    return waiting === undefined || this.#parts.now() >= waiting.expires_at ? null : waiting.value;
  }

  #makeRoom(): void {
    while (this.#sessions.size >= limits.webSessionsMax) {
      const [oldest] = [...this.#sessions.values()].sort((one, other) => one.usedAt - other.usedAt);
      if (oldest === undefined) return;
      this.leave(oldest.kept.id);
    }
  }
}

/** The oldest makes room. */
function put<Value>(into: Map<string, Waiting<Value>>, hash: string, value: Waiting<Value>, countMax: number): void {
  for (const [first] of into) {
    if (into.size < countMax) break;
    into.delete(first);
  }
  into.set(hash, value);
}

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
