// What a restart of the daemon means for people who were told something: nothing is told again, and buttons that are still
// on the desktop either do what they say or say that they no longer do.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../kit/live.ts';
import { act } from '../../kit/scenes.ts';
import { DesktopWorld } from './kit.ts';

let world: DesktopWorld;

afterEach(async () => {
  await world.close();
});

describe('finished work', () => {
  const settings = 'on = ["completed", "waiting_approval"]\nchannels = ["desktop"]\n';
  const asked = () => world.shown().filter(({ title }) => title.includes('approve'));

  it.each([
    ['SIGTERM', 'a moment ago', 300],
    ['SIGKILL', 'a moment ago', 300],
    ['SIGTERM', 'a while ago', 1],
    ['SIGKILL', 'a while ago', 1],
  ] as const)(
    'NOT1 NOT2 RSV5 is not news again after a restart by %s: finished %s, seen or not',
    async (signal, age, seconds) => {
      world = new DesktopWorld(settings);
      writeFileSync(join(world.configDir, 'config.toml'), `[states]\ncompleted_seconds = ${seconds}\n`);
      const isOver = age === 'a while ago';
      await world.startDaemon();
      const actors = [await world.agent(), await world.agent()] as const;
      const [seen] = actors;
      for (const actor of actors) {
        await act(actor, 'running');
        await world.becomes(actor, /running/);
        await act(actor, 'settled');
        await world.becomes(actor, /completed/);
      }
      if (!isOver) {
        const mark = { action: 'seen', ref: seen.pane, conditions: {}, pid: process.pid, hops: 0 } as const;
        expect(await world.client.post('/v1/act', mark)).toMatchObject({ outcome: 'delivered' });
      }
      const state = isOver ? /idle/ : /completed/;
      for (const actor of actors) await world.becomes(actor, state);
      const before = await Promise.all(actors.map((actor) => world.itemOf(actor)));
      const runtimes = before.map((one) => one?.runtime_id ?? '');
      const news = async () => {
        const { items } = await world.client.get('/v1/notifications', {});
        const own = items.filter(({ event, runtime_id }) => event === 'completed' && runtimes.includes(runtime_id));
        return own.map(({ notice_id, told }) => [notice_id, told.length]);
      };
      const told = await news();
      expect(told.length).toBeGreaterThanOrEqual(actors.length);
      for (let round = 1; round <= 3; round += 1) {
        await world.stopDaemon(signal);
        await world.startDaemon();
        for (const actor of actors) await world.becomes(actor, state);
        // Another one asks and is told: what was wrongly taken for news would have been told by then.
        const other = await world.agent();
        await world.asks(other, `toolu_${round}`);
        await until(() => asked().length === round);
        world.tmux('kill-pane', '-t', other.pane);
      }
      const after = await Promise.all(actors.map((actor) => world.itemOf(actor)));
      const kept = (items: typeof after) => items.map((one) => [one?.state, one?.since, one?.seen]);
      expect(kept(after)).toEqual(kept(before));
      expect(await news()).toEqual(told);
    },
  );
});

describe('buttons', () => {
  const settings = 'on = ["waiting_approval"]\nchannels = ["desktop"]\ndesktop_text = "ask"\n';
  const isRenewed = () => world.shown()[0]?.args.some((one) => one.startsWith('--replace-id=')) === true;

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'NOT5 NOT2 that were shown before %s still answer the same ask',
    async (signal) => {
      world = new DesktopWorld(settings);
      await world.startDaemon();
      const actor = await world.agent();
      await world.asks(actor, 'toolu_1');
      await world.becomes(actor, /waiting_approval/);
      await until(() => world.shown().length === 1);
      const [shown] = world.shown();
      await until(() => world.isKept(shown?.id ?? 'none'));
      await world.stopDaemon(signal);
      await world.startDaemon();
      await until(isRenewed);
      // In its place, without a sound: nobody is told twice.
      expect(world.shown()).toMatchObject([{ id: shown?.id, title: shown?.title, body: shown?.body }]);
      world.press(shown?.id ?? '', 'approve');
      await until(() => actor.typed() === '1');
      await act(actor, 'settled');
      await until(async () => (await world.client.get('/v1/audit', { count: 5 })).items.length > 0);
      const { items } = await world.client.get('/v1/audit', { count: 5 });
      expect(items[0]).toMatchObject({ action: 'approve', actor: expect.stringMatching(/^human.*notification/) });
    },
  );

  it('NOT3 are taken away when the ask was answered while no daemon ran', async () => {
    world = new DesktopWorld(settings);
    await world.startDaemon();
    const actor = await world.agent();
    await world.asks(actor, 'toolu_1');
    await until(() => world.shown().length === 1);
    const id = world.shown()[0]?.id ?? '';
    await until(() => world.isKept(id));
    await world.stopDaemon('SIGKILL');
    await act(actor, 'settled');
    await world.startDaemon();
    await until(() => world.isClosed(id));
    expect(actor.typed()).toBe('');
  });
});
