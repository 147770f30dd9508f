// How soon a change on a screen is seen, and a pane whose process is replaced or gone: one link to a tmux server with 100
// panes, all screens wanted.

import { type PaneId, targetId } from '../src/model/ids.ts';
import { limits } from '../src/model/limits.ts';
import { createRealChannels } from '../src/platform/channel.ts';
import { createRealClock } from '../src/platform/clock.ts';
import { createRealExec } from '../src/platform/exec.ts';
import { createRealRandom } from '../src/platform/random.ts';
import { createLocalExecutor } from '../src/targets/local.ts';
import { TmuxLink } from '../src/terminals/tmux/link.ts';
import type { Topology } from '../src/terminals/tmux/view.ts';
import { Live, until } from '../test/kit/live.ts';
import { type BenchRow, percentile } from './row.ts';

const panes = 100;
const changes = 25;

class Seen {
  topology: Topology | null = null;
  readonly screens = new Map<PaneId, string>();
}

function linkTo(live: Live, seen: Seen): TmuxLink {
  const clock = createRealClock();
  const executor = createLocalExecutor({
    target: targetId('host'),
    exec: createRealExec(clock),
    channels: createRealChannels(clock),
    variables: live.env,
  });
  return new TmuxLink({
    address: { executor, socket: { kind: 'default' } },
    clock,
    random: createRealRandom(),
    now: () => performance.now(),
    handlers: {
      onTopology: (topology) => {
        seen.topology = topology;
      },
      onScreen: (screen) => seen.screens.set(screen.pane, screen.lines.join('\n')),
      onRefresh: () => undefined,
      onHealth: () => undefined,
      onServerGone: () => undefined,
    },
  });
}

async function timed(times: number[], act: () => void, isSeen: () => boolean): Promise<void> {
  const began = performance.now();
  act();
  await until(isSeen, 10_000, 2);
  times.push(performance.now() - began);
}

export async function run(): Promise<readonly BenchRow[]> {
  const live = new Live();
  const seen = new Seen();
  live.tmux('new-session', '-d', '-s', 's0', '-x', '80', '-y', '24', 'cat');
  for (let pane = 1; pane < panes; pane++) live.tmux('new-window', '-d', '-t', 's0:', 'cat');
  const link = linkTo(live, seen);
  const screen: number[] = [];
  const respawned: number[] = [];
  const killed: number[] = [];
  try {
    link.start();
    await until(() => seen.topology?.panes.size === panes);
    link.wantScreens(seen.topology?.panes.keys() ?? []);
    const ids = [...(seen.topology?.panes.keys() ?? [])];
    for (let turn = 0; turn < changes; turn++) {
      const pane = ids[turn * 3] as PaneId;
      await timed(
        screen,
        () => void live.tmux('send-keys', '-t', pane, '-l', `word${turn}`),
        () => seen.screens.get(pane)?.includes(`word${turn}`) === true,
      );
      const before = seen.topology?.panes.get(pane)?.panePid;
      await timed(
        respawned,
        () => void live.tmux('respawn-pane', '-k', '-t', pane, 'cat'),
        () => seen.topology?.panes.get(pane)?.panePid !== before,
      );
      const gone = ids[turn * 3 + 1] as PaneId;
      const pid = seen.topology?.panes.get(gone)?.panePid ?? 0;
      await timed(
        killed,
        () => void process.kill(pid, 'SIGKILL'),
        () => seen.topology?.panes.has(gone) === false,
      );
    }
  } finally {
    await link.stop();
    await live.close();
  }
  const note = `${panes} panes, ${changes} changes, incl. the tmux command itself`;
  return [
    {
      name: 'screen change to view, p95',
      value: percentile(screen, 0.95),
      unit: 'ms',
      goal: { atMost: limits.sweepMs + 100 },
      note,
    },
    {
      name: 'respawned pane to view, p95',
      value: percentile(respawned, 0.95),
      unit: 'ms',
      goal: { atMost: limits.sweepMs * 2 },
      note,
    },
    {
      name: "a pane's process killed to view, p95",
      value: percentile(killed, 0.95),
      unit: 'ms',
      goal: { atMost: 200 },
      note,
    },
  ];
}
