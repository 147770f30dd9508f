// The keeper with real processes: a shell from its wish to its end, whoever ends it, and what agents are told of it.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import type { ShellAnswer, ShellId } from '../../../src/model/shells.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createRealProcesses } from '../../../src/platform/processes.ts';
import { createReach, openProcTable } from '../../../src/shells/reach.ts';
import {
  eventually,
  isEnded,
  type Kept,
  keep,
  logBytes,
  never,
  owner,
  type Place,
  place,
  processesIn,
  wish,
} from './kit.ts';

let here: Place;
let kept: Kept;
beforeEach(async () => {
  here = place();
  kept = await keep(here.root);
});
afterEach(async () => {
  for (const row of kept.keeper.rows()) await kept.keeper.kill(row.shell_id, 'agent');
  await kept.keeper.close();
  await eventually(() => processesIn(here.dir).length === 0);
  here.remove();
});

const run = (command: string, fields: Parameters<typeof wish>[2] = {}): Promise<ShellAnswer> =>
  kept.keeper.run(wish(here.cwd, command, fields), owner, never);

function idOf({ shell, reason }: ShellAnswer): ShellId {
  if (shell === null) throw new Error(reason);
  return shell.shell_id;
}

const started = async (command: string, fields: Parameters<typeof wish>[2] = {}): Promise<ShellId> =>
  idOf(await run(command, { run_in_background: true, ...fields }));

const notices = (): readonly string[] => kept.keeper.takeNotices(owner.key).map(({ kind, by }) => `${kind} ${by}`);
const kinds = (): readonly string[] => kept.events.map(({ kind }) => kind);

describe('an end of its own', () => {
  it('SHL1 a command in the foreground answers with its status and the end of its log', async () => {
    const good = await run('echo one; echo two');
    expect(good).toMatchObject({
      result: 'Completed',
      ended_by: 'system',
      shell: { exit_code: 0, last_log: ['one', 'two'] },
    });
    expect(good.page?.lines).toEqual(['one', 'two']);
    const bad = await run('echo broken >&2; exit 3');
    expect(bad).toMatchObject({
      result: 'Failed',
      shell: { exit_code: 3, end_reason: 'exited', is_signal_inferred: false },
    });
    expect(bad.page?.lines).toEqual(['broken']);
    expect(kinds()).toEqual(['start', 'terminate', 'start', 'terminate']);
    expect(notices()).toEqual([]);
  });

  it('SHL1 command not found, a signal, binary output and a reader of its input are ends with a reason', async () => {
    expect((await run('no-such-program')).shell).toMatchObject({
      exit_code: 127,
      words: 'exited with status 127 (command not found)',
    });
    expect((await run('kill -9 $$')).shell).toMatchObject({
      exit_code: 137,
      signal: 'SIGKILL',
      is_signal_inferred: true,
      end_reason: 'signaled',
    });
    const binary = await run('head -c 4000 /dev/urandom; printf "\\033[31m\\000end\\n"');
    expect(binary).toMatchObject({ result: 'Completed' });
    expect(binary.page?.lines.join('')).not.toContain('\u001b');
    expect(await run('cat; read line; echo "read $?"')).toMatchObject({
      result: 'Completed',
      shell: { last_log: ['read 1'] },
    });
  });

  it('SHL2 over its budget it goes to the background, and its end is told later', async () => {
    // As much as its first word takes, also where a shell is slow to start.
    const answer = await run('echo early; until [ -e go ]; do sleep 0.05; done; exit 4', { budget_ms: 3_000 });
    expect(answer).toMatchObject({ result: 'Running', shell: { start_mode: 'background', promoted_by: 'system' } });
    expect(answer.page?.lines).toEqual(['early']);
    expect(notices()).toEqual(['auto_background system']);
    writeFileSync(join(here.cwd, 'go'), '');
    expect(await kept.until(idOf(answer), isEnded)).toMatchObject({ status: 'failed', exit_code: 4 });
    expect(notices()).toEqual(['exited system']);
    expect(notices()).toEqual([]);
    expect(kinds()).toEqual(['start', 'promote', 'terminate']);
  });

  it('SHL2 a person sends it to the background before', async () => {
    const call = run('sleep 600');
    await eventually(() => kept.keeper.rows()[0]?.process != null);
    const id = kept.keeper.rows()[0]?.shell_id ?? 'shell-0';
    expect(await kept.keeper.background(id, 'user')).toMatchObject({ result: 'Backgrounded' });
    expect(await call).toMatchObject({ result: 'Running', shell: { promoted_by: 'user' } });
    expect(await kept.keeper.background(id, 'user')).toMatchObject({ result: 'AlreadyBackground' });
    expect(notices()).toEqual(['user_background user']);
  });

  it('SHL1 a timeout ends it, and says so', async () => {
    const answer = await run('sleep 600', { timeout_s: 0.2 });
    expect(answer).toMatchObject({ result: 'Failed', shell: { end_reason: 'timeout', kill_requested_by: 'system' } });
  });

  it('SHL6 what it leaves behind does not hold its answer back', async () => {
    const answer = await run('(until [ -e go ]; do sleep 0.05; done; echo late) & echo early');
    expect(answer).toMatchObject({
      result: 'Completed',
      shell: { words: 'a process that it left behind may still print' },
    });
    writeFileSync(join(here.cwd, 'go'), '');
    const id = idOf(answer);
    await eventually(() => logBytes(here.root, id).toString() === 'early\nlate\n');
    const page = await kept.keeper.log(id, { mode: 'tail', cursor: null, lines: null });
    expect(page).toMatchObject({ ok: true, value: { lines: ['early', 'late'] } });
  });

  it('SHL5 a terminal on request', async () => {
    const answer = await run('test -t 1 && echo "a terminal"', { tty: true });
    expect(answer).toMatchObject({ result: 'Completed', shell: { last_log: ['a terminal'] } });
  });
});

describe('killing', () => {
  it('SHL3 reaches the whole session, whatever it ignores and however it hides', async () => {
    const command = [
      'trap "" TERM',
      '(trap "" TERM HUP; sleep 600; sleep 600) &',
      'sh -c "trap \'\' TERM; sleep 600 & sleep 600 & wait; sleep 600" &',
      'setsid sh -c "sleep 600; sleep 600" &',
      'touch ready; sleep 600; sleep 600',
    ].join('\n');
    await kept.keeper.close();
    kept = await keep(here.root, { bounds: { killMs: 300 } });
    const id = await started(command);
    await eventually(() => existsSync(join(here.cwd, 'ready')));
    const answer = await kept.keeper.kill(id, 'user');
    expect(answer).toMatchObject({
      result: 'Killed',
      ended_by: 'user',
      shell: { signal: 'SIGKILL', end_reason: 'killed' },
    });
    await eventually(() => processesIn(here.dir).length === 0);
    expect(notices()).toEqual(['killed user']);
  });

  it('SHL3 what its leader leaves behind when it goes at once is killed with it', async () => {
    await kept.keeper.close();
    kept = await keep(here.root, { bounds: { killMs: 300 } });
    const id = await started('(trap "" TERM; touch ready; sleep 600; sleep 600) & sleep 600');
    await eventually(() => existsSync(join(here.cwd, 'ready')));
    expect(await kept.keeper.kill(id, 'agent')).toMatchObject({ result: 'Killed', shell: { exit_code: 143 } });
    await eventually(() => processesIn(here.dir).length === 0);
  });

  it('SHL3 a fork bomb within its limits is ended at once', async () => {
    const command = 'bomb() { [ $1 -gt 6 ] || { bomb $(($1 + 1)) & bomb $(($1 + 1)) & }; sleep 600; }; bomb 0';
    const id = await started(command);
    await eventually(() => processesIn(here.dir).length > 200);
    expect(await kept.keeper.kill(id, 'agent')).toMatchObject({ result: 'Killed' });
    await eventually(() => processesIn(here.dir).length === 0);
  });

  it('SHL3 who came first has ended it, and what has ended is only reported', async () => {
    const id = await started('trap "" TERM; touch ready; while :; do sleep 0.1; done');
    await eventually(() => existsSync(join(here.cwd, 'ready')));
    await kept.keeper.close();
    // Between the two there is time for a second kill.
    kept = await keep(here.root, { bounds: { killMs: 5_000, killAnswerMs: 100 } });
    expect(await kept.keeper.kill(id, 'user')).toMatchObject({ result: 'KillPending', shell: { status: 'running' } });
    expect(await kept.keeper.kill(id, 'agent')).toMatchObject({ result: 'KillPending' });
    expect(await kept.until(id, isEnded)).toMatchObject({ ended_by: 'user', kill_requested_by: 'user' });
    expect(await kept.keeper.kill(id, 'agent')).toMatchObject({ result: 'AlreadyFinishedFailed', ended_by: 'user' });
    expect(await kept.keeper.kill('shell-99', 'agent')).toMatchObject({ result: 'NotFound', shell: null });
  });

  it('SHL3 a stopped one is killed and does not wait to be continued', async () => {
    const id = await started('kill -STOP $$; sleep 600');
    await kept.until(id, (row) => row.is_stopped);
    expect(await kept.keeper.kill(id, 'agent')).toMatchObject({ result: 'Killed', shell: { exit_code: 143 } });
  });

  it('SHL3 a signal that the system refuses is a failed kill with a reason, and it runs on', async () => {
    const table = openProcTable(createRealProcesses(), createRealClock());
    if (!table.ok) throw new Error(table.failure.message);
    const sent: string[] = [];
    const deaf = (_pid: number, signal: string): string => {
      sent.push(signal);
      return 'EPERM';
    };
    const reach = createReach(table.value, { toProcess: deaf, toGroup: deaf }, process.pid);
    const id = await started('sleep 600');
    await kept.keeper.close();
    kept = await keep(here.root, { ports: { reach }, bounds: { killMs: 1 } });
    expect(await kept.keeper.kill(id, 'user')).toMatchObject({
      result: 'KillFailed',
      reason: expect.stringContaining('belong to another user (EPERM)'),
      shell: { status: 'running', kill_requested_by: null },
    });
    // A kill that was taken back is not carried out later.
    await run('sleep 0.1');
    expect(sent).toEqual(['SIGTERM']);
    await kept.keeper.close();
    kept = await keep(here.root);
  });

  it('SHL2 a cancelled call kills its shell in the foreground and leaves one in the background alone', async () => {
    const caller = new AbortController();
    const call = kept.keeper.run(wish(here.cwd, 'sleep 600'), owner, caller.signal);
    await eventually(() => kept.keeper.rows()[0]?.process != null);
    const other = new AbortController();
    const id = idOf(
      await kept.keeper.run(wish(here.cwd, 'sleep 600', { run_in_background: true }), owner, other.signal),
    );
    caller.abort();
    other.abort();
    expect(await call).toMatchObject({
      result: 'Failed',
      ended_by: 'agent',
      shell: { words: 'killed by agent (the call was cancelled)' },
    });
    expect(kept.keeper.row(id)?.status).toBe('running');
  });
});

describe('resuming', () => {
  it('SHL4 continues a stopped one, and has nothing to do for one that runs', async () => {
    const id = await started('kill -STOP $$; echo on; until [ -e go ]; do sleep 0.05; done');
    await kept.until(id, (row) => row.is_stopped);
    expect(await kept.keeper.resume(id, 'agent', 'call-2')).toMatchObject({
      result: 'Resumed',
      shell: { is_stopped: false },
    });
    await eventually(() => logBytes(here.root, id).toString() === 'on\n');
    expect(await kept.keeper.resume(id, 'agent', 'call-3')).toMatchObject({ result: 'AlreadyRunning' });
    writeFileSync(join(here.cwd, 'go'), '');
    expect(await kept.until(id, isEnded)).toMatchObject({ status: 'completed', attempt: 1 });
  });

  it('SHL4 runs a finished one again as the next attempt, with its environment, and the old log stays', async () => {
    const command = 'echo "$WORD $(pwd)"; touch again; exit 5';
    const env = { PATH: process.env.PATH ?? '', WORD: 'a "b"\n\'c\'' };
    const id = idOf(await run(command, { env }));
    rmSync(join(here.cwd, 'again'));
    const answer = await kept.keeper.resume(id, 'user', 'call-2');
    expect(answer).toMatchObject({
      result: 'Restarted',
      // It runs: who ended the attempt before stands with that one.
      ended_by: null,
      shell: { attempt: 2, started_by: 'user' },
    });
    expect(await kept.until(id, isEnded)).toMatchObject({ attempt: 2, exit_code: 5, requested_mode: 'background' });
    expect(existsSync(join(here.cwd, 'again'))).toBe(true);
    expect(logBytes(here.root, id, 2).toString()).toBe(logBytes(here.root, id, 1).toString());
    const old = await kept.keeper.log(id, { mode: 'body', cursor: '1:0', lines: null });
    expect(old).toMatchObject({ ok: true, value: { attempt: 1, lines: ['a "b"', `'c' ${here.cwd}`] } });
    expect(notices()).toEqual(['resumed user', 'exited system']);
  });

  it('SHL4 cannot where its directory is gone, and says so', async () => {
    const cwd = join(here.dir, 'passing');
    mkdirSync(cwd);
    const id = idOf(await kept.keeper.run(wish(cwd, 'true'), owner, never));
    rmSync(cwd, { recursive: true });
    expect(await kept.keeper.resume(id, 'agent', 'call-2')).toMatchObject({
      result: 'ResumeUnavailable',
      reason: expect.stringContaining('does not exist'),
      shell: { attempt: 1, status: 'completed' },
    });
  });

  it('keeps the logs of the last attempts only', async () => {
    await kept.keeper.close();
    kept = await keep(here.root, { bounds: { attemptsKept: 2 } });
    const id = idOf(await run('true'));
    for (const attempt of [2, 3, 4]) {
      await kept.keeper.resume(id, 'agent', 'call');
      await kept.until(id, (row) => isEnded(row) && row.attempt === attempt);
    }
    expect(readdirSync(join(here.root, id)).sort()).toEqual(['3', '4']);
  });
});

describe('refusals', () => {
  it('SHL7 what no shell can be made of is refused with a reason, and nothing is begun', async () => {
    const cases: readonly (readonly [Parameters<typeof wish>[2], RegExp])[] = [
      [{ command: ' \n' }, /no command/],
      [{ command: 'a\0b' }, /NUL/],
      [{ command: 'x'.repeat(limits.shellCommandBytesMax + 1) }, /longer than/],
      [{ cwd: 'relative' }, /absolute/],
      [{ cwd: join(here.dir, 'nowhere') }, /does not exist/],
      [{ env: { 'A=B': 'x' } }, /environment/],
      [{ env: { A: 'x'.repeat(limits.shellEnvBytesMax) } }, /larger than/],
    ];
    for (const [fields, words] of cases) {
      const answer = await run('true', fields);
      expect(answer).toMatchObject({ result: 'Refused', shell: null, reason: expect.stringMatching(words) });
    }
    expect(kept.keeper.rows()).toEqual([]);
    expect(readdirSync(here.root)).toEqual(['ended']);
  });

  it('SHL7 no more than so many run at once', async () => {
    await kept.keeper.close();
    kept = await keep(here.root, { bounds: { runningMax: 3 } });
    const wishes = Array.from({ length: 5 }, () => run('sleep 600', { run_in_background: true }));
    const results = (await Promise.all(wishes)).map(({ result }) => result);
    expect(results.sort()).toEqual(['Refused', 'Refused', 'Started', 'Started', 'Started']);
  });

  it('SHL1 a holder that cannot be started is an end with a reason', async () => {
    await kept.keeper.close();
    kept = await keep(here.root, { program: join(here.dir, 'nowhere') });
    const answer = await run('true');
    expect(answer).toMatchObject({ result: 'Failed', shell: { end_reason: 'spawn_error', exit_code: null } });
    expect(answer.reason).toContain('ENOENT');
  });
});

describe('what is kept', () => {
  it('SHL7 commands, environments and logs are private, and nobody reads them in the list of processes', async () => {
    const secret = 'very-secret-word';
    const id = await started(`: ${secret}; sleep 600`, { env: { PATH: process.env.PATH ?? '', TOKEN: secret } });
    const folder = join(here.root, id, '1');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder))
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    for (const pid of processesIn(here.dir)) {
      expect(readFileSync(`/proc/${pid}/cmdline`, 'latin1')).not.toContain(secret);
    }
  });

  it('forgets the oldest finished ones, never a running one, never behind a link, and no number comes twice', async () => {
    await kept.keeper.close();
    kept = await keep(here.root, { bounds: { keptMax: 2 } });
    const outside = join(here.dir, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'precious'), '');
    const first = await started('sleep 600');
    const second = idOf(await run('true'));
    symlinkSync(outside, join(here.root, second, 'link'));
    const third = idOf(await run('true'));
    const fourth = idOf(await run('true'));
    await eventually(() => kept.told(second).at(-1) === null);
    expect(kept.keeper.rows().map(({ shell_id }) => shell_id)).toEqual([fourth, third, first]);
    await eventually(() => !existsSync(join(here.root, second)));
    expect(readdirSync(outside)).toEqual(['precious']);
    await kept.keeper.kill(first, 'agent');
    await kept.keeper.close();
    kept = await keep(here.root, { bounds: { keptMs: -1 } });
    await eventually(() => kept.keeper.rows().length === 0);
    await kept.keeper.close();
    kept = await keep(here.root);
    expect(idOf(await run('true'))).toBe('shell-5');
  });

  it('a person has looked at it', async () => {
    const id = idOf(await run('exit 1'));
    expect(kept.keeper.row(id)?.seen).toBe(false);
    expect(await kept.keeper.see(id)).toMatchObject({ result: 'Failed', shell: { seen: true } });
    await kept.keeper.close();
    kept = await keep(here.root);
    expect(kept.keeper.row(id)?.seen).toBe(true);
  });

  it('SHL5 a log of a gigabyte costs no memory, and every page of it is small', async () => {
    await kept.keeper.close();
    kept = await keep(here.root, { bounds: { sweepMs: 100 } });
    const id = idOf(await run('true'));
    const folder = join(here.root, id, '1');
    // Sparse: a line at the beginning and one at the end, a gigabyte of NULs between them.
    truncateSync(join(folder, 'log.0'), 1_073_741_824);
    writeFileSync(join(folder, 'log.1073741824'), 'the end\n');
    await kept.keeper.close();
    kept = await keep(here.root);
    const before = process.memoryUsage().rss;
    for (const [mode, cursor] of [
      ['tail', null],
      ['diagnostic', null],
      ['body', null],
      ['body', '1:536870912'],
    ] as const) {
      const page = await kept.keeper.log(id, { mode, cursor, lines: null });
      if (!page.ok) throw new Error(page.failure.message);
      expect(Buffer.byteLength(page.value.lines.join('\n'))).toBeLessThanOrEqual(limits.shellPageBytesMax);
      expect(page.value.lines.length).toBeLessThanOrEqual(limits.shellPageLinesMax);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1_048_576);
    expect(kept.keeper.row(id)?.log.bytes).toBe(1_073_741_832);
  });

  it.each([
    ['1:x', 'E_INPUT'],
    ['2:0', 'E_INPUT'],
    ['0:0', 'E_INPUT'],
  ])('SHL5 the cursor %j is refused', async (cursor, code) => {
    const id = idOf(await run('echo x'));
    const page = await kept.keeper.log(id, { mode: 'body', cursor, lines: null });
    expect(page).toMatchObject({ ok: false, failure: { code } });
  });
});
