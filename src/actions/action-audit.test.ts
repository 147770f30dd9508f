import { describe, expect, it } from 'vitest';
import { ActWorld, agentClaim, commandAsk, person } from '../../test/kit/act.ts';
import { defaultPolicy } from '../auth/policy.ts';
import type { Receipt } from '../model/actions.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

const code = (receipt: Receipt): string => receipt.failure?.code ?? receipt.outcome;
const nameless = { pid: null, hops: 0 };

describe('who names no process', () => {
  it('ACT6 ACT6f gains nothing by it: they may do what an agent that nobody can trace may do', async () => {
    for (const policy of [defaultPolicy, { ...defaultPolicy, trust_untraceable: true }]) {
      const world = new ActWorld();
      world.policy = policy;
      const agent = world.add('a');
      const actor = await world.open();
      for (const action of ['send', 'interrupt', 'kill', 'resume', 'activate', 'seen'] as const) {
        expect([action, code(await world.act(actor, { action }, nameless))]).toEqual([action, 'E_ROLE']);
      }
      world.asks(agent);
      const approve = { action: 'approve', ask_id: commandAsk.ask_id } as const;
      expect(code(await world.act(actor, approve, nameless))).toBe('E_ROLE');
      expect((await actor.view('a', 10, nameless)).ok).toBe(true);
      expect(world.typed).toEqual([]);
      expect(world.signals).toEqual([]);
      expect(world.audits).toHaveLength(8);
    }
  });
});

describe('agents that write to each other', () => {
  async function talk(between: (world: ActWorld) => Promise<void>) {
    const world = new ActWorld();
    world.add('a');
    world.add('b');
    let actor = await world.open();
    const codes: string[] = [];
    for (let turn = 0; turn < limits.hopsMax + 3; turn += 1) {
      const [from, to] = turn % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
      const receipt = await world.act(actor, { action: 'send', ref: `runtime:${to}` }, agentClaim(from ?? ''));
      codes.push(code(receipt));
      if (codes.at(-1) !== 'delivered') break;
      await between(world);
      // Another daemon goes on where this one was.
      if (turn === 1) actor = await world.open();
    }
    return { world, actor, codes };
  }
  const limit = [...Array.from({ length: limits.hopsMax }, () => 'delivered'), 'E_ROLE'];

  it('ACT6 are stopped however slowly they do it, and after a restart', async () => {
    const { codes } = await talk(async ({ clock }) => clock.advanceSettled(11 * 60_000));
    expect(codes).toEqual(limit);
  });

  it('ACT6 ACT6h may go on when a person has written, and are forgotten with their end', async () => {
    const { world, actor } = await talk(async () => undefined);
    expect(code(await world.act(actor, { action: 'send', ref: 'runtime:a' }, person))).toBe('delivered');
    expect(code(await world.act(actor, { action: 'send', ref: 'runtime:b' }, agentClaim('a')))).toBe('delivered');
    const kept = () => world.documents.all('hops');
    await world.clock.advanceSettled(10);
    expect(kept()).toMatchObject([{ runtime_id: 'b' }]);
    for (const agent of world.agents.values()) world.ends(agent);
    actor.changed();
    await world.clock.advanceSettled(10);
    expect(kept()).toEqual([]);
  });
});

describe('an audit row', () => {
  it('ACT1 is there for every look that is refused, also soon after one that was not', async () => {
    const world = new ActWorld();
    world.add('a');
    let isReadable = true;
    const ground = world.ground();
    const outputOf: typeof ground.outputOf = async (...args) => {
      if (isReadable) return ground.outputOf(...args);
      throw new AgtmuxError('E_TARGET_DOWN', 'no answer');
    };
    const actor = await world.open({ ground: { ...ground, outputOf } });
    await actor.view('a', 10, person);
    isReadable = false;
    for (const _ of [1, 2]) {
      expect(await actor.view('a', 10, person)).toMatchObject({ ok: false, failure: { code: 'E_TARGET_DOWN' } });
    }
    expect(world.audits.map(({ result }) => result)).toEqual(['delivered', 'refused', 'refused']);
  });

  it('ACT1 is there when agtmux itself fails on the way, and the defect is told all the same', async () => {
    const world = new ActWorld();
    world.add('a');
    const broken = async (): Promise<never> => {
      throw new TypeError('a defect');
    };
    const actor = await world.open({ ground: { ...world.ground(), signal: broken, start: broken } });
    await expect(world.act(actor, { action: 'kill', signal: 'INT' })).rejects.toThrow('a defect');
    const wanted = { agent: 'claude', target: null, session: null, cwd: null, args: [] };
    await expect(actor.start(wanted, person)).rejects.toThrow('a defect');
    expect(world.audits).toMatchObject([
      { action: 'kill', runtime_id: 'a', result: 'unconfirmed', detail: { code: 'E_INTERNAL', message: 'a defect' } },
      { action: 'new', result: 'unconfirmed', detail: { code: 'E_INTERNAL' } },
    ]);
    // The next one is not held up by it.
    expect(code(await world.act(actor, { action: 'send' }))).toBe('delivered');
  });
});
