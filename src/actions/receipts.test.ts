// Receipts that say what is so: of signals to one that is suspended, and of what could not be kept.

import { describe, expect, it } from 'vitest';
import { ActWorld, person } from '../../test/kit/act.ts';
import { runtimeId } from '../model/ids.ts';

describe('receipts', () => {
  it('ACT5 a suspended agent is made to go on, so that the signal reaches it; KILL needs no help', async () => {
    const world = new ActWorld();
    const agent = world.add('a', 'running');
    const actor = await world.open();
    world.becomes(agent, { suspended: true });
    world.onSignal = (one, signal) => {
      if (signal === 'CONT') world.ends(one);
      return true;
    };
    expect(await world.act(actor, { action: 'kill', signal: 'TERM' })).toMatchObject({ outcome: 'delivered' });
    expect(world.signals).toEqual(['TERM 101', 'CONT 101']);
    const other = world.add('b', 'running');
    world.becomes(other, { suspended: true });
    await world.act(actor, { action: 'kill', ref: 'b', signal: 'KILL' });
    expect(world.signals.slice(2)).toEqual(['KILL 102']);
  });

  it('ACT4 a name and a mark that count but could not be kept are told as such, not as refused', async () => {
    const world = new ActWorld();
    world.add('a', 'completed');
    const actor = await world.open();
    const told = { outcome: 'unconfirmed', failure: null, words: expect.stringContaining('lost after a restart') };
    world.documents.failNext(1);
    expect(await world.act(actor, { action: 'name', nick: 'front' })).toMatchObject(told);
    expect(actor.nickOf(runtimeId('a'))).toBe('front');
    world.documents.failNext(1);
    expect(await world.act(actor, { action: 'seen' })).toMatchObject(told);
    expect(actor.seenAt(runtimeId('a'))).not.toBeNull();
  });

  it('ACT4 a receipt and its audit row name the agent as lists do, by the name it has then', async () => {
    const world = new ActWorld();
    world.add('a', 'completed');
    const actor = await world.open();
    const place = 'claude, host/work:1.0';
    expect(await world.act(actor, { action: 'seen' })).toMatchObject({ who: place });
    expect(await world.act(actor, { action: 'name', nick: 'front' })).toMatchObject({
      who: 'front (claude), host/work:1.0',
    });
    expect((await actor.audit(9)).map(({ detail }) => detail.who)).toEqual(['front (claude), host/work:1.0', place]);
  });

  it('ACT4 the output of one that has ended and left its pane is E_ENDED', async () => {
    const world = new ActWorld();
    const agent = world.add('a');
    const actor = await world.open({ ground: { ...world.ground(), outputOf: async () => null } });
    expect(await actor.view('a', 10, person)).toMatchObject({ ok: false, failure: { code: 'E_TARGET_DOWN' } });
    world.ends(agent);
    expect(await actor.view('a', 10, person)).toMatchObject({ ok: false, failure: { code: 'E_ENDED' } });
  });
});
