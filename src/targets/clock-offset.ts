// How far a target's clock is from ours (ORD2): of a few questions the one that came back fastest is believed. Pure.

/** One question for the time. All by our clock but `remoteMs`. */
export interface ClockSample {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly remoteMs: number;
  /** Half the width of what the remote reading can mean. */
  readonly precisionMs: number;
}

export interface ClockOffset {
  /** Remote less local: taken from a remote stamp it gives our time. */
  readonly offsetMs: number;
  /** The truth is at most this far from it. */
  readonly uncertaintyMs: number;
}

export function clockOffsetOf(samples: readonly ClockSample[]): ClockOffset | null {
  const roundTrip = (sample: ClockSample): number => sample.answeredMs - sample.askedMs;
  let best: ClockSample | null = null;
  for (const sample of samples) {
    if (roundTrip(sample) < 0) continue;
    if (best === null || roundTrip(sample) < roundTrip(best)) best = sample;
  }
  if (best === null) return null;
  const middleMs = best.askedMs + roundTrip(best) / 2;
  return { offsetMs: best.remoteMs - middleMs, uncertaintyMs: roundTrip(best) / 2 + best.precisionMs };
}
