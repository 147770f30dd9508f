import { describe, expect, it } from 'vitest';
import { ActWorld, agentClaim, commandScreen, person, statePath } from '../../test/kit/act.ts';
import type { Receipt } from '../model/actions.ts';
import { limits } from '../model/limits.ts';
import type { ActionExecutor } from './action-executor.ts';

const code = (receipt: Receipt): string => receipt.failure?.code ?? receipt.outcome;
const later = { action: 'send', when_ready: true } as const;

async function busy() {
  const world = new ActWorld();
  const agent = world.add('a', 'running');
  const actor = await world.open();
  return { world, agent, actor };
}

/** It is done and shows its prompt; what it is given makes it work again. */
async function finishes(
  { world, agent, actor }: Awaited<ReturnType<typeof busy>>,
  by: ActionExecutor = actor,
): Promise<void> {
  world.onStep = (step) => {
    if (step === 'press:Enter') {
      world.becomes(agent, { state: 'running' });
      agent.look = { state: 'running', ask: null };
    }
    return undefined;
  };
  agent.look = { state: 'idle', ask: null };
  world.becomes(agent, { state: 'completed' });
  by.changed();
  await world.clock.advanceSettled(1_000);
}

describe('the queue', () => {
  it('ACT7 keeps messages for a busy agent, shows them, and delivers one each time it is ready', async () => {
    const given = await busy();
    const { world, actor } = given;
    const first = await world.act(actor, { ...later, text: 'the first one' });
    expect(first).toMatchObject({ outcome: 'queued', ref: 'runtime:a' });
    await world.act(actor, { ...later, text: 'the second one' });
    expect(actor.queue()).toMatchObject([
      { ref: 'runtime:a', text: 'the first one', from: 'a person at pts/1', outcome: 'queued' },
      { text: 'the second one' },
    ]);
    expect(world.typed).toEqual([]);
    await finishes(given);
    expect(world.typed).toEqual(['%1 paste:the first one', '%1 press:Enter']);
    await world.clock.advanceSettled(10_000);
    expect(actor.queue()).toHaveLength(1);
    await finishes(given);
    expect(world.typed.slice(2)).toEqual(['%1 paste:the second one', '%1 press:Enter']);
    expect(actor.queue()).toEqual([]);
    expect(world.audits.map(({ result }) => result)).toEqual(['queued', 'queued', 'delivered', 'delivered']);
    expect(world.audits[2]?.detail.queued).toBe(world.audits[0]?.detail.queued);
    expect(world.audits[2]?.snapshot_id).not.toBeNull();
  });

  it('ACT7 delivers at once where it can', async () => {
    const world = new ActWorld();
    world.add('a');
    const actor = await world.open();
    expect(code(await world.act(actor, later))).toBe('delivered');
    expect(actor.queue()).toEqual([]);
  });

  it('ACT3 ACT7 never types into a dialog, and waits until it is gone', async () => {
    const given = await busy();
    const { world, agent, actor } = given;
    await world.act(actor, later);
    agent.look = commandScreen;
    world.becomes(agent, { state: 'idle' });
    actor.changed();
    await world.clock.advanceSettled(20_000);
    expect(world.typed).toEqual([]);
    world.becomes(agent, { state: 'waiting_input' });
    actor.changed();
    await world.clock.advanceSettled(20_000);
    expect(world.typed).toEqual([]);
    expect(world.audits).toHaveLength(1);
    // It was not even tried.
    expect(world.snapshots).toHaveLength(1);
    await finishes(given);
    expect(world.typed).toHaveLength(2);
  });

  it('ACT7 tries again after a passing refusal, with one row in the end', async () => {
    const given = await busy();
    const { world, agent, actor } = given;
    await world.act(actor, later);
    world.onStep = () => ({ kind: 'refused', why: 'in_mode' });
    agent.look = { state: 'idle', ask: null };
    world.becomes(agent, { state: 'idle' });
    actor.changed();
    await world.clock.advanceSettled(5_000);
    expect(actor.queue()).toHaveLength(1);
    world.onStep = null;
    await world.clock.advanceSettled(limits.queueRetryMs * 2);
    expect(world.audits.map(({ result }) => result)).toEqual(['queued', 'delivered']);
  });

  it('ACT7 does not type again what may have arrived', async () => {
    const given = await busy();
    const { world, agent, actor } = given;
    await world.act(actor, later);
    world.onStep = () => ({ kind: 'lost', words: 'no answer' });
    agent.look = { state: 'idle', ask: null };
    world.becomes(agent, { state: 'idle' });
    actor.changed();
    await world.clock.advanceSettled(20_000);
    expect(actor.queue()).toEqual([]);
    expect(world.audits.map(({ result }) => result)).toEqual(['queued', 'unconfirmed']);
  });

  it('ACT7 drops what waited too long and what lost its agent, each with a row', async () => {
    const { world, agent, actor } = await busy();
    await world.act(actor, later);
    await world.clock.advanceSettled(limits.queuedMs + 1);
    expect(actor.queue()).toEqual([]);
    expect(world.audits[1]).toMatchObject({
      result: 'refused',
      runtime_id: 'a',
      detail: { code: 'E_SNAPSHOT_EXPIRED' },
    });
    await world.act(actor, later);
    world.ends(agent);
    actor.changed();
    await world.clock.advanceSettled(1);
    expect(actor.queue()).toEqual([]);
    expect(world.audits[3]).toMatchObject({ result: 'refused', detail: { code: 'E_ENDED' } });
    expect(world.typed).toEqual([]);
  });

  it('ACT7 survives a restart, and what was being typed then is not typed again', async () => {
    const given = await busy();
    const { world, agent, actor } = given;
    await world.act(actor, { ...later, text: 'the first one' });
    await world.act(actor, { ...later, text: 'the second one' });
    actor.close();
    const next = await world.open();
    expect(next.queue().map(({ text }) => text)).toEqual(['the first one', 'the second one']);
    // It falls over in the middle of typing.
    world.onStep = (step) => {
      if (step.startsWith('paste:')) world.documents.isDown = true;
      return undefined;
    };
    agent.look = { state: 'idle', ask: null };
    world.becomes(agent, { state: 'idle' });
    next.changed();
    await world.clock.advanceSettled(1_000);
    next.close();
    world.documents.restart();
    world.becomes(agent, { state: 'running' });
    world.onStep = null;
    const last = await world.open();
    expect(last.queue().map(({ text }) => text)).toEqual(['the second one']);
    const rows = world.audits.filter(({ detail }) => detail.words === 'the daemon ended while it was being typed');
    expect(rows).toHaveLength(1);
    expect(world.typed.filter((step) => step.includes('first'))).toHaveLength(1);
  });

  it('ACT7 can be edited and dropped, by agents only what is theirs', async () => {
    const given = await busy();
    const { world, actor } = given;
    world.add('b');
    const mine = (await world.act(actor, later)) && (actor.queue()[0]?.id ?? '');
    const theirs = (await world.act(actor, later, agentClaim('b'))) && (actor.queue()[1]?.id ?? '');
    expect(code(await actor.editQueued(mine, 'other words', person))).toBe('delivered');
    expect(code(await actor.editQueued(mine, 'bad\u001b', person))).toBe('E_INPUT');
    expect(code(await actor.editQueued(mine, 'x', agentClaim('b')))).toBe('E_ROLE');
    expect(code(await actor.dropQueued(mine, agentClaim('b')))).toBe('E_ROLE');
    expect(code(await actor.dropQueued(theirs, agentClaim('b')))).toBe('delivered');
    expect(code(await actor.dropQueued('nothing', person))).toBe('E_REF_NOT_FOUND');
    await finishes(given);
    expect(world.typed[0]).toBe('%1 paste:other words');
    expect(world.audits.filter(({ action }) => action === 'queue')).toHaveLength(6);
  });

  it('ACT7 is bounded', async () => {
    const { world, actor } = await busy();
    for (let count = 0; count < limits.queuedMessagesMax; count += 1) await world.act(actor, later);
    expect(code(await world.act(actor, later))).toBe('E_QUEUE_FULL');
    expect(actor.queue()).toHaveLength(limits.queuedMessagesMax);
  });

  it('sets a file aside that it does not understand, and tells', async () => {
    const world = new ActWorld();
    await world.files.mkdirPrivate('/state');
    await world.files.writeAtomic(statePath, Buffer.from('{"version":1,"messages":[{}]}'));
    const actor = await world.open();
    expect(actor.queue()).toEqual([]);
    expect(world.warnings).toEqual(['what waited could not be read']);
    expect(await world.files.stat(`${statePath}.damaged`)).not.toBeNull();
  });
});
