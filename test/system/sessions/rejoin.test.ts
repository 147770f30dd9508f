// An agent whose server outlives the daemon is rejoined as it is then: its work, what it asks, what it said meanwhile; and
// no answer is given twice (SES5).

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManagedItem } from '../../../src/api/sessions.ts';
import { until } from '../../kit/live.ts';
import { LedWorld, runs } from './kit.ts';

let world: LedWorld;

beforeEach(async () => {
  world = new LedWorld();
  const program = join(world.bin, 'opencode');
  const server = join(import.meta.dirname, 'fake-server.ts');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${server}'\n`);
  chmodSync(program, 0o755);
  await world.startDaemon();
});
afterEach(async () => {
  try {
    for (const { id } of (await world.client.get('/v1/managed')).items) await world.deed(id, 'remove', { force: true });
    for (const pid of world.noted('start').map(Number)) expect(runs(pid)).toBe(false);
  } finally {
    await world.close();
  }
});

const begin = (prompt: string): Promise<ManagedItem> => world.begin(prompt, { agent: 'opencode' });

describe('a server that lived on', () => {
  it('SES5 that works is still working, in the same process, and the session hears it again', async () => {
    const { id } = await begin('slow');
    const { pid, agent_session } = await world.becomes(id, 'streaming');
    await world.stopDaemon('SIGKILL');
    expect(runs(pid ?? 0)).toBe(true);
    await world.startDaemon();
    expect(await world.becomes(id, 'streaming')).toMatchObject({ pid, agent_session });
    expect(world.noted('start').length).toBe(1);
    await world.deed(id, 'stop');
    await world.becomes(id, 'stopped');
  });

  it('SES5 that asked is still asking, and is answered once', async () => {
    const { id } = await begin('permit rm x');
    const before = await world.becomes(id, 'waiting_approval');
    await world.stopDaemon('SIGKILL');
    await world.startDaemon();
    const after = await world.becomes(id, 'waiting_approval');
    expect(after.pending_ask?.text).toBe(before.pending_ask?.text);
    await world.deed(id, 'approve', { ask_id: after.pending_ask?.ask_id });
    await world.becomes(id, 'completed');
    await expect(world.deed(id, 'approve')).rejects.toMatchObject({ code: 'E_STATE_CHANGED' });
    expect(world.noted('reply').length).toBe(1);
    expect(await world.words(id, 'agent')).toContain('allowed');
  });

  it('SES5 an answer that was given when the daemon fell is not given again, whatever the server still shows', async () => {
    const { id } = await begin('permit rm x');
    await world.becomes(id, 'waiting_approval');
    const answering = world.deed(id, 'approve').catch(() => null);
    await until(() => world.noted('reply').length === 1);
    await world.stopDaemon('SIGKILL');
    await answering;
    await world.startDaemon();
    await world.becomes(id, 'completed');
    expect(world.noted('reply').length).toBe(1);
  });

  it('SES5 that finished meanwhile is done, with what it said', async () => {
    const { id } = await begin('permit rm x');
    await world.becomes(id, 'waiting_approval');
    await world.deed(id, 'approve');
    await world.stopDaemon('SIGKILL');
    await world.startDaemon();
    await world.becomes(id, 'completed');
    await until(async () => (await world.words(id, 'agent')).includes('allowed'));
    await world.deed(id, 'send', { text: 'text more' });
    await until(async () => (await world.words(id, 'agent')).endsWith('more'));
  });

  it('SES5 that has died meanwhile leaves a paused session, which starts a new one', async () => {
    const { id } = await begin('slow');
    const { pid } = await world.becomes(id, 'streaming');
    await world.stopDaemon('SIGKILL');
    process.kill(pid ?? 0, 'SIGKILL');
    await until(() => !runs(pid ?? 0));
    await world.startDaemon();
    expect(await world.becomes(id, 'paused')).toMatchObject({ reason: 'daemon_restarted', is_resumable: true });
    await world.deed(id, 'resume', { text: 'text again' });
    await until(async () => (await world.words(id, 'agent')).includes('again'));
    expect(world.noted('start').length).toBe(2);
  });

  it('SES5 is let go when the daemon leaves in good order, and found again', async () => {
    const { id } = await begin('slow');
    const { pid } = await world.becomes(id, 'streaming');
    await world.stopDaemon('SIGTERM');
    expect(runs(pid ?? 0)).toBe(true);
    await world.startDaemon();
    expect(await world.becomes(id, 'streaming')).toMatchObject({ pid });
  });

  it('SEC1 is asked with the password that was made for it, and with no other', async () => {
    const { id } = await begin('text x');
    await world.becomes(id, 'completed');
    expect(world.noted('turned')).toEqual([]);
  });
});
