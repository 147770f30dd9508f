// Acting end to end: the real daemon, real tmux, a look-alike that records what reaches it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PaneItem } from '../../../src/api/panes.ts';
import { Live, until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { programsMayAll } from '../../kit/policy.ts';
import { act } from '../../kit/scenes.ts';

let live: Live;

beforeEach(() => {
  live = new Live();
  live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
  // Whoever runs these tests may have no parents left; they count as a program of the user's.
  const folder = join(live.dir, 'home/.config/agtmux');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'policy.toml'), programsMayAll);
});

afterEach(async () => {
  await live.close();
});

async function itemOf({ pane }: LookAlike): Promise<PaneItem | undefined> {
  const { items } = await live.client.get('/v1/panes', {});
  return items.find((one) => one.identity.pane_id === pane && one.ended === null);
}

const becomes = (actor: LookAlike, state: RegExp): Promise<void> =>
  until(async () => state.test((await itemOf(actor))?.state ?? ''));

const send = (ref: string, text: string) =>
  live.client.post('/v1/act', {
    action: 'send',
    ref,
    text,
    enter: true,
    when_ready: false,
    strip_control: false,
    conditions: {},
    pid: process.pid,
    hops: 0,
  });

describe('acting on a living agent', () => {
  it('ACT3 a message into an open dialog is refused, and nothing is typed', async () => {
    await live.startDaemon();
    const actor = LookAlike.start(live, 'claude', 'work');
    await act(actor, 'waiting_approval');
    await becomes(actor, /waiting_approval/);
    const receipt = await send(actor.pane, 'please also check the readme');
    expect(receipt.outcome).toBe('refused');
    expect(actor.typed()).toBe('');
  });

  it('ACT2 a message reaches the agent that was named, byte for byte, and Enter follows once it was seen', async () => {
    await live.startDaemon();
    const [actor, other] = [LookAlike.start(live, 'claude', 'work'), LookAlike.start(live, 'claude', 'work')];
    for (const one of [actor, other]) await act(one, 'settled');
    for (const one of [actor, other]) await becomes(one, /idle|completed/);
    const receipt = await send(actor.pane, 'fix the; "$HOME" `bug` #{pane_id}');
    expect(receipt).toMatchObject({ outcome: 'delivered', way: 'keys', failure: null });
    expect(receipt.ref).toMatch(/^runtime:/);
    await until(() => actor.typed().endsWith('\r'));
    expect(actor.typed()).toBe('fix the; "$HOME" `bug` #{pane_id}\r');
    expect(other.typed()).toBe('');
  });

  it('ASK3 an ask is approved by the words of its option, once, and never by an agent', async () => {
    await live.startDaemon();
    const actor = LookAlike.start(live, 'claude', 'work');
    await act(actor, 'waiting_approval');
    await becomes(actor, /waiting_approval/);
    const approve = {
      action: 'approve',
      any_ask: true,
      ref: actor.pane,
      conditions: {},
      pid: process.pid,
      hops: 0,
    } as const;
    const first = await live.client.post('/v1/act', approve);
    // This process has no terminal of a person: it is an operator, and those answer nothing.
    expect(first).toMatchObject({ outcome: 'refused', failure: { code: 'E_ROLE' } });
    expect(actor.typed()).toBe('');
    const person = live.tmux('new-window', '-t', 'work:', '-P', '-F', '#{pane_id}');
    const program = fileURLToPath(new URL('../../../bin/agtmux', import.meta.url));
    live.tmux('send-keys', '-t', person, '-l', `clear; ${process.execPath} ${program} approve ${actor.pane} --yes`);
    live.tmux('send-keys', '-t', person, 'Enter');
    await until(() => actor.typed() !== '');
    expect(actor.typed()).toBe('1');
    await act(actor, 'running');
    await becomes(actor, /running/);
    await until(async () => (await live.client.get('/v1/audit', { count: 10 })).items.length === 2);
    const { items } = await live.client.get('/v1/audit', { count: 10 });
    expect(items.map((one) => one.action)).toEqual(['approve', 'approve']);
  });

  it('ACT5 kill reaches the verified process, and says what became of it', async () => {
    await live.startDaemon();
    const actor = LookAlike.start(live, 'claude', 'work');
    await act(actor, 'settled');
    await becomes(actor, /idle|completed/);
    const kill = {
      action: 'kill',
      signal: 'TERM',
      ref: actor.pane,
      conditions: {},
      pid: process.pid,
      hops: 0,
    } as const;
    expect(await live.client.post('/v1/act', kill)).toMatchObject({
      outcome: expect.stringMatching(/delivered|unconfirmed/),
    });
    await until(async () => (await itemOf(actor)) === undefined);
  });

  it('ACT1 an unknown reference, an ended agent and a shell in front are refused with their codes, each with an audit row', async () => {
    await live.startDaemon();
    const actor = LookAlike.start(live, 'claude', 'work');
    await act(actor, 'settled');
    await becomes(actor, /idle|completed/);
    const runtime = (await itemOf(actor))?.runtime_id ?? '';
    expect((await send('%999', 'x')).failure?.code).toBe('E_REF_NOT_FOUND');
    live.tmux('kill-pane', '-t', actor.pane);
    await until(async () => (await itemOf(actor)) === undefined);
    expect((await send(`runtime:${runtime}`, 'x')).failure?.code).toMatch(/E_ENDED|E_RUNTIME_STALE/);
    const { items } = await live.client.get('/v1/audit', { count: 10 });
    expect(items.length).toBe(2);
  });
});
