// A loud pane in a page of a real browser: how long the page stands still at worst, and what it costs the program that
// prints. COUNT is the number of megabytes; a gigabyte, COUNT=1024, takes minutes.

import { WebWorld } from '../test/web/kit.ts';
import { measureFlood } from '../test/web/kit-flood.ts';
import type { BenchRow } from './row.ts';

const megabytes = Math.min(Number(process.env.COUNT ?? 64), 1_024);

export async function run(): Promise<readonly BenchRow[]> {
  const world = await WebWorld.open();
  try {
    const agent = await world.daemon.agent('claude', 'loud', 'settled');
    const { shown, captured, ...seen } = await measureFlood(world, agent, megabytes);
    if (shown !== captured) throw new Error('the page does not show what the pane shows');
    const [aloneS, watchedS] = [seen.aloneMs, seen.watchedMs].map((ms) => Math.round(ms / 1_000));
    const how = `${megabytes.toLocaleString('en-US')} MB of coloured and wide text`;
    return [
      {
        name: 'web: loud pane, longest time without a frame',
        value: seen.worstGapMs,
        unit: 'ms',
        goal: { atMost: 300 },
        note: `${how}; ${Math.round(seen.idleGapMs)} ms in an empty page beside it; ${seen.pictures} pictures seen, the last one right`,
      },
      { name: 'web: loud pane, longest task of the page', value: seen.longestTaskMs, unit: 'ms', note: how },
      {
        name: 'web: loud pane, page grows by',
        value: seen.heapMb[1] - seen.heapMb[0],
        unit: 'MB',
        goal: { atMost: 16 },
        note: `heap of its scripts, ${Math.round(seen.heapMb[0])} MB before`,
      },
      { name: 'web: loud pane, daemon grows by', value: seen.daemonMb, unit: 'MB', goal: { atMost: 60 }, note: how },
      {
        name: 'web: loud pane, program beside the page',
        value: seen.watchedMs / seen.aloneMs,
        unit: 'x',
        note: `${watchedS} s, ${aloneS} s with nobody looking; a browser works on the same cores`,
      },
    ];
  } finally {
    await world.close();
  }
}
