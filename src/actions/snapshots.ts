// What an action was decided on, recorded on the server at the moment it was asked for (ACT1). It expires, so that an
// action that had to wait does not act on the past.

import type { RuntimeIdentity } from '../model/events.ts';
import { snapshotId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { SnapshotRecord, StateRecord } from '../model/records.ts';

export function takeSnapshot(
  { runtime_id, target, pane }: RuntimeIdentity,
  state: StateRecord,
  { now, random }: { readonly now: () => number; readonly random: { hex(bytes: number): string } },
): SnapshotRecord {
  return {
    snapshot_id: snapshotId(random.hex(16)),
    target,
    pane,
    runtime_id,
    state_version: state.state_version,
    observed_at: state.last_seen_at,
    expires_at: now() + limits.snapshotMs,
    nonce: random.hex(16),
  };
}
