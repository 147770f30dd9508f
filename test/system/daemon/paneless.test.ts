// Agents in no pane: a look-alike in a terminal of its own calls agtmux-hook as the real agent would.

import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReceiptReply } from '../../../src/api/actions.ts';
import type { PaneItem } from '../../../src/api/panes.ts';
import { Live, until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';

const hookProgram = fileURLToPath(new URL('../../../bin/agtmux-hook', import.meta.url));
let live: Live;
const started: LookAlike[] = [];

beforeEach(() => {
  live = new Live();
  mkdirSync(join(live.dir, 'state/spool'), { recursive: true, mode: 0o700 });
});

afterEach(async () => {
  for (const one of started.splice(0)) {
    try {
      one.end();
    } catch {
      // It has ended already.
    }
  }
  await live.close();
});

function outside(variables: Readonly<Record<string, string>> = {}): LookAlike {
  const one = LookAlike.startOutside(live, 'claude', variables);
  started.push(one);
  return one;
}

const mayApprove = 'trust_untraceable = true\nallow_approve = ["operator"]\nkinds = ["command"]\n';

const startOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? '';

const base = { session_id: 's1', transcript_path: '/t', cwd: '/p', prompt_id: 'p1', permission_mode: 'default' };
const call = (event: string, payload: Readonly<Record<string, unknown>> = {}) => ({
  argv: [hookProgram, 'claude', event],
  input: JSON.stringify({ ...base, hook_event_name: event, ...payload }),
});
const request = {
  tool_name: 'Bash',
  tool_input: { command: 'npm test', description: 'test' },
  tool_use_id: 'toolu_1',
};

const items = async (): Promise<readonly PaneItem[]> => (await live.client.get('/v1/panes', {})).items;
const only = async (): Promise<PaneItem | undefined> => (await items()).find(({ ended }) => ended === null);

const act = (body: Readonly<Record<string, unknown>>): Promise<ReceiptReply> =>
  live.client.post('/v1/act', { conditions: {}, pid: process.pid, hops: 0, any_ask: true, ...body } as never);

const waitingCall = { ...call('PermissionRequest', request), waits: true };
waitingCall.argv[2] = 'PermissionRequest:wait';

/** One that asks, and whose hook waits for an answer. */
async function asking(variables: Readonly<Record<string, string>> = { CLAUDE_CODE_ENTRYPOINT: 'cli' }) {
  const agent = outside(variables);
  await agent.show('');
  await agent.call([waitingCall, call('PreToolUse', request)]);
  const row = async () => (await items()).find(({ pid }) => pid === agent.pid);
  await until(async () => (await row())?.asks_open === 1);
  return { agent, ref: `proc:${agent.pid}` };
}

describe('agents without a pane', () => {
  it('IDN10 IDN10b are listed from their first call on, with what they do and ask, and end with their process', async () => {
    await live.startDaemon();
    const agent = outside();
    await agent.show('');
    const calledAt = Date.now();
    await agent.call([call('SessionStart', { source: 'startup' })]);
    await until(async () => (await only())?.state === 'idle');
    expect(Date.now() - calledAt).toBeLessThan(2_000);
    expect(await only()).toMatchObject({
      ref: `proc:${agent.pid}`,
      pid: agent.pid,
      terminal: 'tty',
      agent: 'claude',
      route: 'CONNECTED',
      identity: { target: 'host', session_name: `proc:${agent.pid}`, pane_id: null, window_id: null },
    });
    await agent.call([call('UserPromptSubmit', { prompt: 'x' })]);
    await until(async () => (await only())?.state === 'running');
    expect(await only()).toMatchObject({ reason_code: 'hooks_only', confidence: 'medium', task: 'x' });
    await agent.call([call('PreToolUse', request), call('PermissionRequest', request)]);
    await until(async () => (await only())?.state === 'waiting_approval');
    expect(await only()).toMatchObject({
      reason_code: 'approval_asked',
      confidence: 'medium',
      asks_open: 1,
      ask: { kind: 'command', text: expect.stringContaining('npm test') },
    });
    // The same row after a restart of the daemon.
    const { runtime_id } = (await only()) ?? {};
    await live.stopDaemon('SIGKILL');
    await live.startDaemon();
    await until(async () => (await only())?.state === 'waiting_approval');
    expect(await only()).toMatchObject({ runtime_id, ref: `proc:${agent.pid}`, terminal: 'tty', asks_open: 1 });
    agent.end();
    await until(async () => (await only()) === undefined);
    expect((await items()).map(({ ended }) => ended?.cause)).toEqual(['vanished']);
  });

  it('IDN10 one that is taken up again in tmux is one row, that of its pane, and its conversation the same', async () => {
    live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
    await live.startDaemon();
    await until(async () => (await live.listed()).length === 1);
    const agent = outside();
    await agent.show('');
    await agent.call([call('SessionStart', { source: 'startup' }), call('UserPromptSubmit', { prompt: 'x' })]);
    await until(async () => (await only())?.state === 'running');
    agent.end('SIGTERM');
    await until(async () => (await only()) === undefined);
    const again = LookAlike.start(live, 'claude', 'work');
    await again.show('');
    await again.call([call('SessionStart', { source: 'resume' })]);
    await until(async () => (await only())?.state === 'idle');
    const rows = (await items()).filter(({ ended }) => ended === null);
    expect(rows.map(({ terminal, identity }) => [identity.pane_id, terminal])).toEqual([[again.pane, null]]);
    again.end();
  });

  it('ACT10a are answered over the hook that waits, each by its own, once', async () => {
    live.writePolicy(mayApprove);
    await live.startDaemon();
    const [one, other] = [await asking(), await asking()];
    const approving = act({ action: 'approve', ref: one.ref });
    await until(() => one.agent.answers().includes('END'));
    expect(JSON.parse(one.agent.answers().split('\n')[0] ?? '')).toEqual({
      hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
    });
    await one.agent.call([call('PostToolUse', request)]);
    expect(await approving).toMatchObject({ outcome: 'delivered', way: 'claude-hook' });
    expect(other.agent.answers()).toBe('');
    const rejecting = act({ action: 'reject', ref: other.ref, because: 'not now' });
    await until(() => other.agent.answers().includes('END'));
    expect(other.agent.answers()).toContain('"decision":{"behavior":"deny","message":"not now"}');
    await other.agent.call([call('Stop')]);
    expect(await rejecting).toMatchObject({ outcome: 'delivered', way: 'claude-hook' });
    expect(await act({ action: 'approve', ref: one.ref })).toMatchObject({ outcome: 'refused' });
  });

  it('ACT10a are left to their own terminal where no hook waits, or more than one could be meant', async () => {
    live.writePolicy(mayApprove);
    await live.startDaemon();
    const refused = { outcome: 'refused', failure: { code: 'E_NO_PANE' } };
    const silent = await asking({});
    expect(await act({ action: 'approve', ref: silent.ref })).toMatchObject(refused);
    const { agent, ref } = await asking();
    // What a program of the same user has put beside it: whose it is cannot be told, so neither is answered.
    const answers = join(live.stateDir, 'answers');
    const [own = ''] = readdirSync(answers).filter((name) => name.endsWith('.asked'));
    writeFileSync(join(answers, '7-7-0.asked'), readFileSync(join(answers, own)));
    expect(await act({ action: 'approve', ref })).toMatchObject(refused);
    rmSync(join(answers, '7-7-0.asked'));
    // The person answers in the terminal: no hook is told, so it is told to wait no longer.
    await agent.call([call('PostToolUse', request)]);
    await until(() => agent.answers() === 'END\n');
    expect(readdirSync(answers)).toEqual([]);
  });

  it('IDN10 IDN11 what a program writes in the name of another process is refused, counted and explained', async () => {
    await live.startDaemon();
    const agent = outside();
    await agent.show('');
    await agent.call([call('SessionStart', { source: 'startup' })]);
    await until(async () => (await only())?.state === 'idle');
    const before = await only();
    const stranger = spawn('sleep', ['1000'], {
      stdio: 'ignore',
      ...(process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}),
    });
    try {
      const forge = (number: number, pid: number, above: number, start: string): void => {
        const head = `agtmux1 agent=claude event=PermissionRequest pane= socket= pid=${pid} ppid=${above} up=${above}:${start} body=stdin`;
        const payload = { ...base, session_id: 's9', hook_event_name: 'PermissionRequest', ...request };
        writeFileSync(join(live.stateDir, `spool/${start}-${pid}-${number}`), `${head}\n${JSON.stringify(payload)}`);
      };
      const told = async () => (await live.client.get('/v1/status')).hook_calls;
      // By a program that lives and was not started by the agent, as the agent's own call.
      forge(0, process.pid, agent.pid, startOf(agent.pid));
      await until(async () => (await told()).refused === 1);
      // An agent of another user; root's own first process where the tests are somebody's.
      const other = process.getuid?.() === 0 ? (stranger.pid ?? 0) : 1;
      forge(1, 4_194_000, other, startOf(other));
      await until(async () => (await told()).refused === 2);
      // The number of the agent, and the start of whoever had it before.
      const taken = (await told()).taken;
      forge(2, 4_194_000, agent.pid, String(Number(startOf(agent.pid)) - 1));
      await until(async () => (await told()).taken === taken + 1);
      const { items: adapters } = await live.client.get('/v1/agents');
      const sources = adapters.find((one) => one.agent === 'claude')?.sources ?? [];
      const trouble = sources.map((one) => one.trouble ?? '').join(' ');
      expect(trouble).toContain('1 calls refused: the processes they named did not start each other');
      expect(trouble).toContain('1 calls refused: they named a process of another user');
      expect(await only()).toEqual({ ...before, last_seen_at: (await only())?.last_seen_at });
      expect(await items()).toHaveLength(1);
    } finally {
      stranger.kill('SIGKILL');
    }
  });
});
