// Everything that can be done to a session, on the real daemon with a scripted agent: what people see, what reaches the
// agent, and what the audit says.

import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../kit/live.ts';
import { LedWorld, runs } from './kit.ts';

let world: LedWorld;

beforeAll(async () => {
  world = new LedWorld();
  await world.startDaemon();
});
afterAll(async () => {
  await world.close();
});

const lastDeed = async () => (await world.audit()).find(({ action }) => action.startsWith('session '));

describe('a session from its start to its removal', () => {
  it('SES1 a prompt is said on standard input, and the answer is there when the turn is done', async () => {
    const { id } = await world.begin('text hello');
    const done = await world.becomes(id, 'completed');
    expect(done).toMatchObject({ reason: 'turn_completed', confidence: 'high', turns: 1, last_words: 'hello' });
    expect(await world.words(id, 'user')).toBe('text hello');
    expect(await world.words(id, 'agent')).toBe('hello');
    expect(world.noted('start').join()).not.toContain('hello');
  });

  it('SES1 a next message goes to the same process', async () => {
    const { id, pid } = await world.begin('text one');
    await world.becomes(id, 'completed');
    await world.deed(id, 'send', { text: 'text two' });
    await until(async () => (await world.words(id, 'agent')) === 'one\ntwo');
    expect(await world.becomes(id, 'completed')).toMatchObject({ pid, turns: 2 });
  });

  it('SES1 a conversation of the agent that it had elsewhere goes on, with a prompt or without', async () => {
    const { id } = await world.begin('', { resume: 'earlier' });
    expect(await world.becomes(id, 'completed')).toMatchObject({ agent_session: 'earlier', title: 'earlier' });
    expect(world.noted('start').at(-1)).toMatch(/--resume[= ]earlier/);
    expect(await world.words(id, 'agent')).toBe('went on');
  });

  it('SES5 an approval reaches the agent once, and the second one is refused', async () => {
    const { id } = await world.begin('approve touch made.txt');
    const { pending_ask } = await world.becomes(id, 'waiting_approval');
    expect(pending_ask).toMatchObject({ kind: 'command', text: 'touch made.txt', accepts: ['approve', 'reject'] });
    const before = world.answers().length;
    await world.deed(id, 'approve', { ask_id: pending_ask?.ask_id });
    await expect(world.deed(id, 'approve', { ask_id: pending_ask?.ask_id })).rejects.toMatchObject({
      code: 'E_STATE_CHANGED',
    });
    await world.becomes(id, 'completed');
    expect(world.answers().length).toBe(before + 1);
    expect(await world.words(id, 'agent')).toContain('allowed {"command":"touch made.txt"}');
  });

  it('ASK3 an answer to something else than what is asked now is refused, and nothing is said', async () => {
    const { id } = await world.begin('twice');
    const first = (await world.becomes(id, 'waiting_approval')).pending_ask?.ask_id;
    const before = world.answers().length;
    await expect(world.deed(id, 'approve', { ask_id: 'a1-other' })).rejects.toMatchObject({ code: 'E_STATE_CHANGED' });
    expect(world.answers().length).toBe(before);
    await world.deed(id, 'approve', { ask_id: first });
    await until(async () => (await world.session(id)).pending_ask?.text === 'the second');
    await expect(world.deed(id, 'approve', { ask_id: first })).rejects.toMatchObject({ code: 'E_STATE_CHANGED' });
    expect(world.answers().length).toBe(before + 1);
  });

  it('SES1 a refusal reaches the agent with its reason', async () => {
    const { id } = await world.begin('approve rm -rf x');
    await world.becomes(id, 'waiting_approval');
    await world.deed(id, 'reject', { because: 'use the other one' });
    await until(async () => (await world.words(id, 'agent')).includes('denied: use the other one'));
  });

  it('SES1 a question is answered by one of its options, and a wrong one is refused with those there are', async () => {
    const { id } = await world.begin('question');
    expect((await world.becomes(id, 'waiting_input')).pending_ask?.options.map(({ label }) => label)).toEqual([
      'red',
      'blue',
    ]);
    await expect(world.deed(id, 'answer', { option: 'green' })).rejects.toMatchObject({
      code: 'E_INPUT',
      message: expect.stringContaining('blue'),
    });
    await world.deed(id, 'answer', { option: 'blue' });
    await until(async () => (await world.words(id, 'agent')).includes('"answers":{"Which colour?":"blue"}'));
  });

  it('ACT7 a message for a session at work waits, is counted, and goes out when the turn has ended', async () => {
    const { id, ref } = await world.begin('slow');
    await world.becomes(id, 'streaming');
    expect(await world.deed(id, 'send', { text: 'text afterwards' })).toMatchObject({ queued: 1 });
    await world.client.post('/v1/act', { action: 'interrupt', ref, conditions: {}, pid: process.pid, hops: 0 });
    await until(async () => (await world.words(id, 'agent')).endsWith('afterwards'));
    expect(await world.becomes(id, 'completed')).toMatchObject({ queued: 0, turns: 2 });
  });

  it('SES4 a stop holds, drops what waited, and the process is gone after a while', async () => {
    const { id } = await world.begin('slow');
    const { pid } = await world.becomes(id, 'streaming');
    await world.deed(id, 'send', { text: 'text never' });
    expect(await world.deed(id, 'stop')).toMatchObject({ state: 'stopped', queued: 0 });
    await until(() => !runs(pid ?? 0), 20_000);
    await until(async () => (await world.session(id)).pid === null);
    expect(await world.session(id)).toMatchObject({ state: 'stopped', is_resumable: true });
    expect(await world.words(id, 'agent')).not.toContain('never');
  });

  it.each(['', ' exit'])('SES4a a stop ends what the agent started, also when the agent has gone%s', async (how) => {
    const { id } = await world.begin(`children${how}`);
    const { pid } = await world.becomes(id, 'completed');
    const children = world.noted('child').map(Number).slice(-2);
    expect(children).toHaveLength(2);
    if (how !== '') await until(async () => (await world.session(id)).pid === null);
    // Of the same name and the same parents, and not of the session.
    const other = spawn('sh', ['-c', 'while :; do sleep 1; done'], { detached: true, stdio: 'ignore' });
    try {
      await world.deed(id, 'stop');
      await until(() => [pid ?? 0, ...children].every((one) => !runs(one)), 60_000);
      expect(runs(other.pid ?? 0)).toBe(true);
    } finally {
      for (const one of children) if (runs(one)) process.kill(one, 'SIGKILL');
      process.kill(-(other.pid ?? 0), 'SIGKILL');
    }
  });

  it('SES4 a stopped session that is resumed goes on with the same conversation in a new process', async () => {
    const { id } = await world.begin('text before');
    const { agent_session, pid } = await world.becomes(id, 'completed');
    process.kill(pid ?? 0, 'SIGKILL');
    await until(async () => (await world.session(id)).pid === null);
    expect(await world.session(id)).toMatchObject({ state: 'completed' });
    await world.deed(id, 'resume', { text: 'text again' });
    await until(async () => (await world.words(id, 'agent')).endsWith('again'));
    expect(world.noted('start').at(-1)).toMatch(new RegExp(`--resume[= ]${agent_session}`));
  });

  it('SES6 a failed turn is an error with its words, and can be tried again', async () => {
    const { id } = await world.begin('fail no credit left');
    expect(await world.becomes(id, 'error')).toMatchObject({ reason: 'api_error', words: 'no credit left' });
    await world.deed(id, 'retry');
    await world.becomes(id, 'completed');
  });

  it('ACT1 every deed leaves one row in the audit, refused ones too, and says whether it approves for itself', async () => {
    const { id } = await world.begin('approve it', { auto_approve: true });
    expect(await lastDeed()).toMatchObject({
      action: 'session start',
      result: 'delivered',
      detail: { auto_approve: true, session: id },
    });
    expect(JSON.stringify(await lastDeed())).not.toContain('approve it');
    await world.becomes(id, 'completed');
    expect(await world.words(id, 'notice')).toContain('approved automatically');
    await expect(world.deed(id, 'approve')).rejects.toMatchObject({ code: 'E_STATE_CHANGED' });
    expect(await lastDeed()).toMatchObject({
      action: 'session approve',
      result: 'refused',
      detail: { code: 'E_STATE_CHANGED', auto_approve: true },
    });
    const before = (await world.audit()).length;
    await expect(world.deed('s999', 'stop')).rejects.toMatchObject({ code: 'E_REF_NOT_FOUND' });
    expect((await world.audit()).length).toBe(before + 1);
  });

  it('SES9 what a session shows is in every list, with the warning of automatic mode', async () => {
    const { id } = await world.begin('slow', { auto_approve: true });
    const { view } = await world.becomes(id, 'streaming');
    expect(view).toMatchObject({
      showSpinner: true,
      showAutoModeWarning: true,
      isActive: true,
      showResumeButton: false,
    });
    const row = async () => (await world.client.get('/v1/panes', {})).items.find(({ ref }) => ref === `session:${id}`);
    // The engine hears of it a moment after the session.
    await until(async () => (await row())?.state === 'running');
    expect(await row()).toMatchObject({
      agent: 'claude',
      state: 'running',
      decided_by: 'driver',
      session: { id, auto_approve: true, view },
    });
    expect((await world.agtmux(['list', 'panes'])).stdout).toContain('[auto-approve]');
    await world.deed(id, 'stop');
  });

  it('SES5 a session at work is removed only with force; afterwards nothing of it is left', async () => {
    const { id } = await world.begin('slow');
    const { pid, runtime_id } = await world.becomes(id, 'streaming');
    await expect(world.deed(id, 'remove')).rejects.toMatchObject({ code: 'E_STATE_CHANGED' });
    expect(runs(pid ?? 0)).toBe(true);
    await world.deed(id, 'remove', { force: true });
    expect(runs(pid ?? 0)).toBe(false);
    await expect(world.session(id)).rejects.toMatchObject({ code: 'E_REF_NOT_FOUND' });
    await until(async () =>
      (await world.client.get('/v1/panes', {})).items.every((row) => row.runtime_id !== runtime_id),
    );
  });

  it('SES10b what looks like a secret is not kept', async () => {
    const { id } = await world.begin('secret');
    await world.becomes(id, 'completed');
    await until(async () => (await world.words(id, 'agent')) === 'the key is [redacted] and that is all');
  });
});

describe('a session that does not start', () => {
  it('E_AGENT_MISSING says how to get it, and leaves nothing behind', async () => {
    const before = (await world.client.get('/v1/managed')).items.length;
    const problem = await world.begin('x', { agent: 'codex' }).catch((error) => error);
    expect(problem).toMatchObject({ code: 'E_AGENT_MISSING', next: expect.stringContaining('npm install') });
    expect((await world.client.get('/v1/managed')).items.length).toBe(before);
  });

  it.each([
    ['an agent nobody knows', { agent: 'nobody' }, 'E_REF_NOT_FOUND'],
    ['a directory that is not there', { cwd: '/nowhere/at/all' }, 'E_INPUT'],
    ['a directory that is none', { cwd: '/etc/passwd' }, 'E_INPUT'],
    ['no prompt', { prompt: '  ' }, 'E_INPUT'],
    ['a driver it does not have', { driver: 'telepathy' }, 'E_INPUT'],
    ['a shared server that does not run', { agent: 'codex', driver: 'codex-daemon' }, 'E_AGENT_MISSING'],
  ] as const)('SES1 %s is refused with words', async (_, more, code) => {
    const problem = await world.begin('text x', more).catch((error) => error);
    expect(problem).toMatchObject({ code });
    expect(problem.next).not.toBe('');
  });

  it('SES6 one that ends at once is an error with what it printed', async () => {
    const { id } = await world.begin('text x', { env: world.agentEnv({ FAKE_BROKEN: 'no such setting: colour' }) });
    expect(await world.becomes(id, 'error')).toMatchObject({
      words: expect.stringContaining('no such setting: colour'),
      pid: null,
    });
    await world.deed(id, 'remove');
  });
});

describe('what an agent prints', () => {
  it('SES2 garbage, half lines and unknown words change nothing', async () => {
    const { id } = await world.begin('garbage');
    await world.becomes(id, 'completed');
    expect(await world.words(id, 'agent')).toContain('still here');
    expect(await world.words(id, 'notice')).toContain('plain words');
  });

  it('SES10 a line without an end is dropped with a notice, and what follows is heard', async () => {
    const { id } = await world.begin('line 9');
    await world.becomes(id, 'completed');
    expect(await world.words(id, 'agent')).toContain('after the long line');
    expect(await world.words(id, 'notice')).toContain('was dropped');
  });
});
