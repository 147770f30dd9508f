// The first half of a start: the log is locked, verified and replayed, the timeline anchored, and a ledger stands on them.
// After this the daemon is allowed to say that it is ready.

import { join } from 'node:path';
import type { DecayLimits } from '../engine/decay.ts';
import { Loader } from '../engine/load.ts';
import { standardSteps } from '../engine/steps.ts';
import { World } from '../engine/world.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import type { Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import type { RandomSource } from '../platform/random.ts';
import { type LoadedStore, loadStore } from '../store/recover.ts';
import { hookField } from './hook-calls.ts';
import { Ledger } from './ledger.ts';
import { createTimeline, readSegments, type Timeline, writeSegments } from './timeline.ts';

export interface Ground {
  readonly ledger: Ledger;
  readonly timeline: Timeline;
  readonly loaded: LoadedStore;
  /** Where the feed of this run begins. */
  readonly feedVersion: number;
  /** New with every run: what a client of an earlier run knows cannot be resumed from (FED2). */
  readonly epoch: string;
}

export interface GroundParts {
  readonly stateDir: string;
  readonly files: Files;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly decayLimits: DecayLimits;
  readonly onChange: (states: readonly StateRecord[]) => number;
  readonly onStartedOver: (setAside: string | null) => void;
}

/** What of a payload is stored beside the fact: adapters have filtered it already (ADM1). */
const storedFields: ReadonlySet<string> = new Set([hookField]);

export async function layGround(wiring: GroundParts): Promise<Ground> {
  const { stateDir, files, clock, random, decayLimits, onChange, onStartedOver } = wiring;
  const clockPath = join(stateDir, 'wall-clock.json');
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
  const timeline = createTimeline(clock, loaded.events === 0 ? null : loader.newest, {
    segments: readSegments(await readKept(files, clockPath)),
    // One that is not written is missed only when the machine sleeps and the daemon starts anew.
    keep: (segments) => {
      files.writeAtomic(clockPath, new TextEncoder().encode(writeSegments(segments))).catch(() => undefined);
    },
  });
  const parts = {
    store: loaded.store,
    now: () => timeline.now(),
    offsetMs: () => 0,
    allowed: () => storedFields,
    onChange,
    onStartedOver,
  };
  // Each run begins a block of its own, written down first: what was told but not yet committed when a run ended, and
  // what a run tells that commits nothing, is never told again under the same version (FED2).
  const feedVersion = loaded.feed_version + limits.feedVersionsPerRun;
  const nothing = { events: [], rebindings: [], runtimes: [], states: [], cursors: [], audit: [] };
  await loaded.store.commit({ ...nothing, feed_version: feedVersion });
  const ledger = await Ledger.from(parts, loader, feedVersion);
  return { ledger, timeline, loaded, feedVersion, epoch: random.hex(8) };
}

async function readKept(files: Files, path: string): Promise<string | null> {
  try {
    const found = await files.read(path, { bytesMax: limits.wallClockBytesMax });
    return found === null ? null : new TextDecoder().decode(found.bytes);
  } catch {
    return null;
  }
}
