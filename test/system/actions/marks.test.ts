// Names and marks of having seen, end to end: every list carries them, and whoever follows the feed is told of a change.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PaneItem, WindowList } from '../../../src/api/panes.ts';
import { ActingWorld } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';

let world: ActingWorld;

beforeEach(() => {
  world = new ActingWorld();
});

afterEach(async () => {
  await world.close();
});

/** What the feed told of one agent, as `nick seen`, one entry for each change. */
function follow(runtime: string) {
  const stop = new AbortController();
  const told: string[] = [];
  const note = (item: unknown): void => {
    const { runtime_id, nick, seen } = item as PaneItem;
    const now = `${nick} ${seen}`;
    if (runtime_id === runtime && told.at(-1) !== now) told.push(now);
  };
  const reading = (async () => {
    for await (const event of world.client.events({ scope: 'panes', signal: stop.signal })) {
      if (event.type === 'snapshot') for (const { value } of event.data.items) note(value);
      if (event.type === 'changes') for (const { value } of event.data.changes) if (value !== null) note(value);
    }
  })();
  const end = async (): Promise<void> => {
    stop.abort();
    await reading;
  };
  return { told, end };
}

describe('names and marks', () => {
  it('FED2 stand in every list, and the feed tells when they change', async () => {
    await world.startDaemon();
    const actor = LookAlike.start(world, 'claude', 'work');
    await act(actor, 'running');
    await world.becomes(actor, /running/);
    await act(actor, 'settled');
    await world.becomes(actor, /completed/);
    const runtime = await world.runtimeIn(actor.pane);
    const feed = follow(runtime);
    const tells = (words: string): Promise<void> => until(() => feed.told.at(-1) === words);
    await tells('null false');
    expect((await world.agtmux(['list', 'panes'])).stdout).toMatch(/✓ ~?done • +claude /);
    const inWindows = async () => (await world.agtmux(['list', 'windows', '--with-agent-status'])).stdout;
    expect(await inWindows()).toMatch(/claude done •/);
    expect((await world.agtmux(['route'])).stdout).toMatch(/✓ ~?done •/);

    expect(await world.agtmux(['name', actor.pane, 'reviewer'])).toMatchObject({ status: 0, stderr: '' });
    await tells('reviewer false');
    expect(await world.agtmux(['seen', 'reviewer'])).toMatchObject({ status: 0, stderr: '' });
    await tells('reviewer true');
    expect((await world.agtmux(['list', 'panes'])).stdout).toMatch(/✓ ~?done +reviewer \(claude\) /);
    const { items } = JSON.parse((await world.agtmux(['list', 'panes', '--json'])).stdout) as { items: PaneItem[] };
    expect(items.find(({ runtime_id }) => runtime_id === runtime)).toMatchObject({ nick: 'reviewer', seen: true });
    const listed = await world.agtmux(['list', 'windows', '--with-agent-status', '--json']);
    const windows = JSON.parse(listed.stdout) as WindowList;
    expect(windows.items.flatMap(({ agents }) => agents ?? [])).toMatchObject([{ nick: 'reviewer', seen: true }]);
    expect(await inWindows()).toMatch(/reviewer \(claude\) done(?! •)/);
    expect((await world.agtmux(['route'])).stdout).toMatch(/reviewer \(claude\) +✓ ~?done(?! •)/);
    const routed = JSON.parse((await world.agtmux(['route', '--json'])).stdout) as { items: PaneItem[] };
    expect(routed.items).toMatchObject([{ nick: 'reviewer', seen: true }]);

    // What it does after that nobody has seen yet.
    await act(actor, 'running');
    await tells('reviewer null');
    await act(actor, 'settled');
    await tells('reviewer false');
    await feed.end();

    // They outlive the daemon, and are in the first thing that the next one tells.
    await world.stopDaemon('SIGKILL');
    await world.startDaemon();
    const again = follow(runtime);
    await until(() => again.told.at(-1)?.startsWith('reviewer') === true);
    expect(await world.agtmux(['name', 'reviewer', '--remove'])).toMatchObject({ status: 0, stderr: '' });
    await until(() => again.told.at(-1)?.startsWith('null') === true);
    await again.end();
  });
});

describe('a pane that several sessions show', () => {
  it('ACT1 is found by each of them, whichever tmux lists first', async () => {
    await world.startDaemon();
    const agent = LookAlike.start(world, 'claude', 'work');
    await act(agent, 'settled');
    const runtime = await world.runtimeIn(agent.pane);
    const window = world.tmux('display-message', '-p', '-t', agent.pane, '#{window_id}');
    const names = ['work', 'a-twin', 'z-twin'];
    for (const name of names.slice(1)) world.tmux('new-session', '-d', '-t', 'work', '-s', name);
    for (const name of names) {
      const ref = `pane:host/${name}/${window}/${agent.pane}`;
      await until(async () => (await world.ask({ action: 'seen', ref })).runtime_id === runtime);
    }
  });
});
