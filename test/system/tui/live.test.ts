// The TUI over a real daemon with look-alikes in real panes: what it shows is what they show, what it sends arrives there,
// and a daemon that was killed comes back by itself.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ActingWorld } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { type OpenTui, openTui } from '../../kit/tui.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const idle = LookAlike.recorded('claude', '1.0.128-idle_fresh.80x24.txt');
const approval = LookAlike.recorded('claude', '1.0.128-approval_bash.80x24.txt');

let world: ActingWorld;
let claude: LookAlike;
let tui: OpenTui;

beforeAll(async () => {
  spawnSync('sh', [join(root, 'scripts/build.sh')]);
  world = new ActingWorld();
  await world.startDaemon();
  claude = LookAlike.start(world, 'claude', 'work');
  await claude.show(idle);
  await world.becomes(claude, /idle/);
});
afterEach(() => tui.end());
afterAll(async () => {
  // The last one was started by the TUI.
  await world.agtmux(['daemon', 'stop']);
  await world.close();
});

const open = async (): Promise<OpenTui> => {
  tui = openTui({ columns: 120, lines: 40, env: { ...world.env, TERM: 'xterm-256color', SHELL: '/bin/sh' } });
  await tui.until((screen) => screen.includes('claude'));
  return tui;
};
const has = (text: string) => (screen: string) => screen.includes(text);

it('a message that is sent is typed at the agent, and its receipt is on the board', async () => {
  await open();
  tui.keys('s');
  await tui.until(has('Send to claude'));
  tui.type('hello from the board');
  await tui.until(has('hello from the board'));
  tui.keys('Enter');
  await until(() => claude.typed().includes('hello from the board'));
  await tui.until((screen) => /delivered|unconfirmed/.test(screen));
});

it('SCR2 an approval is pressed in the pane of the agent that asks', async () => {
  await claude.show(approval);
  await world.becomes(claude, /waiting_approval/);
  await open();
  await tui.until(has('Needs you'));
  tui.keys('a');
  await tui.until(has('Approve for claude,'));
  const before = claude.typed();
  tui.keys('a');
  await tui.until(() => claude.typed().length > before.length);
  await claude.show(idle);
  await tui.until((screen) => /delivered|unconfirmed/.test(screen));
});

it('the detail shows the pane as it is, in its colours, and as it changes', async () => {
  await open();
  tui.keys('Enter');
  await tui.until(has('Evidence'));
  await claude.show(`${idle.split('\n').slice(0, 12).join('\n')}\n\u001b[35mfirst picture\u001b[0m`);
  await tui.until(has('first picture'));
  expect(tui.coloured()).toMatch(/\u001b\[35m(?:\u001b\[49m)?first picture/);
  await claude.show(`${idle.split('\n').slice(0, 12).join('\n')}\nsecond picture`);
  await tui.until(has('second picture'));
  await claude.show(idle);
});

it('attaching brings one to the pane and back', async () => {
  await open();
  tui.keys('t');
  // Another server than the one it runs in: it is attached to, in this very terminal.
  await until(() => world.tmux('list-clients', '-F', '#{client_tty}') !== '');
  world.tmux('detach-client', '-a');
  for (const client of world.tmux('list-clients', '-F', '#{client_tty}').split('\n')) {
    if (client !== '') world.tmux('detach-client', '-t', client);
  }
  await tui.until(has('Back on the board.'));
});

const program = `'${process.execPath}' '${join(root, 'bin/agtmux')}'`;

/** The person's own client, in the terminal that the board had, on the panes of the agents. */
async function attachHere(): Promise<string> {
  await open();
  tui.keys('q');
  await tui.until(has('ended with 0'));
  const terminal = world.terminal();
  tui.type(`TMUX= TMUX_TMPDIR='${world.env.TMUX_TMPDIR}' tmux -u attach -t ${terminal}`);
  tui.keys('Enter');
  await until(() => world.tmux('list-clients', '-F', '#{client_tty}') !== '');
  return terminal;
}

const isPopup = (screen: string): boolean => screen.includes('│agtmux') && screen.includes('? help');

it('a popup of tmux is the board too, and gone with q', async () => {
  const terminal = await attachHere();
  world.tmux('send-keys', '-t', terminal, '-l', `${program} popup --width 100`);
  world.tmux('send-keys', '-t', terminal, 'Enter');
  await tui.until(isPopup);
  tui.keys('q');
  await tui.until((screen) => !screen.includes('? help'));
});

async function asksAgain(): Promise<void> {
  await claude.show(approval);
  await world.becomes(claude, /waiting_approval/);
}

it('ACT6 a person answers from a popup that a key of tmux opens', async () => {
  await asksAgain();
  await attachHere();
  world.tmux('bind-key', '-n', 'F9', 'run-shell', '-b', `${program} popup --width 100`);
  tui.keys('F9');
  await tui.until((screen) => isPopup(screen) && screen.includes('Needs you'));
  tui.keys('a');
  await tui.until(has('Approve for claude,'));
  const before = claude.typed();
  tui.keys('a');
  await until(() => claude.typed().length > before.length);
  await claude.show(idle);
  await tui.until((screen) => /delivered|unconfirmed/.test(screen));
  tui.keys('q');
});

it('ACT6 ACT6d a person answers from a window that has the board in it, a command in such a window does not', async () => {
  await asksAgain();
  await open();
  const before = claude.typed();
  const window = (command: string): string =>
    world.tmux('new-window', '-d', '-t', 'work:', '-c', world.dir, '-P', '-F', '#{pane_id}', command);
  const refused = join(world.dir, 'refused');
  window(`${program} approve ${claude.pane} --yes >${refused} 2>&1; echo ended >>${refused}`);
  await until(() => readFileSync(refused, { encoding: 'utf8', flag: 'a+' }).includes('ended'));
  expect(readFileSync(refused, 'utf8')).toContain('E_ROLE');
  const board = window(program);
  const screen = (): string => world.tmux('capture-pane', '-p', '-t', board);
  await until(() => screen().includes('Needs you'));
  expect(claude.typed()).toBe(before);
  world.tmux('send-keys', '-t', board, 'a');
  await until(() => screen().includes('Approve for claude,'));
  world.tmux('send-keys', '-t', board, 'a');
  await until(() => claude.typed().length > before.length);
  await claude.show(idle);
  await until(() => /delivered|unconfirmed/.test(screen()));
  world.tmux('kill-pane', '-t', board);
});

it('SCR4 a daemon that is killed is said to be gone and comes back by itself, with the right state', async () => {
  await open();
  await tui.until(has('○ claude'));
  const pid = world.daemonPid;
  process.kill(pid, 'SIGKILL');
  await tui.until(has('The daemon stopped'));
  await claude.show(approval);
  // Started by the TUI, as every command would.
  await until(async () => (await world.client.get('/v1/status').catch(() => null)) !== null);
  const began = performance.now();
  const shown = await tui.until((screen) => screen.includes('Needs you') && !screen.includes('daemon stopped'));
  expect(performance.now() - began).toBeLessThan(2_000);
  expect(shown).toMatch(/▲ claude/);
  expect((await world.client.get('/v1/status')).pid).not.toBe(pid);
});

it('SCR4 no daemon is started where the state was taken away', async () => {
  await open();
  await tui.until(has('claude'));
  // In one step: the daemon goes on writing meanwhile.
  renameSync(world.stateDir, join(world.dir, 'taken'));
  await tui.until(has('its state directory was removed'));
  expect(existsSync(join(world.stateDir, 'run/agtmux.sock'))).toBe(false);
});
