import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathTo } from '../../../src/api/requests.ts';
import { limits } from '../../../src/model/limits.ts';
import { forgedTmux } from '../../kit/forged-tmux.ts';
import { Live, until } from '../../kit/live.ts';
import { programsMayAll } from '../../kit/policy.ts';
import { type Relay, startRelay } from '../../kit/relay.ts';
import { startSshd, type TestSshd } from '../../kit/sshd.ts';

let far: Live;
let sshd: TestSshd;
let relay: Relay;
let live: Live;

beforeAll(async () => {
  far = new Live();
  far.tmux('new-session', '-d', '-s', 'far away', '-x', '80', '-y', '24', 'sleep 100000');
  sshd = await startSshd({
    alias: 'vm1',
    environment: { HOME: join(far.dir, 'home'), TMUX_TMPDIR: join(far.dir, 'tmux') },
  });
  relay = await startRelay(sshd.port, 50);
  await sshd.addAlias('vm2', relay.port);
  live = new Live({ AGTMUX_SSH_CONFIG: sshd.configFile });
  live.tmux('new-session', '-d', '-s', 'here', 'sleep 100000');
  const config = join(live.dir, 'home/.config/agtmux');
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, 'policy.toml'), programsMayAll);
  await live.startDaemon();
});

afterAll(async () => {
  await live.close();
  await relay.close();
  await sshd.close();
  await far.close();
});

const healthOf = async (target: string) =>
  (await live.client.get('/v1/targets')).items.find((one) => one.target === target)?.health;
const list = () => live.client.get('/v1/panes', { all_panes: true });

/** The command lines of all processes. */
const programs = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    });

/** Machines that answer every question with noise: endless lines, one endless line, and a tmux that is none. */
const noises = {
  lines: "while :; do echo '%output %0 \\033]0;owned\\007'; done",
  line: "yes | tr -d '\\n'",
  silence: 'sleep 1000',
};

describe('targets over ssh', () => {
  it('FED4 are added, listed and named, each pane with its own machine', async () => {
    for (const name of ['vm1', 'vm2'])
      await live.client.post('/v1/targets', { name, kind: 'ssh', connection_ref: name });
    await until(async () => (await live.listed('vm1')).length === 1 && (await live.listed('vm2')).length === 1);
    expect(await live.listed('vm2')).toEqual(far.tmuxListed());
    expect(await list()).toMatchObject({ partial: false, missing_targets: [] });
  });

  it('IDN7 an agent on another machine is found by its process', async () => {
    far.tmux('new-window', '-t', 'far away', '-n', 'agent', far.lookAlike());
    await until(async () =>
      (await live.client.get('/v1/panes', { target: ['vm1'] })).items.some((one) => one.agent === 'claude'),
    );
    far.tmux('kill-window', '-t', 'far away:agent');
    await until(
      async () => !(await live.client.get('/v1/panes', { target: ['vm1'] })).items.some((one) => one.ended === null),
    );
  });

  it('ACT8 an agent that says nothing was last seen when its pane was, and conditions go by that', async () => {
    far.tmux('new-window', '-t', 'far away', '-n', 'quiet', far.lookAlike());
    const agent = async () =>
      (await live.client.get('/v1/panes', { target: ['vm1'] })).items.find((one) => one.window_name === 'quiet');
    await until(async () => (await agent())?.agent === 'claude');
    const from = Date.now() + 3_000;
    await until(async () => Date.parse((await agent())?.last_seen_at ?? '') > from, 30_000);
    const ref = (await agent())?.ref ?? '';
    const common = { ref, pid: process.pid, hops: 0 };
    const conditions = { if_updated_within_ms: 2_900 };
    // The look-alike has been there for longer than that without a word.
    const named = await live.client.post('/v1/act', { ...common, action: 'name', nick: 'quiet', conditions });
    expect(named).toMatchObject({ outcome: 'delivered' });
    // RTE6: a path of this machine means nothing over there.
    const files = [{ path: '/etc/hosts', from: null, to: null }];
    const flags = { enter: true, when_ready: false, strip_control: false };
    const message = { action: 'send', text: 'read it', ...flags, files } as const;
    const told = await live.client.post('/v1/act', { ...common, ...message, conditions: {} });
    expect(told).toMatchObject({ outcome: 'refused', failure: { code: 'E_FILE' } });
    expect(told.failure?.message).toContain('the agent is on vm1');
    far.tmux('kill-window', '-t', 'far away:quiet');
  });

  it('RSV6 one that is cut is missing from lists that say so; the others go on; it comes back by itself', async () => {
    await until(async () => (await healthOf('vm2')) === 'ok');
    relay.cut();
    await until(async () => (await healthOf('vm2')) === 'down');
    expect(await list()).toMatchObject({ partial: true, missing_targets: ['vm2'] });
    // Nothing is begun there either, and that is said.
    const wanted = { agent: 'claude', target: 'vm2', session: null, cwd: null, args: [], pid: process.pid, hops: 0 };
    expect(await live.client.post('/v1/runtimes', wanted)).toMatchObject({
      outcome: 'refused',
      failure: { code: 'E_TARGET_DOWN' },
    });
    live.tmux('rename-session', '-t', 'here', 'here2');
    await until(async () => (await live.listed()).some((line) => line.includes('here2')), 2_000);
    relay.mend();
    await until(async () => (await healthOf('vm2')) === 'ok', 60_000);
    await until(async () => (await live.listed('vm2')).join() === far.tmuxListed().join());
  });

  it('FED4 one that hangs half open is noticed, holds up nobody, and comes back', async () => {
    relay.freeze();
    await until(async () => (await healthOf('vm2')) === 'down');
    live.tmux('rename-session', '-t', 'here2', 'here3');
    await until(async () => (await live.listed()).some((line) => line.includes('here3')), 2_000);
    relay.thaw();
    await until(async () => (await healthOf('vm2')) === 'ok', 60_000);
  });

  it.each(Object.entries(noises))(
    'SEC5 a machine that answers with %s harms only its own rows',
    async (name, script) => {
      const file = join(far.dir, `${name}.sh`);
      writeFileSync(file, `${script}\n`);
      const evil = await startSshd({ alias: `evil-${name}`, lines: [`ForceCommand sh ${file}`] });
      const alone = new Live({ AGTMUX_SSH_CONFIG: evil.configFile });
      try {
        alone.tmux('new-session', '-d', '-s', 'here', 'sleep 100000');
        await alone.startDaemon();
        await alone.client.post('/v1/targets', { name: 'evil', kind: 'ssh', connection_ref: `evil-${name}` });
        for (let turn = 0; turn < 10; turn++) {
          alone.tmux('rename-session', '-t', turn === 0 ? 'here' : `here${turn - 1}`, `here${turn}`);
          await until(async () => (await alone.listed()).some((line) => line.includes(`here${turn}`)), 3_000);
        }
        await until(
          async () =>
            (await alone.client.get('/v1/targets')).items.find((one) => one.target === 'evil')?.health === 'down',
        );
        expect((await alone.client.get('/v1/status')).memory_bytes).toBeLessThan(250 * 1_048_576);
        expect((await alone.client.get('/v1/panes', { all_panes: true, target: ['evil'] })).items).toEqual([]);
      } finally {
        await alone.close();
        // Also of one that never answered no client is left.
        await until(() => programs().every((line) => !line.includes(evil.configFile)));
        await evil.close();
      }
      // Nor, on its own side, whatever it did instead of answering.
      await until(() => programs().every((line) => !line.includes(file)));
    },
  );

  it('SEC5 a tmux that invents 10,000 panes slows nobody down', async () => {
    const bin = join(far.dir, 'bin');
    const sockets = join(far.dir, 'liar');
    mkdirSync(bin);
    mkdirSync(join(sockets, `tmux-${userInfo().uid}`), { recursive: true, mode: 0o700 });
    writeFileSync(join(bin, 'tmux'), forgedTmux, { mode: 0o755 });
    const listener = createServer().listen(join(sockets, `tmux-${userInfo().uid}`, 'default'));
    const environment = { PATH: `${bin}:${process.env.PATH}`, TMUX_TMPDIR: sockets };
    const evil = await startSshd({ alias: 'liar', environment });
    const alone = new Live({ AGTMUX_SSH_CONFIG: evil.configFile });
    try {
      alone.tmux('new-session', '-d', '-s', 'here', 'sleep 100000');
      await alone.startDaemon();
      await alone.client.post('/v1/targets', { name: 'liar', kind: 'ssh', connection_ref: 'liar' });
      await until(async () =>
        (await alone.client.get('/v1/targets')).items.some((one) => one.target === 'liar' && one.panes > 0),
      );
      for (let turn = 0; turn < 10; turn++) {
        alone.tmux('rename-session', '-t', turn === 0 ? 'here' : `here${turn - 1}`, `here${turn}`);
        await until(async () => (await alone.listed()).some((line) => line.includes(`here${turn}`)), 3_000);
      }
      expect((await alone.client.get('/v1/status')).memory_bytes).toBeLessThan(400 * 1_048_576);
    } finally {
      await alone.close();
      await evil.close();
      listener.close();
    }
  });

  it('SEC5 IDN6 a tmux that lists 2,000 panes over one process has one agent, and none when it lists no pane any more', async () => {
    const bin = join(far.dir, 'bin2');
    const sockets = join(far.dir, 'forger');
    mkdirSync(bin);
    mkdirSync(join(sockets, `tmux-${userInfo().uid}`), { recursive: true, mode: 0o700 });
    const program = join(bin, 'tmux');
    writeFileSync(program, forgedTmux, { mode: 0o755 });
    const lie = (words: object): void => {
      writeFileSync(`${program}.new`, JSON.stringify(words));
      renameSync(`${program}.new`, `${program}.json`);
    };
    const pid = Number(far.tmux('new-window', '-t', 'far away', '-P', '-F', '#{pane_pid}', far.lookAlike()));
    lie({ pid, first: 0, count: 1 });
    const listener = createServer().listen(join(sockets, `tmux-${userInfo().uid}`, 'default'));
    const evil = await startSshd({
      alias: 'forger',
      environment: { PATH: `${bin}:${process.env.PATH}`, TMUX_TMPDIR: sockets },
    });
    const alone = new Live({ AGTMUX_SSH_CONFIG: evil.configFile });
    const agents = async () => {
      const { items } = await alone.client.get('/v1/panes', { target: ['forger'] });
      return items.filter((one) => one.agent !== null && one.ended === null).map((one) => one.identity.pane_id);
    };
    const panesOf = async () =>
      (await alone.client.get('/v1/targets')).items.find((one) => one.target === 'forger')?.panes;
    try {
      alone.tmux('new-session', '-d', '-s', 'here', alone.lookAlike());
      await alone.startDaemon();
      await alone.client.post('/v1/targets', { name: 'forger', kind: 'ssh', connection_ref: 'forger' });
      await until(async () => (await agents()).join() === '%0', 60_000);
      lie({ pid, first: 0, count: 2_000 });
      await until(async () => (await panesOf()) === limits.farPanesMax, 60_000);
      const told = (await alone.client.get('/v1/targets')).items.find((one) => one.target === 'forger');
      expect(told).toMatchObject({ health: 'degraded', trouble: expect.stringContaining('1000 panes or more') });
      // What a look finds after it is told with the next change of the list.
      alone.tmux('rename-session', '-t', 'here', 'here2');
      await until(async () => (await alone.listed()).some((line) => line.includes('here2')), 10_000);
      lie({ pid, first: 5, count: 1_000 });
      await until(async () => (await agents()).join() === '%5', 60_000);
      const { items } = await alone.client.get('/v1/panes', { target: ['forger'], ended: true });
      expect(new Set(items.map((one) => one.identity.pane_id))).toEqual(new Set(['%0', '%5']));
      lie({ pid: 4_194_305, first: 7, count: 1 });
      await until(async () => (await agents()).length === 0, 60_000);
      expect((await alone.client.get('/v1/targets')).items.every((one) => one.health === 'ok')).toBe(true);
    } finally {
      await alone.close();
      await evil.close();
      listener.close();
      far.tmux('kill-window', '-t', 'far away');
    }
  });

  it('SEC5 wrong input is refused with a code; removing ends the watch', async () => {
    const add = (name: string, ref: string) =>
      live.client.post('/v1/targets', { name, kind: 'ssh', connection_ref: ref });
    await expect(add('bad', '-oProxyCommand=touch /tmp/owned')).rejects.toMatchObject({
      code: expect.stringMatching(/^E_/),
    });
    await expect(add('host', 'vm1')).rejects.toMatchObject({ code: 'E_INPUT' });
    // An agent that has just ended is still listed, until its machine is removed.
    const shown = async () => (await live.client.get('/v1/panes')).items.filter((one) => one.identity.target === 'vm1');
    far.tmux('new-window', '-t', 'far away', '-n', 'agent', far.lookAlike());
    await until(async () => (await shown()).some((one) => one.ended === null));
    far.tmux('kill-window', '-t', 'far away:agent');
    await until(async () => (await shown()).length > 0 && (await shown()).every((one) => one.ended !== null));
    await live.client.delete(pathTo('/v1/targets/{name}', { name: 'vm1' }));
    await until(async () => (await healthOf('vm1')) === undefined);
    await until(async () => (await shown()).length === 0);
  });
});
