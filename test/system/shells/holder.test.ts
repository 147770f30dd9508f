// bin/agtmux-shell without any daemon, in every shell: what it writes down of a command and of what it prints, and that
// nothing which a command does or suffers keeps it from telling the end.

import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseStory, type Story, type StoryBounds, storyHead } from '../../../src/shells/story.ts';
import { smallDisk } from '../../fault/small-disk.ts';
import { shells } from '../spool/kit.ts';
import { eventually, holder, logBytes, type Place, place, processesIn } from './kit.ts';

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(async () => {
  await eventually(() => processesIn(here.dir).length === 0);
  here.remove();
});

interface Hold {
  readonly bounds?: Partial<StoryBounds>;
  readonly tty?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly root?: string;
  /** Of 512 bytes, in any file that the holder writes. */
  readonly blocksMax?: number;
}

interface Holding {
  readonly folder: string;
  readonly pid: number;
  /** What it said to who started it. */
  said(): string;
  story(): Story;
  log(): Buffer;
  /** Resolves when the holder itself has ended. */
  readonly ended: Promise<void>;
}

const usual: StoryBounds = { segmentBytes: 1_048_576, logBytesMax: 2 ** 30, printedBytesMax: 2 ** 36 };
const plainEnv = { PATH: process.env.PATH ?? '/usr/bin:/bin' };

describe.each(shells.map((shell) => [shell.join(' '), shell] as const))('agtmux-shell in %s', (_name, shell) => {
  function hold(command: string, options: Hold = {}): Holding {
    const root = options.root ?? here.root;
    const folder = join(root, 'shell-1/1');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    mkdirSync(join(root, 'ended'), { recursive: true });
    writeFileSync(join(folder, 'command'), `${command}\n`);
    const head = storyHead({ ...usual, ...options.bounds }, options.tty ?? false, '{}');
    writeFileSync(join(folder, 'story'), head);
    const limit = options.blocksMax === undefined ? 'unlimited' : String(options.blocksMax);
    const child = spawn('/bin/sh', ['-c', 'ulimit -f "$0"; exec "$@"', limit, ...shell, holder, folder], {
      cwd: here.cwd,
      env: { ...plainEnv, ...options.env },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    let text = '';
    child.stdout.on('data', (data) => {
      text += String(data);
    });
    return {
      folder,
      pid: child.pid ?? 0,
      said: () => text,
      story: () => parseStory(readFileSync(join(folder, 'story'), 'latin1')),
      log: () => logBytes(root, 'shell-1'),
      ended: new Promise((resolve) => child.on('close', () => resolve())),
    };
  }

  async function held(command: string, options: Hold = {}): Promise<Holding> {
    const holding = hold(command, options);
    await holding.ended;
    return holding;
  }

  it('SHL6 writes down who it is, what it printed and how it ended, and tells who started it', async () => {
    const one = await held('echo out; echo err >&2; echo $$ $0 $#; exit 7');
    const { told, exitStatus, logEnd } = one.story();
    expect(one.log().toString()).toBe(`out\nerr\n${told?.pid} sh 0\n`);
    expect([exitStatus, logEnd]).toEqual([7, 'whole']);
    expect(told?.holderPid).toBe(one.pid);
    expect(one.said()).toBe(`pid ${told?.pid} ${told?.start} holder ${told?.holderPid} ${told?.holderStart}\n`);
    expect(readdirSync(join(here.root, 'ended'))).toEqual(['shell-1.1']);
  });

  it.each([
    ['no-such-program-here', 127],
    ['kill -9 $$', 137],
    ['kill -TERM $$', 143],
    ['if', 2],
    ['exec sh -c "exit 9"', 9],
    ['trap "exit 5" TERM; kill -TERM $$; sleep 5', 5],
    ['set -e; false; echo never', 1],
    ['cat; exit 3', 3],
    ['exec >&- 2>&-; exit 4', 4],
  ])('SHL1 the status of %j is %i', async (command, status) => {
    expect((await held(command)).story()).toMatchObject({ exitStatus: status, logEnd: 'whole' });
  });

  it('SHL7 the command finds its environment and its signals as they were, and nothing of the holder open', async () => {
    const env = {
      start: 'a',
      word: 'b',
      status: 'c',
      shell: 'd',
      root: 'e',
      count: 'f',
      SHELL: '/bin/zsh',
      LC_ALL: 'C',
    };
    const command =
      'env | sort; grep -E "^Sig(Ign|Blk)" /proc/self/status; ls -l /proc/self/fd | grep -c -E "story|shell-1"';
    const lines = (await held(command, { env })).log().toString().split('\n');
    for (const [name, value] of Object.entries(env)) expect(lines).toContain(`${name}=${value}`);
    expect(lines.filter((line) => /agtmux/i.test(line))).toEqual([]);
    // What is ignored here from the start, by whoever runs the tests, is ignored there.
    const here = execFileSync('grep', ['-E', '^Sig(Ign|Blk)', '/proc/self/status'], { encoding: 'utf8' });
    expect(lines.slice(-4)).toEqual([...here.trim().split('\n'), '0', '']);
  });

  it('SHL5 keeps every byte, whatever it is', async () => {
    const source = join(here.dir, 'bytes');
    const bytes = Buffer.alloc(
      5_000_000,
      Uint8Array.from({ length: 251 }, (_, at) => at),
    );
    writeFileSync(source, bytes);
    const one = await held(`cat '${source}'`);
    const digest = (all: Uint8Array): string => createHash('sha256').update(all).digest('hex');
    expect(digest(one.log())).toBe(digest(bytes));
    expect(readdirSync(one.folder).filter((name) => name.startsWith('log.')).length).toBeGreaterThan(3);
    expect(statSync(join(one.folder, 'log.0')).mode & 0o777).toBe(0o600);
  });

  it('SHL5 drops the oldest segments, and each begins where the one before it ended', async () => {
    const command = 'i=0; while [ $i -lt 30000 ]; do echo "line $i"; i=$((i + 1)); done';
    const one = await held(command, { bounds: { segmentBytes: 16_384, logBytesMax: 65_536 } });
    const starts = readdirSync(one.folder)
      .filter((name) => name.startsWith('log.'))
      .map((name) => Number(name.slice(4)))
      .sort((left, right) => left - right);
    const [first = 0] = starts;
    expect(first).toBeGreaterThan(200_000);
    for (const [at, start] of starts.entries()) {
      const size = statSync(join(one.folder, `log.${start}`)).size;
      expect(start + size).toBe(starts[at + 1] ?? first + one.log().length);
    }
    expect(one.log().length).toBeLessThanOrEqual(65_536 + 16_384);
    expect(one.log().toString().endsWith('line 29998\nline 29999\n')).toBe(true);
    expect(one.story().logEnd).toBe('whole');
  });

  it('SHL5 at its cap it stops storing and says so, and the command goes on', async () => {
    const command = 'head -c 3000000 /dev/zero || exit 9; echo "still here" >done; exit 6';
    const one = await held(command, { bounds: { segmentBytes: 65_536, printedBytesMax: 500_000 } });
    expect(one.story()).toMatchObject({ exitStatus: 6, logEnd: 'capped' });
    expect(one.log().length).toBeGreaterThanOrEqual(500_000);
    expect(one.log().length).toBeLessThan(500_000 + 2 * 65_536);
    expect(readFileSync(join(here.cwd, 'done'), 'utf8')).toBe('still here\n');
  });

  it('SHL5 small writes are in the log at once', async () => {
    const one = hold('echo first; until [ -e go ]; do sleep 0.05; done; echo second');
    await eventually(() => existsSync(join(one.folder, 'log.0')) && one.log().toString() === 'first\n');
    expect(one.story()).toMatchObject({ exitStatus: null, logEnd: null });
    writeFileSync(join(here.cwd, 'go'), '');
    await one.ended;
    expect(one.log().toString()).toBe('first\nsecond\n');
  });

  it('SHL6 what it leaves behind holds back neither the status nor its own words', async () => {
    const one = hold('(until [ -e go ]; do sleep 0.05; done; echo late) & echo early; exit 3');
    await eventually(() => one.story().exitStatus !== null);
    expect(one.story()).toMatchObject({ exitStatus: 3, logEnd: null });
    await eventually(() => existsSync(join(one.folder, 'log.0')) && one.log().toString() === 'early\n');
    writeFileSync(join(here.cwd, 'go'), '');
    await one.ended;
    expect(one.log().toString()).toBe('early\nlate\n');
    expect(one.story().logEnd).toBe('whole');
  });

  it('SHL3 the command leads a session of its own, and a signal for everybody leaves the holder its last word', async () => {
    const one = hold('sleep 600');
    await eventually(() => one.story().told !== null);
    const pid = one.story().told?.pid ?? 0;
    const fields = (): string[] => (readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1] ?? '').split(' ');
    await eventually(() => fields()[3] === String(pid));
    expect(fields()[2]).toBe(String(pid));
    process.kill(-one.pid, 'SIGTERM');
    process.kill(-one.pid, 'SIGHUP');
    process.kill(-pid, 'SIGTERM');
    await one.ended;
    expect(one.story()).toMatchObject({ exitStatus: 143, logEnd: 'whole' });
  });

  it('SHL6 a command whose starter is gone before it says a word runs all the same', async () => {
    const folder = join(here.root, 'shell-1/1');
    const one = hold('echo ran');
    // The pipe has no reader any more when the holder wants to tell.
    await one.ended;
    const again = spawn('/bin/sh', ['-c', `"$@" | :`, 'sh', ...shell, holder, folder], {
      cwd: here.cwd,
      env: plainEnv,
    });
    await new Promise((resolve) => again.on('close', resolve));
    await eventually(() => one.log().toString() === 'ran\nran\n');
  });

  it('SHL5 on a full disk the status is told, and that the log is not whole', async () => {
    const disk = smallDisk(here.dir, 400_000);
    try {
      const isReal = disk.kind === 'tmpfs';
      const command = 'i=0; while [ $i -lt 20 ]; do head -c 65536 /dev/zero; i=$((i + 1)); done; exit 8';
      // Where nothing may be mounted, files that may not grow beyond a size give much the same trouble to the writer.
      const one = await held(command, { root: disk.dir, ...(isReal ? {} : { blocksMax: 600 }) });
      expect(one.story()).toMatchObject({ exitStatus: 8, logEnd: isReal ? 'full' : 'broken' });
      expect(one.log().length).toBeGreaterThan(200_000);
    } finally {
      await eventually(() => processesIn(here.dir).length === 0);
      disk.remove();
    }
  });

  it('SHL5 a terminal on request, of which nothing is cut and nothing is added', async () => {
    const command =
      'test -t 0 && test -t 1 && test -t 2 && stty size; read x; echo "read $?"; seq 1 5000; printf end; exit 5';
    const one = await held(command, { tty: true, env: { SHELL: '/bin/false' } });
    const lines = Array.from({ length: 5_000 }, (_, at) => `${at + 1}\r\n`).join('');
    expect(one.log().toString()).toBe(`40 120\r\nread 1\r\n${lines}end`);
    expect(one.story()).toMatchObject({ exitStatus: 5, logEnd: 'whole' });
  });

  it('SHL5 what is printed at a terminal before it is killed is there', async () => {
    const one = hold('echo before; sleep 600', { tty: true });
    await eventually(() => existsSync(join(one.folder, 'log.0')) && one.log().toString() === 'before\r\n');
    process.kill(-(one.story().told?.pid ?? 0), 'SIGTERM');
    await one.ended;
    expect(one.story()).toMatchObject({ exitStatus: 143, logEnd: 'whole' });
    expect(one.log().toString()).toBe('before\r\n');
  });

  it('refuses with a reason where there is no terminal to be had, and where its folder is none', async () => {
    const empty = join(here.dir, 'no-programs');
    mkdirSync(empty);
    const one = await held('echo never', { tty: true, env: { PATH: empty } });
    expect(one.said()).toMatch(/^no a terminal was asked for, and this machine has no script/);
    expect(one.story()).toEqual({ told: null, exitStatus: null, logEnd: null });
  });
});

it('SHL3 without setsid bash gives the command a group of its own, and others are refused', async () => {
  const bin = join(here.dir, 'bin');
  mkdirSync(bin);
  const program = join(bin, 'agtmux-shell');
  copyFileSync(holder, program);
  const text = readFileSync(holder, 'utf8').replaceAll('/usr/bin/setsid', '/nowhere/setsid');
  writeFileSync(program, text.replaceAll('command -v setsid', 'command -v setsid-of-nobody'));
  const folder = join(here.root, 'shell-1/1');
  for (const [path, said] of [
    ['/bin/bash', /^pid /],
    ['/bin/dash', /^no this machine has no setsid/],
  ] as const) {
    if (!existsSync(path)) continue;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'command'), 'ps -o pgid= -p $$; echo $$; exit 4\n');
    writeFileSync(join(folder, 'story'), storyHead(usual, false, '{}'));
    const child = spawn(path, [program, folder], { cwd: here.cwd, env: plainEnv, detached: true });
    let text = '';
    child.stdout.on('data', (data) => {
      text += String(data);
    });
    await new Promise((resolve) => child.on('close', resolve));
    expect(text).toMatch(said);
    if (!text.startsWith('pid')) continue;
    const [group, pid] = logBytes(here.root, 'shell-1').toString().trim().split(/\s+/);
    expect(group).toBe(pid);
    expect(parseStory(readFileSync(join(folder, 'story'), 'latin1'))).toMatchObject({ exitStatus: 4, logEnd: 'whole' });
  }
});
