// One story, delivered in many ways: any order, doubled, in any batches, with crashes before and after the commit and a
// reload from the log. Whatever the way, the answer must be the reference's, and no promise may break on the road.

import { type Steps, standardSteps } from '../../src/engine/steps.ts';
import { EventProcessor } from '../../src/ingest/event-processor.ts';
import type { RuntimeId } from '../../src/model/ids.ts';
import type { StateRecord } from '../../src/model/records.ts';
import type { SimulatedRandom } from '../../src/platform/simulated/random.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import type { Commit, Store } from '../../src/store/store.ts';
import { type Raw, storyStart } from './scenario.ts';

/** What a planted bug may replace. */
export interface Parts {
  readonly steps: Steps;
  /** Wraps the log, between the ledger and the disk. */
  readonly wrapStore: (store: Store) => Store;
  /** True when the sender believes its events are safe before the commit has answered. */
  readonly acknowledgeEarly: boolean;
}

export const soundParts: Parts = { steps: standardSteps, wrapStore: (store) => store, acknowledgeEarly: false };

class SimulatedCrash extends Error {}

/** A log whose next commit can be cut off: nothing written, or written and the answer lost. */
class CuttableStore {
  readonly #store: Store;
  cut: 'before' | 'after' | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  asStore(): Store {
    return new Proxy(this.#store, {
      get: (store, name) => {
        if (name === 'commit') return (commit: Commit) => this.#commit(commit);
        const value: unknown = Reflect.get(store, name);
        return typeof value === 'function' ? value.bind(store) : value;
      },
    });
  }

  async #commit(commit: Commit): Promise<readonly number[]> {
    const { cut } = this;
    this.cut = null;
    if (cut === 'before') throw new SimulatedCrash();
    const ids = await this.#store.commit(commit);
    if (cut === 'after') throw new SimulatedCrash();
    return ids;
  }
}

export interface Delivery {
  readonly answers: ReadonlyMap<string, string>;
  /** Promises that broke on the way. */
  readonly broken: readonly string[];
  readonly crashes: number;
  readonly events: number;
}

/**
 * `isHurried`: everything within seconds, so that the answer must be the reference's. Otherwise time passes between the
 * batches, events grow old, waits run out and history is dropped: then what was served must equal what is replayed.
 */
export async function deliver(
  raws: readonly Raw[],
  random: SimulatedRandom,
  parts: Parts,
  isHurried = true,
): Promise<Delivery> {
  return new Courier(raws, random, parts, isHurried).run();
}

class Courier {
  readonly #random: SimulatedRandom;
  readonly #parts: Parts;
  readonly #disk = new CuttableStore(new MemoryStore());
  readonly #store: Store;
  readonly #broken: string[] = [];
  readonly #versions = new Map<RuntimeId, StateRecord>();
  readonly #isHurried: boolean;
  #queue: unknown[];
  #now = storyStart + 10_000;
  #crashes = 0;

  constructor(raws: readonly Raw[], random: SimulatedRandom, parts: Parts, isHurried: boolean) {
    this.#isHurried = isHurried;
    this.#random = random;
    this.#parts = parts;
    this.#store = parts.wrapStore(this.#disk.asStore());
    const doubled = raws.filter(() => random.chance(0.2));
    const junk = random.chance(0.1) ? [null, { source: 'nobody' }, { ...raws[0], event_time: this.#now + 60_000 }] : [];
    this.#queue = random.shuffle([...raws, ...doubled, ...junk]);
  }

  async run(): Promise<Delivery> {
    const batchMax = this.#random.pick([1, 3, 8, 64]);
    const crashRate = this.#random.pick([0, 0, 0.05, 0.3]);
    const events = this.#queue.length;
    let ledger = await this.#open();
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, this.#random.int(1, batchMax));
      this.#now += this.#isHurried ? 1 : this.#random.pick([1, 1, 900, 9_000, 31_000]);
      if (this.#random.chance(crashRate)) this.#disk.cut = this.#random.pick(['before', 'after']);
      try {
        const verdicts = await ledger.take(batch);
        if (verdicts.length !== batch.length) this.#broken.push('an event got no verdict');
        this.#watch(ledger);
        if (!this.#isHurried && this.#random.chance(0.1)) await this.#prune(ledger);
      } catch (problem) {
        if (!(problem instanceof SimulatedCrash)) throw problem;
        this.#crashes += 1;
        // Whoever was not answered sends again, some time later.
        if (!this.#parts.acknowledgeEarly) this.#queue.splice(this.#random.int(0, this.#queue.length), 0, ...batch);
        ledger = await this.#open();
      }
      this.#disk.cut = null;
    }
    this.#now += 1;
    const answers = readAnswers(ledger);
    const replayed = readAnswers(await this.#open());
    for (const [id, words] of answers) {
      if (replayed.get(id) !== words) this.#broken.push(`replay of ${id}: "${replayed.get(id)}", served: "${words}"`);
    }
    return { answers, broken: [...new Set(this.#broken)], crashes: this.#crashes, events };
  }

  /** Dropping history must change nothing that is served. */
  async #prune(ledger: EventProcessor): Promise<void> {
    const before = readAnswers(ledger);
    await ledger.prune({
      before: this.#random.pick([0, this.#now - 20_000]),
      isFull: this.#random.chance(0.5),
      slackMs: 0,
    });
    for (const [id, words] of readAnswers(ledger)) {
      if (before.get(id) !== words) this.#broken.push(`pruning changed ${id}: "${before.get(id)}" to "${words}"`);
    }
    // Whose history was dropped begins anew should it be heard of again.
    for (const id of this.#versions.keys()) if (!ledger.world.entries.has(id)) this.#versions.delete(id);
  }

  #open(): Promise<EventProcessor> {
    return EventProcessor.open({ store: this.#store, now: () => this.#now, steps: this.#parts.steps });
  }

  #watch(ledger: EventProcessor): void {
    const { taken, verdicts } = ledger.counters();
    const sum = Object.values(verdicts).reduce((total, count) => total + count, 0);
    // After a crash the counters start again while events may still wait from before: pending may be below zero then.
    if (taken !== sum) this.#broken.push('verdict counters do not balance (ADM2)');
    const routes = [...ledger.world.routes()];
    const connected = routes.filter(([, route]) => route === 'CONNECTED').length;
    const running = routes.filter(([, route]) => route !== 'NONE').length;
    if (connected !== Math.min(running, 1)) this.#broken.push('not exactly one CONNECTED (RTE5)');
    for (const { record } of ledger.world.entries.values()) if (record !== null) this.#watchVersion(record);
  }

  #watchVersion(record: StateRecord): void {
    const known = this.#versions.get(record.runtime_id);
    this.#versions.set(record.runtime_id, record);
    if (known === undefined) return;
    const tuple = (one: StateRecord): string => `${one.state}/${one.reason}/${one.ask?.ask_id}`;
    const step = record.state_version - known.state_version;
    if (step < 0) this.#broken.push('a state version went back (RSV11)');
    if (step === 0 && tuple(known) !== tuple(record)) this.#broken.push('a state changed under its version (RSV11)');
    // A crash after the commit hides steps from the one who watches.
    if (this.#crashes > 0) return;
    if (step > 1 || (step === 1 && tuple(known) === tuple(record))) {
      this.#broken.push('a state version grew without a change (RSV11)');
    }
  }
}

/** Everything that must not depend on the way of delivery, one line a runtime. */
function readAnswers(ledger: EventProcessor): ReadonlyMap<string, string> {
  const routes = ledger.world.routes();
  return new Map(
    ledger.states().map((one) => {
      const { state, reason, ask, background, suspended } = one;
      const work = `+${background.shells}+${background.agents}`;
      return [
        one.runtime_id,
        `${state}/${reason} ${ask?.ask_id ?? '-'} ${work} ${suspended} ${routes.get(one.runtime_id)}`,
      ];
    }),
  );
}
