import { describe, expect, it } from 'vitest';
import { ActWorld, agentClaim, commandAsk, testKeys } from '../../test/kit/act.ts';
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

describe('a message to an agent that does not know the marks of a paste', () => {
  async function plainWorld(seen: 'prompt' | 'nothing' = 'prompt') {
    const world = new ActWorld();
    world.add('a');
    const agent = world.add('b');
    const promptOf = (lines: readonly string[]) => {
      const at = lines.findLastIndex((line) => line.startsWith('> '));
      return at < 0 ? null : { unsent: lines[at]?.slice(2) ?? '', sign: null, rows: { from: at, to: at + 1 } };
    };
    world.keys = { ...testKeys, paste: 'plain', prompt: promptOf };
    const empty = seen === 'prompt' ? ['a prompt', '> '] : ['a prompt'];
    agent.screen = empty;
    agent.look = { state: 'idle', ask: null, prompt: promptOf(empty) };
    world.onStep = (step) => {
      if (step.startsWith('type:') && seen === 'prompt') agent.screen = ['a prompt', `> ${step.slice('type:'.length)}`];
      if (step !== 'press:Enter' && !step.startsWith('type:')) return undefined;
      world.typed.push(`%2 ${step}`);
      if (step === 'press:Enter') agent.screen = empty;
      return { kind: 'done' };
    };
    return { world, agent, actor: await world.open() };
  }

  it('ACT2a goes in as one line without them, with its sender in the same line, and is sent off', async () => {
    const { world, actor } = await plainWorld();
    const one = await world.act(actor, { action: 'send', ref: 'runtime:b', text: 'fix it' });
    expect(one).toMatchObject({ outcome: 'delivered', way: 'keys' });
    const other = await world.act(actor, { action: 'send', ref: 'runtime:b', text: 'and this' }, agentClaim('a'));
    expect(other.outcome).toBe('delivered');
    expect(world.typed).toEqual([
      '%2 type:fix it',
      '%2 press:Enter',
      expect.stringMatching(/^%2 type:\[from an agent, [^\n]*\] and this$/),
      '%2 press:Enter',
    ]);
  });

  it.each([
    ['one\ntwo', 'the message has 2 lines'],
    ['one\ttwo', 'the message contains a tab'],
  ])('ACT2a is refused with the reason, also before it waits: %j', async (text, words) => {
    for (const when_ready of [false, true]) {
      const { world, agent, actor } = await plainWorld();
      if (when_ready) world.becomes(agent, { state: 'running' });
      const receipt = await world.act(actor, { action: 'send', ref: 'runtime:b', text, when_ready });
      expect(receipt).toMatchObject({ outcome: 'refused', failure: { code: 'E_UNSUPPORTED' } });
      expect(receipt.failure?.message).toContain(words);
      expect(world.typed).toEqual([]);
    }
  });

  it('ACT2a is not typed where its prompt is not seen', async () => {
    const { world, actor } = await plainWorld('nothing');
    const receipt = await world.act(actor, { action: 'send', ref: 'runtime:b', text: 'fix it' });
    expect(receipt).toMatchObject({ outcome: 'refused', failure: { code: 'E_STATE_CHANGED' } });
    expect(receipt.failure?.message).toContain('does not show its prompt');
    expect(world.typed).toEqual([]);
  });
});
