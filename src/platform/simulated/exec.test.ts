import { describe, expect, it } from 'vitest';
import type { Command, ExecResult } from '../exec.ts';
import { createSimulatedClock } from './clock.ts';
import { createSimulatedExec } from './exec.ts';

const command = (program: string, more: Partial<Command> = {}): Command => ({
  program,
  args: [],
  env: {},
  deadlineMs: 1_000,
  outputBytesMax: 100,
  ...more,
});

function world() {
  const clock = createSimulatedClock();
  const exec = createSimulatedExec(clock);
  const run = async (asked: Command): Promise<ExecResult> => {
    const result = exec.run(asked);
    await clock.advanceSettled(2_000);
    return result;
  };
  return { clock, exec, run };
}

describe('simulated exec', () => {
  it('answers as scripted, by the name of the program, after the time it takes', async () => {
    const { clock, exec } = world();
    exec.script('tmux', (asked) => ({ stdout: `asked ${asked.args.join(' ')}`, status: 4, takesMs: 30 }));
    const ends: number[] = [];
    const result = exec.run(command('/usr/bin/tmux', { args: ['list-panes'] })).then((end) => {
      ends.push(clock.monotonicMs());
      return end;
    });
    expect(exec.running()).toBe(1);
    await clock.advanceSettled(29);
    expect(ends).toEqual([]);
    await clock.advanceSettled(1);
    expect(await result).toMatchObject({ status: 4, signal: null, timedOut: false, spawnError: null });
    expect(new TextDecoder().decode((await result).stdout)).toBe('asked list-panes');
    expect([ends[0], exec.running(), exec.runs()]).toEqual([30, 0, 1]);
  });

  it('what is not scripted is not installed', async () => {
    const { run } = world();
    expect((await run(command('ssh'))).spawnError).toBe('ENOENT');
  });

  it('a program that hangs or is too slow meets the deadline', async () => {
    const { exec, run } = world();
    exec.script('ssh', () => ({ hangs: true, stdout: 'part' }));
    exec.script('slow', () => ({ takesMs: 1_001 }));
    for (const name of ['ssh', 'slow']) {
      expect(await run(command(name))).toMatchObject({ status: null, signal: 'SIGKILL', timedOut: true });
    }
  });

  it('the output cap holds', async () => {
    const { exec, run } = world();
    exec.script('yes', () => ({ stdout: 'y'.repeat(101) }));
    const result = await run(command('yes'));
    expect([result.truncated, result.signal, result.stdout.length]).toEqual([true, 'SIGKILL', 100]);
  });

  it('the n-th run fails to start, the others do not', async () => {
    const { exec, run } = world();
    exec.script('ps', () => ({}));
    exec.failAt(2, 'EAGAIN');
    const codes: (string | null)[] = [];
    for (let index = 0; index < 3; index += 1) codes.push((await run(command('ps'))).spawnError);
    expect(codes).toEqual([null, 'EAGAIN', null]);
  });

  it('signals are told', async () => {
    const { exec, run } = world();
    exec.script('crash', () => ({ signal: 'SIGSEGV' }));
    expect(await run(command('crash'))).toMatchObject({ status: null, signal: 'SIGSEGV', timedOut: false });
  });
});
