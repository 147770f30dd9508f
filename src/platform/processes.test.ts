import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { createRealProcesses, createRealSignals } from './processes.ts';

const signals = createRealSignals();

it('SHL3 reaches a process, or all of its group', async () => {
  const script = 'sleep 600 & sleep 600';
  for (const send of [signals.toGroup, signals.toProcess]) {
    const child = spawn('/bin/sh', ['-c', send === signals.toGroup ? script : 'exec sleep 600'], {
      detached: true,
      stdio: 'ignore',
    });
    await new Promise((resolve) => child.on('spawn', resolve));
    const ended = new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)));
    expect(send(child.pid ?? 0, 'SIGKILL')).toBeNull();
    expect(await ended).toBe('SIGKILL');
    expect(signals.toProcess(child.pid ?? 0, 'SIGCONT')).toBe('ESRCH');
  }
});

it.each([0, 1, -1, -5, 1.5, Number.NaN])('IDN3 %d is nobody that a signal may go to', (number) => {
  expect(() => signals.toProcess(number, 'SIGKILL')).toThrow('broken invariant');
  expect(() => signals.toGroup(number, 'SIGKILL')).toThrow('broken invariant');
});

const processes = createRealProcesses();

describe('the processes of this machine', () => {
  it('reads, cuts, follows and lists', () => {
    const whole = processes.read(`/proc/${process.pid}/cmdline`, 65_536) ?? '';
    expect(Buffer.from(whole, 'latin1').toString().split('\0')[0]).not.toBe('');
    expect(processes.read(`/proc/${process.pid}/cmdline`, 3)).toBe(whole.slice(0, 3));
    expect(processes.read('/proc/stat', 262_144)).toMatch(/^btime \d+$/m);
    expect(processes.readLink(`/proc/${process.pid}/exe`)).toBe(process.execPath);
    expect(processes.list()).toContain(process.pid);
  });

  it('what ended is null and does not exist', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { stdio: 'ignore' });
    const pid = child.pid ?? 0;
    expect(processes.exists(pid)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await vi.waitFor(() => expect(processes.exists(pid)).toBe(false), { timeout: 30_000, interval: 5 });
    expect(processes.read(`/proc/${pid}/stat`, 1_024)).toBeNull();
    expect(processes.readLink(`/proc/${pid}/exe`)).toBeNull();
  });

  it('tells that somebody began, and that somebody is gone', async () => {
    const before = processes.turnover();
    const child = spawn('/bin/sleep', ['1000'], { stdio: 'ignore' });
    const during = processes.turnover();
    expect(during).not.toBe(before);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await vi.waitFor(() => expect(processes.turnover()).not.toBe(during), { timeout: 30_000, interval: 5 });
    expect(processes.turnover()).toMatch(/^[1-9]\d* [1-9]\d*$/);
  });

  it('tell the pid that was given out last: nobody who began before has a later one', () => {
    const processes = createRealProcesses();
    const before = processes.lastPid() ?? 0;
    const child = spawn('/bin/sleep', ['1000'], { stdio: 'ignore' });
    const after = processes.lastPid() ?? 0;
    // They go round in a circle.
    const isBetween = (pid: number): boolean =>
      before <= after ? pid > before && pid <= after : pid > before || pid <= after;
    expect([process.pid, child.pid ?? 0].map(isBetween)).toEqual([false, true]);
    child.kill('SIGKILL');
  });

  it('are read also by a program that may open nothing any more', () => {
    const script = `
      const { openSync } = await import('node:fs');
      const { createRealProcesses } = await import(${JSON.stringify(new URL('./processes.ts', import.meta.url).href)});
      const one = createRealProcesses();
      one.read('/proc/self/stat', 1024);
      let code = '';
      while (code === '') try { openSync('/dev/null', 'r'); } catch (error) { code = error.code; }
      const again = () => [1, 2].every(() => one.read('/proc/self/stat', 1024) !== null && one.list().includes(process.pid));
      console.log(code, again(), createRealProcesses().turnover() !== undefined);
    `;
    const command = 'ulimit -n 256; exec "$0" --input-type=module -e "$1"';
    const said = execFileSync('/bin/sh', ['-c', command, process.execPath, script], { encoding: 'utf8' });
    expect(said).toBe('EMFILE true true\n');
  });

  it('another user’s process exists', () => {
    expect(processes.exists(1)).toBe(true);
  });

  it('never asks for groups, never reads elsewhere', () => {
    for (const pid of [0, -1, 1.5, Number.NaN]) expect(() => processes.exists(pid)).toThrow('broken invariant');
    expect(() => processes.read('/etc/passwd', 10)).toThrow('broken invariant');
  });
});
