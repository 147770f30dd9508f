import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { filesContract } from './contract/files.contract.ts';
import { createRealFiles, FileError, isDiskFull, isTemporaryName, removeLeftovers } from './files.ts';

const roots: string[] = [];
const uid = process.getuid?.() ?? 0;

async function freshRoot(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'agtmux-files-'));
  roots.push(root);
  return root;
}

afterEach(async () => {
  for (const root of roots.splice(0)) await rm(root, { recursive: true, force: true });
});

filesContract('real', async () => ({
  files: createRealFiles(),
  root: await freshRoot(),
  uid,
  link: (path, target) => symlink(target, path),
  pipe: async (path) => {
    await promisify(execFile)('mkfifo', [path]);
  },
}));

describe('real files', () => {
  it('SEC1 the mode of what is written does not depend on the umask', async () => {
    const root = await freshRoot();
    const before = process.umask(0);
    try {
      const files = createRealFiles();
      await files.mkdirPrivate(`${root}/open/state`);
      await files.writeAtomic(`${root}/open/state/a`, new Uint8Array(1));
      await files.append(`${root}/open/state/b`, new Uint8Array(1), { sync: true });
      expect((await files.stat(`${root}/open`))?.mode).toBe(0o700);
      expect((await files.stat(`${root}/open/state/a`))?.mode).toBe(0o600);
      expect((await files.stat(`${root}/open/state/b`))?.mode).toBe(0o600);
    } finally {
      process.umask(before);
    }
  });

  it('a loose directory is left as it is', async () => {
    const root = await freshRoot();
    const files = createRealFiles();
    await files.mkdirPrivate(`${root}/loose`);
    await chmod(`${root}/loose`, 0o755);
    await files.mkdirPrivate(`${root}/loose`);
    expect((await files.stat(`${root}/loose`))?.mode).toBe(0o755);
  });

  it('reads files that do not tell their size, up to the bound', async () => {
    const files = createRealFiles();
    const own = await files.read('/dev/null', { bytesMax: 1 }).catch((error: unknown) => error);
    expect(own instanceof FileError && own.code).toBe('EINVAL');
    const root = await freshRoot();
    await files.writeAtomic(`${root}/empty`, new Uint8Array(0));
    expect((await files.read(`${root}/empty`, { bytesMax: 0 }))?.bytes.length).toBe(0);
    await files.writeAtomic(`${root}/exact`, new Uint8Array(10_000).fill(7));
    expect((await files.read(`${root}/exact`, { bytesMax: 10_000 }))?.bytes).toEqual(new Uint8Array(10_000).fill(7));
  });

  it('what a write that was cut short has left is removed: ours, by its name, its owner and its age, and nothing else', async () => {
    const files = createRealFiles();
    const root = await freshRoot();
    const names = ['.agtmux-00000000000000aa.tmp', '.agtmux-00000000000000bb.tmp', '.agtmux-aa.tmp', 'note.tmp'];
    for (const name of names) await files.append(join(root, name), Buffer.from('a message'), { sync: false });
    await mkdir(join(root, '.agtmux-00000000000000cc.tmp'));
    await symlink(join(root, 'note.tmp'), join(root, '.agtmux-00000000000000dd.tmp'));
    const [old = ''] = names;
    await utimes(join(root, old), 1_000, 1_000);
    expect(await removeLeftovers(files, root, { uid, before: 2_000_000 })).toEqual([old]);
    expect(await removeLeftovers(files, root, { uid: uid + 1, before: Number.MAX_SAFE_INTEGER })).toEqual([]);
    expect(await removeLeftovers(files, root, { uid, before: Number.MAX_SAFE_INTEGER })).toEqual([names[1]]);
    expect((await files.list(root, 10))?.names).toEqual([
      '.agtmux-00000000000000cc.tmp',
      '.agtmux-00000000000000dd.tmp',
      '.agtmux-aa.tmp',
      'note.tmp',
    ]);
    expect(await removeLeftovers(files, join(root, 'nowhere'), { uid, before: 1 })).toEqual([]);
  });

  it('a full disk is recognised by its code, a leftover by its name', () => {
    expect(isDiskFull(new FileError('write', '/a', 'ENOSPC'))).toBe(true);
    expect(isDiskFull(new FileError('write', '/a', 'EDQUOT'))).toBe(true);
    expect(isDiskFull(new FileError('write', '/a', 'EIO'))).toBe(false);
    expect(isDiskFull(new Error('ENOSPC'))).toBe(false);
    expect(isTemporaryName('.agtmux-0123456789abcdef.tmp')).toBe(true);
    expect(isTemporaryName('settings.tmp')).toBe(false);
  });
});
