// Small stable numbers for the closed word lists that every event row carries. They are on users' disks: a number is
// never changed and never given to another word; new words get new numbers.

import { type FactKind, factKinds } from '../model/events.ts';
import { type SourceName, sourceNames } from '../model/sources.ts';
import { type VerdictReason, verdictReasonNames } from '../model/verdicts.ts';

export const sourceCodes: Readonly<Record<SourceName, number>> = {
  process: 1,
  wrapper: 2,
  native: 3,
  stream: 4,
  hook: 5,
  notify: 6,
  reconciler: 7,
  transcript: 8,
  screen: 9,
  title: 10,
  operator: 11,
  retention: 12,
  driver: 13,
};

export const kindCodes: Readonly<Record<FactKind, number>> = {
  'runtime.started': 1,
  'runtime.session': 2,
  'runtime.goodbye': 3,
  'runtime.ended': 4,
  'server.seen': 5,
  'state.observed': 6,
  'state.repeated': 7,
  'ask.opened': 8,
  'ask.settled': 9,
  'turn.ended': 10,
  'background.counted': 11,
  'process.observed': 12,
  'route.activated': 13,
  'runtime.base': 14,
};

export const verdictCodes: Readonly<Record<VerdictReason, number>> = {
  joined: 1,
  conflict_replaced: 2,
  repeated: 3,
  newer_waiting: 4,
  same_event: 5,
  conflict_kept: 6,
  older_than_cursor: 7,
  runtime_not_known: 8,
  bind_expired: 9,
  pending_full: 10,
  malformed: 11,
  unknown_source: 12,
  unknown_kind: 13,
  bad_payload: 14,
  missing_order_key: 15,
  missing_evidence: 16,
  oversize: 17,
  future_time: 18,
  nothing_to_refresh: 19,
  other_target: 20,
  defect: 21,
  not_from_outside: 22,
  not_of_sender: 23,
};

function inverse<Word extends string>(
  words: readonly Word[],
  codes: Readonly<Record<Word, number>>,
): readonly (Word | undefined)[] {
  const names: (Word | undefined)[] = [];
  for (const word of words) names[codes[word]] = word;
  return names;
}

/** Word by number; undefined for numbers that only a newer agtmux knows. */
export const sourceOfCode = inverse(sourceNames, sourceCodes);
export const kindOfCode = inverse(factKinds, kindCodes);
export const verdictOfCode = inverse(verdictReasonNames, verdictCodes);
