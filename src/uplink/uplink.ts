// The link of this daemon to its hub: one more subscriber of its own feed, outbound only, with nothing that waits (HUB1). What was
// not taken is told from the ring when the hub is back, or as a snapshot; a hub that is slow or gone never makes a daemon grow.

import type { HubAskKind, WireApplied, WireBatch } from '../api/hub-wire.ts';
import type { Feed, FeedRow, Subscriber } from '../feed/feed.ts';
import { type Failure, failure } from '../model/errors.ts';
import type { HubShare } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { RandomSource } from '../platform/random.ts';
import type { ToWall } from '../view/lists-items.ts';
import type { EdgeLink, OpenLink } from './link.ts';
import { batchesOf } from './outgoing.ts';

export interface UplinkParts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly feed: Feed<FeedRow>;
  readonly toWall: ToWall;
  readonly open: OpenLink;
  readonly share: () => HubShare;
  readonly allows: () => readonly string[];
  readonly version: string;
  /** The number of the last audit row. */
  readonly audit: () => Promise<number>;
  readonly life: string;
  readonly offset: () => number;
  /** The hub has seen more than this daemon remembers: it goes on above that. */
  readonly raiseOffset: (offset: number) => Promise<void>;
  readonly onAsk: (kind: HubAskKind, body: unknown) => Promise<unknown>;
  /** Numbered rows that the hub has not got yet, sent while the link is open. */
  readonly log: (link: EdgeLink) => Promise<void>;
}

export class Uplink {
  readonly #parts: UplinkParts;
  #link: EdgeLink | null = null;
  #subscriber: Subscriber<FeedRow> | null = null;
  /** What the hub has of this feed, as far as it said. */
  #has: { readonly epoch: string; readonly version: number } | null = null;
  /** Until a snapshot of what may be told now was taken as a whole, over whichever connection. */
  #isAnew = false;
  #isPumping = false;
  #isWanted = false;
  #failures = 0;
  #timers = new Map<'retry' | 'batch' | 'beat' | 'log', Cancel>();
  readonly #broken = new Map<'beat' | 'log', Failure>();
  #isClosed = false;
  isOpen = false;
  trouble: Failure | null = null;
  lastSentAt: number | null = null;

  constructor(parts: UplinkParts) {
    this.#parts = parts;
    this.#connect();
  }

  /** Says goodbye where it can. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#timers.values()) cancel();
    if (this.isOpen) await Promise.race([this.#attempt('beat', this.#putBeat(true)), this.#pause(goodbyeMs)]);
    this.#link?.close();
    this.#left();
  }

  /** What the owner lets out has changed: everything is told anew. */
  shareChanged(): void {
    this.#has = null;
    this.#isAnew = true;
    if (this.isOpen) this.#subscribe();
  }

  /** An action of the hub was carried out: its row follows at once. */
  logSoon(): void {
    this.#later('log', 0, () => void this.#logNow());
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#parts.clock.after(ms, resolve));
  }

  #later(what: 'retry' | 'batch' | 'beat' | 'log', ms: number, work: () => void): void {
    this.#timers.get(what)?.();
    if (!this.#isClosed) this.#timers.set(what, this.#parts.clock.after(ms, work));
  }

  #connect(): void {
    const link = this.#parts.open({
      onOpen: (place) => {
        this.isOpen = true;
        this.trouble = null;
        const known = place === null ? this.#has : place.epoch === null ? null : { ...place, epoch: place.epoch };
        this.#has = this.#isAnew ? null : known;
        this.#subscribe();
        this.#beat();
        void this.#logNow();
      },
      onAsk: (kind, body) => this.#asked(kind, body),
      onEnd: (why) => {
        this.trouble = why;
        this.#left();
        this.#retry();
      },
    });
    this.#link = link;
  }

  #left(): void {
    this.isOpen = false;
    this.#subscriber?.close();
    this.#subscriber = null;
    this.#link = null;
    for (const what of ['batch', 'beat', 'log'] as const) this.#timers.get(what)?.();
  }

  /** Two hundred daemons must not come back in the same second. */
  #retry(): void {
    const growing = limits.hubRetryFirstMs * 2 ** Math.min(this.#failures, 16);
    const most = Math.min(limits.hubRetryMs, growing);
    this.#failures += 1;
    const part = this.#parts.random.uint32() / 2 ** 32;
    this.#later('retry', Math.round(most * (0.5 + part / 2)), () => this.#connect());
  }

  #subscribe(): void {
    this.#subscriber?.close();
    const { feed, offset } = this.#parts;
    const has = this.#has;
    const since = has === null ? undefined : { epoch: has.epoch, version: has.version - offset() };
    const made = feed.subscribe({
      ...(since === undefined || since.version < 0 ? {} : { since }),
      onReady: () => this.#soon(),
      onCut: () => this.#later('retry', limits.hubRetryFirstMs, () => this.#subscribe()),
    });
    if (!made.ok) {
      this.trouble = made.failure;
      this.#later('retry', limits.hubRetryMs, () => this.#subscribe());
      return;
    }
    this.#subscriber = made.value;
    void this.#pump();
  }

  #soon(): void {
    this.#later('batch', limits.hubBatchMs, () => void this.#pump());
  }

  /** One batch at a time, and no sooner than the last one was taken. */
  async #pump(): Promise<void> {
    if (this.#isPumping) {
      this.#isWanted = true;
      return;
    }
    this.#isPumping = true;
    const subscriber = this.#subscriber;
    const isDone = await this.#send(subscriber);
    this.#isPumping = false;
    if (this.#isWanted || subscriber !== this.#subscriber) {
      this.#isWanted = false;
      void this.#pump();
    } else if (!isDone) this.#soon();
  }

  /** True: there is nothing more to tell. */
  async #send(subscriber: Subscriber<FeedRow> | null): Promise<boolean> {
    const message = subscriber?.take(limits.hubBatchChangesMax) ?? null;
    if (message === null || message.type === 'cut') return true;
    const { feed, offset } = this.#parts;
    const batches = batchesOf(message, feed.epoch, this.#has?.version ?? null, this.#parts);
    for (const batch of batches) {
      const applied = await this.#put(batch);
      if (subscriber !== this.#subscriber) return true;
      if (applied === null) return true;
      if (!(await this.#accept(applied, batch))) return true;
    }
    if (batches.length > 0 && message.type === 'snapshot') {
      this.#has = { epoch: feed.epoch, version: message.version + offset() };
      this.#isAnew = false;
    }
    return false;
  }

  /** Null: the link is gone, and comes back. */
  async #put(batch: WireBatch): Promise<{ readonly applied: WireApplied | null } | null> {
    const part = batch.kind === 'snapshot' ? `:${batch.part}` : '';
    const done = (await this.#link?.put('feed', `${batch.epoch}:${batch.to}${part}`, batch)) ?? null;
    if (done !== null) {
      this.lastSentAt = this.#parts.clock.wallMs();
      this.#failures = 0;
    }
    return done;
  }

  /** False: it begins anew. */
  async #accept({ applied }: { readonly applied: WireApplied | null }, batch: WireBatch): Promise<boolean> {
    switch (applied?.result) {
      case undefined:
      case 'applied':
      case 'old':
        if (batch.kind === 'changes') this.#has = { epoch: batch.epoch, version: batch.to };
        return true;
      case 'behind':
      case 'gap':
        // The hub asks for what it needs.
        return false;
      case 'refused':
        this.trouble = failure('E_HUB', 'the hub refused what this daemon told it', 'see the log of the hub');
        return false;
    }
  }

  async #asked(kind: HubAskKind, body: unknown): Promise<unknown> {
    if (kind !== 'resync') return this.#parts.onAsk(kind, body);
    const above = typeof body === 'object' && body !== null && 'above' in body ? body.above : null;
    const mine = this.#parts.feed.version() + this.#parts.offset();
    if (typeof above === 'number' && Number.isSafeInteger(above) && above >= mine) {
      await this.#parts.raiseOffset(this.#parts.offset() + above - mine + 1);
    }
    this.#has = null;
    if (this.isOpen) this.#subscribe();
    return { done: true };
  }

  /** A disk or a store that fails ends no daemon: it is told as trouble until the same works again. */
  async #attempt(what: 'beat' | 'log', work: Promise<void>): Promise<void> {
    try {
      await work;
      if (this.trouble !== null && this.trouble === this.#broken.get(what)) this.trouble = null;
      this.#broken.delete(what);
    } catch (problem) {
      const words = problem instanceof Error ? problem.message : String(problem);
      this.trouble = failure(
        'E_INTERNAL',
        `the hub is not told everything: ${words}`,
        'check the disk; it is tried again',
      );
      this.#broken.set(what, this.trouble);
    }
  }

  #beat(): void {
    void this.#attempt('beat', this.#putBeat(false));
    this.#later('beat', limits.hubBeatMs, () => this.#beat());
  }

  async #putBeat(goodbye: boolean): Promise<void> {
    const { clock, share, allows, version, life } = this.#parts;
    const audit = await this.#parts.audit();
    const at = new Date(clock.wallMs()).toISOString();
    const has = this.#has;
    await this.#link?.put('beat', '', {
      ...{ v: 1, epoch: has?.epoch ?? null, version: has?.version ?? 0, share: share() },
      ...{ allows: [...allows()], agtmux: version, audit, life, at, goodbye },
    });
  }

  async #logNow(): Promise<void> {
    const link = this.#link;
    if (link === null || !this.isOpen) return;
    await this.#attempt('log', this.#parts.log(link));
    if (link === this.#link) this.#later('log', limits.hubLogLookMs, () => void this.#logNow());
  }
}

/** A hub that does not listen must not keep a daemon from leaving. */
const goodbyeMs = 1_000;
