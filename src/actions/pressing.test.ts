import { describe, expect, it } from 'vitest';
import { ActWorld, commandAsk, type FakeAgent } from '../../test/kit/act.ts';
import type { FreshLook, SeenAsk } from '../agents/contract.ts';
import { keys as kilo } from '../agents/kilo/keys.ts';
import type { Receipt } from '../model/actions.ts';
import type { Ask } from '../model/asks.ts';
import { askId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';

const options = ['Allow once', 'Allow always', 'Reject'].map((label) => ({ id: label, label }));
const permission: SeenAsk = {
  kind: 'command',
  text: '# Shell command\n$ touch made.txt',
  options,
  marked: 'Allow once',
};
const reason: SeenAsk = { kind: 'tool', text: 'Reject permission', options: [] };
const sure: SeenAsk = {
  kind: 'tool',
  text: 'This will allow the following patterns until it is restarted\n- touch *',
  options: ['Confirm', 'Cancel'].map((label) => ({ id: label, label })),
};
const testOptions = ['Yes', 'No'].map((label, place) => ({ id: String(place + 1), label }));
const at = (ask: SeenAsk): FreshLook => ({ state: 'waiting_approval', ask });
const working: FreshLook = { state: 'running', ask: null };

function draw(agent: FakeAgent, look: FreshLook): void {
  agent.look = look;
  agent.screen = (look.ask?.text ?? 'a prompt').split('\n');
}

/** A Kilo that asks for permission and answers keys as the real one does. */
async function kiloAsking(ask: Ask = commandAsk) {
  const world = new ActWorld();
  world.keys = kilo;
  const agent = world.add('a');
  world.asks(agent, ask, at(permission));
  const actor = await world.open();
  const rejected: string[] = [];
  let typed = '';
  world.onStep = (step) => {
    const now = agent.look?.ask?.text;
    if (step.startsWith('paste:')) typed = step.slice('paste:'.length);
    else if (now === permission.text && step === 'press:Escape') draw(agent, at(reason));
    else if (now === permission.text && step === 'press:Right') agent.screen = [...agent.screen, 'moved'];
    else if (now === permission.text && step === 'press:Enter')
      draw(agent, agent.screen.includes('moved') ? at(sure) : working);
    else if (now === reason.text && step === 'press:Enter') {
      rejected.push(typed);
      draw(agent, working);
    }
    return undefined;
  };
  return { world, agent, actor, rejected };
}

const told = ({ outcome, words }: Receipt): readonly unknown[] => [outcome, words];

describe('an answer that is asked about once more', () => {
  it('ASK3 ACT4c a refusal is finished where the agent asks for a reason, and delivered only then', async () => {
    const { world, actor, rejected } = await kiloAsking();
    expect(told(await world.act(actor, { action: 'reject' }))).toEqual(['delivered', null]);
    expect(rejected).toEqual(['']);
    expect(world.typed).toEqual(['%1 press:Escape', '%1 press:Enter']);
    expect(world.audits).toHaveLength(1);
  });

  it('ACT4 the reason goes where it is asked for', async () => {
    const { world, actor, rejected } = await kiloAsking();
    expect(told(await world.act(actor, { action: 'reject', because: 'use make' }))).toEqual(['delivered', null]);
    expect(rejected).toEqual(['use make']);
    expect(world.typed).toEqual(['%1 press:Escape', '%1 paste:use make', '%1 press:Enter']);
  });

  it('ACT4 a reason that the field does not take is left out, and that is said', async () => {
    const { world, actor, rejected } = await kiloAsking();
    const receipt = await world.act(actor, { action: 'reject', because: 'two\nlines' });
    expect(told(receipt)).toEqual(['delivered', expect.stringContaining('not passed on')]);
    expect(rejected).toEqual(['']);
  });

  it('ACT4 the option that refuses is finished too', async () => {
    const { world, actor, rejected } = await kiloAsking();
    expect(told(await world.act(actor, { action: 'answer', option: 'Reject' }))).toEqual(['delivered', null]);
    expect(rejected).toEqual(['']);
  });

  it('ACT4c a yes that lasts is left to a person, and is not delivered', async () => {
    const { world, agent, actor } = await kiloAsking();
    const receipt = await world.act(actor, { action: 'answer', option: 'Allow always' });
    expect(told(receipt)).toEqual(['unconfirmed', expect.stringContaining('asks for confirmation')]);
    expect(world.typed).toEqual(['%1 press:Right', '%1 press:Enter']);
    expect(agent.look).toEqual(at(sure));
  });

  it('ACT4 a no to that leads back to the first question, and is not delivered as a no to it', async () => {
    const ask: Ask = { ...commandAsk, ask_id: askId('screen:1'), kind: 'tool', text: sure.text };
    for (const [intent, outcome] of [
      [{ action: 'reject' }, 'unconfirmed'],
      [{ action: 'answer', option: 'Cancel' }, 'delivered'],
    ] as const) {
      const { world, agent, actor } = await kiloAsking();
      world.asks(agent, ask, at(sure));
      world.onStep = () => {
        draw(agent, at(permission));
        return undefined;
      };
      expect((await world.act(actor, intent)).outcome).toBe(outcome);
      expect(world.typed).toEqual(['%1 press:Escape']);
    }
  });

  it('ACT4 keys that a person pressed meanwhile are not added to: a yes does not finish their refusal', async () => {
    const { world, agent, actor, rejected } = await kiloAsking();
    world.onStep = () => {
      draw(agent, at(reason));
      return undefined;
    };
    expect((await world.act(actor, { action: 'approve' })).outcome).toBe('unconfirmed');
    expect([world.typed, rejected]).toEqual([['%1 press:Enter'], []]);
  });

  it('ACT4 is unconfirmed where the second dialog changes, or does not go away', async () => {
    const changing = await kiloAsking();
    const works = changing.world.onStep;
    changing.world.onStep = (step, agent) => {
      works?.(step, agent);
      changing.world.clock.after(limits.dialogSteadyMs / 2, () => draw(agent, at(permission)));
      return undefined;
    };
    expect((await changing.world.act(changing.actor, { action: 'reject' })).outcome).toBe('unconfirmed');
    expect(changing.world.typed).toEqual(['%1 press:Escape']);

    const stuck = await kiloAsking();
    stuck.world.onStep = (_, agent) => {
      draw(agent, at(reason));
      return undefined;
    };
    const receipt = await stuck.world.act(stuck.actor, { action: 'reject' });
    expect(told(receipt)).toEqual(['unconfirmed', expect.stringContaining('still open')]);
    expect(stuck.world.typed).toEqual(['%1 press:Escape', '%1 press:Enter']);
  });
});

describe('what an answer is delivered by', () => {
  const approve = { action: 'approve' } as const;

  /** After the first key the world goes on like this. */
  async function after(then: (world: ActWorld, agent: FakeAgent) => void, ask: Ask = commandAsk) {
    const { world, agent, actor } = await kiloAsking(ask);
    world.onStep = () => {
      then(world, agent);
      return undefined;
    };
    return (await world.act(actor, approve)).outcome;
  }

  it('ACT4c by a dialog that is gone and stays away, not by a picture without it', async () => {
    expect(await after((_, agent) => draw(agent, working))).toBe('delivered');
    const flicker = await after((world, agent) => {
      draw(agent, working);
      world.clock.after(limits.effectLookMs / 2, () => draw(agent, at(permission)));
    });
    expect(flicker).toBe('unconfirmed');
  });

  it('ACT4 by another dialog in its place, not by a part of the same', async () => {
    const other = { ...permission, text: '# Shell command\n$ make test' };
    expect(await after((_, agent) => draw(agent, at(other)))).toBe('delivered');
    expect(await after((_, agent) => draw(agent, at({ ...permission, text: '$ touch made.txt' })))).toBe('unconfirmed');
  });

  it('ACT4 by the agent’s own word, and not by what was only read from its screen', async () => {
    const settles = (world: ActWorld, agent: FakeAgent): void => world.becomes(agent, { ask: null, asks_open: 0 });
    expect(await after(settles)).toBe('delivered');
    const text = permission.text;
    expect(await after(settles, { ...commandAsk, ask_id: askId('screen:1'), text })).toBe('unconfirmed');
  });

  it('ACT4 a folder that is trusted may start the agent anew, which takes its time', async () => {
    const trust: SeenAsk = { kind: 'trust', text: 'Do you trust this folder?', options: testOptions };
    const world = new ActWorld();
    const agent = world.add('a');
    world.asks(agent, { ...commandAsk, kind: 'trust', text: trust.text }, at(trust));
    const actor = await world.open();
    world.onStep = () => {
      draw(agent, { state: 'unknown', ask: null });
      world.clock.after(limits.effectSeenMs * 2, () => draw(agent, { state: 'idle', ask: null }));
      return undefined;
    };
    expect((await world.act(actor, approve)).outcome).toBe('delivered');
  });

  it('ACT4 not by a screen that cannot be read, by a dialog without words, or by the end of the agent', async () => {
    expect(await after((_, agent) => draw(agent, { state: 'unknown', ask: null }))).toBe('unconfirmed');
    expect(await after((_, agent) => draw(agent, { state: 'waiting_approval', ask: null }))).toBe('unconfirmed');
    expect(await after((world, agent) => world.ends(agent))).toBe('unconfirmed');
  });
});
