// Where agents are: kept over every kind of restart, gone when their pane is, and one row for one agent through however
// many tmux servers it is seen. On real tmux servers and processes.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PaneItem } from '../../../src/api/schemas.ts';
import { ActingWorld } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';

let world: ActingWorld;

beforeEach(() => {
  world = new ActingWorld();
});

/** What this world started and what outlived its tmux server. */
function ghosts(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${world.dir}/`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

afterEach(async () => {
  await world.close();
  for (const pid of ghosts()) process.kill(pid, 'SIGKILL');
});

const agents = async (): Promise<readonly PaneItem[]> => {
  const { items } = await world.client.get('/v1/panes', { ended: true });
  return items;
};
const only = async (): Promise<PaneItem> => {
  const [item, ...others] = await agents();
  expect(others).toEqual([]);
  if (item === undefined) throw new Error('there is no agent');
  return item;
};
const diary = (): string => {
  const folder = join(world.stateDir, 'diary');
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
};
const placeOf = ({ identity, window_index, pane_index, window_name, cwd }: PaneItem) => ({
  place: `${identity.target}/${identity.session_name}:${window_index}.${pane_index}`,
  pane: identity.pane_id,
  window: `${identity.window_id} ${window_name}`,
  cwd,
});

describe('an agent that outlives its pane', () => {
  it('RTE4 is said to have none, asks nobody, can only be ended, and ends by its process', async () => {
    world.tmux('new-session', '-d', '-s', 'doomed', '-x', '80', '-y', '24', 'sleep 100000');
    const agent = LookAlike.start(world, 'claude', 'doomed', 'script -qc');
    await act(agent, 'waiting_approval');
    await world.startDaemon();
    await world.becomes(agent, /waiting_approval/);
    const pid = (await world.itemIn(agent.pane))?.runtime_id ?? '';
    const ref = `runtime:${pid}`;
    world.tmux('kill-session', '-t', 'doomed');
    await until(async () => (await only()).reason_code === 'no_pane');
    expect(await only()).toMatchObject({ state: 'unknown', route: 'NONE', ask: null, ref, identity: { pane_id: '' } });
    const { stdout } = await world.agtmux(['list']);
    expect(stdout).toContain('runs on without a pane');
    expect(stdout).not.toMatch(/approve/);
    for (const args of [
      ['approve', ref, '--yes'],
      ['send', ref, '--text', 'hello'],
      ['attach', ref],
      ['view-output', ref],
    ]) {
      const said = await world.agtmux([...args, '--json']);
      expect(`${args[0]} ${said.stdout}${said.stderr}`).toContain('E_NO_PANE');
    }
    const killed = await world.agtmux(['kill', ref, '--signal', 'KILL', '--yes', '--json']);
    expect(JSON.parse(killed.stdout)).toMatchObject({ outcome: 'delivered' });
    expect((await only()).ended).not.toBeNull();
  });

  it('RTE4 is said to have none also when its whole server is gone, and after a restart', async () => {
    const agent = LookAlike.start(world, 'claude', 'work', 'script -qc');
    await act(agent, 'waiting_approval');
    await world.startDaemon();
    await world.becomes(agent, /waiting_approval/);
    world.tmux('kill-server');
    await until(async () => (await only()).reason_code === 'no_pane');
    await world.stopDaemon('SIGKILL');
    await world.startDaemon();
    await until(async () => (await only()).reason_code === 'no_pane');
    expect(await only()).toMatchObject({ state: 'unknown', ask: null, cwd: world.dir });
    const { runtime_id } = await only();
    const said = await world.agtmux(['kill', `runtime:${runtime_id}`, '--signal', 'KILL', '--yes', '--json']);
    expect(JSON.parse(said.stdout)).toMatchObject({ outcome: 'delivered' });
  });
});

describe('over a restart of the daemon', () => {
  const ways = [
    ['orderly', 'SIGTERM'],
    ['by kill -9', 'SIGKILL'],
  ] as const;

  it.each(ways)('RSV6 RSV12 LOG7 an agent keeps its place, its project and its time (%s)', async (_, signal) => {
    const agent = LookAlike.start(world, 'claude', 'work');
    world.tmux('rename-window', '-t', agent.pane, 'api');
    await act(agent, 'waiting_approval');
    await world.startDaemon();
    await world.becomes(agent, /waiting_approval/);
    const before = placeOf(await only());
    expect(before).toMatchObject({ place: 'host/work:1.0', pane: agent.pane, cwd: world.dir });
    const { since } = await only();
    const waited = async () => {
      const { items } = await world.client.get('/v1/timeline', {});
      return items.map(({ project, where, is_open, spans }) => ({ project, where, is_open, spans }));
    };
    // What is told is written down in batches; a daemon that is killed before that has told it in vain.
    await until(() => diary().includes('"waiting_approval"'));
    await world.stopDaemon(signal);

    // The server lives on: the same wait goes on.
    await world.startDaemon();
    await until(async () => (await only()).state === 'waiting_approval');
    expect(placeOf(await only())).toEqual(before);
    expect((await only()).since).toBe(since);
    const lanes = await waited();
    expect(lanes).toMatchObject([{ project: basename(world.dir), where: 'work:1.0', is_open: true }]);
    expect(lanes[0]?.spans.at(-1)).toMatchObject({ state: 'waiting_approval', from: since });
    await world.stopDaemon(signal);

    // The server does not answer.
    const server = world.serverPid;
    process.kill(server, 'SIGSTOP');
    try {
      await world.startDaemon();
      await until(async () => (await only()).reason_code === 'target_unreachable');
      expect(placeOf(await only())).toEqual(before);
      await world.stopDaemon(signal);
    } finally {
      process.kill(server, 'SIGCONT');
    }

    // The server is gone.
    world.tmux('kill-server');
    await world.startDaemon();
    await until(async () => (await only()).ended !== null);
    expect(placeOf(await only())).toEqual(before);
    await until(async () => (await waited())[0]?.is_open === false);
    const [lane] = await waited();
    expect(lane).toMatchObject({ project: basename(world.dir), where: 'work:1.0' });
    expect(lane?.spans.find(({ state }) => state === 'waiting_approval')).toMatchObject({ from: since });
  });
});
