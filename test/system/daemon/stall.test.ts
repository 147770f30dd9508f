// The daemon is stopped for a while, as a laptop that sleeps or a machine that swaps, while agents change. Once it goes on
// everything that happened meanwhile must be seen, also what was printed in the very second of the last look. COUNT rounds,
// a few by default; a failing one prints the seed that repeats it.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { classOf } from '../../../src/model/states.ts';
import { createSimulatedRandom } from '../../../src/platform/simulated/random.ts';
import { Live, until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { type Act, act, acts } from '../../kit/scenes.ts';

const rounds = Number(process.env.COUNT ?? 6);
const seed = Number(process.env.SEED ?? 1);
const kinds = ['claude', 'codex', 'gemini'] as const;

let live: Live;

beforeEach(() => {
  live = new Live();
  live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
});

afterEach(async () => {
  try {
    process.kill(live.daemonPid, 'SIGCONT');
  } catch {
    // It is gone.
  }
  await live.close();
});

async function seen(): Promise<ReadonlyMap<string, string>> {
  const { items } = await live.client.get('/v1/panes', {});
  return new Map(items.map((item) => [item.identity.pane_id ?? '', classOf(item.state ?? 'unknown')]));
}

describe('a daemon that stood still', () => {
  it('RSV5 sees what was printed in the second of its last look', async () => {
    await live.startDaemon();
    const actor = LookAlike.start(live, 'claude', 'work');
    for (let round = 0; round < rounds; round += 1) {
      await act(actor, 'running');
      await until(async () => (await seen()).get(actor.pane) === 'running');
      // Both within one second of tmux's clock, with the look between them.
      await until(() => Date.now() % 1_000 < 100, 20_000, 1);
      await act(actor, round % 2 === 0 ? 'settled' : 'waiting_approval');
      await until(async () => (await seen()).get(actor.pane) !== 'running');
      await act(actor, 'running');
      process.kill(live.daemonPid, 'SIGSTOP');
      const last: Act = round % 2 === 0 ? 'waiting_approval' : 'settled';
      await act(actor, last);
      await sleep(2_200);
      process.kill(live.daemonPid, 'SIGCONT');
      await until(async () => (await seen()).get(actor.pane) === last);
    }
  }, 600_000);

  it('RSV5 tells the truth about every agent once it goes on', async () => {
    await live.startDaemon();
    const random = createSimulatedRandom(seed);
    const actors = Array.from({ length: 9 }, (_, place) => LookAlike.start(live, kinds[place % 3] ?? 'claude', 'work'));
    const truth = new Map<string, Act>();
    for (const actor of actors) {
      await act(actor, 'settled');
      truth.set(actor.pane, 'settled');
    }
    const agrees = async (): Promise<boolean> => {
      const shown = await seen();
      return actors.every(({ pane }) => shown.get(pane) === truth.get(pane));
    };
    await until(agrees, 60_000);
    for (let round = 0; round < rounds; round += 1) {
      process.kill(live.daemonPid, 'SIGSTOP');
      for (const actor of actors) {
        const changes = random.int(0, 2);
        for (let change = 0; change < changes; change += 1) {
          const what = random.pick(acts);
          await act(actor, what);
          truth.set(actor.pane, what);
        }
      }
      await sleep(100 + random.int(0, 2_900));
      process.kill(live.daemonPid, 'SIGCONT');
      await until(agrees, 60_000).catch(async () => {
        expect(await seen(), `SEED=${seed}, round ${round}`).toEqual(truth);
      });
    }
  }, 600_000);
});
