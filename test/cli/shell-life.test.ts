// Background shells with the real daemon, as agents, people and the feed see them: what an agent runs over the API, what a
// person types at a terminal, and what each is told of the other's doing.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pathTo } from '../../src/api/requests.ts';
import type { NewShellBody, ShellEventItem, ShellItem, ShellReceiptReply } from '../../src/api/shells.ts';
import { Live, until } from '../kit/live.ts';
import { cliProgram } from '../kit/self-tries.ts';
import { headOf, type Ran } from './kit.ts';

let live: Live;
let place: string;
/** The processes of two agents and of a shell that a person has opened at a prompt. */
let agent: number;
let otherAgent: number;
let person: number;
let typedCount: number;

beforeEach(async () => {
  live = new Live();
  typedCount = 0;
  place = join(live.dir, 'repo');
  mkdirSync(place);
  live.tmux('new-session', '-d', '-s', 'work', '-x', '120', '-y', '40', '/bin/sh');
  live.tmux('new-session', '-d', '-s', 'busy', '-x', '120', '-y', '40', '/bin/sh');
  agent = startAgent('one');
  otherAgent = startAgent('two');
  live.tmux('send-keys', '-t', 'busy:', 'sh', 'Enter');
  await until(() => childrenOf(paneOf('busy:')).length > 0);
  person = childrenOf(paneOf('busy:'))[0] ?? 0;
  await live.startDaemon();
  await until(async () => (await live.client.get('/v1/panes')).items.length === 2);
});

afterEach(async () => {
  // Also where no daemon is left to ask.
  await endAll().finally(() => live.close());
});

const paneOf = (target: string): number => Number(live.tmux('display-message', '-p', '-t', target, '#{pane_pid}'));

const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

function startAgent(name: string): number {
  live.tmux('new-window', '-d', '-t', 'work:', '-n', name, `exec ${live.lookAlike()}`);
  return paneOf(`work:${name}`);
}

/** What a test leaves running is ended by who may end everything. */
async function endAll(): Promise<void> {
  const running = (await shells()).filter(({ status }) => status === 'running');
  await Promise.all(
    running.map(({ shell_id }) =>
      live.client.post(pathTo('/v1/shells/{ref}/kill', { ref: shell_id }), { pid: person }),
    ),
  );
}

const shells = async (): Promise<readonly ShellItem[]> =>
  (await live.client.get('/v1/shells', { completed: true, failed: true })).items;
const shellOf = async (ref: string): Promise<ShellItem | undefined> =>
  (await live.client.get('/v1/shells', { ref })).items[0];

/** As an agent asks: everything it does takes its notices along. */
const asAgent = () => ({ pid: agent, client: 'test 1', take_notices: true });

const run = (
  command: string,
  fields: Partial<NewShellBody & { pid: number }> = {},
  signal?: AbortSignal,
): Promise<ShellReceiptReply> =>
  live.client.post(
    '/v1/shells',
    { command, cwd: place, env: { PATH: process.env.PATH ?? '', MARK: 'here' }, ...asAgent(), ...fields },
    signal === undefined ? {} : { signal },
  );

const summary = () => live.client.get('/v1/shells', { completed: true, failed: true, owner: 'mine', ...asAgent() });
const wordsOf = ({ notices }: { readonly notices: readonly { readonly words: string }[] }): readonly string[] =>
  notices.map(({ words }) => words);

/** The person types it at a prompt of their own and reads what it says. */
async function typed(...args: readonly string[]): Promise<Ran> {
  typedCount += 1;
  const base = join(live.dir, `typed-${typedCount}`);
  const words = [process.execPath, cliProgram, ...args].map((word) => `'${word}'`).join(' ');
  writeFileSync(
    `${base}.sh`,
    `${words} >${base}.out 2>${base}.err; echo $? >${base}.new; mv ${base}.new ${base}.status\n`,
  );
  live.tmux('send-keys', '-t', 'work:0', `. ${base}.sh`, 'Enter');
  await until(() => existsSync(`${base}.status`));
  const read = (end: string): string => readFileSync(`${base}.${end}`, 'utf8');
  return { status: Number(read('status')), stdout: read('out'), stderr: read('err') };
}

const isRunning = (command: string) => async (): Promise<boolean> =>
  (await shells()).some((one) => one.command === command && one.status === 'running' && one.process !== null);

describe('a command of an agent', () => {
  it('SHL1 that ends in time is answered with its status and the end of its log, and nothing is left to tell', async () => {
    const told = await run('echo "$MARK"; pwd; echo to-stderr >&2; exit 3');
    expect(told).toMatchObject({ result: 'Failed', ended_by: 'system', failure: null, notices: [] });
    expect(told.shell).toMatchObject({ shell_id: 'shell-1', status: 'failed', exit_code: 3, end_reason: 'exited' });
    expect(told.page?.lines).toEqual(['here', place, 'to-stderr']);
    expect(await run('true')).toMatchObject({ result: 'Completed', shell: { shell_id: 'shell-2', exit_code: 0 } });
    expect(wordsOf(await summary())).toEqual([]);
  });

  it('SHL2 that takes longer goes to the background when its budget is over, and the end is told once', async () => {
    const told = await run('sleep 120', { budget_ms: 300 });
    expect(told).toMatchObject({
      result: 'Running',
      shell: { status: 'running', requested_mode: 'foreground', start_mode: 'background', promoted_by: 'system' },
    });
    expect(told.shell?.words).toContain('budget exceeded');
    const listed = await typed('shell', 'list');
    expect(listed.stdout).toMatch(/running.*shell-1.*sleep 120/);
    const killed = await live.client.post(pathTo('/v1/shells/{ref}/kill', { ref: 'shell-1' }), asAgent());
    expect(killed).toMatchObject({ result: 'Killed', ended_by: 'agent' });
    expect((await shellOf('shell-1'))?.ended_by).toBe('agent');
    // It did that itself, and was answered.
    expect(wordsOf(await summary())).toEqual([]);
  });

  it('SHL2 that is expected to take long is answered at once, and how it ended is told once', async () => {
    const told = await run('read -r x </dev/null; sleep 0.2; exit 4', { run_in_background: true, label: 'build' });
    expect(told).toMatchObject({ result: 'Started', shell: { start_mode: 'background', promoted_by: null } });
    await until(async () => (await shellOf('build'))?.status === 'failed');
    expect(wordsOf(await summary())).toEqual([expect.stringContaining('shell-1 (build) failed (code 4)')]);
    expect(wordsOf(await summary())).toEqual([]);
  });

  it('SHL7 whose call is cancelled is ended by the agent', async () => {
    const leaving = new AbortController();
    const told = expect(run('sleep 121', {}, leaving.signal)).rejects.toThrow();
    await until(isRunning('sleep 121'));
    leaving.abort();
    await told;
    await until(async () => (await shellOf('shell-1'))?.status === 'failed');
    expect(await shellOf('shell-1')).toMatchObject({ ended_by: 'agent', end_reason: 'killed' });
    expect((await shellOf('shell-1'))?.words).toContain('the call was cancelled');
  });

  it('SHL1 that cannot be run is answered with the reason, and nothing hangs', async () => {
    expect(await run('no-such-program')).toMatchObject({ result: 'Failed', shell: { exit_code: 127 } });
    expect(await run('cat')).toMatchObject({ result: 'Completed' });
    const gone = await run('true', { cwd: join(place, 'gone') });
    expect(gone.result).toMatch(/^(?:Refused|Failed)$/);
    expect(gone.reason).toContain('gone');
    expect(await run('sleep 60', { timeout_s: 0.2 })).toMatchObject({
      result: 'Failed',
      ended_by: 'system',
      shell: { end_reason: 'timeout' },
    });
  });

  it('SHL7 belongs to that agent: another sees it, and may do nothing to it', async () => {
    await run('sleep 122', { run_in_background: true });
    const mine = await live.client.get('/v1/shells', { owner: 'mine', pid: agent });
    expect(mine.items).toHaveLength(1);
    expect(mine.items[0]?.owner.runtime_id).not.toBeNull();
    expect((await live.client.get('/v1/shells', { owner: 'mine', pid: otherAgent })).items).toEqual([]);
    expect((await live.client.get('/v1/shells', { pid: otherAgent })).items).toHaveLength(1);
    for (const what of ['kill', 'background', 'resume', 'seen'] as const) {
      const told = await live.client.post(pathTo(`/v1/shells/{ref}/${what}`, { ref: 'shell-1' }), { pid: otherAgent });
      expect(told).toMatchObject({ result: 'Refused', failure: { code: 'E_ROLE' } });
    }
    expect((await shellOf('shell-1'))?.status).toBe('running');
  });

  it('SHL7 is for agents: a person who asks for one is told where to run it', async () => {
    const told = await run('true', { pid: person });
    expect(told).toMatchObject({ result: 'Refused', shell: null, failure: { code: 'E_ROLE' } });
    expect(told.failure?.message).toContain('only agents start shells');
    expect(await shells()).toEqual([]);
  });

  it('how long agents waited stands in the status', async () => {
    await run('true');
    await run('sleep 0.3');
    const { daemon } = JSON.parse((await typed('status', '--json')).stdout);
    expect(daemon.shells).toMatchObject({ running: 0, run_to_answer: { count: 2 } });
    expect(daemon.shells.run_to_answer.max_ms).toBeGreaterThanOrEqual(300);
    expect((await typed('status')).stdout).toMatch(/^shells +0 running, answered in/m);
  });
});

describe('a person', () => {
  it('SHL7 kills a shell: told as theirs everywhere, and to the agent once, in its next result', async () => {
    await run('sleep 123', { run_in_background: true });
    const killed = await typed('shell', 'kill', 'shell-1', '--yes');
    expect(killed).toMatchObject({ status: 0, stderr: '' });
    expect(killed.stdout).toContain('killed by user (command line)');
    expect(await shellOf('shell-1')).toMatchObject({ status: 'failed', ended_by: 'user', end_reason: 'killed' });
    const other = await live.client.get('/v1/shells', { pid: otherAgent, take_notices: true });
    expect(wordsOf(other)).toEqual([]);
    expect(wordsOf(await run('true'))).toEqual(['the user killed shell-1 (sleep 123)']);
    expect(wordsOf(await run('true'))).toEqual([]);
    const rows = (await live.client.get('/v1/audit', { count: 5 })).items;
    expect(rows[0]).toMatchObject({
      action: 'shell_kill',
      result: 'delivered',
      actor: expect.stringMatching(/^human: /),
      detail: { shell_id: 'shell-1', became: 'Killed' },
    });
  });

  it('SHL3 kills one that has ended: told how it ended, by whom, and with another status', async () => {
    await run('exit 5');
    const ran = await typed('shell', 'kill', 'shell-1', '--yes', '--json');
    expect(ran.status).toBe(4);
    expect(JSON.parse(ran.stdout)).toMatchObject({ result: 'AlreadyFinishedFailed', ended_by: 'system' });
    expect(ran.stderr).toContain('E_ENDED');
    const agents = await live.client.post(pathTo('/v1/shells/{ref}/kill', { ref: 'shell-1' }), asAgent());
    expect(agents).toMatchObject({ result: 'AlreadyFinishedFailed', ended_by: 'system', notices: [] });
  });

  it('SHL2 sends it to the background before its time is over: its agent goes on at once and knows why', async () => {
    const told = run('echo compiling; sleep 124');
    await until(isRunning('echo compiling; sleep 124'));
    expect(await typed('shell', 'background', 'shell-1')).toMatchObject({ status: 0 });
    const answer = await told;
    expect(answer).toMatchObject({ result: 'Running', shell: { start_mode: 'background', promoted_by: 'user' } });
    expect(answer.shell?.words).toContain('moved to background by user');
    expect(wordsOf(answer)).toEqual([expect.stringContaining('the user moved shell-1')]);
    expect(await typed('shell', 'background', 'shell-1')).toMatchObject({ status: 0 });
    expect(wordsOf(await summary())).toEqual([]);
  });

  it('SHL4 runs a finished one again: the same command, folder and environment, as its next attempt', async () => {
    await run('echo "$MARK in $(pwd)"; test -e stay && sleep 125');
    writeFileSync(join(place, 'stay'), '');
    expect(await typed('shell', 'resume', 'shell-1')).toMatchObject({ status: 0 });
    await until(isRunning('echo "$MARK in $(pwd)"; test -e stay && sleep 125'));
    expect(await shellOf('shell-1')).toMatchObject({ attempt: 2, started_by: 'user', start_mode: 'background' });
    expect(wordsOf(await summary())).toEqual([expect.stringContaining('the user ran shell-1')]);
    await until(async () => (await typed('shell', 'log', 'shell-1')).stdout === `here in ${place}\n`);
    const first = await typed('shell', 'log', 'shell-1', '--mode', 'body', '--cursor', '1:0');
    expect(first.stdout).toBe(`here in ${place}\n`);
    await live.client.post(pathTo('/v1/shells/{ref}/kill', { ref: 'shell-1' }), { pid: person });
    rmSync(place, { recursive: true });
    const refused = await typed('shell', 'resume', 'shell-1');
    expect(refused).toMatchObject({ status: 11, stderr: expect.stringContaining('[E_UNSUPPORTED]') });
  });

  it('SHL5 follows a log until it has ended, page by page', async () => {
    await run('i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done; printf end', { run_in_background: true });
    const followed = await typed('shell', 'log', 'shell-1', '--mode', 'body', '--follow');
    const lines = followed.stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(501);
    expect([lines[0], lines[499], lines[500]]).toEqual(['line 0', 'line 499', 'end']);
    expect(followed.stderr).toContain('shell-1 completed with status 0');
  });

  it('is told clearly what is wrong with what they wrote', async () => {
    await run('sleep 126', { run_in_background: true, label: 'test web' });
    await run('sleep 126', { run_in_background: true, label: 'test api' });
    expect(await typed('shell', 'kill', 'shell-99', '-y')).toMatchObject({ status: 3, stdout: '' });
    const ambiguous = await typed('shell', 'kill', 'test', '-y');
    expect(ambiguous).toMatchObject({ status: 3, stderr: expect.stringContaining('[E_REF_AMBIGUOUS]') });
    for (const name of ['shell-1', 'shell-2']) expect(ambiguous.stderr).toContain(name);
    for (const cursor of ['here', '9:0', '1:-1']) {
      const ran = await typed('shell', 'log', 'shell-1', '--cursor', cursor);
      expect(ran, cursor).toMatchObject({ status: 2, stderr: expect.stringContaining('[E_INPUT]') });
    }
    expect((await typed('shell', 'kill', 'web', '-y')).status).toBe(0);
    expect((await shellOf('shell-1'))?.ended_by).toBe('user');
    expect((await shellOf('shell-2'))?.status).toBe('running');
  });
});

describe('several at once', () => {
  it('SHL8 each has its own id, status and log, and the feed tells everything once, in order', async () => {
    const events: ShellEventItem[] = [];
    const cards = new Map<string, string>();
    const leaving = new AbortController();
    let isThere = false;
    const reading = (async () => {
      for await (const event of live.client.events({ scope: 'shells', signal: leaving.signal })) {
        if (event.type === 'connected' || event.type === 'lost' || event.type === 'list') continue;
        isThere = true;
        const items = event.type === 'snapshot' ? event.data.items : event.data.changes;
        for (const { key, value } of items) if (value !== null && 'status' in value) cards.set(key, value.status);
        events.push(...event.data.events);
      }
    })();
    await until(() => isThere);
    const told = await Promise.all([
      run('echo one; sleep 0.2'),
      run('echo two; exit 2'),
      run('echo three; sleep 127', { budget_ms: 200 }),
      run('echo four; sleep 128', { run_in_background: true }),
    ]);
    expect(told.map(({ result }) => result)).toEqual(['Completed', 'Failed', 'Running', 'Started']);
    const ids = told.map(({ shell }) => shell?.shell_id ?? '');
    expect(new Set(ids).size).toBe(4);
    const [, , third = '', fourth = ''] = ids;
    await until(
      async () => (await live.client.get(pathTo('/v1/shells/{ref}/log', { ref: fourth }))).lines.join() === 'four',
    );
    await typed('shell', 'kill', third, '-y');
    await until(() => events.filter(({ kind }) => kind === 'terminate').length === 3);
    leaving.abort();
    await reading;

    const kindsOf = (id: string): readonly string[] =>
      events.filter(({ shell_id }) => shell_id === id).map(({ kind }) => kind);
    expect(kindsOf(ids[0] ?? '')).toEqual(['start', 'terminate']);
    expect(kindsOf(third)).toEqual(['start', 'promote', 'kill', 'terminate']);
    expect(kindsOf(fourth)).toEqual(['start']);
    expect(events.find(({ shell_id, kind }) => shell_id === third && kind === 'terminate')?.ended_by).toBe('user');
    const numbers = events.map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
    expect([...cards.values()].sort()).toEqual(['completed', 'failed', 'failed', 'running']);
  });
});

describe('a daemon that goes', () => {
  it('SHL6 is killed: everything is known again, and who waited hears of it with the next result', async () => {
    const waiting = expect(run('sleep 129')).rejects.toThrow('closed the connection');
    await until(isRunning('sleep 129'));
    await run('sleep 0.5; echo last words; exit 6', { run_in_background: true });
    await run('sleep 130', { run_in_background: true });
    await run('exit 0');
    await typed('shell', 'kill', 'shell-3', '-y');
    await live.stopDaemon('SIGKILL');
    await waiting;
    await live.startDaemon();
    await until(async () => (await shellOf('shell-2'))?.status === 'failed');
    expect(
      (await shells())
        .map(({ shell_id, status, exit_code, ended_by }) => [shell_id, status, exit_code, ended_by])
        .sort(),
    ).toEqual([
      ['shell-1', 'running', null, null],
      ['shell-2', 'failed', 6, 'system'],
      ['shell-3', 'failed', expect.anything(), 'user'],
      ['shell-4', 'completed', 0, 'system'],
    ]);
    expect((await live.client.get(pathTo('/v1/shells/{ref}/log', { ref: 'shell-2' }))).lines).toEqual(['last words']);
    await until(async () => (await live.client.get('/v1/panes')).items.length === 2);
    const words = wordsOf(await summary());
    expect(words).toHaveLength(3);
    for (const part of ['shell-1', 'shell-2', 'the user killed shell-3']) {
      expect(words.filter((one) => one.includes(part))).toHaveLength(1);
    }
    expect(wordsOf(await summary())).toEqual([]);
    expect(await typed('shell', 'kill', 'shell-1', '-y')).toMatchObject({ status: 0 });
    expect(await run('true')).toMatchObject({ shell: { shell_id: 'shell-5' } });
  });

  it('SHL6 is stopped: who waits is answered that it runs on, and it does', async () => {
    const waiting = run('sleep 131');
    await until(isRunning('sleep 131'));
    const pid = (await shellOf('shell-1'))?.process?.pid ?? 0;
    await live.stopDaemon();
    expect(await waiting).toMatchObject({ result: 'Running', shell: { shell_id: 'shell-1' } });
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    await live.startDaemon();
    expect(await shellOf('shell-1')).toMatchObject({ status: 'running', start_mode: 'background' });
  });

  it('SHL6 is killed while a person follows a log: that goes on when the next one is there', async () => {
    await run('echo before; until test -e go; do sleep 0.05; done; echo after', { run_in_background: true });
    const followed = typed('shell', 'log', 'shell-1', '--follow');
    const said = (end: string): string => readFileSync(join(live.dir, `typed-1.${end}`), 'utf8');
    await until(() => existsSync(join(live.dir, 'typed-1.out')) && said('out') === 'before\n');
    await live.stopDaemon('SIGKILL');
    await until(() => said('err').includes('the daemon stopped'));
    writeFileSync(join(place, 'go'), '');
    await live.startDaemon();
    const ran = await followed;
    expect(ran).toMatchObject({ status: 0, stdout: 'before\nafter\n' });
    expect(ran.stderr.trimEnd().split('\n')).toEqual([
      'agtmux: the daemon stopped; this continues when it is back',
      expect.stringContaining('shell-1 completed with status 0'),
    ]);
  });

  it('SHL5 a log that is followed into a pipe ends when its reader leaves', async () => {
    await run('echo one; echo two; sleep 133', { run_in_background: true });
    await until(async () => (await typed('shell', 'log', 'shell-1')).stdout === 'one\ntwo\n');
    expect(await headOf(live.env, 'shell', 'log', 'shell-1', '--follow')).toBe('one\n');
  });

  it('SHL7 a feed that comes back hears what happened meanwhile, once', async () => {
    await run('sleep 132', { run_in_background: true });
    const watching = startTyped('watch', '--scope', 'shells', '--format', 'jsonl');
    await until(() => watching.lines().length > 0);
    await live.stopDaemon('SIGKILL');
    await until(() => watching.lines().some(({ type }) => type === 'lost'));
    await live.startDaemon();
    await typed('shell', 'kill', 'shell-1', '-y');
    await until(() => watching.lines().some(({ item }) => item?.kind === 'terminate'));
    watching.end();
    const kinds = watching.lines().flatMap(({ type, item }) => (type === 'event' ? [item?.kind] : []));
    expect(kinds).toEqual(['kill', 'terminate']);
  });

  interface WatchLine {
    readonly type: string;
    readonly item: { readonly kind?: string } | null;
  }

  /** The same while it goes on. */
  function startTyped(...args: readonly string[]) {
    const out = join(live.dir, 'watched');
    const words = [process.execPath, cliProgram, ...args].map((word) => `'${word}'`).join(' ');
    live.tmux('new-window', '-d', '-t', 'work:', '-n', 'watch', `${words} >${out}`);
    const lines = (): readonly WatchLine[] =>
      !existsSync(out)
        ? []
        : readFileSync(out, 'utf8')
            .split('\n')
            .slice(0, -1)
            .map((line) => JSON.parse(line) as WatchLine);
    return { lines, end: () => live.tmux('kill-window', '-t', 'work:watch') };
  }
});
