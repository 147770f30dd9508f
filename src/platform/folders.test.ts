// Removing a folder of ours, and nothing behind a link.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRealFolders } from './files.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'agt-folders-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('SHL6 goes with all that is in it, and what its links lead to stays', async () => {
  mkdirSync(join(dir, 'outside'));
  writeFileSync(join(dir, 'outside/precious'), '');
  mkdirSync(join(dir, 'ours/deep/deeper'), { recursive: true });
  symlinkSync(join(dir, 'outside'), join(dir, 'ours/deep/link'));
  const folders = createRealFolders();
  expect(await folders.removeAll(join(dir, 'ours'))).toBe(true);
  expect(await folders.removeAll(join(dir, 'ours'))).toBe(false);
  expect(existsSync(join(dir, 'ours'))).toBe(false);
  symlinkSync(join(dir, 'outside'), join(dir, 'link'));
  await expect(folders.removeAll(join(dir, 'link'))).rejects.toThrow('ENOTDIR');
  expect(readdirSync(join(dir, 'outside'))).toEqual(['precious']);
});
