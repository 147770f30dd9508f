// Starting programs that outlive us: what is heard of them, and that nothing ties them to us.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRealClock } from './clock.ts';
import { createRealLaunch, type LaunchCommand } from './launch.ts';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'agt-launch-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const launch = createRealLaunch(createRealClock());
const command = (script: string, fields: Partial<LaunchCommand> = {}): LaunchCommand => ({
  program: '/bin/sh',
  args: ['-c', script],
  env: { PATH: process.env.PATH ?? '/usr/bin:/bin', WORD: 'x' },
  cwd,
  lineMs: 20_000,
  lineBytesMax: 64,
  ...fields,
});

describe('a program that is started', () => {
  it('SHL6 is heard with its first line, and has a session, an environment and a directory of its own', async () => {
    const script = 'echo "$WORD $(pwd) $HOME. $(cut -d" " -f6 /proc/self/stat) $$"; echo more; cat >in; sleep 600';
    const launched = await launch.start(command(script));
    if (launched.kind !== 'said') throw new Error(launched.kind);
    const [word, place, home, session, pid] = launched.line.split(' ');
    expect([word, place, home]).toEqual(['x', cwd, '.']);
    expect(session).toBe(pid);
    process.kill(-Number(pid), 'SIGKILL');
  });

  it('SHL6 is left alone when it is late', async () => {
    const launched = await launch.start(command('sleep 0.5; echo x >late; sleep 600 & echo $! >pid', { lineMs: 50 }));
    expect(launched).toEqual({ kind: 'late' });
    const read = (name: string): string => {
      try {
        return readFileSync(join(cwd, name), 'utf8');
      } catch {
        return '';
      }
    };
    while (!read('pid').endsWith('\n')) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(read('late')).toBe('x\n');
    process.kill(Number(read('pid')), 'SIGKILL');
  });

  it.each([
    ['exit 3', {}, { kind: 'ended' }],
    ['printf "no end of line"', {}, { kind: 'ended' }],
    ['head -c 1000 /dev/zero; sleep 0.1', {}, { kind: 'ended' }],
    ['true', { program: '/nowhere/program' }, { kind: 'not_started', code: 'ENOENT' }],
    ['true', { cwd: '/nowhere' }, { kind: 'not_started', code: 'ENOENT' }],
    ['true', { env: { A: 'x'.repeat(3_000_000) } }, { kind: 'not_started', code: 'E2BIG' }],
  ] as const)('SHL1 %j with %o comes to nothing', async (script, fields, launched) => {
    expect(await launch.start(command(script, fields))).toEqual(launched);
  });
});
