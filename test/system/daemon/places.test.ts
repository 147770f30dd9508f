// Where agents are: kept over every kind of restart, gone when their pane is, and one row for one agent through however
// many tmux servers it is seen. On real tmux servers and processes.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PaneItem } from '../../../src/api/panes.ts';
import { limits } from '../../../src/model/limits.ts';
import { ActingWorld } from '../../kit/acting.ts';
import { Live, until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';
import { startSshd } from '../../kit/sshd.ts';

const claim = { pid: process.pid, hops: 0 };
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
  it('RTE4b is said to have none, asks nobody, can only be ended, and ends by its process', async () => {
    world.tmux('new-session', '-d', '-s', 'doomed', '-x', '80', '-y', '24', 'sleep 100000');
    const agent = LookAlike.start(world, 'claude', 'doomed', 'script -qc');
    await act(agent, 'waiting_approval');
    await world.startDaemon();
    await world.becomes(agent, /waiting_approval/);
    const pid = (await world.itemIn(agent.pane))?.runtime_id ?? '';
    const ref = `runtime:${pid}`;
    world.tmux('kill-session', '-t', 'doomed');
    await until(async () => (await only()).reason_code === 'no_pane');
    expect(await only()).toMatchObject({
      state: 'unknown',
      route: 'NONE',
      ask: null,
      ref,
      identity: { pane_id: null },
    });
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

  it.each(ways)('RSV6b RSV12 LOG7 an agent keeps its place, its project and its time (%s)', async (_, signal) => {
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

describe('one agent is one row', () => {
  const connected = async (): Promise<readonly string[]> =>
    (await world.items()).filter(({ route, ended }) => route === 'CONNECTED' && ended === null).map(({ ref }) => ref);
  const living = async (): Promise<readonly PaneItem[]> =>
    (await agents()).filter(({ ended, agent }) => ended === null && agent !== null);

  /** An inner server with an agent that waits at its prompt, and a pane of the outer one that shows it. */
  async function nested(inner: readonly string[], attach: string): Promise<LookAlike> {
    world.tmux(...inner, 'new-session', '-d', '-s', 'in', '-x', '80', '-y', '24', 'sleep 100000');
    const agent = LookAlike.start(world, 'claude', 'in', '', world.dir, inner);
    await act(agent, 'settled');
    world.tmux('new-window', '-t', 'work:', `env -u TMUX ${attach}`);
    return agent;
  }

  it.each([
    ['a server of its own', ['-L', 'inner'], 'tmux -L inner attach', 'host@inner'],
    ['the same server', [], 'tmux attach -t in', 'host'],
    ['through script', ['-L', 'inner'], `script -qc 'tmux -L inner attach' /dev/null`, 'host@inner'],
  ])(
    'IDN7 RTE5 a tmux client in a pane that shows %s adds no agent and takes nothing',
    async (_, inner, attach, target) => {
      await nested(inner, attach);
      await world.startDaemon();
      await until(async () => (await living()).length > 0);
      // As long as a guest is ever held back, and then some: nobody else comes.
      const until9s = performance.now() + 9_000;
      await until(
        async () => {
          const rows = await living();
          expect(rows.map(({ identity }) => identity.target)).toEqual([target]);
          return performance.now() > until9s && rows[0]?.state !== 'unknown';
        },
        60_000,
        100,
      );
      expect(await connected()).toHaveLength(1);
      const told = await world.agtmux(['tell', 'are you there?', '--json']);
      expect(JSON.parse(told.stdout)).toMatchObject({ outcome: expect.stringMatching(/delivered|queued|unconfirmed/) });
      // It ends with its session; the client that showed it leaves no picture of it behind as an agent.
      world.tmux(...inner, 'kill-session', '-t', 'in');
      await until(async () => (await living()).length === 0);
      expect((await agents()).map(({ identity }) => identity.target)).toEqual([target]);
    },
  );

  it('IDN7 an agent of an inner server that nobody watches is listed where it is seen, once', async () => {
    const path = join(world.dir, 'elsewhere.sock');
    await nested(['-S', path], `tmux -S ${path} attach`);
    try {
      await world.startDaemon();
      await until(async () => (await living())[0]?.reason_code === 'inside_tmux', 60_000);
      expect(await living()).toMatchObject([
        { identity: { target: 'host' }, reason_code: 'inside_tmux', confidence: 'low' },
      ]);
      // A person gives that socket a name: it is watched itself now, and what was seen through the pane leaves.
      await world.client.post('/v1/targets', {
        name: 'else',
        kind: 'local',
        connection_ref: path,
        ...claim,
      } as never);
      await until(async () => (await living()).map(({ identity }) => identity.target).join() === 'else', 60_000);
      expect(await connected()).toHaveLength(1);
    } finally {
      world.tmux('-S', path, 'kill-server');
    }
  });

  it('IDN7 an ssh to a target, where its tmux shows an agent, adds none', async () => {
    const far = new Live();
    const sshd = await startSshd({
      alias: 'vm1',
      environment: { HOME: join(far.dir, 'home'), TMUX_TMPDIR: join(far.dir, 'tmux') },
    });
    const near = new ActingWorld({ AGTMUX_SSH_CONFIG: sshd.configFile });
    try {
      far.tmux('new-session', '-d', '-s', 'far', '-x', '80', '-y', '24', 'sleep 100000');
      const agent = LookAlike.start(far, 'claude', 'far');
      await act(agent, 'settled');
      await near.startDaemon();
      await near.client.post('/v1/targets', { name: 'there', kind: 'ssh', connection_ref: 'vm1', ...claim } as never);
      const rows = async (): Promise<readonly string[]> =>
        (await near.items())
          .filter(({ agent: name, ended }) => name !== null && ended === null)
          .map(({ identity, route }) => `${identity.target} ${route}`);
      await until(async () => (await rows()).join() === 'there CONNECTED', 60_000);
      near.tmux('new-window', '-t', 'work:', `ssh -F ${sshd.configFile} -t vm1 tmux -u attach -t far`);
      const shown = (): string => near.tmux('capture-pane', '-p', '-t', 'work:{end}');
      await until(() => shown().includes('far') && shown().includes('❯'), 60_000, 100);
      // As long as it takes to believe in a guest, many times over.
      const enough = performance.now() + 20 * limits.guestSeenMs;
      await until(
        async () => {
          expect(await rows()).toEqual(['there CONNECTED']);
          return performance.now() > enough;
        },
        60_000,
        100,
      );
    } finally {
      await near.close();
      await sshd.close();
      await far.close();
    }
  });

  it('IDN1 IDN3 one machine that is reached twice, and a socket that is given a name, make one row', async () => {
    const inner = ['-L', 'inner'];
    world.tmux(...inner, 'new-session', '-d', '-s', 'in', '-x', '80', '-y', '24', 'sleep 100000');
    await act(LookAlike.start(world, 'claude', 'work'), 'settled');
    await act(LookAlike.start(world, 'codex', 'in', '', world.dir, inner), 'settled');
    const environment = { HOME: join(world.dir, 'home'), TMUX_TMPDIR: join(world.dir, 'tmux') };
    const sshd = await startSshd({ alias: 'vm1', environment });
    world.env.AGTMUX_SSH_CONFIG = sshd.configFile;
    try {
      await world.startDaemon();
      const rows = async (): Promise<string> =>
        (await living())
          .map(({ identity, agent }) => `${identity.target} ${agent}`)
          .sort()
          .join();
      await until(async () => (await rows()) === 'host claude,host@inner codex', 60_000);
      await world.client.post('/v1/targets', { name: 'there', kind: 'ssh', connection_ref: 'vm1', ...claim } as never);
      await until(async () => {
        const { items } = await world.client.get('/v1/targets');
        return items.some(({ target, panes }) => target === 'there' && panes === 2);
      }, 60_000);
      await world.client.post('/v1/targets', {
        name: 'mine',
        kind: 'local',
        connection_ref: 'inner',
        ...claim,
      } as never);
      await until(async () => (await rows()) === 'host claude,mine codex', 60_000);
      expect(await connected()).toHaveLength(1);
    } finally {
      await world.stopDaemon();
      world.tmux(...inner, 'kill-server');
      await sshd.close();
    }
  });
});
