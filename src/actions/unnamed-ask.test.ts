import { describe, expect, it } from 'vitest';
import { ActWorld, commandAsk } from '../../test/kit/act.ts';
import type { Receipt } from '../model/actions.ts';

const code = (receipt: Receipt): string => receipt.failure?.code ?? receipt.outcome;
const unsaid = { ask_id: undefined, any_ask: undefined };

describe('an answer that does not say what it is for', () => {
  const answers = [
    { action: 'approve' },
    { action: 'reject' },
    { action: 'answer', option: '1' },
    { action: 'answer', text: 'yes' },
  ] as const;
  it.each(answers)('ASK3 is refused, whatever is open: %j', async (answer) => {
    const world = new ActWorld();
    const agent = world.add('a');
    const actor = await world.open();
    expect(code(await world.act(actor, { ...answer, ...unsaid } as never))).toBe('E_STATE_CHANGED');
    world.asks(agent);
    const receipt = await world.act(actor, { ...answer, ...unsaid } as never);
    expect(receipt.failure).toMatchObject({
      code: 'E_STATE_CHANGED',
      message: expect.stringContaining('names no request'),
    });
    world.becomes(agent, { asks_open: 2 });
    expect(code(await world.act(actor, { ...answer, ...unsaid } as never))).toBe('E_REF_AMBIGUOUS');
    expect(world.typed).toEqual([]);
    expect(world.audits.map(({ result }) => result)).toEqual(['refused', 'refused', 'refused']);
  });

  it('ASK3 may say that it means whatever is open, or name it', async () => {
    for (const said of [{ any_ask: true }, { ask_id: commandAsk.ask_id }]) {
      const world = new ActWorld();
      const agent = world.add('a');
      world.asks(agent);
      world.onStep = () => {
        world.becomes(agent, { state: 'running', ask: null, asks_open: 0 });
        agent.look = { state: 'running', ask: null };
        return undefined;
      };
      expect(code(await world.act(await world.open(), { action: 'approve', ...said }))).toBe('delivered');
    }
  });

  it('ASK3 a channel is told which one that is', async () => {
    const world = new ActWorld();
    world.asks(world.add('a'));
    const meant: unknown[] = [];
    world.channels.push({
      name: 'own',
      can: () => true,
      run: async (request) => {
        meant.push('ask_id' in request ? request.ask_id : undefined);
        return { kind: 'delivered', words: null };
      },
    });
    expect(code(await world.act(await world.open(), { action: 'approve', any_ask: true }))).toBe('delivered');
    expect(meant).toEqual([commandAsk.ask_id]);
  });
});
