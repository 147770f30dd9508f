import { describe, expect, it } from 'vitest';
import { ActWorld, commandScreen, type FakeAgent } from '../../test/kit/act.ts';
import { keys as opencode } from '../agents/opencode/keys.ts';
import { limits } from '../model/limits.ts';
import type { PaneWriter, Shown } from '../terminals/tmux/pane-writer.ts';

const hint = '⬝⬝⬝⬝  esc again to interrupt';

/** An OpenCode at work: the first Escape brings up a hint, the second one counts while that is there. */
async function working(parts: { readonly hintMs?: number | null; readonly screen?: readonly string[] } = {}) {
  const { hintMs = 0, screen = ['⬝⬝⬝⬝  esc interrupt'] } = parts;
  const world = new ActWorld();
  world.keys = opencode;
  const agent = world.add('a', 'running');
  agent.screen = [...screen];
  const actor = await world.open();
  const shows = (): void => {
    agent.screen = [...agent.screen, hint];
  };
  world.onStep = (_, one) => {
    if (one.screen.includes(hint)) one.look = { state: 'idle', ask: null };
    else if (hintMs === 0) shows();
    else if (hintMs !== null) world.clock.after(hintMs, shows);
    return undefined;
  };
  const interrupt = () => world.act(actor, { action: 'interrupt' });
  return { world, agent, interrupt };
}

describe('interrupting with a key that must be pressed twice', () => {
  it('ACT5 the second follows once the screen says that the first arrived', async () => {
    for (const hintMs of [0, limits.keyShownMs / 2]) {
      const { world, interrupt } = await working({ hintMs });
      expect(await interrupt()).toMatchObject({ outcome: 'delivered', way: 'keys' });
      expect(world.typed).toEqual(['%1 press:Escape', '%1 press:Escape']);
    }
  });

  it('ACT5 the first is pressed again where it was lost', async () => {
    const { world, interrupt } = await working();
    const works = world.onStep;
    let presses = 0;
    world.onStep = (step, agent) => {
      presses += 1;
      return presses === 1 ? undefined : works?.(step, agent);
    };
    expect(await interrupt()).toMatchObject({ outcome: 'delivered' });
    expect(world.typed).toHaveLength(3);
  });

  it('ACT5 it is pressed again too where the word is gone in the moment of the second', async () => {
    const { world, interrupt } = await working();
    const works = world.onStep;
    let presses = 0;
    world.onStep = (step, agent) => {
      presses += 1;
      if (presses !== 2) return works?.(step, agent);
      agent.screen = ['⬝⬝⬝⬝  esc interrupt'];
      return { kind: 'refused', why: 'not_shown' };
    };
    expect(await interrupt()).toMatchObject({ outcome: 'delivered' });
    expect(presses).toBe(4);
  });

  it('ACT2 ACT5 the second is pressed only while the word is there, by the guard inside tmux', async () => {
    const { world, agent } = await working();
    const ground = world.ground();
    const writer = ground.handsOf(agent.identity.target);
    if (writer === null) throw new Error('there are no hands');
    let looks = 0;
    const guards: (Shown | undefined)[] = [];
    const press: PaneWriter['press'] = (place, keys, shown) => {
      guards.push(shown);
      return writer.press(place, keys, shown);
    };
    const actor = await world.open({
      ground: {
        ...ground,
        handsOf: () => ({ ...writer, press }),
        freshLook: async (runtime) => {
          if (agent.screen.includes(hint)) looks += 1;
          // Directly before the key, when everything was looked at.
          if (looks === 1) agent.screen = agent.screen.filter((line) => line !== hint);
          return ground.freshLook(runtime);
        },
      },
    });
    expect((await world.act(actor, { action: 'interrupt' })).outcome).toBe('delivered');
    // The second was refused, then both went out once more.
    const words = { words: 'esc again to interrupt' };
    expect([guards, world.typed.length]).toEqual([[undefined, words, undefined, words], 3]);
  });

  it('ACT5 both are pressed once more where the second came too late, and no more than that', async () => {
    for (const [lateTimes, outcome] of [
      [1, 'delivered'],
      [2, 'unconfirmed'],
    ] as const) {
      const { world, interrupt } = await working();
      const works = world.onStep;
      let late = 0;
      world.onStep = (step, agent) => {
        if (!agent.screen.includes(hint) || late === lateTimes) return works?.(step, agent);
        late += 1;
        agent.screen = agent.screen.filter((line) => line !== hint);
        return undefined;
      };
      expect((await interrupt()).outcome).toBe(outcome);
      expect(world.typed).toHaveLength(4);
    }
  });

  it('ACT5 without that word the second is never pressed, and nothing is said to be delivered', async () => {
    const { world, interrupt } = await working({ hintMs: null });
    expect(await interrupt()).toMatchObject({
      outcome: 'unconfirmed',
      words: expect.stringContaining('not every key'),
    });
    expect(world.typed).toHaveLength(limits.keyTriesMax);
  });

  it('ACT5 the same words in what the agent says are no sign', async () => {
    const { world, interrupt } = await working({ hintMs: null, screen: ['press esc again to interrupt it'] });
    let shown = 0;
    const works = world.onStep;
    world.onStep = (step, agent) => {
      if (agent.screen.includes(hint)) shown += 1;
      return works?.(step, agent);
    };
    expect((await interrupt()).outcome).toBe('unconfirmed');
    expect([shown, world.typed.length]).toEqual([0, limits.keyTriesMax]);
  });

  it('ACT5 a turn that is over before needs no second key', async () => {
    const { world, agent, interrupt } = await working({ hintMs: null });
    world.onStep = () => {
      agent.look = { state: 'idle', ask: null };
      return undefined;
    };
    expect((await interrupt()).outcome).toBe('delivered');
    expect(world.typed).toEqual(['%1 press:Escape']);
  });

  it('ACT3 ACT5 a dialog that comes up between them is not answered, and the turn was not interrupted', async () => {
    for (const state of ['waiting_approval', 'completed'] as const) {
      const { world, agent, interrupt } = await working({ hintMs: null });
      world.onStep = () => {
        agent.look = commandScreen;
        world.becomes(agent, { state });
        return undefined;
      };
      expect((await interrupt()).outcome).toBe('unconfirmed');
      expect(world.typed).toEqual(['%1 press:Escape']);
    }
  });

  it('ACT5 is refused with what is there, where that has changed before the first key', async () => {
    const cases: [string, FakeAgent['look']][] = [
      ['E_STATE_CHANGED', null],
      ['E_DIALOG', commandScreen],
      ['E_STATE_CHANGED', { state: 'idle', ask: null }],
    ];
    for (const [code, look] of cases) {
      const { world, agent } = await working();
      const ground = world.ground();
      let looks = 0;
      const actor = await world.open({
        ground: {
          ...ground,
          freshLook: async (runtime) => {
            looks += 1;
            if (looks === 2) agent.look = look;
            return ground.freshLook(runtime);
          },
        },
      });
      const receipt = await world.act(actor, { action: 'interrupt' });
      expect([receipt.outcome, receipt.failure?.code]).toEqual(['refused', code]);
      expect(world.typed).toEqual([]);
    }
  });
});
