import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Live, until } from '../../kit/live.ts';
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

  it('RSV6 one that is cut is missing from lists that say so; the others go on; it comes back by itself', async () => {
    await until(async () => (await healthOf('vm2')) === 'ok');
    relay.cut();
    await until(async () => (await healthOf('vm2')) === 'down');
    expect(await list()).toMatchObject({ partial: true, missing_targets: ['vm2'] });
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
        await evil.close();
      }
    },
  );

  it('SEC5 wrong input is refused with a code; removing ends the watch', async () => {
    const add = (name: string, ref: string) =>
      live.client.post('/v1/targets', { name, kind: 'ssh', connection_ref: ref });
    await expect(add('bad', '-oProxyCommand=touch /tmp/owned')).rejects.toMatchObject({
      code: expect.stringMatching(/^E_/),
    });
    await expect(add('host', 'vm1')).rejects.toMatchObject({ code: 'E_INPUT' });
    await live.client.delete('/v1/targets/vm1');
    await until(async () => (await healthOf('vm1')) === undefined);
  });
});
