// Step "bind": which runtime an event belongs to, by evidence alone (BND1). Never "whoever is in that pane now": of late
// events more than half would go to the wrong agent that way.

import type { AdmittedEvent, BindingEvidence, RuntimeIdentity } from '../model/events.ts';
import { type AgentSessionId, processKey, type RuntimeId, type TargetId } from '../model/ids.ts';

/** What is known about runtimes so far; it only ever grows. */
export interface BindIndex {
  readonly runtime: (id: RuntimeId) => RuntimeIdentity | undefined;
  readonly ofProcess: (target: TargetId, process: string) => readonly RuntimeIdentity[];
  readonly ofSession: (target: TargetId, session: AgentSessionId) => readonly RuntimeIdentity[];
}

/** The runtime that the evidence names, or null while it names none. */
export function bind(event: AdmittedEvent, index: BindIndex): RuntimeId | null {
  const { evidence } = event;
  if (evidence.runtime_id !== undefined) {
    // A named runtime is never replaced by a guess, and a target speaks only for itself (SEC5).
    const named = index.runtime(evidence.runtime_id);
    return named !== undefined && named.target === evidence.target ? named.runtime_id : null;
  }
  for (const process of evidence.ancestry ?? []) {
    const found = choose(index.ofProcess(evidence.target, processKey(process)), evidence, event.time);
    if (found !== null) return found;
  }
  if (evidence.agent_session === undefined) return null;
  return choose(index.ofSession(evidence.target, evidence.agent_session), evidence, event.time);
}

/**
 * Of several that fit (a session resumed elsewhere, a process that became another agent): the last one begun by then,
 * or, for a stamp older than all of them, the first.
 */
function choose(candidates: readonly RuntimeIdentity[], evidence: BindingEvidence, time: number): RuntimeId | null {
  let best: RuntimeIdentity | null = null;
  for (const one of candidates) {
    if (evidence.agent !== undefined && one.agent !== evidence.agent) continue;
    if (
      best === null ||
      (best.started_at > time ? startsAfter(best, one) : one.started_at <= time && startsAfter(one, best))
    ) {
      best = one;
    }
  }
  return best === null ? null : best.runtime_id;
}

/** Order of starts, with a tie-break that is part of the identity itself and not of its arrival. */
export function startsAfter(one: RuntimeIdentity, other: RuntimeIdentity): boolean {
  return one.started_at === other.started_at ? one.runtime_id > other.runtime_id : one.started_at > other.started_at;
}
