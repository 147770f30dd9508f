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
 * Whether a fact replaces older ones of its kind and source. Each such kind has a cursor of its own (ORD3): one cursor for
 * all kinds would let a count of shells hide an older state or not, depending on which came first. The others only add up.
 */
export const replacesOlder: Readonly<Record<FactKind, boolean>> = {
  'state.observed': true,
  'background.counted': true,
  'process.observed': true,
  'runtime.started': false,
  'runtime.session': false,
  'runtime.goodbye': false,
  'runtime.ended': false,
  'server.seen': false,
  'state.repeated': false,
  'ask.opened': false,
  'ask.settled': false,
  'turn.ended': false,
  'route.activated': false,
  'runtime.base': false,
};
