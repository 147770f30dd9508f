// What every way to a user's files must do, local or far: tried on real files in a folder of its own.

import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HookFiles } from './files.ts';

export function hookFilesContract(name: string, create: () => HookFiles): void {
  describe(name, () => {
    let dir: string;
    let files: HookFiles;
    const at = (below: string): string => join(dir, below);

    beforeEach(() => {
      dir = mkdtempSync(join(tmpdir(), "agtmux hook's files-"));
      files = create();
    });
    afterEach(() => {
      for (const below of ['locked']) if (existsSync(at(below))) chmodSync(at(below), 0o700);
      rmSync(dir, { recursive: true, force: true });
    });

    it('finds nothing, and what is there, byte for byte', async () => {
      expect(await files.find(at('a/b.json'))).toEqual({
        ok: true,
        value: { path: at('a/b.json'), realPath: at('a/b.json'), text: null, isWritable: true },
      });
      for (const text of ['', '\n', 'x', '\ufeff{"ä": "€😀"}\r\n\n', ' \t\\ "$x" `y` %s\n']) {
        writeFileSync(at('f'), text);
        expect(await files.find(at('f'))).toMatchObject({ ok: true, value: { text, realPath: at('f') } });
      }
    });

    it('writes a new file with the folders it needs, and tells them', async () => {
      const path = at('one/two words/f.json');
      const change = { realPath: path, before: null, after: 'new\n', mode: 0o640 };
      expect(await files.write(change)).toEqual({ ok: true, value: [at('one'), at('one/two words')] });
      expect(readFileSync(path, 'utf8')).toBe('new\n');
      expect(statSync(path).mode & 0o777).toBe(0o640);
      expect(readdirSync(at('one/two words'))).toEqual(['f.json']);
    });

    it('changes a file that is as it was, and keeps its mode', async () => {
      writeFileSync(at('f'), 'old');
      chmodSync(at('f'), 0o664);
      expect(await files.write({ realPath: at('f'), before: 'old', after: 'new ä', mode: 0o600 })).toEqual({
        ok: true,
        value: [],
      });
      expect(readFileSync(at('f'), 'utf8')).toBe('new ä');
      expect(statSync(at('f')).mode & 0o777).toBe(0o664);
    });

    it('INS4 keeps the owner, the mode and every other name of a file', async () => {
      const isRoot = process.getuid?.() === 0;
      mkdirSync(at('d'));
      for (const [mode, names] of [
        [0o600, 1],
        [0o644, 2],
        [0o640, 3],
        [0o4755, 1],
      ] as const) {
        const path = at(`d/f${mode}`);
        writeFileSync(path, 'old, and longer than what comes');
        if (isRoot) chownSync(path, 4_321, 1_234);
        chmodSync(path, mode);
        for (let name = 1; name < names; name += 1) linkSync(path, at(`name${mode}-${name}`));
        const { uid, gid, ino } = statSync(path);
        const change = { realPath: path, before: 'old, and longer than what comes', after: 'new ä\n', mode: 0o600 };
        expect(await files.write(change)).toEqual({ ok: true, value: [] });
        const now = statSync(path);
        expect([now.uid, now.gid, now.mode & 0o7777, now.nlink]).toEqual([uid, gid, mode, names]);
        if (names > 1) expect(now.ino).toBe(ino);
        for (let name = 1; name < names; name += 1)
          expect(readFileSync(at(`name${mode}-${name}`), 'utf8')).toBe('new ä\n');
        expect(readFileSync(path, 'utf8')).toBe('new ä\n');
      }
      expect(readdirSync(at('d')).every((name) => /^f\d+$/.test(name))).toBe(true);
    });

    it('refuses a file with further names that is not as it was', async () => {
      writeFileSync(at('f'), 'other');
      linkSync(at('f'), at('g'));
      const refused = await files.write({ realPath: at('f'), before: 'old', after: 'new', mode: 0o600 });
      expect(refused).toMatchObject({ ok: false, failure: { code: 'E_STATE_CHANGED', next: expect.any(String) } });
      expect([readFileSync(at('g'), 'utf8'), statSync(at('f')).nlink, readdirSync(dir)]).toEqual([
        'other',
        2,
        ['f', 'g'],
      ]);
    });

    it('refuses a file that is not as it was, and leaves nothing behind', async () => {
      writeFileSync(at('f'), 'other');
      for (const before of ['old', null, '']) {
        const refused = await files.write({ realPath: at('f'), before, after: 'new', mode: 0o600 });
        expect(refused).toMatchObject({ ok: false, failure: { code: 'E_STATE_CHANGED' } });
      }
      const gone = await files.write({ realPath: at('g'), before: 'old', after: 'new', mode: 0o600 });
      expect(gone).toMatchObject({ ok: false, failure: { code: 'E_STATE_CHANGED' } });
      expect(await files.remove(at('f'), 'old')).toMatchObject({ ok: false, failure: { code: 'E_STATE_CHANGED' } });
      expect(readFileSync(at('f'), 'utf8')).toBe('other');
      expect(readdirSync(dir)).toEqual(['f']);
    });

    it('removes what a write that was cut short has left a day ago, and nothing that is newer or not ours', async () => {
      const [old, fresh, other] = ['.agtmux-00000000000000aa.tmp', '.agtmux-00000000000000bb.tmp', '.other.tmp'];
      for (const below of [old, fresh, other]) writeFileSync(at(below), 'left');
      for (const below of [old, other]) utimesSync(at(below), 1_000, 1_000);
      expect(await files.write({ realPath: at('f'), before: null, after: 'new', mode: 0o600 })).toMatchObject({
        ok: true,
      });
      expect(readdirSync(dir).sort()).toEqual([fresh, other, 'f']);
    });

    it('follows a link to the file and never replaces it', async () => {
      mkdirSync(at('dotfiles'));
      writeFileSync(at('dotfiles/f'), 'old');
      symlinkSync('dotfiles/f', at('link'));
      symlinkSync(at('link'), at('far'));
      const found = await files.find(at('far'));
      expect(found).toMatchObject({ ok: true, value: { path: at('far'), text: 'old' } });
      if (!found.ok) return;
      await files.write({ realPath: found.value.realPath, before: 'old', after: 'new', mode: 0o600 });
      expect(readFileSync(at('dotfiles/f'), 'utf8')).toBe('new');
      expect([lstatSync(at('link')).isSymbolicLink(), lstatSync(at('far')).isSymbolicLink()]).toEqual([true, true]);
    });

    it('refuses links that lead nowhere or in a circle, folders, and what is no text', async () => {
      symlinkSync('nowhere', at('dead'));
      symlinkSync('b', at('a'));
      symlinkSync('a', at('b'));
      mkdirSync(at('folder'));
      writeFileSync(at('bytes'), Buffer.from([0x7b, 0xff, 0x7d]));
      writeFileSync(at('large'), 'x'.repeat(2 * 1_048_576 + 1));
      for (const below of ['dead', 'a', 'bytes'])
        expect(await files.find(at(below))).toMatchObject({ ok: false, failure: { code: 'E_HOOKS' } });
      for (const below of ['folder', 'large']) expect(await files.find(at(below))).toMatchObject({ ok: false });
    });

    it('tells what is protected against writing', async () => {
      mkdirSync(at('locked'));
      writeFileSync(at('locked/f'), 'x');
      writeFileSync(at('g'), 'x');
      chmodSync(at('g'), 0o444);
      chmodSync(at('locked'), 0o555);
      for (const below of ['locked/f', 'locked/new', 'locked/deep/new', 'g'])
        expect(await files.find(at(below))).toMatchObject({ ok: true, value: { isWritable: false } });
    });

    it('removes a file that is as it was, and folders only when they are empty', async () => {
      mkdirSync(at('d'));
      writeFileSync(at('d/f'), 'x');
      await files.removeEmptyFolder(at('d'));
      expect(existsSync(at('d/f'))).toBe(true);
      expect(await files.remove(at('d/f'), 'x')).toEqual({ ok: true, value: null });
      expect(await files.hasFolder(at('d'))).toEqual({ ok: true, value: true });
      await files.removeEmptyFolder(at('d'));
      expect(await files.hasFolder(at('d'))).toEqual({ ok: true, value: false });
      await files.removeEmptyFolder(at('d'));
    });

    it('SEC1 makes private folders', async () => {
      expect(await files.makePrivateFolder(at('p/q'))).toEqual({ ok: true, value: null });
      expect(statSync(at('p/q')).mode & 0o777).toBe(0o700);
      expect(await files.makePrivateFolder(at('p/q'))).toEqual({ ok: true, value: null });
    });
  });
}
