// How soon a person is told: from the end of the hook call that asks to the program that shows it, on a look-alike and a
// desktop that writes down when it was asked. Each ask is answered before the next.
import { until } from '../test/kit/live.ts';
import { act } from '../test/kit/scenes.ts';
import { DesktopWorld } from '../test/system/notify/kit.ts';
import type { BenchRow } from './row.ts';

const asks = 20;

export async function run(): Promise<readonly BenchRow[]> {
  const world = new DesktopWorld('channels = ["desktop"]\non = ["waiting_approval"]\n');
  try {
    await world.startDaemon();
    const actor = await world.agent();
    const times: number[] = [];
    for (let number = 1; number <= asks; number += 1) {
      const asked = await world.asks(actor, `toolu_${number}`);
      await until(() => world.shown().length === number);
      times.push((world.shown().at(-1)?.at ?? 0) - asked);
      await act(actor, 'settled');
      await until(() => world.isClosed(world.shown().at(-1)?.id ?? ''));
    }
    const sorted = times.toSorted((one, other) => one - other);
    const at = (share: number): number => sorted[Math.min(asks - 1, Math.floor(asks * share))] ?? 0;
    const note = `p50 ${Math.round(at(0.5))}; ${asks} asks by hooks, incl. the 100 ms that an ask has to last`;
    return [{ name: 'ask to notification, p95', value: at(0.95), unit: 'ms', goal: { atMost: 500 }, note }];
  } finally {
    await world.close();
  }
}
