import { describe, expect, it } from 'vitest';
import { filesContract } from '../contract/files.contract.ts';
import { FileError, isTemporaryName } from '../files.ts';
import { createSimulatedClock } from './clock.ts';
import { createSimulatedFiles, type SimulatedFiles } from './files.ts';
import { createSimulatedRandom } from './random.ts';

const root = '/home/me/state';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function freshDisk(): SimulatedFiles {
  const files = createSimulatedFiles({ clock: createSimulatedClock() });
  files.plant(root, { kind: 'directory' });
  return files;
}

async function readText(files: SimulatedFiles, path: string): Promise<string | null> {
  const content = await files.read(path, { bytesMax: 1_000_000 });
  return content === null ? null : new TextDecoder().decode(content.bytes);
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: unknown) => (error instanceof FileError ? error.code : 'other'),
  );
}

filesContract('simulated', async () => {
  const files = freshDisk();
  return {
    files,
    root,
    uid: 1_000,
    link: async (path, target) => files.plant(path, { kind: 'link', target, mode: 0o777 }),
    pipe: async (path) => files.plant(path, { kind: 'other' }),
  };
});

describe('simulated files: power cuts', () => {
  it('loses what was not synced and keeps what was', async () => {
    const files = freshDisk();
    await files.append(`${root}/log`, bytes('safe.'), { sync: true });
    await files.append(`${root}/log`, bytes('lost.'), { sync: false });
    await files.append(`${root}/other`, bytes('lost whole'), { sync: false });
    files.crash();
    files.restart();
    expect(await readText(files, `${root}/log`)).toBe('safe.');
    expect(await files.stat(`${root}/other`)).toBeNull();
  });

  it('with luck a part survives, and luck is drawn from the seed', async () => {
    const lengths = new Set<number>();
    for (let seed = 0; seed < 40; seed += 1) {
      const outcomes: (string | null)[] = [];
      for (let again = 0; again < 2; again += 1) {
        const files = freshDisk();
        await files.append(`${root}/log`, bytes('12'), { sync: true });
        await files.append(`${root}/log`, bytes('3456'), { sync: false });
        files.crash(createSimulatedRandom(seed));
        files.restart();
        outcomes.push(await readText(files, `${root}/log`));
      }
      expect(outcomes[0]).toBe(outcomes[1]);
      expect('123456'.startsWith(outcomes[0] ?? 'x')).toBe(true);
      lengths.add(outcomes[0]?.length ?? 0);
    }
    expect([...lengths].sort()).toEqual([2, 3, 4, 5, 6]);
  });

  it('an unsynced rename leaves the old name or the new one, never both and never none', async () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 20; seed += 1) {
      const files = freshDisk();
      await files.writeAtomic(`${root}/a`, bytes('x'));
      await files.rename(`${root}/a`, `${root}/b`);
      files.crash(createSimulatedRandom(seed));
      files.restart();
      seen.add(((await files.list(root, 10))?.names ?? []).join(','));
    }
    expect([...seen].sort()).toEqual(['a', 'b']);
  });

  it('a chain of changes to one name is undone to where it began', async () => {
    const files = freshDisk();
    await files.writeAtomic(`${root}/a`, bytes('x'));
    await files.rename(`${root}/a`, `${root}/b`);
    await files.rename(`${root}/b`, `${root}/c`);
    await files.remove(`${root}/c`);
    await files.append(`${root}/a`, bytes('y'), { sync: false });
    files.crash();
    files.restart();
    expect((await files.list(root, 10))?.names).toEqual(['a']);
    expect(await readText(files, `${root}/a`)).toBe('x');
  });

  it('name changes survive as a prefix of the order they were made in', async () => {
    for (let seed = 0; seed < 40; seed += 1) {
      const files = freshDisk();
      for (const name of ['1', '2', '3', '4']) await files.append(`${root}/${name}`, bytes('x'), { sync: false });
      files.crash(createSimulatedRandom(seed));
      files.restart();
      const names = (await files.list(root, 10))?.names ?? [];
      expect('1,2,3,4'.startsWith(names.join(','))).toBe(true);
    }
  });

  it('a cut at any step of an atomic write leaves old or new, and an acknowledged write stays', async () => {
    for (let nth = 1; nth <= 7; nth += 1) {
      const files = freshDisk();
      await files.writeAtomic(`${root}/a`, bytes('old'));
      files.failAt(nth, 'power_cut');
      const code = await codeOf(files.writeAtomic(`${root}/a`, bytes('new')));
      expect(code).toBe(nth <= 5 ? 'power_cut' : 'none');
      if (code === 'none') files.crash();
      expect(await codeOf(files.stat(root))).toBe('power_cut');
      files.restart();
      const content = await readText(files, `${root}/a`);
      if (code === 'none') expect(content).toBe('new');
      else expect(['old', 'new']).toContain(content);
      expect((await files.list(root, 10))?.names.filter((name) => !isTemporaryName(name))).toEqual(['a']);
    }
  });
});

describe('simulated files: failing steps and full disks', () => {
  it('any one failing step is told, leaves the old content, and the next write works', async () => {
    for (const fault of ['EIO', 'ENOSPC'] as const) {
      for (let nth = 1; nth <= 5; nth += 1) {
        const files = freshDisk();
        await files.writeAtomic(`${root}/a`, bytes('old'));
        const before = files.operations();
        files.failAt(nth, fault);
        expect(await codeOf(files.writeAtomic(`${root}/a`, bytes('new')))).toBe(fault);
        expect(files.operations()).toBe(before + nth);
        // The last step only makes the new name safe; it is there already.
        expect(await readText(files, `${root}/a`)).toBe(nth === 5 ? 'new' : 'old');
        expect((await files.list(root, 10))?.names).toEqual(['a']);
        expect(files.bytesUsed()).toBe(3);
        await files.writeAtomic(`${root}/a`, bytes('newest'));
        expect(await readText(files, `${root}/a`)).toBe('newest');
      }
    }
  });

  it('a full disk takes what fits, refuses the rest, and goes on when space returns', async () => {
    const files = freshDisk();
    files.setBytesMax(10);
    await files.append(`${root}/log`, bytes('12345678'), { sync: true });
    expect(await codeOf(files.append(`${root}/log`, bytes('abcdef'), { sync: true }))).toBe('ENOSPC');
    expect(await readText(files, `${root}/log`)).toBe('12345678ab');
    expect(await codeOf(files.writeAtomic(`${root}/a`, bytes('x')))).toBe('ENOSPC');
    expect((await files.list(root, 10))?.names).toEqual(['log']);
    expect(await files.remove(`${root}/log`)).toBe(true);
    expect(files.bytesUsed()).toBe(0);
    await files.writeAtomic(`${root}/a`, bytes('x'));
    expect(files.bytesUsed()).toBe(1);
  });

  it('faults can be taken back', async () => {
    const files = freshDisk();
    files.failAt(1, 'EIO');
    files.clearFaults();
    expect(await files.stat(root)).not.toBeNull();
  });

  it('what other programs plant is there for good and makes nothing else safe', async () => {
    const clock = createSimulatedClock({ wallMs: 5_000 });
    const files = createSimulatedFiles({ clock });
    files.plant(`${root}/spool/hook`, { bytes: bytes('event'), uid: 7, mtimeMs: 4_000 });
    await files.append(`${root}/mine`, bytes('x'), { sync: false });
    files.plant(`${root}/spool/hook2`, { bytes: bytes('event') });
    files.crash();
    files.restart();
    expect((await files.list(`${root}/spool`, 9))?.names).toEqual(['hook', 'hook2']);
    expect(await files.stat(`${root}/spool/hook`)).toMatchObject({ uid: 7, mtimeMs: 4_000, sizeBytes: 5 });
    expect((await files.stat(`${root}/spool/hook2`))?.mtimeMs).toBe(5_000);
    expect(await files.stat(`${root}/mine`)).toBeNull();
    expect(files.bytesUsed()).toBe(10);
  });
});
