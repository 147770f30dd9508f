// Going on after a usage limit: once, at the reset, only for the run it was meant for and only while that is limited.

import { describe, expect, it } from 'vitest';
import { ActWorld, person } from '../../test/kit/act.ts';
import { askId, mainScope } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { ActionExecutor } from './action-executor.ts';

const hour = 3_600_000;
const atReset = { action: 'send', text: 'continue', at_reset: true } as const;

async function limited(resetMs = hour) {
  const world = new ActWorld();
  const agent = world.add('a', 'error');
  const until = world.now() + resetMs;
  world.becomes(agent, { state: 'error', reason: 'usage_limit', until });
  agent.look = { state: 'error', ask: null };
  world.onStep = (step) => {
    if (step === 'press:Enter') {
      world.becomes(agent, { state: 'running', reason: 'turn_running', until: null });
      agent.look = { state: 'running', ask: null };
    }
    return undefined;
  };
  const actor = await world.open();
  return { world, agent, actor, until };
}

const went = ['%1 paste:continue', '%1 press:Enter'];
const passed = async (world: ActWorld, ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= 30_000) await world.clock.advanceSettled(Math.min(left, 30_000));
};

describe('going on at a reset', () => {
  it('LIM3 goes out once, a moment after the reset, and is shown until then', async () => {
    const { world, actor, until } = await limited();
    expect(await world.act(actor, atReset)).toMatchObject({ outcome: 'queued' });
    const [queued] = actor.queue();
    expect(queued?.not_before).toBeGreaterThanOrEqual(until + limits.limitJitterMinMs);
    expect(queued?.not_before).toBeLessThanOrEqual(until + limits.limitJitterMaxMs);
    await passed(world, hour);
    expect(world.typed).toEqual([]);
    await passed(world, 2 * limits.limitJitterMaxMs);
    expect(world.typed).toEqual(went);
    await passed(world, hour);
    expect(world.typed).toEqual(went);
    expect(actor.queue()).toEqual([]);
    expect(world.audits.map(({ result }) => result)).toEqual(['queued', 'delivered']);
  });

  it('LIM3 a hundred tries with restarts: each exactly once, and a cancelled one never', async () => {
    for (let round = 0; round < 100; round += 1) {
      const { world, actor, until } = await limited(hour + round * 17_000);
      await world.act(actor, atReset);
      let current: ActionExecutor = actor;
      const isCancelled = round % 5 === 0;
      // A daemon that falls at any moment: before, at and after the reset.
      for (let restart = 0; restart < 1 + (round % 3); restart += 1) {
        await passed(world, ((round * 613 + restart * 977) % 40) * 60_000);
        current.close();
        current = await world.open();
      }
      const [queued] = current.queue();
      if (isCancelled && queued !== undefined) await world.settled(current.dropQueued(queued.id, person));
      await passed(world, Math.max(0, until - world.now()) + 4 * limits.limitJitterMaxMs);
      const isLate = isCancelled && queued === undefined;
      expect(world.typed, `round ${round}`).toEqual(isCancelled && !isLate ? [] : went);
      current.close();
    }
  }, 120_000);

  it('LIM3 is dropped when the agent goes on by itself or ends, and waits while nobody knows', async () => {
    const { world, agent, actor } = await limited();
    await world.act(actor, atReset);
    world.becomes(agent, { state: 'unknown', reason: 'target_unreachable' });
    actor.changed();
    await passed(world, 60_000);
    expect(actor.queue()).toHaveLength(1);
    world.becomes(agent, { state: 'running', reason: 'turn_running', until: null });
    actor.changed();
    await passed(world, 2 * hour);
    expect(actor.queue()).toEqual([]);
    expect(world.typed).toEqual([]);
    expect(world.audits.at(-1)).toMatchObject({ result: 'refused', detail: { code: 'E_STATE_CHANGED' } });
    const other = await limited();
    await other.world.act(other.actor, atReset);
    other.world.ends(other.agent);
    other.actor.changed();
    await passed(other.world, 2 * hour);
    expect(other.world.typed).toEqual([]);
    expect(other.actor.queue()).toEqual([]);
  });

  it('LIM3 types over no draft and into no dialog that came up meanwhile', async () => {
    const { world, agent, actor } = await limited();
    await world.act(actor, atReset);
    agent.look = { state: 'error', ask: null, prompt: { unsent: 'half a thought', sign: null } };
    await passed(world, 2 * hour);
    expect(world.typed).toEqual([]);
    agent.look = { state: 'waiting_approval', ask: { kind: 'command', text: 'rm', options: [] } };
    await passed(world, 60_000);
    expect(world.typed).toEqual([]);
    agent.look = { state: 'error', ask: null };
    await passed(world, 60_000);
    expect(world.typed).toEqual(went);
  });

  it('LIM3 begins nothing in quiet hours', async () => {
    const { world, actor } = await limited();
    await world.act(actor, atReset);
    world.isQuiet = true;
    await passed(world, 2 * hour);
    expect(world.typed).toEqual([]);
    world.isQuiet = false;
    await passed(world, 2 * limits.limitQuietLookMs);
    expect(world.typed).toEqual(went);
  });

  it('LIM3 waits for nothing that is not known, and for nobody who is not limited', async () => {
    const { world, agent, actor } = await limited();
    world.becomes(agent, { until: null });
    expect((await world.act(actor, atReset)).failure?.code).toBe('E_UNSUPPORTED');
    world.becomes(agent, { state: 'completed', reason: 'turn_completed' });
    expect((await world.act(actor, atReset)).failure?.code).toBe('E_STATE_CHANGED');
    expect(actor.queue()).toEqual([]);
  });

  it('LIM5 leaves a menu about the limit by the option that waits, and by no other', async () => {
    const { world, agent, actor, until } = await limited();
    const options = [
      { id: '1', label: 'Upgrade your plan' },
      { id: '2', label: 'Stop and wait for limit to reset' },
    ];
    const text = "You've hit your session limit\nWhat do you want to do?";
    const menu = { kind: 'dialog', text, options } as const;
    const opened = { ...menu, ask_id: askId('m'), scope: mainScope };
    world.asks(agent, opened, { state: 'waiting_input', ask: menu });
    world.becomes(agent, { reason: 'dialog_open', until: null });
    world.onStep = (step) => {
      if (step === 'press:2') {
        world.becomes(agent, { state: 'error', reason: 'usage_limit', ask: null, asks_open: 0, until });
        agent.look = { state: 'error', ask: null };
      }
      return undefined;
    };
    expect(await world.act(actor, atReset)).toMatchObject({ outcome: 'queued' });
    expect(world.typed).toEqual(['%1 press:2']);
    const other = await limited();
    const buying = { ...opened, options: [{ id: '1', label: 'Upgrade your plan' }] };
    other.world.asks(other.agent, buying, { state: 'waiting_input', ask: { ...menu, options: buying.options } });
    other.world.becomes(other.agent, { reason: 'dialog_open' });
    expect((await other.world.act(other.actor, atReset)).outcome).toBe('refused');
    expect(other.world.typed).toEqual([]);
  });
});
