// Step "order": which of two facts of one source is the later one (ORD1, ORD2, ORD3). Number or time first, then content;
// arrival time and random ids have no say, so any two machines that hold the same events agree.

import type { FactKind, OrderKey } from '../model/events.ts';
import { type SourceName, sources } from '../model/sources.ts';

export interface OrderStamp {
  readonly time: number;
  readonly sourceSeq: number | undefined;
  readonly sourceEpoch: number | undefined;
}

/** Null when the event lacks the key that its source declared (ORD1). */
export function orderKey(source: SourceName, stamp: OrderStamp, hash: string): OrderKey | null {
  switch (sources[source].order) {
    case 'timed':
      return { major: stamp.time, minor: 0, hash };
    case 'numbered':
      // A counter that starts again has a later epoch, so a reset is never a step back.
      return stamp.sourceSeq === undefined ? null : { major: stamp.sourceEpoch ?? 0, minor: stamp.sourceSeq, hash };
  }
}

export function compareKeys(a: OrderKey, b: OrderKey): number {
  if (a.major !== b.major) return a.major < b.major ? -1 : 1;
  if (a.minor !== b.minor) return a.minor < b.minor ? -1 : 1;
  if (a.hash !== b.hash) return a.hash < b.hash ? -1 : 1;
  return 0;
}

/**
 * Facts that replace each other share a lane, and each lane has its own cursor (ORD3). One cursor for all kinds would let
 * a count of shells hide an older state or not, depending on which came first. Facts that only ever add up have no lane.
 */
export type Lane = 'state' | 'background' | 'process';

export function laneOf(kind: FactKind): Lane | null {
  switch (kind) {
    case 'state.observed':
      return 'state';
    case 'background.counted':
      return 'background';
    case 'process.observed':
      return 'process';
    case 'runtime.started':
    case 'runtime.session':
    case 'runtime.goodbye':
    case 'runtime.ended':
    case 'server.seen':
    case 'state.repeated':
    case 'ask.opened':
    case 'ask.settled':
    case 'turn.ended':
    case 'route.activated':
    case 'runtime.base':
      return null;
  }
}
