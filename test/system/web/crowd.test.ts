// Twenty pages that never read beside twenty that do: those that do notice nothing of it, and the daemon does not grow.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { measureCrowd, openAgents } from '../../web/kit-crowd.ts';
import { DaemonWorld } from '../../web/kit-server.ts';

let world: DaemonWorld;

beforeAll(async () => {
  world = await DaemonWorld.open();
});

afterAll(async () => {
  await world.close();
});

describe('pages that never read', () => {
  it('FED2 hold up no page that does, and the daemon grows by no more than 60 MB', async () => {
    await openAgents(world, 60);
    const visitor = await world.enter();
    // On a daemon that has just started: what the feed remembers fills up meanwhile, and counts as well.
    const figures = await measureCrowd(world, visitor, { readers: 20, sleepers: 20, changes: 10, storms: 100 });
    const middle = figures.delays.toSorted((one, other) => one - other)[Math.floor(figures.delays.length / 2)] ?? 0;
    console.log(
      `crowd: ${figures.delays.length} arrivals, median ${Math.round(middle)} ms, ${Math.round(figures.grownMb)} MB more`,
    );
    expect(figures.delays).toHaveLength(200);
    expect(figures.grownMb).toBeLessThan(60);
    // The web server is as it was: the sleepers were cut, or can be.
    expect((await visitor.ask('/v1/panes')).status).toBe(200);
  });
});
