// An agent that would change agtmux itself instead of asking it: switch off the adapter that knows it, end the daemon, or
// start it with a policy of its own. Through the real command line; a person may do all of that. What it may change, hooks and
// machines, it changes under its name.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ActingWorld } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';
import { cliProgram } from '../../kit/self-tries.ts';

let world: ActingWorld;
let asking: LookAlike;

beforeEach(async () => {
  world = new ActingWorld();
  // Nobody is trusted here but by who they are.
  rmSync(join(world.dir, 'home/.config/agtmux/policy.toml'));
  await world.startDaemon();
  asking = LookAlike.start(world, 'claude', 'work');
  await act(asking, 'waiting_approval');
  await world.becomes(asking, /waiting_approval/);
});

afterEach(async () => {
  await world.close();
});

const cli = `${process.execPath} ${cliProgram}`;
const bare = (): string =>
  ['HOME', 'PATH', 'AGTMUX_STATE_DIR', 'TMUX_TMPDIR'].map((name) => `${name}='${world.env[name]}'`).join(' ');

/** What the agent's tool does, with everything it says in one text. */
async function tries(agent: LookAlike, script: string): Promise<string> {
  const out = join(world.dir, `out-${Math.random().toString(36).slice(2)}`);
  const argv = ['sh', '-c', `{ ${script}\n} >${out} 2>&1`];
  await agent.call([{ argv, input: '' }]);
  return readFileSync(out, 'utf8');
}

/** In a shell of a person's, until it has ended. */
async function typed(line: string): Promise<string> {
  const pane = world.tmux('new-window', '-t', 'work:', '-c', world.dir, '-P', '-F', '#{pane_id}');
  const out = join(world.dir, `typed-${Math.random().toString(36).slice(2)}`);
  world.tmux('send-keys', '-t', pane, '-l', `${line} >${out} 2>&1; echo "status $?" >>${out}`);
  world.tmux('send-keys', '-t', pane, 'Enter');
  let said = '';
  await until(() => {
    try {
      said = readFileSync(out, 'utf8');
    } catch {
      return false;
    }
    return /status \d+\n$/.test(said);
  });
  return said;
}

describe('an agent', () => {
  it('ACT6 ACT6g cannot switch off the adapter that knows it, and is an agent also while that is off', async () => {
    const shell = world.tmux('new-window', '-t', 'work:', '-c', world.dir, '-P', '-F', '#{pane_id}');
    const other = LookAlike.startInside(world, 'codex', shell);
    await act(other, 'running');
    await world.becomes(other, /running/);
    const run = (words: string): Promise<string> => tries(other, `env -i ${bare()} ${cli} ${words}`);
    expect(await run('agents disable codex')).toMatch(/agents is not allowed for agents.*E_ROLE/);
    expect(await typed(`${cli} agents disable codex`)).toContain('codex is off');
    await until(async () => (await world.itemIn(other.pane)) === undefined);
    expect(await run(`approve ${asking.pane} --yes`)).toMatch(/approve is not allowed for agents.*E_ROLE/s);
    expect(await run('agents enable codex')).toContain('E_ROLE');
    expect(asking.typed()).toBe('');
    const rows = (await world.audit()).filter(({ action }) => action === 'agents');
    expect(rows.map(({ actor, result, detail }) => [actor.split(':')[0], result, detail.enabled])).toEqual([
      ['observer', 'refused', true],
      ['human', 'delivered', false],
      ['observer', 'refused', false],
    ]);
  });

  it('ACT6 ACT6g that changes hooks, the MCP server or machines leaves rows with its name, as a person and a script do', async () => {
    const claude = join(world.dir, 'home/.claude');
    mkdirSync(claude, { recursive: true });
    const put = [
      'hooks install --agent claude --yes',
      'mcp install --agent claude --yes',
      'target add vm9 --ssh-target no.such.alias.invalid',
    ];
    const taken = [
      'hooks remove --agent claude --yes',
      'mcp uninstall --agent claude --yes',
      'target remove vm9 --yes',
    ];
    const isInstalled = (): boolean => existsSync(join(claude, 'settings.json'));
    for (const word of put) expect(await tries(asking, `env -i ${bare()} ${cli} ${word}`)).toMatch(/written|added/);
    expect(isInstalled()).toBe(true);
    // A script of the person's, without a terminal.
    for (const word of taken) expect(await typed(`setsid -w ${cli} ${word}`)).toMatch(/removed: .*\nstatus 0/s);
    expect(isInstalled()).toBe(false);
    for (const word of put) expect(await typed(`${cli} ${word}`)).toMatch(/(written|added): .*\nstatus 0/s);
    const socket = `curl -s --unix-socket ${world.stateDir}/run/agtmux.sock http://localhost/v1/targets`;
    expect(await tries(asking, `${socket}/vm9 -X DELETE`)).toContain('"done":true');
    const rows = (await world.audit()).filter(({ action }) => ['hooks', 'mcp', 'target'].includes(action));
    expect(
      rows.map(({ actor, action, detail }) => `${actor.split(/[:,]/)[0]} ${action} ${detail.change} ${detail.named}`),
    ).toEqual([
      'observer target remove vm9',
      ...['target add vm9', 'mcp install claude', 'hooks install claude'].map((deed) => `human ${deed}`),
      ...['target remove vm9', 'mcp remove claude', 'hooks remove claude'].map((deed) => `operator ${deed}`),
      ...['target add vm9', 'mcp install claude', 'hooks install claude'].map((deed) => `observer ${deed}`),
    ]);
    expect(rows.filter(({ actor }) => actor.includes('an agent, ')).length).toBe(3);
  });

  it('ACT6 cannot end the daemon or start it anew, by whatever way', async () => {
    const { daemonPid } = world;
    for (const way of [cli, `env -i ${bare()} ${cli}`, `setsid -w env -i ${bare()} ${cli}`]) {
      for (const word of ['stop', 'restart']) {
        expect(await tries(asking, `${way} daemon ${word}`)).toMatch(/stop is not allowed for agents.*E_ROLE/);
      }
    }
    const post = `curl -s --unix-socket ${world.stateDir}/run/agtmux.sock -X POST http://localhost/v1/stop`;
    const body = "-H 'content-type: application/json' -d '{}'";
    for (const line of [post, `${post} ${body}`]) expect(await tries(asking, line)).toContain('E_ROLE');
    expect((await world.client.get('/v1/status')).pid).toBe(daemonPid);
    const rows = (await world.audit()).filter(({ action }) => action === 'stop');
    expect(new Set(rows.map(({ result }) => result))).toEqual(new Set(['refused']));
    expect(rows).toHaveLength(8);
    expect(await typed(`${cli} daemon stop`)).toContain(`stopped, pid ${daemonPid}`);
  });

  it('ACT6 gains nothing by starting the daemon with another configuration', async () => {
    // It was killed, which nobody can keep an agent from.
    await world.stopDaemon('SIGKILL');
    const evil = join(world.dir, 'evil/agtmux');
    mkdirSync(evil, { recursive: true });
    const policy = 'allow_approve = ["operator"]\nkinds = ["command"]\ntrust_untraceable = true\n';
    writeFileSync(join(evil, 'policy.toml'), policy);
    writeFileSync(join(evil, 'config.toml'), '');
    const start = `AGTMUX_CONFIG=${evil}/config.toml XDG_CONFIG_HOME=${world.dir}/evil ${cli} daemon start`;
    expect(await tries(asking, start)).toContain('started, pid');
    await world.becomes(asking, /waiting_approval/);
    const out = join(world.dir, 'approved');
    const approve = `env -i ${bare()} setsid -f sh -c '${cli} approve ${asking.pane} --yes >${out} 2>&1; echo done >>${out}'`;
    await tries(asking, approve);
    await until(() => {
      try {
        return readFileSync(out, 'utf8').endsWith('done\n');
      } catch {
        return false;
      }
    });
    expect(readFileSync(out, 'utf8')).toContain('E_ROLE');
    expect(asking.typed()).toBe('');
    expect(await typed(`${cli} daemon stop`)).toContain('stopped');
  });
});

describe('an event that an agent hands in', () => {
  const eventOf = (source: string, kind: string, runtime: string, payload: object = {}): string =>
    JSON.stringify({
      evidence: { target: 'host', runtime_id: runtime },
      source,
      kind,
      event_time: Date.now(),
      payload,
    });

  it('BND1 chooses nobody, ends nobody and speaks for nobody else', async () => {
    const other = LookAlike.start(world, 'codex', 'work');
    await act(other, 'running');
    await world.becomes(other, /running/);
    await world.routed('DC', asking.pane, other.pane);
    const [own, foreign] = [await world.runtimeIn(asking.pane), await world.runtimeIn(other.pane)];
    const said = { state: 'error', reason: 'api_error', confidence: 'high' };
    const forged = [
      eventOf('operator', 'route.activated', own),
      eventOf('process', 'runtime.ended', foreign, { cause: 'vanished' }),
      eventOf('process', 'runtime.ended', own, { cause: 'vanished' }),
      eventOf('reconciler', 'state.observed', own, said),
      eventOf('hook', 'state.observed', foreign, said),
      eventOf('hook', 'ask.opened', foreign, { ask: { ask_id: 'x', kind: 'command', scope: 'main', text: 'ls' } }),
    ];
    writeFileSync(join(world.dir, 'events'), `${forged.join('\n')}\n`);
    const told = await tries(asking, `${cli} event <${world.dir}/events`);
    expect(
      told
        .trim()
        .split('\n')
        .map((line) => line.split(' ').slice(1, 3).join(' ')),
    ).toEqual([
      ...Array.from({ length: 4 }, () => 'refused (not_from_outside):'),
      ...Array.from({ length: 2 }, () => 'refused (not_of_sender):'),
    ]);
    await world.routed('DC', asking.pane, other.pane);
    expect(await world.itemIn(other.pane)).toMatchObject({ state: 'running', ask: null });
    // Its own word counts, as that of a hook.
    const session = JSON.stringify({
      ...JSON.parse(eventOf('hook', 'turn.ended', own, { scope: 'main' })),
      evidence: { target: 'host' },
    });
    writeFileSync(join(world.dir, 'events'), `${session}\n`);
    expect(await tries(asking, `${cli} event <${world.dir}/events`)).toContain('1 applied');
  });
});
