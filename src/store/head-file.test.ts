import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { newHead } from './head.ts';
import { decodeMark, encodeMark, HeadFile, readMark } from './head-file.ts';

const dir = mkdtempSync(join(tmpdir(), 'agtmux-head-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const mark = { store_id: 'ab12', commits: 41, feed_version: 1_763_200_000_001, last_event_id: 977 };

describe('the mark beside the log', () => {
  it('comes back as it was written, always in the same length', () => {
    expect(decodeMark(encodeMark(mark))).toEqual(mark);
    expect(encodeMark(mark)).toHaveLength(256);
    expect(encodeMark({ ...mark, commits: Number.MAX_SAFE_INTEGER })).toHaveLength(256);
  });

  it('says nothing when any byte of what it says is changed', () => {
    const line = encodeMark(mark);
    const words = line.trimEnd().length;
    for (let place = 0; place < words; place++) {
      const changed = `${line.slice(0, place)}${String.fromCharCode(line.charCodeAt(place) ^ 1)}${line.slice(place + 1)}`;
      expect(decodeMark(changed), `byte ${place}`).toBeNull();
    }
  });

  it('says nothing when it is missing, cut short, garbage or a link', () => {
    expect(readMark(join(dir, 'none'))).toBeNull();
    expect(readMark(dir)).toBeNull();
    for (const [name, content] of Object.entries({
      empty: '',
      cut: encodeMark(mark).slice(0, 100),
      noise: '\u0000'.repeat(256),
    })) {
      writeFileSync(join(dir, name), content);
      expect(readMark(join(dir, name)), name).toBeNull();
    }
    writeFileSync(join(dir, 'whole'), encodeMark(mark));
    expect(readMark(join(dir, 'whole'))).toEqual(mark);
    symlinkSync(join(dir, 'whole'), join(dir, 'link'));
    expect(readMark(join(dir, 'link'))).toBeNull();
  });

  it('SEC1 is private, and each write takes the place of the one before', () => {
    const path = join(dir, 'written');
    const file = new HeadFile(path);
    file.write({ ...newHead('cd'), commits: 1_000_000 });
    file.write({ ...newHead('cd'), commits: 2 });
    file.close();
    file.write({ ...newHead('cd'), commits: 3 });
    expect(readMark(path)?.commits).toBe(2);
    expect(readFileSync(path)).toHaveLength(256);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('never fails a commit: a place that cannot be written is passed over', () => {
    const file = new HeadFile(join(dir, 'no', 'such', 'place'));
    expect(() => file.write(newHead('ef'))).not.toThrow();
    file.close();
  });
});
