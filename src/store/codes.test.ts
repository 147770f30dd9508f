import { describe, expect, it } from 'vitest';
import { factKinds } from '../model/events.ts';
import { sourceNames } from '../model/sources.ts';
import { verdictReasonNames } from '../model/verdicts.ts';
import { kindCodes, kindOfCode, sourceCodes, sourceOfCode, verdictCodes, verdictOfCode } from './codes.ts';

describe('the numbers on disk', () => {
  it('never change: words may be added at the end, nothing else', () => {
    expect(Object.entries(sourceCodes).slice(0, 12)).toEqual([
      ['process', 1],
      ['wrapper', 2],
      ['native', 3],
      ['stream', 4],
      ['hook', 5],
      ['notify', 6],
      ['reconciler', 7],
      ['transcript', 8],
      ['screen', 9],
      ['title', 10],
      ['operator', 11],
      ['retention', 12],
    ]);
    expect(Object.entries(kindCodes).slice(0, 14)).toEqual([
      ['runtime.started', 1],
      ['runtime.session', 2],
      ['runtime.goodbye', 3],
      ['runtime.ended', 4],
      ['server.seen', 5],
      ['state.observed', 6],
      ['state.repeated', 7],
      ['ask.opened', 8],
      ['ask.settled', 9],
      ['turn.ended', 10],
      ['background.counted', 11],
      ['process.observed', 12],
      ['route.activated', 13],
      ['runtime.base', 14],
    ]);
    expect(Object.entries(verdictCodes).slice(0, 19)).toEqual([
      ['joined', 1],
      ['conflict_replaced', 2],
      ['repeated', 3],
      ['newer_waiting', 4],
      ['same_event', 5],
      ['conflict_kept', 6],
      ['older_than_cursor', 7],
      ['runtime_not_known', 8],
      ['bind_expired', 9],
      ['pending_full', 10],
      ['malformed', 11],
      ['unknown_source', 12],
      ['unknown_kind', 13],
      ['bad_payload', 14],
      ['missing_order_key', 15],
      ['missing_evidence', 16],
      ['oversize', 17],
      ['future_time', 18],
      ['nothing_to_refresh', 19],
    ]);
  });

  it('lead back to the same word, and no two words share one', () => {
    expect(sourceNames.map((word) => sourceOfCode[sourceCodes[word]])).toEqual(sourceNames);
    expect(factKinds.map((word) => kindOfCode[kindCodes[word]])).toEqual(factKinds);
    expect(verdictReasonNames.map((word) => verdictOfCode[verdictCodes[word]])).toEqual(verdictReasonNames);
    for (const codes of [sourceCodes, kindCodes, verdictCodes]) {
      expect(new Set(Object.values(codes)).size).toBe(Object.keys(codes).length);
    }
  });
});
