// Step "publish": from a resolved state to the record that everyone is shown, with its version (RSV11).

import type { RuntimeId } from '../model/ids.ts';
import type { ReasonCode } from '../model/reasons.ts';
import type { StateRecord } from '../model/records.ts';
import { isSame } from './canonical.ts';
import type { Resolved } from './resolve.ts';

const agedReasons: ReadonlySet<ReasonCode> = new Set(['completed_aged', 'stale_signal']);

export function publish(
  previous: StateRecord | null,
  runtime: RuntimeId,
  resolved: Resolved,
  lastSeenAt: number,
): StateRecord {
  const { time, received, ...shown } = resolved;
  const changed =
    previous === null ||
    previous.state !== shown.state ||
    previous.reason !== shown.reason ||
    previous.ask?.ask_id !== shown.ask?.ask_id;
  const isSameState = previous !== null && previous.state === shown.state;
  // Who was looked at last is forgotten over a restart, so what time has made once keeps the moment it was given.
  const isAgedAgain = isSameState && previous.reason === shown.reason && agedReasons.has(shown.reason);
  const since = isAgedAgain ? previous.since : isSameState ? Math.min(previous.since, time) : time;
  const version = previous === null ? 1 : changed ? previous.state_version + 1 : previous.state_version;
  return { ...shown, runtime_id: runtime, since, last_seen_at: Math.max(lastSeenAt, received), state_version: version };
}

/** Whether a screen has to redraw: anything but the time of the last look. */
export function looksDifferent(one: StateRecord | null, other: StateRecord): boolean {
  return one === null || !isSame({ ...one, last_seen_at: 0 }, { ...other, last_seen_at: 0 });
}
