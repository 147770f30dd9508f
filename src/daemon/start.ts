// The first half of a start: the log is locked, verified and replayed, the timeline anchored, and a ledger stands on them.
// After this the daemon is allowed to say that it is ready.

import type { DecayLimits } from '../engine/decay.ts';
import { Loader } from '../engine/load.ts';
import { standardSteps } from '../engine/steps.ts';
import { World } from '../engine/world.ts';
import type { StateRecord } from '../model/records.ts';
import type { Clock } from '../platform/clock.ts';
import type { RandomSource } from '../platform/random.ts';
import { type LoadedStore, loadStore } from '../store/recover.ts';
import { Ledger } from './ledger.ts';
import { createTimeline, type Timeline } from './timeline.ts';

export interface Ground {
  readonly ledger: Ledger;
  readonly timeline: Timeline;
  readonly loaded: LoadedStore;
  /** New with every run: what a client of an earlier run knows cannot be resumed from (FED2). */
  readonly epoch: string;
}

export interface GroundParts {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly decayLimits: DecayLimits;
  readonly onChange: (states: readonly StateRecord[]) => number;
}

export async function layGround({ stateDir, clock, random, decayLimits, onChange }: GroundParts): Promise<Ground> {
  const steps = { ...standardSteps, decayLimits };
  let loader = new Loader(new World(steps));
  const loaded = await loadStore({
    dir: stateDir,
    now: () => clock.wallMs(),
    // Long work goes in steps, and between them others have their turn.
    pause: () => new Promise((resolve) => clock.after(0, () => resolve())),
    visitor: () => {
      loader = new Loader(new World(steps));
      return (row) => loader.visit(row);
    },
  });
  const timeline = createTimeline(clock, loaded.events === 0 ? null : loader.newest);
  const parts = {
    store: loaded.store,
    now: () => timeline.now(),
    offsetMs: () => 0,
    onChange,
  };
  const ledger = await Ledger.from(parts, loader, loaded.feed_version);
  return { ledger, timeline, loaded, epoch: random.hex(8) };
}
