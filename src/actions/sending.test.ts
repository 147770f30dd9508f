import { describe, expect, it } from 'vitest';
import { ActWorld, agentClaim, commandAsk } from '../../test/kit/act.ts';
import type { ActionRequest } from '../model/actions.ts';

const textOf = (request: ActionRequest): string => (request.action === 'send' ? request.text : '');

describe('a message over a channel of its own', () => {
  it('ACT4 is judged by the very words that are sent: files and sender included', async () => {
    const world = new ActWorld();
    for (const name of ['a', 'b']) world.add(name);
    const judged: string[] = [];
    const sent: string[] = [];
    world.channels.push({
      name: 'own',
      can: (request) => judged.push(textOf(request)) > 0,
      run: async (request) => {
        sent.push(textOf(request));
        return { kind: 'delivered', words: null };
      },
    });
    const actor = await world.open();
    const files = [{ path: '/home/me/app.ts', from: null, to: null }];
    await world.act(actor, { action: 'send', text: 'fix it', files });
    await world.act(actor, { action: 'send', ref: 'runtime:b', text: 'and this' }, agentClaim('a'));
    expect(sent).toEqual(['@/home/me/app.ts fix it', expect.stringMatching(/^\[from .*\nand this$/s)]);
    expect(judged).toEqual(sent);
  });

  it('ACT6 is a message and no more where its sender may not answer', async () => {
    const world = new ActWorld();
    world.add('a');
    const other = world.add('b');
    const plain: unknown[] = [];
    world.channels.push({
      name: 'own',
      can: () => true,
      run: async (request) => {
        plain.push(request.action === 'send' && request.is_plain);
        return { kind: 'delivered', words: null };
      },
    });
    const actor = await world.open();
    await world.act(actor, { action: 'send', text: 'one' });
    world.asks(other, { ...commandAsk, kind: 'question' });
    await world.act(actor, { action: 'send', ref: 'runtime:b', text: 'two' });
    await world.act(actor, { action: 'send', ref: 'runtime:b', text: 'three' }, agentClaim('a'));
    expect(plain).toEqual([true, false, true]);
  });
});
