// The agents' own files and streams, for all runs of one machine: asks the adapters what to follow, follows each thing
// once however many runs name it, and closes what no run needs any more.

import type { Agent, NativeLine, NativeSource, RunView, Watch } from '../../agents/contract.ts';
import type { RuntimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { StateName } from '../../model/states.ts';
import { Entry, type EntryOptions, type NativeHealth } from './entry.ts';
import type { Reach } from './follower.ts';
import { troubleWords } from './looks.ts';
import { watchKey } from './watch-words.ts';

export interface NativeRun {
  readonly agent: Agent;
  readonly run: RunView;
}

export interface NativeSourcesOptions {
  readonly reach: Reach;
  /** Wall time of the machine, ms since 1970: the clock that findings are stamped by. */
  readonly now: () => number;
  /** What a reader found, with the run it is about when only one can be meant. */
  readonly offer: EntryOptions['offer'];
}

interface Followed {
  readonly entry: Entry;
  readonly agent: Agent;
  readonly source: NativeSource;
  /** What its answers named, the oldest first. */
  readonly further: Map<string, Watch>;
}

/** What one run, or a reader in the name of runs, wants followed. */
interface Wish {
  readonly agent: Agent;
  readonly source: NativeSource;
  readonly watch: Watch;
  readonly runs: Map<RuntimeId, RunView>;
}

export class NativeSources {
  readonly #options: NativeSourcesOptions;
  #runs: readonly NativeRun[] = [];
  #followed = new Map<string, Followed>();
  /** Sources that could not say what they want, by agent and id. */
  #planTroubles = new Map<string, NativeHealth>();
  #isArranging = false;
  #isStale = false;
  #closed = false;

  constructor(options: NativeSourcesOptions) {
    this.#options = options;
  }

  /** All runs that are alive now. To be called whenever one begins or ends or something about one changes. */
  setRuns(runs: readonly NativeRun[]): void {
    if (this.#closed) return;
    this.#runs = runs;
    this.#arrange();
  }

  /** What the screen of a run shows, for readers that must find out which run a message is about. */
  look(runtime: RuntimeId, state: StateName): void {
    for (const { entry } of [...this.#followed.values()]) {
      if (entry.runs.some((run) => run.runtime_id === runtime))
        entry.take({ kind: 'look', runtime_id: runtime, state });
    }
  }

  /** The lines of one source that are open for a run. */
  linesOf(runtime: RuntimeId, source: string): readonly NativeLine[] {
    return [...this.#followed.values()].flatMap((one) => {
      const isMeant = one.source.id === source && one.entry.runs.some((run) => run.runtime_id === runtime);
      return isMeant && one.entry.line !== null ? [one.entry.line] : [];
    });
  }

  health(): readonly NativeHealth[] {
    return [...this.#planTroubles.values(), ...[...this.#followed.values()].map(({ entry }) => entry.health())];
  }

  close(): void {
    this.#closed = true;
    for (const { entry } of this.#followed.values()) entry.close();
    this.#followed.clear();
    this.#options.reach.close();
  }

  /** An answer may name further things while things are being arranged; then it is done once more. */
  #arrange(): void {
    this.#isStale = true;
    if (this.#isArranging) return;
    this.#isArranging = true;
    while (this.#isStale && !this.#closed) {
      this.#isStale = false;
      this.#arrangeOnce();
    }
    this.#isArranging = false;
  }

  #arrangeOnce(): void {
    const wishes = this.#wishes();
    for (const [key, { entry }] of [...this.#followed]) {
      const wish = wishes.get(key);
      if (wish !== undefined && entry.runs.some((run) => wish.runs.has(run.runtime_id))) {
        entry.setRuns([...wish.runs.values()]);
        continue;
      }
      this.#followed.delete(key);
      // Other runs of the same thing know nothing of what was told before: for them it begins anew.
      if (wish === undefined) entry.finish();
      else entry.close();
    }
    for (const [key, wish] of wishes) if (!this.#followed.has(key)) this.#open(key, wish);
  }

  #open(key: string, wish: Wish): void {
    const { agent, source, watch } = wish;
    const { now, offer } = this.#options;
    const entry = new Entry({ agent, source, watch, now, offer, onWatches: (more) => this.#further(key, more) });
    entry.setRuns([...wish.runs.values()]);
    this.#followed.set(key, { entry, agent, source, further: new Map() });
    entry.start(this.#options.reach);
  }

  /** The newest stay when there are too many: an agent that changes its conversation names another file each time. */
  #further(key: string, watches: readonly Watch[]): void {
    const followed = this.#followed.get(key);
    if (followed === undefined) return;
    let changed = false;
    for (const watch of watches) {
      const name = watchKey(watch);
      changed ||= !followed.further.has(name);
      followed.further.delete(name);
      followed.further.set(name, watch);
    }
    for (const name of followed.further.keys()) {
      if (followed.further.size <= limits.nativeWatchesPerRunMax) break;
      followed.further.delete(name);
    }
    if (changed) this.#arrange();
  }

  #wishes(): ReadonlyMap<string, Wish> {
    const wishes = new Map<string, Wish>();
    this.#planTroubles = new Map();
    for (const { agent, run } of this.#runs) {
      for (const source of agent.natives) {
        if (this.#options.reach.isRemote && !source.remote) continue;
        const { view, watches } = this.#plan(agent, source, run);
        for (const watch of watches) this.#wish(wishes, { agent, source, watch }, [view]);
      }
    }
    // What was named by readers, and by what those named: the map grows while it is walked, and each key is met once.
    for (const [key, { agent, source, runs }] of wishes) {
      const further = this.#followed.get(key)?.further.values() ?? [];
      for (const watch of further) this.#wish(wishes, { agent, source, watch }, runs.values());
    }
    return wishes;
  }

  #wish(wishes: Map<string, Wish>, wanted: Omit<Wish, 'runs'>, runs: Iterable<RunView>): void {
    const key = JSON.stringify([wanted.agent.name, wanted.source.id, watchKey(wanted.watch)]);
    let wish = wishes.get(key);
    if (wish === undefined) {
      if (wishes.size >= limits.nativeWatchesMax) {
        this.#planTrouble(wanted.agent, wanted.source, 'more is followed on this machine than is allowed');
        return;
      }
      wish = { ...wanted, runs: new Map() };
      wishes.set(key, wish);
    }
    for (const run of runs) wish.runs.set(run.runtime_id, run);
  }

  #plan(agent: Agent, source: NativeSource, run: RunView): { view: RunView; watches: readonly Watch[] } {
    try {
      const view = narrowed(source, run);
      const watches = source.plan(view);
      if (watches.length <= limits.nativeWatchesPerRunMax) return { view, watches };
      this.#planTrouble(agent, source, 'it wants more followed for one run than is allowed');
      return { view, watches: watches.slice(0, limits.nativeWatchesPerRunMax) };
    } catch (error) {
      this.#planTrouble(agent, source, `its plan failed: ${troubleWords(error)}`);
      return { view: run, watches: [] };
    }
  }

  #planTrouble(agent: Agent, source: NativeSource, trouble: string): void {
    this.#planTroubles.set(`${agent.name} ${source.id}`, {
      agent: agent.name,
      source: source.id,
      watch: 'plan',
      state: 'failed',
      trouble,
      runs: 0,
      findings: 0,
      dropped: 0,
      lastAt: null,
    });
  }
}

/** A source sees only what it asked for by name. */
function narrowed(source: NativeSource, run: RunView): RunView {
  const env: Record<string, string> = {};
  for (const name of source.environment) {
    const value = Object.hasOwn(run.env, name) ? run.env[name] : undefined;
    if (value !== undefined) env[name] = value;
  }
  const pattern = source.openFiles === undefined ? null : new RegExp(source.openFiles);
  return { ...run, env, openFiles: pattern === null ? [] : run.openFiles.filter((path) => pattern.test(path)) };
}
