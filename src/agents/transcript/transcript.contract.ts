// The suite that every reader of a transcript passes: it names only places of the conversations it was given, and whatever
// stands there is read or passed over. Also how its tests read a few rows.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runtimeId } from '../../model/ids.ts';
import type { RunView, Transcript } from '../contract.ts';
import { linesOf } from './lines.ts';

export const transcriptRun: RunView = {
  runtime_id: runtimeId('run'),
  version: null,
  programs: [],
  home: '/home/user',
  cwd: '/home/user/a project',
  env: {},
  openFiles: [],
  title: '',
  startedAt: 0,
};

/** As a person sees them. */
export const linesFrom = (transcript: Transcript, rows: readonly object[]): readonly string[] =>
  linesOf(transcript.read(rows.map((row) => JSON.stringify(row))), 1_000);

const session = '01a1e06c-8c48-7173-ae26-892477d72b4a';

export function transcriptSuite(transcript: Transcript): void {
  describe('as every transcript', () => {
    it('BND1 every place bears the id of the conversation, and without one there is none to look at', () => {
      const places = transcript.places(transcriptRun, [session]);
      expect(places.length).toBeGreaterThan(0);
      for (const place of places) {
        const path = place.kind === 'find' ? place.folder : place.path;
        expect(path).toMatch(/^\/home\/user\//);
        expect(JSON.stringify(place)).toContain(session.slice(0, 8));
      }
      for (const place of transcript.places(transcriptRun, [])) expect(place).toMatchObject({ values: ['[]'] });
    });

    it('whatever stands in a row is read or passed over', () => {
      const words = fc.constantFrom(
        'user',
        'assistant',
        'gemini',
        'text',
        'tool',
        'system',
        'response_item',
        'message',
      );
      const value = fc.oneof(fc.jsonValue(), words);
      const keys = fc.constantFrom(
        'type',
        'message',
        'content',
        'payload',
        'data',
        'role',
        'id',
        'toolCalls',
        'output',
      );
      const row = fc.oneof(
        fc.string(),
        fc.json(),
        fc.dictionary(keys, fc.oneof(value, fc.dictionary(keys, value))).map((one) => JSON.stringify(one)),
      );
      fc.assert(
        fc.property(fc.array(row, { maxLength: 8 }), (rows) => {
          for (const { who, text } of transcript.read(rows)) {
            expect(['user', 'assistant', 'tool', 'note']).toContain(who);
            expect(typeof text).toBe('string');
          }
          transcript.isOf?.(rows[0] ?? '', [session]);
        }),
      );
    });
  });
}
