// The daemon is stopped for a while, as a laptop that sleeps or a machine that swaps, while agents change. Once it goes on
// everything that happened meanwhile must be seen, also what was printed in the very second of the last look, within a second
// of a quiet machine. COUNT rounds with 50 agents and stalls of up to 10 s; a few small ones by default. A failing round
// prints the seed that repeats it.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { classOf } from '../../../src/model/states.ts';
import { createSimulatedRandom } from '../../../src/platform/simulated/random.ts';
import { Live, until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { type Act, act, acts } from '../../kit/scenes.ts';

const isLong = process.env.COUNT !== undefined;
const rounds = Number(process.env.COUNT ?? 20);
const seed = Number(process.env.SEED ?? 1);
const size = isLong ? { actors: 50, stallMsMax: 10_000, spreadMs: 400 } : { actors: 9, stallMsMax: 400, spreadMs: 100 };
const stallMsMin = 100;
/** On a machine that does nothing else. */
const rightWithinMs = 1_000;
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
    for (let round = 0; round < Math.ceil(rounds / 20); round += 1) {
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

  it(`RSV5 tells the truth about ${size.actors} agents within a second of going on`, async () => {
    await live.startDaemon();
    const random = createSimulatedRandom(seed);
    const actors = Array.from({ length: size.actors }, (_, place) =>
      LookAlike.start(live, kinds[place % 3] ?? 'claude', 'work'),
    );
    const truth = new Map<string, Act>();
    const change = async (actor: LookAlike, what: Act): Promise<void> => {
      await act(actor, what);
      truth.set(actor.pane, what);
    };
    const agrees = async (): Promise<boolean> => {
      // A busy machine may leave a question unanswered.
      const shown = await seen().catch(() => new Map<string, string>());
      return actors.every(({ pane }) => shown.get(pane) === truth.get(pane));
    };
    // A runtime takes its time to start where fifty do.
    for (const actor of actors) await change(actor, 'settled');
    await until(agrees, 120_000);
    const took: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const changes = actors.flatMap((actor) =>
        Array.from({ length: random.int(0, 3) }, () => ({
          actor,
          what: random.pick(acts),
          afterMs: random.int(0, size.spreadMs),
        })),
      );
      const stopAfterMs = random.int(0, size.spreadMs);
      // As many short ones as long ones.
      const stallMs = stallMsMin * (size.stallMsMax / stallMsMin) ** (random.int(0, 1_000) / 1_000);
      const changed = actors.map(async (actor) => {
        for (const one of changes.filter((each) => each.actor === actor)) {
          await sleep(one.afterMs);
          await change(actor, one.what);
        }
      });
      await sleep(stopAfterMs);
      process.kill(live.daemonPid, 'SIGSTOP');
      await Promise.all([...changed, sleep(stallMs)]);
      let slow = slowness();
      process.kill(live.daemonPid, 'SIGCONT');
      const began = performance.now();
      await until(
        async () => {
          slow = Math.max(slow, slowness());
          return agrees();
        },
        120_000,
        25,
      ).catch(async () => {
        expect(await seen(), `SEED=${seed}, round ${round}`).toEqual(truth);
      });
      const tookMs = performance.now() - began;
      const budgetMs = rightWithinMs * slow;
      took.push(tookMs);
      expect(tookMs, `SEED=${seed}, round ${round}, stopped for ${Math.round(stallMs)} ms`).toBeLessThan(budgetMs);
      if (isLong) await sleep(300);
      expect(await seen(), `SEED=${seed}, round ${round}, a moment later`).toEqual(truth);
    }
    took.sort((one, other) => one - other);
    const at = (share: number): number => Math.round(took[Math.floor((took.length - 1) * share)] ?? 0);
    console.log(
      `right after a stall, ms: p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, max ${at(1)}, n ${took.length}`,
    );
  }, 7_200_000);
});

/** How many times longer a bit of work takes now than the processor spends on it. */
function slowness(): number {
  const began = performance.now();
  const before = process.cpuUsage();
  let spentMs = 0;
  while (spentMs < 20) {
    const { user, system } = process.cpuUsage(before);
    spentMs = (user + system) / 1_000;
  }
  return Math.max(1, (performance.now() - began) / spentMs);
}
