// The audit row of one action: who did what, on which evidence, with what result. Refused ones leave one too. What was
// written stays out of it, only how much: messages may hold secrets, and the agent's transcript has them anyway.

import { actorOf } from '../auth/principal.ts';
import { canonicalRef } from '../engine/refer.ts';
import type { ActionConditions, ActionKind, Caller, Receipt } from '../model/actions.ts';
import type { RuntimeId } from '../model/ids.ts';
import type { AuditRecord, SnapshotRecord, StateRecord } from '../model/records.ts';
import { checkedWay, type Ending } from './action-context.ts';

export interface ActionRecord {
  readonly audit_id: string;
  readonly at: number;
  readonly action: ActionKind;
  readonly caller: Caller;
  /** What was named, before it was resolved. */
  readonly named: string;
  readonly runtime_id: RuntimeId | null;
  readonly snapshot: SnapshotRecord | null;
  readonly state: StateRecord | null;
  readonly conditions: ActionConditions;
}

/** `who` is the agent in the words of lists: rows outlive their agents. */
export function auditOf(record: ActionRecord, ending: Ending, who: string | null): AuditRecord {
  const { caller, snapshot, state, conditions } = record;
  return {
    at: record.at,
    actor: actorOf(caller),
    action: record.action,
    runtime_id: record.runtime_id,
    snapshot_id: snapshot?.snapshot_id ?? null,
    result: ending.outcome,
    detail: {
      audit_id: record.audit_id,
      named: record.named,
      ...(who === null ? {} : { who }),
      why: caller.why,
      ...(caller.runtime_id === null ? {} : { from: canonicalRef(caller.runtime_id), hops: caller.hops }),
      ...(Object.keys(conditions).length === 0 ? {} : { conditions: { ...conditions } }),
      // Snapshots are dropped when they have expired; what was decided on stays with the deed.
      ...(snapshot === null ? {} : { snapshot: { ...snapshot } }),
      ...(state === null ? {} : { state: state.state, reason: state.reason, decided_by: state.decided_by }),
      ...(ending.way === null ? {} : { way: ending.way, strength: strengthOf(ending.way) }),
      ...(ending.failure === null ? {} : { code: ending.failure.code, message: ending.failure.message }),
      ...(ending.words === null ? {} : { words: ending.words }),
      ...(ending.became === null ? {} : { became: canonicalRef(ending.became) }),
      ...ending.detail,
    },
  };
}

/** By the way it went: channels and signals type nothing. */
function strengthOf(way: string | null): Receipt['strength'] {
  if (way === 'keys') return 'atomic';
  return way === checkedWay ? 'checked' : null;
}

/** `whoOf` names a run of an agent as lists do. */
export function receiptOf(
  record: ActionRecord,
  { outcome, way, failure, words, became }: Ending,
  whoOf: (runtime: RuntimeId) => string | null,
): Receipt {
  const runtime = became ?? record.runtime_id;
  return {
    outcome,
    action: record.action,
    ref: runtime === null ? null : canonicalRef(runtime),
    who: runtime === null ? null : whoOf(runtime),
    runtime_id: runtime,
    snapshot_id: record.snapshot?.snapshot_id ?? null,
    way,
    strength: strengthOf(way),
    failure,
    words,
  };
}
