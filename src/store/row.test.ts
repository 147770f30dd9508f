import { describe, expect, it } from 'vitest';
import { targetId } from '../model/ids.ts';
import type { Row } from './node-sqlite.ts';
import { encodeEvent, generationOf, generationShift, identityHash, LoggedRow, seal } from './row.ts';
import { sampleEvent, sampleNew } from './samples.contract.ts';
import { schema1 } from './schema.ts';

const host = targetId('host');

function rowOf(number: number): Row {
  const values = encodeEvent(sampleNew(number, 1));
  seal(values, number);
  return values as Row;
}

describe('an event as a row', () => {
  it('ADM1 comes back whole', () => {
    const row = new LoggedRow(rowOf(7));
    expect(row.stored()).toEqual({ ...sampleNew(7, 1), event_id: 7 });
  });

  it('is damaged when any one of its fields is changed', () => {
    const sound = rowOf(7);
    expect(() => new LoggedRow(sound)).not.toThrow();
    for (const [column, value] of sound.entries()) {
      const changes =
        typeof value === 'number' ? [value + 1, value + 0.5, String(value), null] : [`${value}x`, null, 5];
      for (const change of changes) {
        expect(() => new LoggedRow(sound.with(column, change)), `column ${column} = ${change}`).toThrow('checksum');
      }
    }
  });

  it('is damaged when text moves from one field to the next', () => {
    const sound = rowOf(7);
    const moved = sound.with(10, 'hos').with(11, `t${sound[11]}`);
    expect(() => new LoggedRow(moved)).toThrow('checksum');
  });

  it('keeps a negative zero as the zero that SQLite makes of it', () => {
    const values = encodeEvent(sampleNew(1, 1, { key: { major: -0, minor: -0, hash: '' }, time: -0 }));
    seal(values, 1);
    const read = (values as Row).map((value) => (value === 0 ? 0 : value));
    expect(() => new LoggedRow(read)).not.toThrow();
  });

  it('rebound has the checksum of the row it becomes', () => {
    const row = new LoggedRow(rowOf(7));
    const { crc, verdictCode } = row.rebound(null, 'bind_expired');
    const values = encodeEvent({ ...sampleNew(7, 1), runtime_id: null, verdict: 'bind_expired' });
    expect(seal(values, 7)).toBe(crc);
    expect(values[4]).toBe(verdictCode);
  });

  it('of a newer agtmux is refused as newer, not as damaged', () => {
    const values = encodeEvent(sampleNew(7, 1));
    values[2] = 200;
    seal(values, 7);
    expect(() => new LoggedRow(values as Row)).toThrow(expect.objectContaining({ code: 'E_STORE_NEWER' }));
  });
});

describe('the hash of an identity', () => {
  it('DED1 never changes: it is on disk', () => {
    expect(identityHash({ target: host, source: 'hook', dedupe_key: 'toolu_1' })).toBe(8_820_799_590_789_704);
    expect(identityHash({ target: host, source: 'screen', dedupe_key: '' })).toBe(6_436_034_068_869_652);
  });

  it('is a whole number of at most 53 bits and spreads', () => {
    const hashes = Array.from({ length: 100_000 }, (_, number) =>
      identityHash({ target: host, source: 'hook', dedupe_key: sampleEvent(number).dedupe_key }),
    );
    expect(hashes.every((hash) => Number.isSafeInteger(hash) && hash >= 0)).toBe(true);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(new Set(hashes.map((hash) => hash % 4_096)).size).toBe(4_096);
  });
});

describe('generations', () => {
  it('are cut where the index cuts them', () => {
    expect(schema1).toContain(`(event_id >> ${generationShift}, identity)`);
    expect([0, 1, 2].map((factor) => generationOf(factor * 2 ** generationShift))).toEqual([0, 1, 2]);
    expect(generationOf(2 ** generationShift - 1)).toBe(0);
  });
});
