// What becomes of somebody's file when the disk takes no more in the middle of changing it.

import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** So many more writes into open files succeed in part, and then fail. */
let failures = 0;

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  const writeSync = (file: number, bytes: Uint8Array, from: number, length: number, at: number): number => {
    if (failures === 0) return real.writeSync(file, bytes, from, length, at);
    if (from === 0) return real.writeSync(file, bytes, 0, 1, at);
    failures -= 1;
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  };
  return { ...real, writeSync };
});

// Files that share their process may have loaded the real one already.
vi.resetModules();
const { createRealFiles } = await import('./files.ts');

let folder: string;
let path: string;
const text = (words: string): Uint8Array => new TextEncoder().encode(words);
const edit = () =>
  createRealFiles().edit(path, { before: text('mine\n'), after: text('mine\nand ours\n'), mode: 0o600 });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agtmux-edit-'));
  path = join(folder, 'settings.json');
  writeFileSync(path, 'mine\n');
  // A second name: it is changed in its place.
  linkSync(path, join(folder, 'other-name'));
});

afterEach(() => {
  failures = 0;
  rmSync(folder, { recursive: true });
});

describe('a file that is changed in its place', () => {
  it('INS4a is as it was when the new text does not fit', async () => {
    failures = 1;
    await expect(edit()).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(readFileSync(path, 'utf8')).toBe('mine\n');
    expect(readdirSync(folder).sort()).toEqual(['other-name', 'settings.json']);
  });

  it('INS4 leaves a whole copy when it can neither be written nor put back, and the failure names it', async () => {
    failures = 2;
    const problem = await edit().catch((error: unknown) => error);
    const copy = `${path}.agtmux-copy`;
    expect(problem).toMatchObject({ code: 'ENOSPC', message: expect.stringContaining(copy) });
    expect(readFileSync(copy, 'utf8')).toBe('mine\nand ours\n');
  });
});
