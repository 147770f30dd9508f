import { chmod, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createRealFiles } from './files.ts';
import { checkPrivateDirectory, checkPrivateSocket, ensurePrivateDirectory } from './private-directory.ts';
import { createSimulatedClock } from './simulated/clock.ts';
import type { Planted } from './simulated/file-tree.ts';
import { createSimulatedFiles } from './simulated/files.ts';

const me = 1_000;
const path = '/run/user/1000/agtmux';

/** What the simulated disk looks like, from the root down; ours and 0700 unless said otherwise. */
async function verdictOf(planted: Record<string, Planted>, asked: string = path): Promise<string> {
  const files = createSimulatedFiles({ clock: createSimulatedClock(), uid: me });
  for (const [where, what] of Object.entries(planted)) files.plant(where, what);
  const result = await checkPrivateDirectory(files, asked, me);
  return result.ok ? 'safe' : `${result.failure.code} ${result.failure.message}`;
}

const directory = (rights: Planted = {}): Planted => ({ kind: 'directory', ...rights });

describe('private directory', () => {
  it('SEC1 accepts a real 0700 directory of ours below parents of ours or of root', async () => {
    expect(await verdictOf({ [path]: directory() })).toBe('safe');
    expect(await verdictOf({ '/run/user/1000': directory(), [path]: directory({ mode: 0o2700 }) })).toBe('safe');
  });

  it('SEC1 a world-writable parent is fine when it is sticky', async () => {
    expect(await verdictOf({ '/tmp': directory({ uid: 0, mode: 0o1777 }), '/tmp/a': directory() }, '/tmp/a')).toBe(
      'safe',
    );
  });

  const loose: [string, Record<string, Planted>, string, string?][] = [
    ['missing', { '/run': directory({ uid: 0, mode: 0o755 }) }, 'does not exist'],
    ['a file', { [path]: { kind: 'file' } }, 'is not a directory'],
    [
      'a link to a safe directory',
      { [path]: { kind: 'link', target: '/safe' }, '/safe': directory() },
      'symbolic link',
    ],
    [
      'a link, asked for with a slash at its end',
      { [path]: { kind: 'link', target: '/safe' }, '/safe': directory() },
      'symbolic link',
      `${path}/`,
    ],
    ['of another user', { [path]: directory({ uid: 1_001 }) }, 'belongs to user 1001'],
    ['of root while we are not', { [path]: directory({ uid: 0 }) }, 'belongs to user 0'],
    ['readable by the group', { [path]: directory({ mode: 0o740 }) }, 'has mode 0740'],
    ['passable for others', { [path]: directory({ mode: 0o701 }) }, 'has mode 0701'],
    ['writable by everybody', { [path]: directory({ mode: 0o777 }) }, 'has mode 0777'],
    ['writable by everybody and sticky', { [path]: directory({ mode: 0o1777 }) }, 'has mode 01777'],
    ['not usable by ourselves', { [path]: directory({ mode: 0o500 }) }, 'cannot use it'],
    [
      'below a world-writable parent',
      { '/run': directory({ uid: 0, mode: 0o777 }), [path]: directory() },
      '/run has mode',
    ],
    [
      'below a world-writable root',
      { '/': directory({ uid: 0, mode: 0o777 }), [path]: directory() },
      'parent / has mode',
    ],
    ['below a parent of another user', { '/run/user': directory({ uid: 1_001 }), [path]: directory() }, 'replace it'],
    [
      'behind a link of another user',
      {
        '/tmp': directory({ uid: 0, mode: 0o1777 }),
        '/tmp/way': { kind: 'link', target: '/safe', uid: 1_001 },
        '/safe/a': directory(),
      },
      '/tmp/way belongs to user 1001',
      '/tmp/way/a',
    ],
    [
      'behind a link of ours into an open place',
      {
        '/way': { kind: 'link', target: '/open/place' },
        '/open': directory({ mode: 0o777 }),
        '/open/place/a': directory(),
      },
      '/open has mode',
      '/way/a',
    ],
    [
      'behind two links, the second of another user',
      {
        '/way': { kind: 'link', target: 'mid/next' },
        '/mid/next': { kind: 'link', target: '../safe', uid: 7 },
        '/safe/a': directory(),
      },
      '/mid/next belongs to user 7',
      '/way/a',
    ],
    ['named by a relative path', {}, 'absolute path', 'run/agtmux'],
    ['named by a way back', { [path]: directory() }, 'absolute path', `${path}/../agtmux`],
  ];
  it.each(loose)('SEC1 refuses a directory that is %s', async (_name, planted, words, asked = path) => {
    const verdict = await verdictOf(planted, asked);
    expect(verdict).toContain('E_UNSAFE_DIR');
    expect(verdict).toContain(words);
  });

  it('follows links of ours and of root to safe places', async () => {
    const planted = { '/var': { kind: 'link', target: 'private/var', uid: 0 }, '/private/var/a': directory() } as const;
    expect(await verdictOf(planted, '/var/a')).toBe('safe');
    const back = { '/x/way': { kind: 'link', target: '../y/./z' }, '/y/z/a': directory() } as const;
    expect(await verdictOf(back, '/x/way/a')).toBe('safe');
  });

  it('trouble of the disk is a value too', async () => {
    const files = createSimulatedFiles({ clock: createSimulatedClock(), uid: me });
    files.plant('/home/me/file', {});
    const blocked = await ensurePrivateDirectory(files, '/home/me/file/state', me);
    expect(!blocked.ok && blocked.failure.code).toBe('E_STORE_IO');
    files.failAt(2, 'EIO');
    const broken = await ensurePrivateDirectory(files, '/home/me/state', me);
    expect(!broken.ok && broken.failure.code).toBe('E_STORE_IO');
    expect(await ensurePrivateDirectory(files, '/home/me/state/', me)).toEqual({ ok: true, value: '/home/me/state' });
  });
});

describe('private directory on the real disk', () => {
  const uid = process.getuid?.() ?? 0;
  const files = createRealFiles();
  const roots: string[] = [];
  afterEach(async () => {
    for (const root of roots.splice(0)) await rm(root, { recursive: true, force: true });
  });
  async function freshRoot(): Promise<string> {
    const root = await mkdtemp(join(tmpdir(), 'agtmux-private-'));
    roots.push(root);
    return root;
  }

  it('SEC1 makes a private directory and finds it safe', async () => {
    const root = await freshRoot();
    expect(await ensurePrivateDirectory(files, `${root}/state/agtmux`, uid)).toEqual({
      ok: true,
      value: `${root}/state/agtmux`,
    });
  });

  it('SEC1 refuses every mode but 0700 and never repairs one', async () => {
    const root = await freshRoot();
    const loose = join(root, 'loose');
    await mkdir(loose);
    for (const mode of [0o777, 0o755, 0o750, 0o710, 0o701, 0o770, 0o707, 0o740, 0o720, 0o704, 0o702, 0o1777]) {
      await chmod(loose, mode);
      const result = await ensurePrivateDirectory(files, loose, uid);
      expect(result.ok).toBe(false);
      expect((await lstat(loose)).mode & 0o7777).toBe(mode);
    }
    await chmod(loose, 0o700);
    expect((await checkPrivateDirectory(files, loose, uid)).ok).toBe(true);
    expect((await checkPrivateDirectory(files, loose, uid + 1)).ok).toBe(false);
  });

  it('SEC1 refuses links, files and open parents', async () => {
    const root = await freshRoot();
    await mkdir(join(root, 'safe'), { mode: 0o700 });
    await symlink('safe', join(root, 'link'));
    await writeFile(join(root, 'file'), '');
    await mkdir(join(root, 'open'));
    await chmod(join(root, 'open'), 0o777);
    await mkdir(join(root, 'open', 'inner'), { mode: 0o700 });
    for (const name of ['link', 'link/', 'file', 'open/inner', 'none']) {
      expect((await checkPrivateDirectory(files, `${root}/${name}`, uid)).ok, name).toBe(false);
    }
    expect((await checkPrivateDirectory(files, `${root}/safe`, uid)).ok).toBe(true);
  });
});

describe('private socket', () => {
  const socket = `${path}/agtmux.sock`;
  async function codeOf(planted: Record<string, Planted>): Promise<string> {
    const files = createSimulatedFiles({ clock: createSimulatedClock(), uid: me });
    for (const [where, what] of Object.entries(planted)) files.plant(where, what);
    const result = await checkPrivateSocket(files, socket, me);
    return result.ok ? 'safe' : result.failure.code;
  }
  const ours: Planted = { kind: 'socket', mode: 0o600 };

  it.each<[string, Record<string, Planted>, string]>([
    ['ours, in a directory of ours', { [path]: directory(), [socket]: ours }, 'safe'],
    ['missing', { [path]: directory() }, 'E_DAEMON_DOWN'],
    ['missing with its directory', { '/run': directory({ uid: 0, mode: 0o755 }) }, 'E_DAEMON_DOWN'],
    ['a file', { [path]: directory(), [socket]: { kind: 'file' } }, 'E_DAEMON_DOWN'],
    ['a link', { [path]: directory(), [socket]: { kind: 'link', target: '/tmp/x' } }, 'E_UNSAFE_DIR'],
    ['of another user', { [path]: directory(), [socket]: { ...ours, uid: 1_001 } }, 'E_UNSAFE_DIR'],
    ['open to others', { [path]: directory(), [socket]: { ...ours, mode: 0o660 } }, 'E_UNSAFE_DIR'],
    ['in a directory of another user', { [path]: directory({ uid: 1_001 }), [socket]: ours }, 'E_UNSAFE_DIR'],
    ['in an open directory', { [path]: directory({ mode: 0o755 }), [socket]: ours }, 'E_UNSAFE_DIR'],
    [
      'below a directory of another user',
      { '/run/user': directory({ uid: 1_001 }), [path]: directory(), [socket]: ours },
      'E_UNSAFE_DIR',
    ],
  ])('SEC1 %s', async (_, planted, code) => {
    expect(await codeOf(planted)).toBe(code);
  });
});
