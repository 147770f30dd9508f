import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { storePaths } from './database.ts';
import { setAside } from './set-aside.ts';

const root = mkdtempSync(join(tmpdir(), 'agtmux-aside-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const now = Date.UTC(2025, 10, 15, 12, 30, 1, 500);

describe('setting a log aside', () => {
  it('moves the database, its write-ahead log and its mark, and leaves the rest', () => {
    const dir = mkdtempSync(join(root, 'a-'));
    const paths = storePaths(dir);
    for (const path of Object.values(paths)) writeFileSync(path, path);
    const aside = setAside(paths, now);
    expect(aside).toBe(`${paths.database}.damaged-20251115T123001Z`);
    expect(readdirSync(dir).sort()).toEqual([
      'agtmux.ballast',
      'agtmux.db.damaged-20251115T123001Z',
      'agtmux.db.damaged-20251115T123001Z-head',
      'agtmux.db.damaged-20251115T123001Z-wal',
      'agtmux.lock',
    ]);
    expect(readFileSync(`${aside}-wal`, 'utf8')).toBe(paths.wal);
  });

  it('never overwrites what was set aside before, not even in the same second', () => {
    const dir = mkdtempSync(join(root, 'b-'));
    const paths = storePaths(dir);
    const moved = [1, 2].map((number) => {
      writeFileSync(paths.database, String(number));
      return setAside(paths, now);
    });
    expect(moved.map((path) => readFileSync(path ?? '', 'utf8'))).toEqual(['1', '2']);
  });

  it('says so when there was no database', () => {
    const dir = mkdtempSync(join(root, 'c-'));
    writeFileSync(storePaths(dir).head, 'mark');
    expect(setAside(storePaths(dir), now)).toBeNull();
    expect(readdirSync(dir)).toEqual(['agtmux.db.damaged-20251115T123001Z-head']);
  });
});
