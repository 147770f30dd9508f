// Follows the hook spool of another machine: asks its collector again and again, hands over what is whole, and tells it
// which files can go. While the machine does not answer it asks less and less often; the files wait over there.

import { limits } from '../../model/limits.ts';
import type { Cancel, Clock } from '../../platform/clock.ts';
import type { Collector } from '../../targets/collector.ts';
import type { RemoteFile } from '../../targets/collector-files.ts';
import {
  compareSpoolFiles,
  isSpoolName,
  readSpoolFile,
  type SpoolReading,
  type SpoolRefusal,
  type TakeCall,
} from './call.ts';
import { Handover, type SpoolCounts } from './handover.ts';

export interface RemoteSpoolOptions {
  readonly collector: Pick<Collector, 'spool' | 'spoolDone'>;
  readonly clock: Clock;
  readonly take: TakeCall;
  /** Its clock has been measured since the machine was lost: before that nobody knows the order of what waits there (ORD2). */
  readonly isReady?: () => boolean;
  readonly onRefused?: (file: string, why: SpoolRefusal) => void;
}

export class RemoteSpool {
  readonly #options: RemoteSpoolOptions;
  readonly #handover: Handover;
  /** Settled, but not known to be gone over there: by name, with the time that tells a new file from the old. */
  readonly #settled = new Map<string, { readonly how: 'done' | 'refused'; readonly mtimeMs: number }>();
  /** Not whole yet, and since when by our own clock: over there another time may be. */
  #young = new Map<string, number>();
  /** Of the files of the last answer: our time of the answer before the one that first named them, when that named all. */
  #since = new Map<string, number | null>();
  #lookedMs: number | null = null;
  #cancel: Cancel = () => {};
  #round: Promise<void> = Promise.resolve();
  #isStopped = false;
  #failures = 0;
  #lastFileMs = Number.NEGATIVE_INFINITY;

  constructor(options: RemoteSpoolOptions) {
    this.#options = options;
    this.#handover = new Handover(options.take);
  }

  start(): void {
    this.#wakeAfter(0);
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#round;
  }

  /** Waiting are those of which a part was seen; how many more there are only that machine knows. */
  counts(): SpoolCounts {
    return this.#handover.counts(this.#young.size);
  }

  #wakeAfter(delayMs: number): void {
    if (this.#isStopped) return;
    this.#cancel = this.#options.clock.after(delayMs, () => {
      this.#round = this.#look().then((pauseMs) => this.#wakeAfter(pauseMs));
    });
  }

  /** The pause until the next question. */
  async #look(): Promise<number> {
    if (this.#options.isReady?.() === false) return limits.remoteSpoolMs;
    const lookedMs = this.#options.clock.monotonicMs();
    const files = await this.#options.collector.spool(limits.remoteSpoolFilesMax);
    if (!files.ok) return this.#failed();
    const sinceOf = (name: string): number | null => this.#since.get(name) ?? null;
    const named = files.value.map(
      ({ name }) => [name, this.#since.has(name) ? sinceOf(name) : this.#lookedMs] as const,
    );
    this.#since = new Map(named);
    this.#lookedMs = files.value.length >= limits.remoteSpoolFilesMax ? null : lookedMs;
    await this.#takeAll([...files.value].sort(compareSpoolFiles));
    if (this.#settled.size > 0 && !(await this.#tellSettled())) return this.#failed();
    this.#failures = 0;
    const now = this.#options.clock.monotonicMs();
    if (files.value.length > 0) this.#lastFileMs = now;
    // A full answer means that more are waiting.
    if (files.value.length >= limits.remoteSpoolFilesMax) return limits.spoolHintMs;
    const isQuiet = now - this.#lastFileMs >= limits.remoteSpoolQuietAfterMs;
    return isQuiet ? limits.remoteSpoolQuietMs : limits.remoteSpoolMs;
  }

  #failed(): number {
    this.#failures += 1;
    return Math.min(limits.remoteSpoolMs * 2 ** this.#failures, limits.reconnectLastMs);
  }

  async #takeAll(files: readonly RemoteFile[]): Promise<void> {
    const young = new Map<string, number>();
    let isHeld = false;
    for (const file of files) {
      const { name, mtimeMs } = file;
      if (isHeld || !isSpoolName(name) || this.#settled.get(name)?.mtimeMs === mtimeMs) continue;
      const reading = this.#read(file);
      const sinceMs = this.#young.get(name) ?? this.#options.clock.monotonicMs();
      const isOld = this.#options.clock.monotonicMs() - sinceMs >= limits.spoolYoungMs;
      const call = reading.kind === 'refused' ? null : reading.call;
      if (reading.kind === 'yet' && !isOld) {
        young.set(name, sinceMs);
      } else if (call !== null) {
        await this.#handover.hand(call, async (outcome) => {
          if (outcome === 'again') isHeld = true;
          else this.#settle(name, mtimeMs, outcome, 'handler');
        });
      } else if (reading.kind !== 'call') {
        this.#handover.countRefused(reading.why);
        this.#settle(name, mtimeMs, 'refused', reading.why);
      }
    }
    await this.#handover.settled();
    this.#young = young;
  }

  #read({ name, bytes, mtimeMs }: RemoteFile): SpoolReading {
    return bytes === null
      ? { kind: 'refused', why: 'size' }
      : readSpoolFile(name, bytes, mtimeMs, this.#since.get(name) ?? null);
  }

  #settle(name: string, mtimeMs: number, how: 'done' | 'refused', why: SpoolRefusal): void {
    this.#settled.set(name, { how, mtimeMs });
    if (how === 'refused') this.#options.onRefused?.(name, why);
  }

  async #tellSettled(): Promise<boolean> {
    const names = (how: 'done' | 'refused'): string[] =>
      [...this.#settled].filter(([, settled]) => settled.how === how).map(([name]) => name);
    const told = await this.#options.collector.spoolDone(names('done'), names('refused'));
    if (told.ok) this.#settled.clear();
    return told.ok;
  }
}
