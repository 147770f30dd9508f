// Sessions as agents among others: lists, routing, explanations and every command that takes a reference; and who may do
// what, a session's own agent above all.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ActBody, ReceiptReply } from '../../../src/api/actions.ts';
import { until } from '../../kit/live.ts';
import { LedWorld, runs } from './kit.ts';

const cli = join(import.meta.dirname, '../../../bin/agtmux');

let world: LedWorld;

beforeAll(async () => {
  world = new LedWorld();
  await world.startDaemon();
});
afterAll(async () => {
  await world.close();
});
afterEach(async () => {
  for (const { id } of (await world.client.get('/v1/managed')).items) await world.deed(id, 'remove', { force: true });
});

type Wanted = { readonly action: string; readonly ref: string; readonly [more: string]: unknown };
const act = (body: Wanted): Promise<ReceiptReply> =>
  world.client.post('/v1/act', { conditions: {}, pid: process.pid, hops: 0, ...body } as ActBody);
const sent = { enter: true, when_ready: false, strip_control: false };

describe('a session among agents', () => {
  it('SES9 it is in no pane, is called session:<id>, and its runtime stays the same over all its processes', async () => {
    const { id, ref, runtime_id, pid } = await world.begin('text x');
    await world.becomes(id, 'completed');
    const row = async () => (await world.client.get('/v1/panes', {})).items.find((one) => one.ref === ref);
    await until(async () => (await row())?.state === 'completed');
    expect(await row()).toMatchObject({
      runtime_id,
      identity: { pane_id: null, window_id: null },
      decided_by: 'driver',
      ended: null,
    });
    process.kill(pid ?? 0, 'SIGKILL');
    await until(async () => (await world.session(id)).pid === null);
    await world.deed(id, 'send', { text: 'text y' });
    await until(async () => (await world.words(id, 'agent')) === 'x\ny');
    expect(await row()).toMatchObject({ runtime_id, ended: null });
  });

  it('RSV1 its canonical state follows the machine, with reason and ask', async () => {
    const { id, ref, runtime_id } = await world.begin('approve touch x');
    const { pending_ask } = await world.becomes(id, 'waiting_approval');
    await until(async () => {
      const explained = await world.client.get('/v1/explain', { ref });
      return explained.item.state === 'waiting_approval' && explained.item.ask?.ask_id === pending_ask?.ask_id;
    });
    const { item, evidence } = await world.client.get('/v1/explain', { ref: runtime_id });
    expect(item).toMatchObject({
      reason_code: 'approval_asked',
      ask: { text: 'touch x', kind: 'command' },
      asks_open: 1,
    });
    expect(evidence.map(({ source }) => source)).toContain('driver');
  });

  it('RTE2 the session that was started last is CONNECTED, and a message without a name goes to it', async () => {
    const first = await world.begin('text one');
    const second = await world.begin('text two');
    for (const { id } of [first, second]) await world.becomes(id, 'completed');
    const routeOf = async (ref: string) =>
      (await world.client.get('/v1/panes', {})).items.find((one) => one.ref === ref)?.route;
    await until(
      async () => (await routeOf(second.ref)) === 'CONNECTED' && (await routeOf(first.ref)) === 'DISCONNECTED',
    );
    expect(await act({ action: 'activate', ref: first.ref })).toMatchObject({ outcome: 'delivered' });
    await until(async () => (await routeOf(first.ref)) === 'CONNECTED');
    expect((await world.agtmux(['tell', 'text told'])).status).toBe(0);
    await until(async () => (await world.words(first.id, 'agent')).endsWith('told'));
    expect(await world.words(second.id, 'agent')).toBe('two');
  });

  it('ACT4 approve, answer, send, interrupt and kill reach it by its own protocol', async () => {
    const { id, ref } = await world.begin('approve it');
    const { pending_ask } = await world.becomes(id, 'waiting_approval');
    await until(async () => (await world.client.get('/v1/explain', { ref })).item.ask !== null);
    expect(await act({ action: 'approve', ref, ask_id: pending_ask?.ask_id })).toMatchObject({
      outcome: 'delivered',
      way: 'session',
    });
    await world.becomes(id, 'completed');
    expect(await act({ action: 'send', ref: id, text: 'question', ...sent })).toMatchObject({
      outcome: 'delivered',
      way: 'session',
    });
    await world.becomes(id, 'waiting_input');
    await until(async () => (await world.client.get('/v1/explain', { ref })).item.ask !== null);
    const question = (await world.client.get('/v1/explain', { ref })).item.ask;
    expect(await act({ action: 'answer', ref, ask_id: question?.ask_id, option: 'red' })).toMatchObject({
      outcome: 'delivered',
      way: 'session',
    });
    await until(async () => (await world.words(id, 'agent')).includes('"Which colour?":"red"'));
    await world.becomes(id, 'completed');
    await act({ action: 'send', ref, text: 'slow', ...sent });
    await until(async () => (await world.client.get('/v1/explain', { ref })).item.state === 'running');
    expect(await act({ action: 'send', ref, text: 'text later', ...sent })).toMatchObject({
      outcome: 'queued',
      way: 'session',
    });
    expect(await act({ action: 'interrupt', ref })).toMatchObject({ outcome: 'delivered', way: 'session' });
    await until(async () => (await world.words(id, 'agent')).endsWith('later'));
    const { pid } = await world.becomes(id, 'completed');
    expect(await act({ action: 'kill', ref, signal: 'KILL' })).toMatchObject({ outcome: 'delivered', way: 'session' });
    expect(runs(pid ?? 0)).toBe(false);
    expect(await act({ action: 'kill', ref, signal: 'KILL' })).toMatchObject({
      outcome: 'refused',
      failure: { code: 'E_STATE_CHANGED' },
    });
    expect(await act({ action: 'resume', ref })).toMatchObject({ outcome: 'delivered', way: 'session' });
    await until(async () => (await world.words(id, 'agent')).endsWith('went on'));
  });

  it('ACT3 nothing is sent while an approval is open', async () => {
    const { id, ref } = await world.begin('approve it');
    await world.becomes(id, 'waiting_approval');
    await until(async () => (await world.client.get('/v1/explain', { ref })).item.ask !== null);
    const told = world.noted('told').length;
    expect(await act({ action: 'send', ref, text: 'yes', ...sent })).toMatchObject({ outcome: 'refused' });
    expect(await act({ action: 'interrupt', ref })).toMatchObject({
      outcome: 'refused',
      failure: { code: 'E_DIALOG' },
    });
    expect(world.noted('told').length).toBe(told);
  });

  it('ACT1 by the name of its agent it is not called: a pane with that agent is meant then', async () => {
    const { id } = await world.begin('text x');
    await world.becomes(id, 'completed');
    expect(await act({ action: 'seen', ref: 'claude' })).toMatchObject({ failure: { code: 'E_REF_NOT_FOUND' } });
    expect(await act({ action: 'name', ref: id, nick: 'reviewer' })).toMatchObject({ outcome: 'delivered' });
    expect(await act({ action: 'seen', ref: 'reviewer' })).toMatchObject({ outcome: 'delivered' });
  });

  it('IDN9 it has no pane to go to; its conversation is its output', async () => {
    const { id, ref } = await world.begin('text some words');
    await world.becomes(id, 'completed');
    const attached = await world.agtmux(['attach', ref, '--json']);
    expect([attached.status, attached.stderr]).toEqual([11, expect.stringContaining('session follow')]);
    const { lines, from } = await world.client.get('/v1/output', { ref, lines: 50, pid: process.pid });
    expect(from).toBe('transcript');
    expect(lines.join('\n')).toContain('agent: some words');
    expect((await world.agtmux(['wait', ref, '--for', 'completed', '--timeout', '10s'])).status).toBe(0);
  });
});

describe("hooks of a session's agent", () => {
  it('SES9 are not heard: nobody else is taken for it, and nothing waits for a runtime', async () => {
    const go = join(world.dir, 'hook.go');
    const payload = JSON.stringify({
      session_id: 'x',
      hook_event_name: 'PermissionRequest',
      tool_name: 'Bash',
      tool_input: { command: 'rm' },
    });
    const hook = join(import.meta.dirname, '../../../bin/agtmux-hook');
    const command = `sh '${hook}' claude PermissionRequest '${payload}'`;
    const counts = async () => (await world.client.get('/v1/status')).hook_calls.taken;
    const before = await counts();
    const { id, ref } = await world.begin('text x', {
      env: world.agentEnv({ FAKE_RUN: JSON.stringify({ how: 'below', command, go }) }),
    });
    await world.becomes(id, 'completed');
    writeFileSync(go, '');
    await until(async () => (await counts()) > before);
    const { events } = await world.client.get('/v1/status');
    expect([events.verdicts.pending, events.verdicts.unbound]).toEqual([0, 0]);
    expect((await world.client.get('/v1/explain', { ref })).item).toMatchObject({ state: 'completed', asks_open: 0 });
  });
});

describe('who may', () => {
  /** What a program gets to hear that the agent of a session starts; `$id` is that very session. */
  const heardBy = async (how: 'below' | 'apart', args: readonly string[]): Promise<string> => {
    const log = join(world.dir, 'run.log');
    const go = join(world.dir, 'run.go');
    rmSync(go, { force: true });
    writeFileSync(log, '');
    const { id: last } = await world.begin('text count');
    const id = `s${Number(last.slice(1)) + 1}`;
    const words = args.map((word) => `'${word === '$id' ? id : word}'`).join(' ');
    const command = `'${process.execPath}' '${cli}' ${words} > '${log}' 2>&1 < /dev/null; echo "status $?" >> '${log}'`;
    const env = world.agentEnv({ FAKE_RUN: JSON.stringify({ how, command, go }) });
    expect((await world.begin('approve it', { env })).id).toBe(id);
    await world.becomes(id, 'waiting_approval');
    writeFileSync(go, '');
    await until(() => readFileSync(log, 'utf8').includes('status '));
    expect(await world.session(id)).toMatchObject({ state: 'waiting_approval' });
    return readFileSync(log, 'utf8');
  };

  it.each(['below', 'apart'] as const)(
    'ACT6 an agent that is led approves nothing of its own, %s itself, whichever command it uses',
    async (how) => {
      const before = world.answers().length;
      for (const args of [
        ['session', 'approve', '$id', '--yes'],
        ['approve', '$id', '--yes'],
        ['session', 'send', '$id', 'yes'],
        ['send', '$id', '--text', 'yes'],
      ]) {
        const said = await heardBy(how, args);
        expect([args.join(' '), said]).toEqual([args.join(' '), expect.stringContaining('E_ROLE')]);
      }
      expect(world.answers().length).toBe(before);
    },
  );

  it('ACT6 nor does it start, stop or remove sessions; it may look', async () => {
    for (const args of [
      ['session', 'start', '--agent', 'claude', 'x'],
      ['session', 'stop', '$id'],
      ['session', 'remove', '$id', '--force'],
    ]) {
      expect(await heardBy('below', args)).toContain('E_ROLE');
    }
    expect(await heardBy('below', ['session', 'list', '--json'])).toContain('"items"');
  });

  it('ACT6 it writes to another session, signed with who it is', async () => {
    const { id } = await world.begin('text x');
    await world.becomes(id, 'completed');
    expect(await heardBy('below', ['send', id, '--text', 'text y'])).toContain('status 0');
    await until(async () => /\[from .*\ntext y/s.test(await world.words(id, 'user')));
    expect(await heardBy('apart', ['send', id, '--text', 'text z'])).toContain('E_ROLE');
  });

  it('ACT6 its message to another session that asks something is no answer', async () => {
    const { id } = await world.begin('question');
    await world.becomes(id, 'waiting_input');
    const before = world.answers().length;
    expect(await heardBy('below', ['send', id, '--text', 'red'])).toContain('E_DIALOG');
    expect([(await world.session(id)).state, world.answers().length]).toEqual(['waiting_input', before]);
  });

  it('ACT6 a program answers only what the policy lets it', async () => {
    world.policy('');
    try {
      const { id } = await world.begin('approve it');
      await world.becomes(id, 'waiting_approval');
      await until(async () => {
        const problem = await world.deed(id, 'approve', { ask_id: 'a0-none' }).catch((error) => error);
        return problem.code === 'E_ROLE';
      });
      await expect(world.deed(id, 'approve')).rejects.toMatchObject({ code: 'E_ROLE' });
      const { id: asking, ref } = await world.begin('question');
      await world.becomes(asking, 'waiting_input');
      await expect(world.deed(asking, 'send', { text: 'red' })).rejects.toMatchObject({ code: 'E_ROLE' });
      await until(async () => (await world.client.get('/v1/explain', { ref })).item.ask !== null);
      expect(await act({ action: 'send', ref, text: 'red', ...sent })).toMatchObject({
        outcome: 'refused',
        failure: { code: 'E_DIALOG' },
      });
      expect(await world.session(asking)).toMatchObject({ state: 'waiting_input' });
    } finally {
      world.policy('allow_approve = ["operator"]\nkinds = ["command", "question"]\n');
    }
  });
});
