// From the stream of one tenant to its table. Every process has one of these, and the lease in the table lets one of them read; its
// place in the stream stands in the table and moves with the rows, so that nothing is lost or done twice whoever dies when (HUB2).

import {
  type ConsumerMessages,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { RandomSource } from '../platform/random.ts';
import type { HubTable } from './table.ts';
import type { EdgeMessage, TransportHandlers } from './transport.ts';

export interface NatsProjectorParts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly table: HubTable;
  readonly tenant: string;
  readonly manager: JetStreamManager;
  readonly stream: JetStreamClient;
  readonly handlers: TransportHandlers;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

export class NatsProjector {
  readonly #parts: NatsProjectorParts;
  readonly #holder: string;
  readonly #ended: Promise<void>;
  #messages: ConsumerMessages | null = null;
  #isReading = false;
  #place = 0;
  #last = 0;
  #isClosed = false;
  #wake: () => void = () => undefined;
  #cancelWatch: Cancel = () => undefined;

  constructor(parts: NatsProjectorParts) {
    this.#parts = parts;
    this.#holder = parts.random.hex(8);
    this.#ended = this.#run();
  }

  /** The next one need not wait until this one was silent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    this.#wake();
    await this.#ended;
    await this.#hold(0).catch(() => undefined);
  }

  /** Batches that are not in the table yet; null: another process reads, or nobody. */
  get waiting(): number | null {
    return this.#isReading ? Math.max(0, this.#last - this.#place) : null;
  }

  get #table() {
    return this.#parts.table.of(this.#parts.tenant);
  }

  /** With nothing left of its time somebody else holds it at once. */
  #hold(forMs: number): Promise<boolean> {
    return this.#table.lease(this.#holder, this.#parts.clock.wallMs(), forMs);
  }

  async #run(): Promise<void> {
    let trouble = '';
    while (!this.#isClosed) {
      try {
        if (await this.#hold(limits.hubLeaseMs)) await this.#project();
        trouble = '';
      } catch (problem) {
        // Said once: while an engine is away it is the same every second.
        const words = problem instanceof Error ? problem.message : String(problem);
        if (words !== trouble) this.#parts.warn('reading the stream failed', { tenant: this.#parts.tenant, problem });
        trouble = words;
      }
      this.#stop();
      if (!this.#isClosed) await this.#pause(limits.hubLeaseBeatMs);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  #stop(): void {
    this.#isReading = false;
    this.#cancelWatch();
    this.#messages?.stop();
    this.#messages = null;
  }

  /** Until the lease or the stream is lost. A stream that was made anew begins at its own beginning: it has a place of its own. */
  async #project(): Promise<void> {
    const { manager, stream, tenant, handlers } = this.#parts;
    const info = await ensureStream(manager, tenant);
    const name = placeOf(info);
    let place = await this.#table.cursor(name);
    const first = Math.max(info.state.first_seq, 1);
    if (place === 0 || place > info.state.last_seq || place < first - 1) {
      place = first - 1;
      await this.#table.setCursor(name, place);
      await handlers.onLost(tenant);
    }
    const consumer = await stream.consumers.get(info.config.name, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: place + 1,
    });
    const messages = await consumer.consume({ max_messages: limits.hubStreamReadMax });
    this.#messages = messages;
    this.#isReading = true;
    this.#place = place;
    this.#last = info.state.last_seq;
    this.#watch(info);
    let some: JsMsg[] = [];
    for await (const message of messages) {
      some.push(message);
      // What came while one transaction was under way becomes the next one, together.
      if (some.length < limits.hubApplyBatchesMax && messages.getPending() > 0) continue;
      const moved = await this.#apply(name, place, some);
      if (moved === null) return;
      place = moved;
      this.#place = place;
      some = [];
    }
  }

  /** The lease goes on while it is asked for; a stream that is another one by now has to be read anew. */
  #watch(info: StreamInfo): void {
    this.#cancelWatch = this.#parts.clock.after(limits.hubLeaseBeatMs, () => {
      void this.#isStill(info)
        // An engine that is away: neither rows nor lease go on, and nobody else gets further.
        .catch(() => true)
        .then((isStill) => {
          if (!this.#isReading) return;
          if (isStill) this.#watch(info);
          else this.#stop();
        });
    });
  }

  async #isStill(info: StreamInfo): Promise<boolean> {
    if (!(await this.#hold(limits.hubLeaseMs))) return false;
    const now = await ensureStream(this.#parts.manager, this.#parts.tenant);
    this.#last = now.state.last_seq;
    return placeOf(now) === placeOf(info);
  }

  /** The place after these; null when another one has moved it. */
  async #apply(name: string, place: number, messages: readonly JsMsg[]): Promise<number | null> {
    const { handlers, tenant, table, warn } = this.#parts;
    let at = place;
    let rest = messages.filter(({ seq }) => seq > at);
    if ((rest[0]?.seq ?? at + 1) !== at + 1) await handlers.onLost(tenant);
    let atOnce = rest.length;
    let failed = 0;
    while (rest.length > 0) {
      if (!this.#isReading) return null;
      const some = rest.slice(0, atOnce);
      const to = some.at(-1)?.seq ?? at;
      try {
        const readable = failed >= givenUpAfter ? [] : some.flatMap((one) => messageOf(tenant, one));
        if (!(await handlers.onBatches(tenant, readable, { stream: name, from: at, to }))) return null;
        at = to;
        rest = rest.slice(some.length);
        failed = 0;
      } catch (problem) {
        // The table answers: it is something in these messages. Alone it harms nobody else, and is left out in the end.
        if (!(await table.check())) await this.#pause(limits.hubRetryFirstMs);
        else if (some.length > 1) atOnce = Math.ceil(some.length / 2);
        else {
          failed += 1;
          if (failed === givenUpAfter) warn('a batch was left out', { tenant, subject: some[0]?.subject, problem });
        }
      }
    }
    return at;
  }
}

const givenUpAfter = 3;

/** A stream that was deleted and made anew is another one. */
const placeOf = ({ created }: StreamInfo): string => `feed ${created}`;

function messageOf(tenant: string, { subject, data }: JsMsg): EdgeMessage[] {
  const daemon = daemonOfSubject(subject);
  try {
    return [{ tenant, daemon, kind: 'feed', body: JSON.parse(new TextDecoder().decode(data)), life: null }];
  } catch {
    return [];
  }
}

const streamOf = (tenant: string): string => `agtmux_feed_${tenant}`;
export const feedSubject = (tenant: string, daemon: string): string => `agtmux.feed.${tenant}.${daemon}`;
const daemonOfSubject = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1);

const notFound = 10_059;

/** The stream of a tenant carries, and is no memory: what it loses the daemons tell again. Made by whoever needs it first. */
export async function ensureStream(manager: JetStreamManager, tenant: string): Promise<StreamInfo> {
  const name = streamOf(tenant);
  try {
    return await manager.streams.info(name);
  } catch (problem) {
    if (!(problem instanceof JetStreamApiError) || problem.code !== notFound) throw problem;
  }
  return manager.streams.add({
    name,
    subjects: [feedSubject(tenant, '*')],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_age: limits.hubStreamAgeMs * 1_000_000,
    max_bytes: limits.hubStreamBytesMax,
    // Nothing is published with an id.
    duplicate_window: 100_000_000,
  });
}
