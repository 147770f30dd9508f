// The daemon is killed in each of the nine states: what comes back is what the rules say, no ask is answered twice, and no
// process is left that nobody knows of (SES5).

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManagedItem } from '../../../src/api/sessions.ts';
import type { MachineState } from '../../../src/model/sessions.ts';
import { Talk } from '../../../src/sessions/messages.ts';
import { until } from '../../kit/live.ts';
import { LedWorld, runs } from './kit.ts';

let world: LedWorld;

beforeEach(async () => {
  world = new LedWorld();
  await world.startDaemon();
});
afterEach(async () => {
  await world.close();
});

async function killed(): Promise<void> {
  await world.stopDaemon('SIGKILL');
  await world.startDaemon();
}

/** What the agent said, as it would be read back from disk: the file has a message that grew in pieces. */
const kept = (id: string): string => {
  const path = join(world.stateDir, `sessions/${id}.messages`);
  const talk = new Talk();
  talk.load(existsSync(path) ? readFileSync(path, 'utf8') : '');
  const { messages } = talk.page(0, 2_000);
  return messages.flatMap(({ role, text }) => (role === 'agent' ? [text] : [])).join('\n');
};

/** How a session gets into each state. */
const ways: Readonly<Record<Exclude<MachineState, 'idle'>, () => Promise<ManagedItem>>> = {
  creating: async () => {
    const { id } = await world.begin('text x', { env: world.agentEnv({ FAKE_SILENT: '1' }) });
    await until(() => world.noted('told').length > 0);
    return world.becomes(id, 'creating');
  },
  streaming: async () => world.becomes((await world.begin('slow')).id, 'streaming'),
  waiting_approval: async () => world.becomes((await world.begin('approve it')).id, 'waiting_approval'),
  waiting_input: async () => world.becomes((await world.begin('question')).id, 'waiting_input'),
  completed: async () => world.becomes((await world.begin('text done')).id, 'completed'),
  paused: async () => {
    const { id } = await world.begin('slow');
    const { ref } = await world.becomes(id, 'streaming');
    await world.client.post('/v1/act', { action: 'interrupt', ref, conditions: {}, pid: process.pid, hops: 0 });
    return world.becomes(id, 'paused');
  },
  error: async () => world.becomes((await world.begin('fail it broke')).id, 'error'),
  stopped: async () => {
    const { id } = await world.begin('slow 300');
    await world.becomes(id, 'streaming');
    // In the middle of a message of which a part is on disk.
    await until(() => kept(id) !== '');
    const part = kept(id);
    await until(async () => (await world.words(id, 'agent')).length > part.length);
    await world.deed(id, 'stop');
    return world.becomes(id, 'stopped');
  },
};

/** What is there after the daemon has come back. */
const back: Readonly<Record<keyof typeof ways, Partial<ManagedItem>>> = {
  creating: { state: 'paused', reason: 'daemon_restarted' },
  streaming: { state: 'paused', reason: 'daemon_restarted', is_resumable: true },
  waiting_approval: { state: 'paused', reason: 'daemon_restarted', is_resumable: true },
  waiting_input: { state: 'paused', reason: 'daemon_restarted', is_resumable: true },
  completed: { state: 'completed', reason: 'turn_completed' },
  paused: { state: 'paused', reason: 'interrupted' },
  error: { state: 'error', words: 'it broke' },
  stopped: { state: 'stopped', reason: 'stopped' },
};

/** The same for whoever lists agents. */
const canonical: Readonly<Record<string, string>> = {
  paused: 'idle',
  stopped: 'idle',
  completed: 'completed',
  error: 'error',
};

describe('kill -9 of the daemon', () => {
  it.each(Object.keys(ways) as (keyof typeof ways)[])(
    'SES5 in %s: the session comes back as it is documented',
    async (state) => {
      const before = await ways[state]();
      const wordsBefore = await world.words(before.id, 'agent');
      // Words of a message that still grows are written a moment after they are shown.
      await until(() => kept(before.id).startsWith(wordsBefore));
      await world.stopDaemon('SIGKILL');
      // Without its input the agent ends by itself.
      await until(() => !runs(before.pid ?? 0));
      await world.startDaemon();
      const expected = back[state];
      const after = await world.becomes(before.id, expected.state ?? 'idle');
      expect(after).toMatchObject({ ...expected, id: before.id, agent_session: before.agent_session });
      await until(async () => (await world.session(before.id)).pid === null);
      // A process that is gone cannot be told to try again; what it had asked a person is still shown.
      const asked = state === 'error' ? undefined : before.pending_ask?.text;
      expect(after.pending_ask?.text).toBe(asked);
      expect((await world.words(before.id, 'agent')).startsWith(wordsBefore)).toBe(true);
      await until(async () => {
        const { items } = await world.client.get('/v1/panes', {});
        const row = items.find(({ ref }) => ref === before.ref);
        return row?.state === canonical[after.state] && row?.asks_open === 0 && row?.runtime_id === before.runtime_id;
      });
    },
  );

  it('SES5 before the first start is over: nothing, or a session that can be started again', async () => {
    const starting = world.begin('text x').catch(() => null);
    await until(() => existsSync(join(world.stateDir, 'sessions/s1.json')));
    await world.stopDaemon('SIGKILL');
    await starting;
    await world.startDaemon();
    const { items } = await world.client.get('/v1/managed');
    expect(items.map(({ state }) => state).filter((state) => !['paused', 'completed'].includes(state))).toEqual([]);
    for (const pid of world.noted('start').map((line) => Number.parseInt(line, 10))) await until(() => !runs(pid));
    await world.deed('s1', 'resume');
    await world.becomes('s1', 'completed');
  });

  it('SES5 what was asked is shown and cannot be answered; after a resume it is asked anew and answered once', async () => {
    const { id, pending_ask } = await ways.waiting_approval();
    await killed();
    await world.becomes(id, 'paused');
    await expect(world.deed(id, 'approve')).rejects.toMatchObject({ code: 'E_STATE_CHANGED' });
    await expect(world.deed(id, 'approve', { ask_id: pending_ask?.ask_id })).rejects.toMatchObject({
      code: 'E_STATE_CHANGED',
    });
    expect(world.answers()).toEqual([]);
    await world.deed(id, 'resume', { text: 'approve it' });
    const again = await world.becomes(id, 'waiting_approval');
    expect(again.pending_ask?.ask_id).not.toBe(pending_ask?.ask_id);
    await world.deed(id, 'approve', { ask_id: again.pending_ask?.ask_id });
    await world.becomes(id, 'completed');
    expect(world.answers().length).toBe(1);
  });

  it('SES5 an answer on its way when the daemon fell is not given again', async () => {
    const { id } = await ways.waiting_approval();
    const answering = world.deed(id, 'approve').catch(() => null);
    await until(() => world.answers().length > 0);
    await world.stopDaemon('SIGKILL');
    await answering;
    await world.startDaemon();
    await until(async () => ['paused', 'completed'].includes((await world.session(id)).state));
    await world.deed(id, 'approve').catch(() => null);
    expect(world.answers().length).toBe(1);
  });

  it('SES5 an agent that outlives the daemon is ended by who it is, and told', async () => {
    const { id } = await world.begin('approve it', { env: world.agentEnv({ FAKE_STUBBORN: '1' }) });
    const { pid } = await world.becomes(id, 'waiting_approval');
    await world.stopDaemon('SIGKILL');
    expect(runs(pid ?? 0)).toBe(true);
    await world.startDaemon();
    await world.becomes(id, 'paused');
    await until(() => !runs(pid ?? 0));
    expect(world.noted('signal')).toContain('SIGTERM');
    await until(async () => (await world.words(id, 'notice')).includes('outlived the daemon and was ended'));
  });

  it('IDN3 another process that has the number of the former one is left alone', async () => {
    const { id } = await world.begin('text x');
    await world.becomes(id, 'completed');
    await world.stopDaemon('SIGKILL');
    const file = join(world.stateDir, `sessions/${id}.json`);
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...kept, process: { ...kept.process, pid: process.pid, start: '1' } }), {
      mode: 0o600,
    });
    await world.startDaemon();
    await until(async () => (await world.session(id)).pid === null);
    expect(await world.session(id)).toMatchObject({ state: 'completed' });
  });

  it('SES5 SES5b what an agent had started itself is named, and left alone', async () => {
    const { id } = await world.begin('child');
    await world.becomes(id, 'completed');
    const child = Number(world.noted('child')[0]);
    try {
      await killed();
      await until(async () =>
        (await world.words(id, 'notice')).includes(`(process ${child}), which it had started, is still running`),
      );
      expect(runs(child)).toBe(true);
    } finally {
      process.kill(child, 'SIGKILL');
    }
  });

  it('SES5 a paused session goes on with its conversation, and messages that waited are not lost', async () => {
    const { id, agent_session } = await ways.streaming();
    await world.deed(id, 'send', { text: 'text afterwards' });
    await killed();
    expect(await world.becomes(id, 'paused')).toMatchObject({ queued: 1 });
    await world.deed(id, 'resume', { text: 'text first' });
    await until(async () => (await world.words(id, 'agent')).endsWith('first\nafterwards'));
    expect(await world.session(id)).toMatchObject({ agent_session, queued: 0 });
  });

  it('SES5 lists show the last words of every session as before, of one at rest and of one at work', async () => {
    const [rests, works] = [await world.begin('text done and said'), await world.begin('hold so far')];
    await world.becomes(rests.id, 'completed');
    await until(async () => (await world.session(works.id)).last_words === 'so far');
    await until(() => kept(works.id) === 'so far');
    await killed();
    await world.becomes(works.id, 'paused');
    const { items } = await world.client.get('/v1/managed');
    const words = Object.fromEntries(items.map(({ id, last_words }) => [id, last_words]));
    expect(words).toEqual({ [rests.id]: 'done and said', [works.id]: 'so far' });
    // And once more, when nobody has looked at a conversation in between.
    await killed();
    expect((await world.session(rests.id)).last_words).toBe('done and said');
  });

  it('SES5 a file that is damaged is set aside, and the others come back', async () => {
    const [first, second] = [await world.begin('text one'), await world.begin('text two')];
    for (const { id } of [first, second]) await world.becomes(id, 'completed');
    await world.stopDaemon('SIGKILL');
    writeFileSync(join(world.stateDir, `sessions/${first.id}.json`), '{"half":');
    await world.startDaemon();
    const { items } = await world.client.get('/v1/managed');
    expect(items.map(({ id }) => id)).toEqual([second.id]);
    expect(readdirSync(join(world.stateDir, 'sessions'))).toContain(`${first.id}.json.damaged`);
    expect((await world.begin('text three')).id).toBe('s3');
  });
});

describe('the daemon leaves in good order', () => {
  it('SES5 its agents end with it, and their sessions are resumable', async () => {
    const [busy, done] = [await ways.streaming(), await ways.completed()];
    await world.stopDaemon('SIGTERM');
    for (const { pid } of [busy, done]) expect(runs(pid ?? 0)).toBe(false);
    await world.startDaemon();
    expect(await world.becomes(busy.id, 'paused')).toMatchObject({ reason: 'daemon_restarted', is_resumable: true });
    expect(await world.session(done.id)).toMatchObject({ state: 'completed' });
  });

  it('SEC1 everything that is kept of a session is for its owner alone', async () => {
    await ways.completed();
    const folder = join(world.stateDir, 'sessions');
    const { statSync } = await import('node:fs');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder))
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
  });
});
