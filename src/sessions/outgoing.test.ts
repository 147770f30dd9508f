// What becomes of a message that was accepted, wherever the way to its agent is cut: on disk before it is said, said once,
// or shown as not said.

import { describe, expect, it } from 'vitest';
import { settled, ToyWorld } from '../../test/kit/managed-session.ts';
import { FileError } from '../platform/files.ts';
import type { StoredSession } from './store.ts';

/** The conversation as it is shown: the last version of each message. */
const shown = (world: ToyWorld): string =>
  [...new Map(world.said.map((message) => [message.id, `${message.role}: ${message.text}`])).values()].join('\n');

const told = (world: ToyWorld, text: string): number =>
  world.processes.flatMap(({ written }) => written).filter((line) => line.includes(text)).length;

/** The daemon fell when this was on disk, and came back. */
async function back(onDisk: StoredSession | undefined, livesOn = false): Promise<ToyWorld> {
  const next = new ToyWorld(onDisk, livesOn);
  await next.live.recover();
  await settled();
  return next;
}

const onTheWay = (world: ToyWorld, stage: 'held' | 'said'): StoredSession | undefined =>
  world.kept.find(({ outgoing }) => outgoing.some((entry) => entry.stage === stage));

async function resting(): Promise<ToyWorld> {
  const world = new ToyWorld();
  (await world.begun()).say('done');
  world.kept.length = 0;
  return world;
}

describe('a message on its way', () => {
  it('SES5 SES5d is on disk before it is said, and before anybody is told that it was accepted', async () => {
    const world = await resting();
    const before = world.process.written.length;
    const sending = world.live.do({ action: 'send', text: 'more' });
    await Promise.resolve();
    expect(world.process.written.length).toBe(before);
    await sending;
    expect(world.kept[0]?.outgoing).toMatchObject([{ text: 'more', stage: 'said', kind: 'message' }]);
    expect(told(world, 'more')).toBe(1);
  });

  it('SES5 SES5e whose fate is not known is shown as such, and not said again', async () => {
    const world = await resting();
    await world.live.do({ action: 'send', text: 'more' });
    const next = await back(onTheWay(world, 'said'));
    expect(shown(next)).toMatch(/notice: agtmux was stopped .* may not have reached the agent.*:\nmore/s);
    expect(next.live.record).toMatchObject({ state: 'paused', outgoing: [], queue: [] });
    await next.live.do({ action: 'resume' });
    expect(told(next, 'more')).toBe(0);
  });

  it('SES5 counts as said once the agent shows that it has it', async () => {
    const world = await resting();
    await world.live.do({ action: 'send', text: 'more' });
    expect(world.live.record.outgoing.length).toBe(1);
    world.process.say('request r2');
    expect(world.kept.at(-1)?.outgoing).toEqual([]);
  });

  it('SES5 that waited is never in neither place: it leaves the queue in the record that says it', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    await world.live.do({ action: 'send', text: 'then this' });
    const from = world.kept.length;
    process.say('done');
    await settled();
    const places = world.kept.slice(from).map(({ queue, outgoing }) => queue.length + outgoing.length);
    expect([...new Set(places)]).toEqual([1]);
    const next = await back(onTheWay(world, 'said'));
    expect(shown(next)).toContain('may not have reached the agent');
    expect(next.live.record).toMatchObject({ state: 'paused', queue: [], outgoing: [] });
  });

  it('SES5 to an agent that is not ready is held, and on disk as told before it is told', async () => {
    const world = new ToyWorld();
    await world.live.start('later on');
    expect(world.kept.at(-1)?.outgoing).toMatchObject([{ text: 'later on', stage: 'held' }]);
    let writtenBefore = -1;
    world.onKeep = () => {
      writtenBefore = told(world, 'later on');
    };
    world.process.say('ready');
    await settled();
    expect([writtenBefore, told(world, 'later on')]).toEqual([0, 1]);
    expect(onTheWay(world, 'said')).toBeDefined();
  });

  it('SES5 SES5e that was certainly not told is shown as not said, and said when the session goes on, once', async () => {
    const world = new ToyWorld({ agent_session: 'conversation' as never, state: 'completed' });
    await world.live.do({ action: 'send', text: 'later on' });
    const next = await back(onTheWay(world, 'held'));
    expect(shown(next)).toMatch(
      /notice: not sent: agtmux was stopped .*It is sent when the session continues:\nlater on/s,
    );
    expect(next.processes.length).toBe(0);
    await next.live.do({ action: 'resume' });
    next.process.say('ready');
    await settled();
    expect(told(next, 'later on')).toBe(1);
    next.process.say('request r1');
    next.process.say('done');
    await settled();
    expect([told(next, 'later on'), next.live.record.outgoing, next.live.record.queue]).toEqual([1, [], []]);
  });

  it('SES5 stays in front of what is sent after it, each in a turn of its own', async () => {
    const world = new ToyWorld({ agent_session: 'conversation' as never, state: 'completed' });
    await world.live.do({ action: 'send', text: 'later on' });
    const next = await back(onTheWay(world, 'held'));
    expect(await next.live.do({ action: 'send', text: 'and then' })).toEqual({ ok: true, value: 'queued' });
    expect(next.live.record).toMatchObject({ outgoing: [{ text: 'later on' }], queue: ['and then'] });
    next.process.say('ready');
    await settled();
    next.process.say('request r1');
    next.process.say('done');
    await settled();
    expect(next.process.written).toEqual(['open later on conversation', '{"kind":"send","text":"and then"}']);
  });

  it('SES5 to an agent that ends without a sign is shown, whatever had become of it', async () => {
    const world = await resting();
    await world.live.do({ action: 'send', text: 'more' });
    await world.process.exit(1);
    expect(shown(world)).toMatch(/the agent ended before .* may not have reached the agent/);
    const other = new ToyWorld();
    await other.live.start('later on');
    await other.process.exit(1);
    expect(shown(other)).toMatch(/not sent: the agent ended/);
    await other.live.do({ action: 'retry' });
    other.process.say('ready');
    await settled();
    expect(told(other, 'later on')).toBe(1);
  });

  it('SES5 that a person stops before it is told is shown as not said, and is not kept', async () => {
    const world = new ToyWorld();
    await world.live.start('later on');
    await world.live.do({ action: 'stop' });
    expect(shown(world)).toMatch(/not sent: the session was stopped/);
    expect(world.live.record.outgoing).toEqual([]);
  });

  it('SES5 an answer that may not have arrived is shown, and never said without its question', async () => {
    const world = new ToyWorld();
    (await world.begun()).say('question q1');
    world.kept.length = 0;
    await world.live.do({ action: 'answer', text: 'blue' });
    const next = await back(onTheWay(world, 'said'));
    expect(shown(next)).toMatch(/this answer.* may not have reached the agent.*\nblue/s);
    await next.live.do({ action: 'resume' });
    expect(told(next, 'blue')).toBe(0);
  });

  it('LOG5 what cannot be written down as told is not told, and still there when the disk is', async () => {
    const world = new ToyWorld();
    await world.live.start('later on');
    world.trouble = new FileError('write', '/state/s1.json', 'ENOSPC');
    world.process.say('ready');
    await settled();
    expect([told(world, 'later on'), world.state]).toEqual([0, 'error']);
    world.trouble = null;
    await world.process.exit(0);
    await world.live.do({ action: 'retry' });
    world.process.say('ready');
    await settled();
    expect(told(world, 'later on')).toBe(1);
  });

  it('SES5 to a server that lived on waits in its queue again', async () => {
    const entry = { text: 'later on', kind: 'message', stage: 'held', message: 'user-1' } as const;
    const process = { boot: 'boot', pid: 7, start: '1' };
    const fields = { address: 'http://127.0.0.1:9', rejoin: {}, is_led: true, process, outgoing: [entry] };
    const next = new ToyWorld({ state: 'streaming', ...fields }, true);
    next.left.set(7, []);
    await next.live.recover();
    expect(next.live.record).toMatchObject({ state: 'streaming', outgoing: [entry], queue: [] });
    expect(shown(next)).toContain('not sent');
  });
});
