// What every implementation of the files port promises; run on the real disk and on the simulated one.

import { beforeEach, describe, expect, it } from 'vitest';
import { FileError, type Files, isTemporaryName } from '../files.ts';

export interface FilesUnderTest {
  readonly files: Files;
  /** An empty private directory. */
  readonly root: string;
  readonly uid: number;
  readonly link: (path: string, target: string) => Promise<void>;
  /** A pipe: something that can be opened but is no regular file. */
  readonly pipe: (path: string) => Promise<void>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (content: { bytes: Uint8Array } | null): string | null =>
  content === null ? null : new TextDecoder().decode(content.bytes);

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof FileError) return error.code;
    throw error;
  }
  return 'none';
}

export function filesContract(name: string, create: () => Promise<FilesUnderTest>): void {
  describe(`files contract: ${name}`, () => {
    let disk: FilesUnderTest;
    let files: Files;
    let root: string;
    beforeEach(async () => {
      disk = await create();
      files = disk.files;
      root = disk.root;
    });

    it('what is not there is a value', async () => {
      expect(await files.read(`${root}/none`, { bytesMax: 10 })).toBeNull();
      expect(await files.stat(`${root}/none`)).toBeNull();
      expect(await files.list(`${root}/none`, 10)).toBeNull();
      expect(await files.readLink(`${root}/none`)).toBeNull();
      expect(await files.stamp(`${root}/none`)).toBeNull();
      expect(await files.remove(`${root}/none`)).toBe(false);
      expect(await files.rename(`${root}/none`, `${root}/other`)).toBe(false);
    });

    it('SEC1 a written file reads back, is 0600 and ours', async () => {
      await files.writeAtomic(`${root}/a`, bytes('hello'));
      const content = await files.read(`${root}/a`, { bytesMax: 5 });
      expect(text(content)).toBe('hello');
      expect(content?.stat).toMatchObject({ kind: 'file', sizeBytes: 5, mode: 0o600, uid: disk.uid });
      expect(content?.stat).toEqual(await files.stat(`${root}/a`));
    });

    it('INS4 INS4a an edit is made if the file is as it was, keeps its mode, and makes a new file with the mode that is said', async () => {
      const edit = (before: string | null, after: string) => ({
        before: before === null ? null : bytes(before),
        after: bytes(after),
        mode: 0o640,
      });
      expect(await files.edit(`${root}/a`, edit('one', 'two'))).toBe(false);
      expect(await files.edit(`${root}/a`, edit(null, 'one'))).toBe(true);
      expect((await files.stat(`${root}/a`))?.mode).toBe(0o640);
      await files.writeAtomic(`${root}/b`, bytes('one'), { mode: 0o604 });
      expect(await files.edit(`${root}/b`, edit('one', 'a longer two'))).toBe(true);
      for (const before of ['one', null, '']) expect(await files.edit(`${root}/b`, edit(before, 'x'))).toBe(false);
      expect(text(await files.read(`${root}/b`, { bytesMax: 20 }))).toBe('a longer two');
      expect((await files.stat(`${root}/b`))?.mode).toBe(0o604);
      await disk.link(`${root}/l`, `${root}/b`);
      expect(await codeOf(files.edit(`${root}/l`, edit('a longer two', 'x')))).toBe('ELOOP');
      expect((await files.list(root, 10))?.names).toEqual(['a', 'b', 'l']);
    });

    it('writing again replaces the whole and leaves nothing else behind', async () => {
      await files.writeAtomic(`${root}/a`, bytes('a long first text'));
      await files.writeAtomic(`${root}/a`, bytes('short'), { mode: 0o400 });
      expect(text(await files.read(`${root}/a`, { bytesMax: 100 }))).toBe('short');
      expect((await files.stat(`${root}/a`))?.mode).toBe(0o400);
      expect(await files.list(root, 10)).toEqual({ names: ['a'], more: false });
    });

    it('a write that cannot be finished leaves the old content and no leftover', async () => {
      await files.mkdirPrivate(`${root}/a/inner`);
      expect(await codeOf(files.writeAtomic(`${root}/a`, bytes('x')))).not.toBe('none');
      expect(await codeOf(files.writeAtomic(`${root}/none/b`, bytes('x')))).toBe('ENOENT');
      expect(await files.list(root, 10)).toEqual({ names: ['a'], more: false });
    });

    it('a write through a link replaces the link, not what it points to', async () => {
      await files.writeAtomic(`${root}/victim`, bytes('untouched'));
      await disk.link(`${root}/a`, `${root}/victim`);
      await files.writeAtomic(`${root}/a`, bytes('new'));
      expect(text(await files.read(`${root}/victim`, { bytesMax: 100 }))).toBe('untouched');
      expect((await files.stat(`${root}/a`))?.kind).toBe('file');
    });

    it('appends, synced or not, and creates the file 0600', async () => {
      await files.append(`${root}/log`, bytes('one\n'), { sync: true });
      await files.append(`${root}/log`, bytes('two\n'), { sync: false });
      expect(text(await files.read(`${root}/log`, { bytesMax: 100 }))).toBe('one\ntwo\n');
      expect((await files.stat(`${root}/log`))?.mode).toBe(0o600);
    });

    it('SEC1 neither reads nor appends through a link unless told to', async () => {
      await files.writeAtomic(`${root}/a`, bytes('secret'));
      await disk.link(`${root}/link`, `${root}/a`);
      expect(await codeOf(files.read(`${root}/link`, { bytesMax: 100 }))).toBe('ELOOP');
      expect(await codeOf(files.append(`${root}/link`, bytes('x'), { sync: false }))).toBe('ELOOP');
      expect(text(await files.read(`${root}/link`, { bytesMax: 100, followLinks: true }))).toBe('secret');
      expect((await files.stat(`${root}/link`))?.kind).toBe('link');
      expect(await files.readLink(`${root}/link`)).toBe(`${root}/a`);
    });

    it('a stamp is that of the file a link leads to, stays while nothing happens, and changes with file and size', async () => {
      await files.writeAtomic(`${root}/a`, bytes('one'));
      await files.writeAtomic(`${root}/b`, bytes('one'));
      await disk.link(`${root}/l`, `${root}/a`);
      const first = await files.stamp(`${root}/a`);
      expect(first).not.toBeNull();
      expect(await files.stamp(`${root}/l`)).toBe(first);
      expect(await files.stamp(`${root}/b`)).not.toBe(first);
      await files.append(`${root}/a`, bytes('two'), { sync: false });
      const second = await files.stamp(`${root}/l`);
      expect(second).not.toBe(first);
      await files.rename(`${root}/b`, `${root}/a`);
      expect(await files.stamp(`${root}/l`)).not.toBe(second);
      await files.remove(`${root}/a`);
      expect(await files.stamp(`${root}/l`)).toBeNull();
    });

    it('links in the middle of a path are followed, loops are refused', async () => {
      await files.mkdirPrivate(`${root}/real`);
      await files.writeAtomic(`${root}/real/a`, bytes('x'));
      await disk.link(`${root}/way`, 'real');
      await disk.link(`${root}/loop`, 'loop');
      expect(text(await files.read(`${root}/way/a`, { bytesMax: 1 }))).toBe('x');
      expect(text(await files.read(`${root}/way/../real/a`, { bytesMax: 1 }))).toBe('x');
      expect(await codeOf(files.read(`${root}/loop/a`, { bytesMax: 1 }))).toBe('ELOOP');
    });

    it('refuses what is too large or no regular file, without waiting for a writer', async () => {
      await files.writeAtomic(`${root}/a`, bytes('123456'));
      await disk.pipe(`${root}/pipe`);
      expect(await codeOf(files.read(`${root}/a`, { bytesMax: 5 }))).toBe('EFBIG');
      expect(await codeOf(files.read(root, { bytesMax: 5 }))).toBe('EISDIR');
      expect(await codeOf(files.read(`${root}/pipe`, { bytesMax: 5 }))).toBe('EINVAL');
      expect((await files.stat(`${root}/pipe`))?.kind).toBe('other');
      expect(await codeOf(files.read(`${root}/a/b`, { bytesMax: 5 }))).toBe('ENOTDIR');
    });

    it('lists sorted, with a bound', async () => {
      for (const letter of ['c', 'a', 'b']) await files.writeAtomic(`${root}/${letter}`, bytes(letter));
      expect(await files.list(root, 3)).toEqual({ names: ['a', 'b', 'c'], more: false });
      const part = await files.list(root, 2);
      expect(part?.names.length).toBe(2);
      expect(part?.more).toBe(true);
      expect(await codeOf(files.list(`${root}/a`, 1))).toBe('ENOTDIR');
    });

    it('removes files and links, never directories', async () => {
      await files.writeAtomic(`${root}/a`, bytes('x'));
      await disk.link(`${root}/link`, root);
      await files.mkdirPrivate(`${root}/directory`);
      expect(await files.remove(`${root}/a`)).toBe(true);
      expect(await files.remove(`${root}/link`)).toBe(true);
      expect(await codeOf(files.remove(`${root}/directory`))).not.toBe('none');
      expect((await files.list(root, 10))?.names).toEqual(['directory']);
    });

    it('renames over what is there', async () => {
      await files.mkdirPrivate(`${root}/aside`);
      await files.writeAtomic(`${root}/a`, bytes('new'));
      await files.writeAtomic(`${root}/aside/a`, bytes('old'));
      expect(await files.rename(`${root}/a`, `${root}/aside/a`)).toBe(true);
      expect(text(await files.read(`${root}/aside/a`, { bytesMax: 10 }))).toBe('new');
      expect(await files.stat(`${root}/a`)).toBeNull();
      expect(await codeOf(files.rename(`${root}/aside/a`, `${root}/none/a`))).toBe('ENOENT');
      expect(await files.stat(`${root}/aside/a`)).not.toBeNull();
    });

    it('SEC1 makes directories 0700 with their parents and leaves existing ones as they are', async () => {
      await files.mkdirPrivate(`${root}/x/y`);
      await files.mkdirPrivate(`${root}/x/y`);
      for (const path of [`${root}/x`, `${root}/x/y`]) {
        expect(await files.stat(path)).toMatchObject({ kind: 'directory', mode: 0o700, uid: disk.uid });
      }
      await files.writeAtomic(`${root}/file`, bytes('x'));
      expect(await codeOf(files.mkdirPrivate(`${root}/file`))).toBe('EEXIST');
    });

    it('readers see the old or the new content, whole, while it is being replaced', async () => {
      const contents = ['a'.repeat(50_000), 'b'.repeat(90_000)];
      await files.writeAtomic(`${root}/a`, bytes(contents[0] ?? ''));
      let writing = true;
      const writer = (async () => {
        for (let round = 0; round < 20; round += 1)
          await files.writeAtomic(`${root}/a`, bytes(contents[round % 2] ?? ''));
        writing = false;
      })();
      while (writing) expect(contents).toContain(text(await files.read(`${root}/a`, { bytesMax: 100_000 })));
      await writer;
      expect((await files.list(root, 10))?.names.filter(isTemporaryName)).toEqual([]);
    });

    it('refuses relative paths as a defect of the caller', async () => {
      await expect(files.read('a', { bytesMax: 1 })).rejects.toThrow('broken invariant');
      await expect(files.writeAtomic('a', bytes(''))).rejects.toThrow('broken invariant');
    });
  });
}
