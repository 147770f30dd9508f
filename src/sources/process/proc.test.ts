import { describe, expect, it } from 'vitest';
import type { Processes } from '../../platform/processes.ts';
import { openProc, type ProcSource } from './proc.ts';

interface Fake {
  ppid: number;
  start: number;
  name: string;
  stack: number;
  tty: number;
  pgid: number;
  tpgid: number;
  state: string;
  cmdline: string;
  exe: string | null;
}

class FakeProc implements Processes {
  readonly live = new Map<number, Fake>();
  bootSeconds = 1_000;
  readonly asked: string[] = [];

  add(pid: number, fake: Partial<Fake>): Fake {
    const whole: Fake = {
      ...{
        ppid: 1,
        start: 500,
        name: 'x',
        stack: 77,
        tty: 0,
        pgid: pid,
        tpgid: -1,
        state: 'S',
        cmdline: 'x\0',
        exe: '/bin/x',
      },
      ...fake,
    };
    this.live.set(pid, whole);
    return whole;
  }

  list = (): readonly number[] => [...this.live.keys()];
  exists = (pid: number): boolean => this.live.has(pid);
  turnover = (): string | null => null;
  last: number | null = null;
  /** Whose stat was read. */
  readonly looked: number[] = [];
  lastPid = (): number | null => this.last;
  readLink = (path: string): string | null => {
    this.asked.push(path);
    return this.live.get(pidIn(path))?.exe ?? null;
  };
  read = (path: string): string | null => {
    if (path === '/proc/sys/kernel/random/boot_id') return 'b00t\n';
    if (path === '/proc/stat') return `cpu 1 2\nbtime ${this.bootSeconds}\nprocesses 9\n`;
    const fake = this.live.get(pidIn(path));
    if (fake === undefined) return null;
    if (!path.endsWith('/cmdline')) this.looked.push(pidIn(path));
    if (!path.endsWith('/cmdline')) return statText(pidIn(path), fake);
    this.asked.push(path);
    return fake.cmdline;
  };
}

const pidIn = (path: string): number => Number(path.split('/')[2]);

function statText(pid: number, fake: Fake): string {
  const head = `${pid} (${fake.name}) ${fake.state} ${fake.ppid} ${fake.pgid} 1 ${fake.tty} ${fake.tpgid}`;
  return `${head} 0 0 0 0 0 0 0 0 0 0 0 0 0 ${fake.start} 0 0 0 0 0 ${fake.stack} 0 0\n`;
}

function open(proc: FakeProc): ProcSource {
  const opened = openProc(proc);
  if (!opened.ok) throw new Error(opened.failure.message);
  return opened.value;
}

describe('the table from /proc', () => {
  it('IDN3 tells identity, start, terminal and program', () => {
    const proc = new FakeProc();
    proc.add(10, { tty: 34819, tpgid: 11, name: 'bash' });
    proc.add(11, {
      ppid: 10,
      tty: 34819,
      tpgid: 11,
      start: 12_345,
      cmdline: 'cl\xc3\xa9\0-x\0\0\0',
      exe: '/bin/a (deleted)',
    });
    expect(open(proc).read([10]).processes.get(11)).toEqual({
      identity: { boot: 'b00t', pid: 11, start: '12345' },
      pid: 11,
      ppid: 10,
      pgid: 11,
      tpgid: 11,
      tty: '/dev/pts/3',
      state: 'S',
      startedAtMs: 1_000_000 + 123_450,
      executable: '/bin/a',
      argv: ['clé', '-x'],
    });
  });

  it('reads programs only in the trees and on the terminals that were asked for', () => {
    const proc = new FakeProc();
    proc.add(10, { tty: 34819 });
    // Below it, without a terminal, with a pid that came round again.
    proc.add(5, { ppid: 12 });
    proc.add(12, { ppid: 10 });
    proc.add(13, { ppid: 1, tty: 34819 });
    proc.add(20, {});
    const table = open(proc).read([10, 99]).processes;
    expect([...table.values()].filter((entry) => entry.argv.length > 0).map((entry) => entry.pid)).toEqual([
      10, 5, 12, 13,
    ]);
    expect(table.get(20)?.executable).toBeNull();
  });

  it('again reads nobody who had nothing to do with the roots, and whoever began since', () => {
    const proc = new FakeProc();
    proc.last = 30;
    const pane = proc.add(10, { tty: 34819 });
    proc.add(11, { ppid: 10, start: 600 });
    for (const pid of [20, 21, 30]) proc.add(pid, { start: pid });
    const source = open(proc);
    const readAgain = (roots: readonly number[]) => {
      proc.looked.length = 0;
      const { processes } = source.read(roots, true);
      return { processes, looked: proc.looked.toSorted((one, other) => one - other) };
    };
    expect(readAgain([10]).looked).toEqual([10, 11, 20, 21, 30]);
    expect(readAgain([10]).looked).toEqual([10, 11]);
    // One begins below the pane, one elsewhere, one ends, and the pane changes.
    Object.assign(pane, { tpgid: 31 });
    proc.add(31, { ppid: 11, start: 700 });
    proc.add(32, { start: 700 });
    proc.live.delete(20);
    proc.last = 32;
    const second = readAgain([10]);
    expect(second.looked).toEqual([10, 11, 31, 32]);
    expect([...second.processes.keys()].toSorted((one, other) => one - other)).toEqual([10, 11, 21, 30, 31, 32]);
    expect(second.processes.get(10)?.tpgid).toBe(31);
    expect(second.processes.get(31)?.argv).toEqual(['x']);
    // A root that was none before, and what was always below it.
    proc.add(22, { ppid: 21, start: 800 });
    proc.last = 40;
    expect(readAgain([21]).looked).toEqual([21, 22]);
    proc.last = 41;
    expect(readAgain([10, 21]).looked).toEqual([10, 11, 21, 22, 31]);
    expect(source.read([10]).processes.size).toBe(7);
  });

  it('IDN3 again takes nobody for whoever had its pid before, also where pids came round', () => {
    const proc = new FakeProc();
    proc.add(10, {});
    for (const pid of [20, 25, 90]) proc.add(pid, { start: 1 });
    proc.last = 80;
    const source = open(proc);
    const startOf = (pid: number): string | undefined => source.read([10], true).processes.get(pid)?.identity.start;
    expect(startOf(20)).toBe('1');
    proc.add(20, { start: 2 });
    proc.add(90, { start: 2 });
    proc.last = 22;
    proc.looked.length = 0;
    expect(startOf(20)).toBe('2');
    expect(proc.looked).toEqual([10, 20, 90].toSorted((one, other) => one - other));
    // Where nobody tells who began, everybody is looked at.
    proc.add(25, { start: 3 });
    proc.last = null;
    expect(startOf(25)).toBe('3');
    proc.add(25, { start: 4 });
    proc.last = 22;
    expect(startOf(25)).toBe('4');
  });

  it('reads a program once, and again when the process executes another', () => {
    const proc = new FakeProc();
    const agent = proc.add(10, { name: 'claude', cmdline: 'bash\0/bin/claude\0' });
    const source = open(proc);
    source.read([10]);
    source.read([10]);
    expect(proc.asked).toEqual(['/proc/10/cmdline', '/proc/10/exe']);
    // A wrapper of the same name turns into the program: same pid, start and name.
    Object.assign(agent, { stack: 78, cmdline: 'claude\0' });
    expect(source.read([10]).processes.get(10)?.argv).toEqual(['claude']);
    // A program that renames itself keeps its stack.
    Object.assign(agent, { name: 'renamed', cmdline: 'renamed\0' });
    expect(source.read([10]).processes.get(10)?.argv).toEqual(['renamed']);
    Object.assign(agent, { start: 501, cmdline: 'other\0' });
    expect(source.read([10]).processes.get(10)?.argv).toEqual(['other']);
  });

  it('reads the program of a tree that is asked for later', () => {
    const proc = new FakeProc();
    proc.add(10, {});
    const source = open(proc);
    expect(source.read([]).processes.get(10)?.argv).toEqual([]);
    expect(source.read([10]).processes.get(10)?.argv).toEqual(['x']);
  });

  it('keeps the start of a known process when the clock is set', () => {
    const proc = new FakeProc();
    proc.add(10, {});
    const source = open(proc);
    source.read([10]);
    proc.bootSeconds = 9_000;
    proc.add(11, {});
    const table = source.read([10]).processes;
    expect(table.get(10)?.startedAtMs).toBe(1_005_000);
    expect(table.get(11)?.startedAtMs).toBe(9_005_000);
  });

  it('IDN3 alive means this very process', () => {
    const proc = new FakeProc();
    const agent = proc.add(10, {});
    const source = open(proc);
    const identity = source.identity(10);
    if (identity === null) throw new Error('no identity');
    expect(source.isAlive(identity)).toBe(true);
    expect(source.isAlive({ ...identity, boot: 'other' })).toBe(false);
    expect(source.seemsAlive({ ...identity, boot: 'other' })).toBe(false);
    agent.state = 'Z';
    expect([source.isAlive(identity), source.seemsAlive(identity)]).toEqual([false, true]);
    expect(source.identity(10)).toBeNull();
    Object.assign(agent, { state: 'S', start: 501 });
    expect(source.isAlive(identity)).toBe(false);
    proc.live.delete(10);
    expect([source.isAlive(identity), source.seemsAlive(identity)]).toEqual([false, false]);
    expect(source.identity(10)).toBeNull();
  });

  it('IDN4 a glance changes with the foreground and with the program in it', () => {
    const proc = new FakeProc();
    const shell = proc.add(10, { tpgid: 10 });
    const source = open(proc);
    const seen = new Set([source.glance(10)]);
    const change = (words: string): void => {
      const now = source.glance(10);
      expect(seen.has(now), words).toBe(false);
      expect(source.glance(10)).toBe(now);
      seen.add(now);
    };
    shell.tpgid = 11;
    const agent = proc.add(11, {});
    change('another group');
    agent.stack = 80;
    change('the leader executed something else');
    agent.start = 900;
    change('the pid came back as another process');
    shell.start = 900;
    change('the pane was respawned');
    proc.live.delete(10);
    expect(source.glance(10)).toBeNull();
  });

  it('is not there without /proc', () => {
    expect(
      openProc({
        read: () => null,
        readLink: () => null,
        list: () => null,
        exists: () => false,
        turnover: () => null,
        lastPid: () => null,
      }),
    ).toMatchObject({
      ok: false,
      failure: { code: 'E_FILE' },
    });
  });
});
