// Waiting until an agent that was told to stop says that it has, and no longer than that is worth.

import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';

export async function untilQuiet(clock: Clock, isBusy: () => boolean): Promise<void> {
  const deadline = clock.monotonicMs() + limits.sessionQuietMs;
  while (isBusy() && clock.monotonicMs() < deadline) {
    await new Promise<void>((resolve) => void clock.after(limits.effectLookMs, resolve));
  }
}
