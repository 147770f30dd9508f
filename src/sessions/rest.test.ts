// A session at rest over simulated time: when its process goes, when it stays, and how it comes back (SES11).

import { describe, expect, it } from 'vitest';
import { keptSession, settled, ToyWorld } from '../../test/kit/managed-session.ts';
import { limits } from '../model/limits.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { RestClock } from './rest.ts';

const restMs = limits.sessionRestMs;

/** At rest, some time later; a process that is told to end does so. */
async function rested(ends: readonly string[] = ['done'], ms = restMs + 1_000): Promise<ToyWorld> {
  const world = new ToyWorld();
  const process = await world.begun();
  for (const end of ends) process.say(end);
  await endable(world, ms);
  return world;
}

async function endable(world: ToyWorld, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    await world.pass(1_000);
    const { process } = world;
    if (!process.isInputOpen && !process.isOver) await process.exit(0);
  }
  await settled();
}

const notices = (world: ToyWorld): readonly string[] =>
  world.said.filter(({ role }) => role === 'notice').map(({ text }) => text);

describe('a session at rest', () => {
  it.each([
    ['completed', ['done']],
    ['paused', ['cancelled']],
  ] as const)(
    'SES11 %s for long enough lets its process go in good order, and stays what it is',
    async (state, ends) => {
      const world = await rested(ends);
      expect(world.process).toMatchObject({ isOver: true, signals: [] });
      expect(world.live.record).toMatchObject({ state, process: null, is_led: false, agent_session: 'conversation' });
      expect(world.live.record.asleep_since).toBeGreaterThan(0);
      expect([world.live.isManagedProcess, world.slept]).toEqual([false, ['rested']]);
      expect(notices(world)).toEqual([expect.stringContaining('asleep: nothing happened for 15 minutes')]);
      expect(world.kept.at(-1)).toBe(world.live.record);
    },
  );

  it('SES11 is not put to sleep before its time', async () => {
    const world = await rested(['done'], restMs - 2_000);
    expect([world.live.isManagedProcess, world.live.record.asleep_since]).toEqual([true, null]);
  });

  it.each([
    ['send', { action: 'send', text: 'and the docs' }, 'open and the docs conversation'],
    ['resume', { action: 'resume' }, 'open  conversation'],
  ] as const)('SES11 the next %s starts the agent again, with its own resume', async (_, deed, line) => {
    const world = await rested();
    expect(await world.live.do(deed)).toMatchObject({ ok: true, value: 'done' });
    expect(world.processes.length).toBe(2);
    expect(world.process.command.args).toEqual(['--resume', 'conversation']);
    expect(world.process.written).toEqual([line]);
    expect(world.live.record).toMatchObject({ state: 'creating', asleep_since: null, is_led: true });
    world.process.say('request r9');
    world.process.say('done');
    await endable(world, restMs + 1_000);
    expect(world.slept).toEqual(['rested', 'rested']);
  });

  it('SES11 a word that comes while its process ends waits for that, and wakes it', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    process.say('done');
    await world.pass(restMs + 100);
    expect([process.isInputOpen, process.isOver]).toEqual([false, false]);
    const sending = world.live.do({ action: 'send', text: 'wait' });
    await settled();
    expect(world.processes.length).toBe(1);
    await process.exit(0);
    expect(await sending).toMatchObject({ ok: true });
    expect(world.process.written).toEqual(['open wait conversation']);
  });

  it('SES11 one that cannot be started again stays asleep, and says why', async () => {
    const world = await rested();
    world.isInstalled = false;
    expect(await world.live.do({ action: 'send', text: 'go' })).toMatchObject({ failure: { code: 'E_AGENT_MISSING' } });
    expect(world.live.record.state).toBe('completed');
    expect(world.live.record.asleep_since).not.toBeNull();
  });
});

describe('a session that is not put to sleep', () => {
  it.each([
    ['works', []],
    ['waits for a yes', ['ask a1']],
    ['waits for an answer', ['question q1']],
  ] as const)('SES11 because it %s', async (_, lines) => {
    const world = await rested(lines, 3 * restMs);
    expect([world.live.isManagedProcess, world.slept]).toEqual([true, []]);
    expect(await world.live.sleep('room')).toBe(false);
  });

  it('SES11a because somebody wrote to it meanwhile', async () => {
    const world = await rested(['done'], restMs - 2_000);
    await world.live.do({ action: 'send', text: 'more' });
    world.process.say('request r2');
    world.process.say('done');
    await endable(world, restMs - 2_000);
    expect(world.live.isManagedProcess).toBe(true);
    await endable(world, 4_000);
    expect(world.live.isManagedProcess).toBe(false);
  });

  it('SES11a because its agent has work in the background, until that has ended', async () => {
    const world = new ToyWorld();
    world.wakeful.why = 'behind';
    (await world.begun()).say('done');
    await endable(world, 3 * restMs);
    expect(world.live.isManagedProcess).toBe(true);
    expect(notices(world)).toEqual([expect.stringContaining('process kept: it has background work')]);
    world.wakeful.why = null;
    await endable(world, restMs + 1_000);
    expect([world.live.isManagedProcess, world.slept]).toEqual([false, ['rested']]);
  });

  it('SES11a because nothing would bring the conversation back, which is said', async () => {
    const world = new ToyWorld();
    await world.live.start('do it');
    world.process.say('done');
    await endable(world, restMs + 1_000);
    expect(world.live.isManagedProcess).toBe(true);
    expect(notices(world)).toEqual([expect.stringContaining('this conversation could not be resumed')]);
  });
});

describe('a daemon that comes back', () => {
  it('SES11 finds it asleep as it was, and wakes it with the next word', async () => {
    const before = (await rested()).live.record;
    const world = new ToyWorld(before);
    await world.live.recover();
    expect(world.live.record).toEqual(before);
    expect(await world.live.do({ action: 'send', text: 'go on' })).toMatchObject({ ok: true });
    expect(world.process.written).toEqual(['open go on conversation']);
  });

  it('SES11 counts the rest of what it finds awake from then on', () => {
    const clock = createSimulatedClock();
    clock.advance(10 * restMs);
    let dues = 0;
    const rest = new RestClock(
      clock,
      () => clock.wallMs(),
      { tell: () => undefined },
      () => {
        dues += 1;
      },
    );
    rest.watch(keptSession({ state: 'completed', updated_at: 0 }), true);
    clock.advance(restMs - 1);
    expect(dues).toBe(0);
    clock.advance(1);
    expect(dues).toBe(1);
  });
});
