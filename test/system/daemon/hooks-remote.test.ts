// Hooks on another machine, over a real sshd: the same files, the same promises, and nothing of ours left behind.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Live, until } from '../../kit/live.ts';
import { startSshd, type TestSshd } from '../../kit/sshd.ts';

let far: Live;
let sshd: TestSshd;
let live: Live;
let home: string;
const user = '{\n  "model": "opus", // mine\n  "hooks": {}\n}\n';

beforeAll(async () => {
  far = new Live();
  home = join(far.dir, 'home');
  sshd = await startSshd({ alias: 'vm1', environment: { HOME: home, CODEX_HOME: join(home, 'codex-home') } });
  live = new Live({ AGTMUX_SSH_CONFIG: sshd.configFile });
  await live.startDaemon();
  await live.client.post('/v1/targets', { name: 'vm1', kind: 'ssh', connection_ref: 'vm1' });
  await until(async () => (await live.client.get('/v1/targets')).items.some((one) => one.target === 'vm1'));
});
afterAll(async () => {
  await live.close();
  await sshd.close();
  await far.close();
});

describe('hooks on a machine behind ssh', () => {
  it('SEC5 are planned and written there, in its own places, and leave nothing when they go', async () => {
    mkdirSync(join(home, '.claude'));
    mkdirSync(join(home, 'codex-home'));
    writeFileSync(join(home, '.claude/settings.json'), user);
    const wanted = { action: 'install', target: 'vm1', env: { CLAUDE_CONFIG_DIR: '/not/there' } } as const;
    const plan = await live.client.post('/v1/hooks/plan', wanted);
    expect(plan.agents).toEqual(['claude', 'codex']);
    expect(readdirSync(home).sort()).toEqual(['.claude', 'codex-home']);
    const { digest } = plan;
    await live.client.post('/v1/hooks/apply', { ...wanted, digest });
    const state = join(home, '.local/state/agtmux');
    const hook = join(state, 'bin/agtmux-hook');
    expect(readFileSync(join(home, '.claude/settings.json'), 'utf8')).toContain(`"'${hook}' claude Stop"`);
    expect(existsSync(join(home, 'codex-home/hooks.json'))).toBe(true);
    expect(statSync(hook).mode & 0o777).toBe(0o755);
    expect(statSync(join(state, 'spool')).mode & 0o777).toBe(0o700);
    const status = await live.client.get('/v1/hooks', { target: 'vm1', agent: ['claude', 'codex'] });
    expect(status.agents.map((one) => one.state)).toEqual(['installed', 'installed']);
    expect(status.program).toEqual({ path: hook, state: 'current' });
    // This machine has none of it.
    expect((await live.client.get('/v1/hooks', { agent: ['claude'] })).agents[0]?.state).toBe('absent');

    const removal = { action: 'remove', target: 'vm1' } as const;
    const { digest: other } = await live.client.post('/v1/hooks/plan', removal);
    await live.client.post('/v1/hooks/apply', { ...removal, digest: other });
    expect(readFileSync(join(home, '.claude/settings.json'), 'utf8')).toBe(user);
    expect(readdirSync(join(home, '.claude'))).toEqual(['settings.json']);
    expect(readdirSync(join(home, 'codex-home'))).toEqual([]);
    // Neither the program nor the spool, which were there for the hooks alone.
    expect(existsSync(state)).toBe(false);
  });

  it('a machine that cannot be reached is told as such', async () => {
    await live.client.post('/v1/targets', {
      name: 'nowhere',
      kind: 'ssh',
      connection_ref: 'no.such.alias.invalid',
    });
    await expect(live.client.get('/v1/hooks', { target: 'nowhere' })).rejects.toMatchObject({ code: 'E_TARGET_DOWN' });
  });
});
