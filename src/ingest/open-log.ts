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
import { EventProcessor } from './event-processor.ts';
import { hookField } from './hook-calls.ts';
import { createTimeline, readKeptClocks, type Timeline, writeKeptClocks } from './timeline.ts';

export interface OpenedLog {
  readonly ledger: EventProcessor;
  readonly timeline: Timeline;
  readonly loaded: LoadedStore;
  /** Where the feed of this run begins. */
  readonly feedVersion: number;
  /** New with every run: what a client of an earlier run knows cannot be resumed from (FED2). */
  readonly epoch: string;
}

export interface OpenLogParts {
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

/** Another with every start of the machine; only Linux has it. */
const bootPath = '/proc/sys/kernel/random/boot_id';

export async function openLog(wiring: OpenLogParts): Promise<OpenedLog> {
  const { stateDir, files, clock, random, decayLimits, onChange, onStartedOver } = wiring;
  let keeping = Promise.resolve();
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
    kept: readKeptClocks(await readText(files, clockPath)),
    boot: (await readText(files, bootPath))?.trim() || null,
    // What is not written is missed only when the daemon starts anew. One after the other: the last one counts.
    keep: (clocks) => {
      const bytes = new TextEncoder().encode(writeKeptClocks(clocks));
      keeping = keeping.then(() => files.writeAtomic(clockPath, bytes)).catch(() => undefined);
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
  const nothing = { events: [], rebindings: [], runtimes: [], states: [], audit: [] };
  await loaded.store.commit({ ...nothing, feed_version: feedVersion });
  const ledger = await EventProcessor.from(parts, loader, feedVersion);
  return { ledger, timeline, loaded, feedVersion, epoch: random.hex(8) };
}

async function readText(files: Files, path: string): Promise<string | null> {
  try {
    const found = await files.read(path, { bytesMax: limits.wallClockBytesMax });
    return found === null ? null : new TextDecoder().decode(found.bytes);
  } catch {
    return null;
  }
}
