// `agtmux mcp` with the real daemon and real commands: what an agent sees of its shells from the first to the last, also when
// a person, the daemon or the agent itself goes in between.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../kit/live.ts';
import { type Agent, Place, program } from './kit.ts';

let place: Place;
let agent: Agent;

beforeEach(async () => {
  place = new Place();
  agent = await place.agent({ generation: 'v1', args: ['--budget-s', '50'] });
  // From here on the library holds every answer against its schema.
  await agent.tools();
});
afterEach(async () => {
  await agent.close();
  await place.agtmux('daemon', 'stop');
  spawnSync('tmux', ['kill-server'], { env: place.env });
  await place.close();
});

/** What a person types at a shell in tmux. Without a shell that waits for them nobody counts as one. */
async function types(...words: string[]): Promise<void> {
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-u', '-f', '/dev/null', ...args], { env: { ...place.env, SHELL: '/bin/sh' } }).toString();
  const done = join(place.dir, 'typed');
  tmux('new-session', '-d', '-s', `person-${Math.random()}`.replace('.', ''), '-c', place.dir);
  const line = [process.execPath, program, ...words].map((word) => `'${word}'`).join(' ');
  tmux('send-keys', '-l', `${line} >${done}.said 2>&1; echo $? >${done}`);
  tmux('send-keys', 'Enter');
  await until(() => existsSync(done) && readFileSync(done, 'utf8').endsWith('\n'));
  expect([readFileSync(done, 'utf8'), readFileSync(`${done}.said`, 'utf8')]).toEqual(['0\n', expect.any(String)]);
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const daemonPid = async (): Promise<number> =>
  (JSON.parse((await place.agtmux('status', '--json')).stdout) as { daemon: { pid: number } }).daemon.pid;

/** A command that goes on until this file is there, and says which process it is. */
const waits = (name: string): string =>
  `echo $$ >${name}.pid.new; mv ${name}.pid.new ${name}.pid; until [ -e ${name} ]; do sleep 0.05; done; echo over`;
const pidOf = (name: string): number => Number(readFileSync(join(place.dir, `${name}.pid`), 'utf8'));
const hasBegun = (name: string): boolean => existsSync(join(place.dir, `${name}.pid`));
const letGo = (name: string): void => writeFileSync(join(place.dir, name), '');

const noticesOf = async (): Promise<readonly { shell_id: string; kind: string; by: string }[]> =>
  (await agent.call('shell_summary')).data.notices as never;

describe('a shell of an agent', () => {
  it('SHL1 that ends in time is answered with its status and the end of its output', async () => {
    const good = await agent.call('shell_run', { command: 'echo out; echo err >&2; pwd; echo "$AGTMUX_AGENT"' });
    expect(good.data).toMatchObject({ result: 'Completed', status: 'completed', exit_code: 0, ended_by: 'system' });
    expect((good.data.log as { lines: string[] }).lines).toEqual(['out', 'err', place.dir, 'mcp']);
    const bad = await agent.call('shell_run', { command: 'exit 3' });
    expect(bad).toMatchObject({ isError: false, data: { result: 'Failed', exit_code: 3, ended_by: 'system' } });
    const missing = await agent.call('shell_run', { command: 'no-such-command-anywhere' });
    expect(missing.data).toMatchObject({ result: 'Failed', exit_code: 127 });
    expect((await agent.call('shell_run', { command: 'cat' })).data).toMatchObject({ result: 'Completed' });
    expect((await agent.call('shell_run', { command: 'true', cwd: 'not-there' })).data).toMatchObject({
      result: 'Refused',
      shell_id: null,
    });
    const odd = await agent.call('shell_run', { command: String.raw`printf 'a\000\377\033[31mb\n'` });
    expect(JSON.stringify(odd.data)).not.toContain('\\u001b');
    expect((odd.data.log as { lines: string[] }).lines).toHaveLength(1);
  });

  it('SHL2 that does not goes to the background at the budget, and its log is read page by page', async () => {
    const command = `i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "line $i"; done; ${waits('go')}`;
    const hasty = await place.agent({ generation: 'v1', args: ['--budget-s', '1'] });
    // Whoever comes first starts the daemon; that is not to count here.
    await agent.call('shell_summary');
    const began = performance.now();
    const { data } = await hasty.call('shell_run', { command });
    const tookMs = performance.now() - began;
    expect(data).toMatchObject({ result: 'Running', status: 'running', ended_by: null });
    expect(tookMs).toBeGreaterThan(900);
    expect(tookMs).toBeLessThan(10_000);
    const id = data.shell_id as string;
    letGo('go');
    await until(async () => (await hasty.call('shell_summary')).data.shells?.toString() === '');
    const lines: string[] = [];
    let cursor: string | undefined;
    let hasMore = true;
    while (hasMore) {
      const page = await hasty.call('shell_log', {
        shell_id: id,
        mode: 'body',
        ...(cursor === undefined ? {} : { cursor }),
      });
      const log = page.data.log as { lines: string[]; cursor: string; has_more: boolean };
      expect(log.lines.length).toBeLessThanOrEqual(120);
      lines.push(...log.lines);
      cursor = log.cursor;
      hasMore = log.has_more;
    }
    expect(lines).toEqual([...Array.from({ length: 300 }, (_, place_) => `line ${place_ + 1}`), 'over']);
    const last = await hasty.call('shell_log', { shell_id: id, mode: 'diagnostic', lines: 1 });
    expect(last.data).toMatchObject({ log: { lines: ['over'] }, diagnosis: expect.stringContaining('completed') });
    const again = await hasty.call('shell_resume', { shell_id: id });
    expect(again.data).toMatchObject({ result: 'Restarted', shell_id: id, attempt: 2, ended_by: null });
  });

  it('SHL7 that a person kills is known to be, in the next result of whatever tool, once', async () => {
    const { data } = await agent.call('shell_run', { command: waits('never'), run_in_background: true });
    const id = data.shell_id as string;
    expect(data).toMatchObject({ result: 'Started', status: 'running' });
    await until(() => hasBegun('never'));
    const pid = pidOf('never');
    await types('shell', 'kill', id, '--yes');
    const { data: next } = await agent.call('agents_list');
    expect(next.notices).toMatchObject([{ shell_id: id, kind: 'killed', by: 'user' }]);
    expect(await noticesOf()).toEqual([]);
    expect(isAlive(pid)).toBe(false);
    const late = await agent.call('shell_kill', { shell_id: id });
    expect(late.data).toMatchObject({ result: 'AlreadyFinishedFailed', ended_by: 'user' });
    expect(late.data.next).toContain('forget');
  });

  it('that a person puts in the background answers at once', async () => {
    const call = agent.call('shell_run', { command: waits('go'), label: 'waiting' });
    await until(() => hasBegun('go'));
    await types('shell', 'background', 'waiting');
    expect((await call).data).toMatchObject({
      status: 'running',
      promoted_by: 'user',
      start_mode: 'background',
    });
    letGo('go');
    await until(() => !isAlive(pidOf('go')));
  });

  it('whose call is cancelled, or whose client is gone, is ended', async () => {
    const gone = new AbortController();
    const call = agent.call('shell_run', { command: waits('one') }, { signal: gone.signal });
    const over = expect(call).rejects.toThrow();
    await until(() => hasBegun('one'));
    gone.abort();
    await over;
    await until(() => !isAlive(pidOf('one')));
    const failed = async () => (await agent.call('shell_summary', { failed: true })).data;
    await until(async () => (await failed()).reason === '0 running, 0 completed, 1 failed');
    expect((await failed()).shells).toMatchObject([{ status: 'failed', ended_by: 'agent' }]);
    void agent.call('shell_run', { command: waits('two') }).catch(() => undefined);
    await until(() => hasBegun('two'));
    process.kill(agent.pid, 'SIGKILL');
    await until(() => !isAlive(pidOf('two')));
  });

  it('SHL6 goes on when the daemon is killed in the middle of its call, and nothing of it is lost', async () => {
    const call = agent.call('shell_run', { command: `echo before; ${waits('go')}; exit 7` });
    await until(() => hasBegun('go'));
    process.kill(await daemonPid(), 'SIGKILL');
    const { data } = await call;
    expect(data).toMatchObject({
      result: 'Running',
      status: 'running',
      reason: expect.stringContaining('restarted'),
    });
    expect(isAlive(pidOf('go'))).toBe(true);
    letGo('go');
    await until(() => !isAlive(pidOf('go')));
    const id = data.shell_id as string;
    await until(async () =>
      (await agent.call('shell_log', { shell_id: id, mode: 'diagnostic' })).text.includes('code 7'),
    );
    const page = await agent.call('shell_log', { shell_id: id, mode: 'body' });
    expect(page.data).toMatchObject({ log: { lines: ['before', 'over'], has_more: false } });
  });
});
