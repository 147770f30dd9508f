import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRealClock } from './clock.ts';
import { type Command, createRealExec, type ExecResult } from './exec.ts';

const clock = createRealClock();
const exec = createRealExec(clock);
const env = { PATH: '/usr/bin:/bin', LANG: 'C' };
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function run(program: string, args: readonly string[], more: Partial<Command> = {}): Promise<ExecResult> {
  return exec.run({ program, args, env, deadlineMs: 30_000, outputBytesMax: 1_000_000, ...more });
}
const node = (script: string, more: Partial<Command> = {}): Promise<ExecResult> =>
  run(process.execPath, ['-e', script], more);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A dead process that nobody has reaped yet does not count as alive. */
function isAlive(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return false;
  }
}

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agtmux-exec-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('exec', () => {
  it('gives status and output of a program that ends by itself', async () => {
    const result = await run('sh', ['-c', 'printf out; printf err >&2; exit 3']);
    expect(result).toMatchObject({ status: 3, signal: null, truncated: false, timedOut: false, spawnError: null });
    expect([text(result.stdout), text(result.stderr)]).toEqual(['out', 'err']);
  });

  it('arguments arrive as they are: nothing is a shell, nothing is expanded', async () => {
    const args = ['$HOME', '`id`', '; touch /tmp/x', '*', '', "a'b", 'two words', '\n'];
    const result = await run(process.execPath, [
      '-e',
      'process.stdout.write(JSON.stringify(process.argv.slice(1)))',
      '--',
      ...args,
    ]);
    expect(JSON.parse(text(result.stdout))).toEqual(args);
  });

  it('the environment is exactly what was said', async () => {
    process.env.AGTMUX_TEST_CANARY = 'leak';
    const result = await run('env', [], { env: { PATH: '/usr/bin:/bin', ONLY: 'this' } });
    delete process.env.AGTMUX_TEST_CANARY;
    expect(text(result.stdout).trim().split('\n').sort()).toEqual(['ONLY=this', 'PATH=/usr/bin:/bin']);
  });

  it('stdin arrives byte for byte; without one the program sees its end at once', async () => {
    const input = new Uint8Array(300_000).map((_unused, index) => index % 256);
    expect((await run('cat', [], { stdin: input })).stdout).toEqual(input);
    expect((await run('cat', [])).stdout.length).toBe(0);
  });

  it('a program that does not read its input is no trouble', async () => {
    const result = await run('sh', ['-c', 'exec 0<&-; exit 5'], { stdin: new Uint8Array(5_000_000) });
    expect(result.status).toBe(5);
  });

  it('starts in the directory that was said', async () => {
    expect(text((await run('pwd', ['-P'], { cwd: directory })).stdout).trim()).toContain('agtmux-exec-');
  });

  it('what cannot be started is a value', async () => {
    expect((await run('no-such-program', [])).spawnError).toBe('ENOENT');
    expect((await run(directory, [])).spawnError).toBe('EACCES');
    expect((await run('cat', [], { cwd: `${directory}/none` })).spawnError).toBe('ENOENT');
    expect((await run('cat', ['nul\0byte'])).spawnError).toBe('ERR_INVALID_ARG_VALUE');
    expect((await run('cat', ['x'.repeat(5_000_000)])).spawnError).toBe('E2BIG');
  });

  it('a program ended by a signal tells which', async () => {
    expect(await run('sh', ['-c', 'kill -TERM $$'])).toMatchObject({
      status: null,
      signal: 'SIGTERM',
      timedOut: false,
    });
  });

  it('at the deadline the program and all it started are gone', async () => {
    const result = await run('sh', ['-c', 'sleep 1000 & echo $$ $!; trap "" TERM INT; wait'], { deadlineMs: 4_000 });
    expect(result).toMatchObject({ status: null, signal: 'SIGKILL', timedOut: true });
    const pids = text(result.stdout).trim().split(' ').map(Number);
    expect(pids.length).toBe(2);
    for (const pid of pids) await until(() => !isAlive(pid));
  });

  it('who prints more than the cap is stopped, with what fits kept', async () => {
    const result = await run('yes', [], { outputBytesMax: 10_001 });
    expect(result).toMatchObject({ truncated: true, timedOut: false, signal: 'SIGKILL' });
    expect(result.stdout.length).toBe(10_001);
    const errors = await run('sh', ['-c', 'yes >&2'], { outputBytesMax: 7 });
    expect([errors.truncated, errors.stderr.length, errors.stdout.length]).toEqual([true, 7, 0]);
    const exact = await run('printf', ['1234567'], { outputBytesMax: 7 });
    expect([exact.truncated, exact.status]).toEqual([false, 0]);
  });

  it('something left behind with the output open does not hold the result up', async () => {
    const began = clock.monotonicMs();
    const result = await node(
      `const c = require('node:child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'inherit' });
       process.stdout.write(String(c.pid), () => process.exit(0));`,
    );
    const pid = Number(text(result.stdout));
    try {
      expect(result).toMatchObject({ status: 0, leftOpen: true, timedOut: false });
      expect(clock.monotonicMs() - began).toBeLessThan(25_000);
      expect(isAlive(pid)).toBe(true);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });

  it('the end of the output is never lost', async () => {
    const runs = Array.from({ length: 20 }, () => run('sh', ['-c', 'head -c 300000 /dev/zero; printf end']));
    for (const result of await Promise.all(runs)) {
      expect(result.stdout.length).toBe(300_003);
      expect(text(result.stdout.subarray(-3))).toBe('end');
    }
  });

  it('a command without deadline or program is a defect of the caller', () => {
    expect(() => run('cat', [], { deadlineMs: 0 })).toThrow('broken invariant');
    expect(() => run('', [])).toThrow('broken invariant');
  });
});
