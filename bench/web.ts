// The web server with 200 agents: how soon a change is in a page, and what pages cost that never read.

import { measureCrowd, openAgents } from '../test/web/kit-crowd.ts';
import { DaemonWorld } from '../test/web/kit-server.ts';
import { type BenchRow, percentile } from './row.ts';

const agentsCount = 200;
const pages = 20;

export async function run(): Promise<readonly BenchRow[]> {
  const world = await DaemonWorld.open();
  try {
    await openAgents(world, agentsCount);
    const visitor = await world.enter();
    // The storms fill what the feed remembers, which is bounded: what grows after that grows because nobody reads.
    const alone = await measureCrowd(world, visitor, { readers: pages, sleepers: 0, changes: 40, storms: 100 });
    const beside = await measureCrowd(world, visitor, { readers: pages, sleepers: pages, changes: 40, storms: 60 });
    return [
      {
        name: `web: change to page, ${agentsCount} agents, p95`,
        value: percentile(alone.delays, 0.95),
        unit: 'ms',
        goal: { atMost: 250 },
        note: `${alone.delays.length} arrivals at ${pages} pages, from the tmux command on`,
      },
      {
        name: `web: the same beside ${pages} pages that never read, p95`,
        value: percentile(beside.delays, 0.95),
        unit: 'ms',
        goal: { atMost: 250 },
        note: `${beside.delays.length} arrivals`,
      },
      {
        name: `web: ${pages} pages that never read, daemon grows by`,
        value: beside.grownMb,
        unit: 'MB',
        goal: { atMost: 60 },
        note: 'feed and live pane each, 60 changes of all agents',
      },
    ];
  } finally {
    await world.close();
  }
}
