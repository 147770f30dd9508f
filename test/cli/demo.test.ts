// `agtmux demo` as a newcomer sees it, and that nothing of it is left however it ends.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { PaneItem, PaneList } from '../../src/api/panes.ts';
import { stateNames } from '../../src/model/states.ts';
import { wordsOf } from '../../src/view/words.ts';
import { until } from '../kit/tmux-server.ts';
import { createWorld, type Running, root, type World } from './kit.ts';

let world: World;
let demos: Running[] = [];

/** Also after a failure: a demo whose directory is taken away first cannot clear up after itself. */
afterEach(async () => {
  for (const running of demos) running.signal('SIGTERM');
  await Promise.all(demos.map((running) => running.ended));
  demos = [];
  await world.end();
});

function start(...args: string[]): Running {
  const running = world.start('demo', ...args);
  demos.push(running);
  return running;
}

/** The demo's directory stands in the world's own, so that it can be told from those of others. */
function open(): void {
  world = createWorld();
  Object.assign(world.env, { TMPDIR: world.directory });
}

const demoDirectories = (): readonly string[] =>
  readdirSync(world.directory).filter((name) => name.startsWith('agtmux-demo-'));

const processes = (): readonly string[] =>
  execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(join(world.directory, 'agtmux-demo-')));

const nothingLeft = (): Promise<unknown> =>
  until('nothing is left', () => demoDirectories().length === 0 && processes().length === 0);

async function started(...args: string[]): Promise<{ running: Running; stateDir: string; tmuxSocket: string }> {
  const running = start('--no-attach', ...args);
  await until('it says that it goes on', () => running.lines.some((line) => line.includes('Ctrl-C')));
  const directory = join(world.directory, demoDirectories()[0] ?? '');
  const stateDir = join(directory, 'state');
  return { running, stateDir, tmuxSocket: join(directory, `tmux-${process.getuid?.() ?? 0}`, 'demo') };
}

const panes = async (stateDir: string): Promise<readonly PaneItem[]> =>
  (JSON.parse((await world.agtmuxWith({ AGTMUX_STATE_DIR: stateDir }, 'list', '--json')).stdout) as PaneList).items;

describe('agtmux demo', () => {
  it('shows every state at once, says that these are look-alikes, and leaves nothing', async () => {
    open();
    world.tmux('new-session', '-d', '-s', 'mine', 'sleep 600');
    const { status, stdout, stderr } = await world.agtmux('demo', '--once');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const state of stateNames) expect(stdout).toContain(`${wordsOf(state).mark} ${wordsOf(state).word}`);
    expect(stdout).toContain('agtmux demo: simulated agents.');
    expect(stdout).toContain('usage limit, resets');
    expect(stdout).toContain('+2 shells +1 agent');
    expect(stdout).toContain('were removed');
    await nothingLeft();
    expect(existsSync(world.stateDir)).toBe(false);
    expect(world.tmux('list-sessions', '-F', '#{session_name}')).toBe('mine\n');
  });

  it('goes on from state to state, on the screens too, and one of them is killed', async () => {
    open();
    const { running, stateDir, tmuxSocket } = await started();
    // It plays on while a list is made: each is there at some time.
    const seen = new Set<string>();
    const asking = await until('every state, and an ask', async () => {
      const items = await panes(stateDir);
      for (const { state } of items) seen.add(state ?? '');
      const one = items.find((item) => item.ask !== null && item.window_name === 'api');
      return stateNames.every((state) => seen.has(state)) && one;
    });
    expect(asking.ask?.options.map((option) => option.label)).toEqual(['Yes', 'No']);
    await until('the ask is settled', async () => {
      const item = (await panes(stateDir)).find((one) => one.window_name === 'api');
      return item?.state === 'running' && item.ask === null;
    });
    const screen = await until('the screen agrees', () => {
      const text = world.tmux('-S', tmuxSocket, 'capture-pane', '-p', '-t', 'shop:api');
      return text.includes('Working:') ? text : null;
    });
    expect(screen).toContain('A simulated claude, started by agtmux demo.');
    const killed = await until('one is killed', async () =>
      (await panes(stateDir)).find((item) => item.window_name === 'upgrade' && item.ended !== null),
    );
    expect(killed).toMatchObject({ state: 'error', ended: { clean: false } });
    await until('it comes back', async () =>
      (await panes(stateDir)).some(
        (item) => item.window_name === 'upgrade' && item.ended === null && item.state === 'idle',
      ),
    );
    running.signal('SIGINT');
    expect(await running.ended).toMatchObject({ status: 0, stderr: '' });
    await nothingLeft();
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)('leaves nothing after %s', async (name) => {
    open();
    const { running } = await started();
    expect(processes().length).toBeGreaterThan(7);
    running.signal(name);
    await running.ended;
    await nothingLeft();
  });

  it('leaves nothing when its reader goes away', async () => {
    open();
    const running = start();
    await until('the first table', () => running.lines.some((line) => line.startsWith('STATE')));
    running.closeOutput();
    await running.ended;
    await nothingLeft();
  });

  it('is kept when asked, with the words to remove it', async () => {
    open();
    const { stdout } = await world.agtmux('demo', '--once', '--keep');
    const [stop, kill, rm] = stdout.slice(stdout.indexOf('To remove it:')).split('\n').slice(1);
    expect(demoDirectories()).toHaveLength(1);
    expect(processes().length).toBeGreaterThan(7);
    for (const line of [stop, kill, rm]) execFileSync('sh', ['-c', line ?? 'false'], { env: world.env });
    await nothingLeft();
  });

  it('SCR3 opens the board on a terminal, where the simulated agents are answered; q ends it', async () => {
    open();
    const command = `${process.execPath} ${join(root, 'bin/agtmux')} demo; exec cat`;
    world.tmux('new-session', '-d', '-s', 'mine', '-x', '120', '-y', '30', command);
    const screen = (): string => world.tmux('capture-pane', '-p', '-t', 'mine');
    const press = (key: string): string => world.tmux('send-keys', '-t', 'mine', key);
    // A key on what came up only just now is for nobody (SCR2): the row is some seconds old.
    const asks = (agent: string): boolean => new RegExp(`> ▲ ${agent} .* (?:[3-9]|\\d\\d)s `).test(screen());
    await until('the first asks for approval', () => asks('claude'));
    press('a');
    await until('the question', () => screen().includes('Approve for claude'));
    press('a');
    await until('the receipt', () => screen().includes('delivered: approve to claude'));
    await until('the agent goes on', () => / claude +shop +running/.test(screen()));
    await until('the next one asks', () => asks('codex'));
    press('r');
    await until('the question', () => screen().includes('Reject for codex'));
    press('r');
    await until('the receipt', () => screen().includes('delivered: reject to codex'));
    await until('its turn has ended', () => / codex +shop +idle/.test(screen()));
    press('q');
    await until('its last words', () => screen().includes('The demo has ended'));
    await nothingLeft();
    expect(world.tmux('list-sessions', '-F', '#{session_name}')).toBe('mine\n');
  });
});

describe('agtmux demo --auto', () => {
  it('shows own agents when there are any', async () => {
    open();
    world.tmux('new-session', '-d', '-s', 'mine', `exec ${world.agent('claude')} 600`);
    const { status, stdout } = await world.agtmux('demo', '--auto');
    expect(status).toBe(0);
    expect(stdout).toContain('host/mine:0.0');
    expect(stdout).toContain('These are your own agents');
    expect(demoDirectories()).toEqual([]);
  });

  it('is the demo where there are none, and says so; no daemon is left running', async () => {
    open();
    world.tmux('new-session', '-d', '-s', 'mine', 'sleep 600');
    const { status, stdout } = await world.agtmux('demo', '--auto', '--once');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^No agent was found in your tmux, so this is a demo\.\n/);
    expect(stdout).toContain('host@demo');
    await nothingLeft();
    expect(existsSync(world.stateDir)).toBe(false);
  });
});
