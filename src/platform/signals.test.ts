// Signals to processes and groups of our own, and the numbers that are never signalled.

import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { createRealSignals } from './signals.ts';

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
