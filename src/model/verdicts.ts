// What became of an event (ADM2): eight verdicts, and the closed table of reasons behind them.

export const verdictNames = [
  'applied',
  'refreshed',
  'merged',
  'duplicate',
  'late',
  'pending',
  'unbound',
  'refused',
] as const;

export type VerdictName = (typeof verdictNames)[number];

interface VerdictRule {
  readonly verdict: VerdictName;
  readonly words: string;
}

export const verdictReasons = {
  joined: { verdict: 'applied', words: 'the fact was new and is part of the state now' },
  conflict_replaced: { verdict: 'applied', words: 'an earlier stamp of a known event took its place' },
  repeated: { verdict: 'refreshed', words: 'the observer saw the same again' },
  newer_waiting: { verdict: 'merged', words: 'a newer observation of the same thing was already waiting' },
  same_event: { verdict: 'duplicate', words: 'this event is known' },
  conflict_kept: { verdict: 'duplicate', words: 'known event with other content; the earlier stamp stays' },
  older_than_cursor: { verdict: 'late', words: 'older than what this source already said' },
  runtime_not_known: { verdict: 'pending', words: 'waits for its runtime to become known' },
  bind_expired: { verdict: 'unbound', words: 'no runtime claimed it in time' },
  pending_full: { verdict: 'unbound', words: 'too many events waited for a runtime; the oldest were dropped' },
  nothing_to_refresh: { verdict: 'unbound', words: 'a repeated observation of an unknown runtime' },
  malformed: { verdict: 'refused', words: 'not an event envelope' },
  unknown_source: { verdict: 'refused', words: 'no such source' },
  unknown_kind: { verdict: 'refused', words: 'no such kind of event' },
  bad_payload: { verdict: 'refused', words: 'the payload does not fit its kind' },
  missing_order_key: { verdict: 'refused', words: 'lacks the order key its source declared' },
  missing_evidence: { verdict: 'refused', words: 'names neither a runtime nor evidence of one' },
  not_from_outside: { verdict: 'refused', words: 'only events of hooks and notify programs are accepted from outside' },
  not_of_sender: { verdict: 'refused', words: 'its sender was started by no known agent, or by another one' },
  oversize: { verdict: 'refused', words: 'larger than the limit' },
  other_target: { verdict: 'refused', words: 'another target already has a runtime of this id' },
  defect: { verdict: 'refused', words: 'the engine failed on it; please report it' },
  future_time: { verdict: 'refused', words: 'its time is too far in the future' },
} as const satisfies Record<string, VerdictRule>;

export type VerdictReason = keyof typeof verdictReasons;
export const verdictReasonNames = Object.keys(verdictReasons) as readonly VerdictReason[];

export interface Verdict {
  readonly verdict: VerdictName;
  readonly reason: VerdictReason;
  /** A few words on the spot, already safe to print: the field that was wrong, the id that was missing. */
  readonly detail?: string;
}

export function verdict(reason: VerdictReason, detail?: string): Verdict {
  const name = verdictReasons[reason].verdict;
  return detail === undefined ? { verdict: name, reason } : { verdict: name, reason, detail };
}
