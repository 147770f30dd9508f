import { describe, expect, it } from 'vitest';
import { ActWorld, commandAsk, type FakeAgent, person } from '../../test/kit/act.ts';
import type { FreshLook } from '../agents/contract.ts';
import type { ActionExecutor } from './action-executor.ts';

const prompt = (unsent: string, sign: string | null = null): FreshLook => ({
  state: 'idle',
  ask: null,
  prompt: { unsent, sign },
});
const draftWords = 'its prompt contains unfinished text, which would be sent too';

async function oneAgent(look: FreshLook): Promise<{ world: ActWorld; agent: FakeAgent; actor: ActionExecutor }> {
  const world = new ActWorld();
  const agent = world.add('a');
  agent.look = look;
  return { world, agent, actor: await world.open() };
}

/** The next paste is typed and never seen. */
function swallow(world: ActWorld, agent: FakeAgent): void {
  world.onStep = (step) => {
    if (!step.startsWith('paste')) return undefined;
    world.typed.push(`${agent.identity.pane} ${step}`);
    return { kind: 'done' };
  };
}

describe('unsent text in a prompt', () => {
  it('ACT3b refuses a message, which it would be sent along with; an empty prompt takes it', async () => {
    const { world, agent, actor } = await oneAgent(prompt('rm -rf'));
    const receipt = await world.act(actor, { action: 'send' });
    expect(receipt).toMatchObject({ outcome: 'refused', failure: { code: 'E_STATE_CHANGED', message: draftWords } });
    expect(await world.act(actor, { action: 'send', conditions: { force_stale: true } })).toMatchObject({
      outcome: 'refused',
    });
    expect(world.typed).toEqual([]);
    agent.look = prompt('');
    expect((await world.act(actor, { action: 'send' })).outcome).toBe('delivered');
  });

  it('ACT7 is waited for with --when-ready', async () => {
    const { world, agent, actor } = await oneAgent(prompt('half a sentence'));
    expect((await world.act(actor, { action: 'send', when_ready: true })).outcome).toBe('queued');
    await world.clock.advanceSettled(5_000);
    expect(world.typed).toEqual([]);
    agent.look = prompt('');
    await world.clock.advanceSettled(5_000);
    expect(world.typed).toEqual(['%1 paste:hello there', '%1 press:Enter']);
  });

  it('ACT3 that was begun after the first look still refuses it', async () => {
    const { world, agent, actor } = await oneAgent(prompt(''));
    const place = agent.place;
    // Where it is asked where it is, between the first look and the paste.
    Object.defineProperty(agent, 'place', {
      get: () => {
        agent.look = prompt('a');
        return place;
      },
    });
    expect((await world.act(actor, { action: 'send' })).failure?.message).toBe(draftWords);
    expect(world.typed).toEqual([]);
  });

  it('ACT2 the text goes out only while the words of the prompt stand there, looked at anew where they have changed', async () => {
    const { world, agent, actor } = await oneAgent(prompt('', 'for shortcuts'));
    agent.screen = ['a dialog'];
    expect((await world.act(actor, { action: 'send' })).failure?.code).toBe('E_STATE_CHANGED');
    expect(world.typed).toEqual([]);
    agent.screen = ['? for shortcuts'];
    expect((await world.act(actor, { action: 'send' })).outcome).toBe('delivered');
  });
});

describe('a message that nobody saw submitted', () => {
  it('ACT3b blocks the next one until the prompt was seen empty', async () => {
    const { world, agent, actor } = await oneAgent(prompt(''));
    swallow(world, agent);
    expect((await world.act(actor, { action: 'send' })).outcome).toBe('unconfirmed');
    world.onStep = null;
    agent.look = { state: 'idle', ask: null, prompt: null };
    const receipt = await world.act(actor, { action: 'send' });
    expect(receipt.failure?.message).toBe('its prompt may still contain an earlier message, which would be sent too');
    agent.look = prompt('');
    expect((await world.act(actor, { action: 'send' })).outcome).toBe('delivered');
  });

  it('ACT3b blocks the next one until a person has looked, where nobody knows its prompt', async () => {
    const { world, agent, actor } = await oneAgent({ state: 'idle', ask: null });
    swallow(world, agent);
    expect((await world.act(actor, { action: 'send' })).outcome).toBe('unconfirmed');
    world.onStep = null;
    expect((await world.act(actor, { action: 'send' })).outcome).toBe('refused');
    expect((await world.settled(actor.attach('runtime:a', {}, person))).ok).toBe(true);
    expect((await world.act(actor, { action: 'send' })).outcome).toBe('delivered');
  });
});

describe('a screen that cannot be read', () => {
  it('ACT3 is no proof that no dialog is open: nothing is typed', async () => {
    const { world, agent, actor } = await oneAgent(prompt(''));
    const place = agent.place;
    Object.defineProperty(agent, 'place', {
      get: () => {
        agent.look = null;
        return place;
      },
    });
    const receipt = await world.act(actor, { action: 'send' });
    expect(receipt.failure).toMatchObject({ code: 'E_STATE_CHANGED', message: 'its screen cannot be read now' });
    expect(world.typed).toEqual([]);
  });

  it('ACT3 after the text: Enter is left alone', async () => {
    const { world, agent, actor } = await oneAgent(prompt(''));
    world.onStep = (step) => {
      if (step.startsWith('paste')) agent.look = null;
      return undefined;
    };
    const receipt = await world.act(actor, { action: 'send' });
    expect(receipt).toMatchObject({ outcome: 'unconfirmed', words: expect.stringMatching(/^pasted, not submitted/) });
    expect(world.typed).toEqual(['%1 paste:hello there']);
  });
});

describe('a message that shall not be submitted', () => {
  it('ACT3 is refused where something is asked: answers are submitted', async () => {
    const { world, agent, actor } = await oneAgent(prompt(''));
    const ask = { kind: 'question', text: 'Which colour?', options: [] } as const;
    world.asks(agent, { ...commandAsk, ...ask }, { state: 'waiting_input', ask });
    const receipt = await world.act(actor, { action: 'send', enter: false });
    expect(receipt.failure?.code).toBe('E_DIALOG');
    expect(world.typed).toEqual([]);
  });
});
