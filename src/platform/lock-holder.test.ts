// Whom the list of locks names. Numbers of files are used again on every file system, so a stranger may be named there.

import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

let locks = '';

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  const readFileSync = (path: string, ...rest: never[]) =>
    path === '/proc/locks' ? locks : real.readFileSync(path, ...rest);
  return { ...real, readFileSync };
});

// Files that share their process may have loaded the real one already.
vi.resetModules();
const { lockHolderOf } = await import('./lock-holder.ts');

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agtmux-lock-'));
  path = join(folder, 'agtmux.lock');
  writeFileSync(path, '');
});

afterEach(() => rmSync(folder, { recursive: true }));

/** As Linux writes it. */
const line = (pid: number, ino: number, device = '00:2f'): string =>
  `1: POSIX  ADVISORY  WRITE ${pid} ${device}:${ino} 1073741825 1073742335\n`;

describe('who holds a lock', () => {
  it('LOG6 is never a stranger whose file only has the same number', () => {
    locks = line(process.pid, statSync(path).ino);
    expect(lockHolderOf(path)).toBeNull();
  });

  it('LOG6 is the one that has the very file open, wherever it stands in the list', () => {
    const { ino } = statSync(path);
    const file = openSync(path, 'r+');
    locks = line(1_999_999_999, ino) + line(process.pid, ino, 'fd:01') + line(process.pid, ino + 1);
    // Elsewhere nobody is named, and nobody is signalled.
    expect(lockHolderOf(path)).toBe(process.platform === 'linux' ? process.pid : null);
    locks = line(process.pid, ino + 1);
    expect(lockHolderOf(path)).toBeNull();
    closeSync(file);
  });
});
