import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRealFileWatch } from './file-watch.ts';

const files = createRealFileWatch();
let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agtmux-watch-'));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('looking at files of others', () => {
  it('what stands there, links followed and told', async () => {
    const path = join(root, 'a');
    writeFileSync(path, 'abc');
    symlinkSync(path, join(root, 'link'));
    const own = await files.look(path);
    expect(own).toMatchObject({ kind: 'file', sizeBytes: 3, isLink: false });
    expect(await files.look(join(root, 'link'))).toEqual({ ...own, isLink: true });
    expect(await files.look(root)).toMatchObject({ kind: 'directory' });
    for (const missing of ['none', 'none/none', 'a/below']) expect(await files.look(join(root, missing))).toBeNull();
  });

  it('pieces of regular files only; a pipe holds nobody up', async () => {
    const path = join(root, 'a');
    writeFileSync(path, 'abcdef');
    const piece = async (from: number, bytesMax: number) =>
      Buffer.from((await files.readPiece(path, from, bytesMax))?.bytes ?? []).toString();
    expect(await piece(0, 100)).toBe('abcdef');
    expect(await piece(2, 3)).toBe('cde');
    expect(await piece(9, 3)).toBe('');
    expect(await files.readPiece(join(root, 'none'), 0, 1)).toBeNull();
    await promisify(execFile)('mkfifo', [join(root, 'pipe')]);
    await expect(files.readPiece(join(root, 'pipe'), 0, 1)).rejects.toMatchObject({ code: 'EINVAL' });
    await expect(files.readPiece(root, 0, 1)).rejects.toMatchObject({ code: 'EINVAL' });
  });

  it('names of a folder, bounded', async () => {
    for (const name of ['b', 'a']) writeFileSync(join(root, name), '');
    mkdirSync(join(root, 'c'));
    const found = await files.entries(root, 10);
    expect(found?.more).toBe(false);
    expect(found?.entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))).toEqual([
      { name: 'a', isFolder: false },
      { name: 'b', isFolder: false },
      { name: 'c', isFolder: true },
    ]);
    expect(await files.entries(root, 2)).toMatchObject({ more: true });
    expect(await files.entries(join(root, 'none'), 2)).toBeNull();
  });

  it.each([
    ['removed', (path: string) => rmSync(path, { recursive: true })],
    ['moved', (path: string) => renameSync(path, `${path}-elsewhere`)],
  ])('hints of a folder name what changed, and are lost when it is %s', async (_words, away) => {
    const folder = join(root, 'folder');
    expect(
      files.hint(
        folder,
        () => undefined,
        () => undefined,
      ),
    ).toBeNull();
    mkdirSync(folder);
    const hinted: (string | null)[] = [];
    let lost = 0;
    const hint = files.hint(
      folder,
      (name) => hinted.push(name),
      () => {
        lost += 1;
      },
    );
    expect(hint).not.toBeNull();
    writeFileSync(join(folder, 'a'), 'x');
    await until(() => hinted.includes('a'));
    away(folder);
    await until(() => lost === 1);
    hint?.close();
    expect(lost).toBe(1);
  });
});
