// An agent that agtmux has never heard of, written for this test, is taught from its screens alone: `agents learn` drafts
// its definition, the running daemon takes it up, and it is listed, read, approved and sent to.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PaneList } from '../../src/api/panes.ts';
import { createWorld, root, type World } from './kit.ts';

/** Its own interface: a box for the prompt, a spinner while it works, numbered options, and a log of what came to it. */
const program = `
const fs = require('node:fs');
const said = (what) => fs.appendFileSync(process.env.SPROCKET_LOG, what + '\\n');
const rule = '─'.repeat(60);
let history = ['Sprocket 0.3, at your service'], text = '', mode = 'idle', seconds = 0, turn = 0, target = '';
const spin = '⠋⠙⠹⠸⠼⠴';
const prompt = () => [rule, '❯ ' + (text === '' ? 'Tell Sprocket what to do' : text), rule, '  mock model'];
const rows = () => {
  switch (mode) {
    case 'running': return [...history, spin[turn % 6] + ' Cogitating for ' + seconds + 's, esc stops it', ...prompt()];
    case 'asks': return [...history, 'Sprocket wants to run a command', '  $ rm -rf ' + target, 'May it do that?', '❯ 1. Yes, run it', '  2. Yes, and always run rm', '  3. No, leave it alone', 'Press a number'];
    case 'answers': return [...history, 'Sprocket would like to know', 'Which colour shall it be?', '❯ 1. Red', '  2. Blue', 'Press a number to answer'];
    default: return [...history, ...prompt()];
  }
};
const draw = () => process.stdout.write('\\u001b[2J\\u001b[H' + rows().join('\\r\\n'));
const tell = (line) => { history = [...history, line].slice(-4); };
const submit = () => {
  const words = text.trim();
  text = '';
  said('submitted ' + words);
  tell('you: ' + words);
  if (words.startsWith('long')) { mode = 'running'; seconds = 0; }
  else if (words.startsWith('delete')) { mode = 'asks'; target = words.slice(7); }
  else if (words.startsWith('ask')) mode = 'answers';
  else if (words.startsWith('fail')) tell('✗ The request failed with status 500');
  else tell('sprocket: done');
};
process.stdin.setRawMode(true);
process.stdout.write('\\u001b[?2004h');
process.stdin.on('data', (data) => {
  const keys = data.toString().replace(/\\u001b\\[20[01]~/g, '');
  if (keys === '\\u001b') { if (mode === 'running') { mode = 'idle'; tell('■ Halted at your wish'); } draw(); return; }
  for (const key of keys) {
    if (mode === 'asks' || mode === 'answers') { if (/[123]/.test(key)) { said(mode + ' ' + key); mode = 'idle'; tell('sprocket: as you wish'); } }
    else if (key === '\\r') submit();
    else if (key >= ' ') text += key;
  }
  draw();
});
setInterval(() => { turn += 1; if (turn % 8 === 0) seconds += 1; if (mode === 'running') draw(); }, 120);
draw();
`;

const scenes: readonly (readonly [scene: string, type: readonly string[], shows: string])[] = [
  ['idle:', [], 'Tell Sprocket'],
  ['running:', ['long story', 'Enter'], 'Cogitating'],
  ['running, once more:', ['Escape', 'long list', 'Enter'], 'Cogitating'],
  ['asks:', ['Escape', 'delete it', 'Enter'], 'May it do that'],
  ['asks, once more:', ['3', 'delete all', 'Enter'], 'May it do that'],
  ['answers:', ['3', 'ask me', 'Enter'], 'Which colour'],
  ['answers, once more:', ['2', 'ask again', 'Enter'], 'Which colour'],
  ['error:', ['1', 'fail now', 'Enter'], 'failed with status'],
  ['interrupt:', ['long again', 'Enter', 'Escape'], 'Halted at your wish'],
];

let world: World;
let pane: string;
const screen = (): string => world.tmux('capture-pane', '-p', '-t', pane);
const press = async (keys: readonly string[]): Promise<void> => {
  for (const key of keys) {
    const before = screen();
    world.tmux('send-keys', '-t', pane, ...(key.includes(' ') ? ['-l', key] : [key]));
    await expect.poll(screen, { timeout: 10_000 }).not.toBe(before);
  }
};
const heard = (): readonly string[] => readFileSync(join(world.directory, 'sprocket.log'), 'utf8').trim().split('\n');
const row = async (): Promise<{ agent: string | null; state: string | null } | undefined> => {
  const { items } = await world.json<PaneList>('list', '--json');
  return items.find(({ agent }) => agent === 'sprocket');
};

/** A person's shell in a tmux of its own: what a program may not do, its user may. */
const asPerson = async (...args: string[]): Promise<{ status: string; text: string }> => {
  const file = join(world.directory, `person-${args[0]}`);
  const command = `${process.execPath} ${join(root, 'bin/agtmux')} ${args.join(' ')} >${file} 2>&1; echo $? >${file}.status`;
  world.tmux('-L', 'person', 'send-keys', '-t', 'person', '-l', command);
  world.tmux('-L', 'person', 'send-keys', '-t', 'person', 'Enter');
  await expect.poll(() => existsSync(`${file}.status`), { timeout: 30_000 }).toBe(true);
  await expect.poll(() => readFileSync(`${file}.status`, 'utf8')).not.toBe('');
  return { status: readFileSync(`${file}.status`, 'utf8').trim(), text: readFileSync(file, 'utf8') };
};

/** Answers each question of `agents learn` once the agent shows what the question is about. */
function learn(): Promise<{ readonly status: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, [join(root, 'bin/agtmux'), 'agents', 'learn', 'sprocket', pane], {
    env: world.env,
  });
  const out = { stdout: '', stderr: '' };
  let told = 0;
  const reply = async (): Promise<void> => {
    const fresh = out.stderr.slice(told);
    const scene = scenes.find(([name]) => fresh.includes(`${name} `) && fresh.endsWith('[Enter, s, or r] '));
    const words = fresh.endsWith('Which version is it? ')
      ? '0.3\n'
      : fresh.endsWith('[Escape] ')
        ? '\n'
        : fresh.endsWith('[y/N] ')
          ? 'y\n'
          : null;
    if (scene === undefined && words === null) return;
    told = out.stderr.length;
    if (scene !== undefined) {
      await press(scene[1]);
      await expect.poll(screen, { timeout: 10_000 }).toContain(scene[2]);
    }
    child.stdin.write(words ?? '\n');
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    out.stderr += text;
    void reply();
  });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, ...out })));
}

beforeAll(() => {
  world = createWorld();
  mkdirSync(join(world.directory, 'bin'), { recursive: true });
  const script = join(world.directory, 'bin/sprocket');
  writeFileSync(script, program);
  const log = join(world.directory, 'sprocket.log');
  writeFileSync(log, '');
  const start = `SPROCKET_LOG=${log} ${process.execPath} ${script}`;
  world.tmux('new-session', '-d', '-x', '90', '-y', '30', '-s', 'work', 'sh');
  world.tmux('-L', 'person', 'new-session', '-d', '-x', '200', '-y', '30', '-s', 'person');
  pane = world.tmux('list-panes', '-F', '#{pane_id}').trim();
  world.tmux('send-keys', '-t', pane, '-l', start);
  world.tmux('send-keys', '-t', pane, 'Enter');
}, 120_000);
afterAll(() => world.end());

describe('an agent that nobody knows', () => {
  it('DEF6 is taught from its screens alone, while the daemon runs', { timeout: 180_000 }, async () => {
    await expect.poll(screen, { timeout: 20_000 }).toContain('Tell Sprocket');
    expect(await row()).toBeUndefined();
    const learnt = await learn();
    expect(learnt.status, learnt.stderr).toBe(0);
    expect(learnt.stdout).toContain('27 of 27 right, 0 unknown, 0 wrong');
    const path = join(world.directory, '.config/agtmux/agents/sprocket.toml');
    const checked = await world.agtmux('agents', 'check', path);
    expect([checked.status, checked.stdout]).toEqual([0, expect.stringContaining('approve presses 1')]);

    await expect.poll(row, { timeout: 20_000 }).toMatchObject({ agent: 'sprocket', state: 'idle' });
    await press(['delete another', 'Enter']);
    await expect.poll(row, { timeout: 20_000 }).toMatchObject({ state: 'waiting_approval' });
    const approved = await asPerson('approve', pane, '--yes');
    expect(approved.status, approved.text).toBe('0');
    expect(heard().at(-1)).toBe('asks 1');
    await expect.poll(row, { timeout: 20_000 }).toMatchObject({ state: expect.stringMatching(/idle|completed/) });
    const sent = await asPerson('send', pane, '--text', '"long, please"');
    expect(sent.status, sent.text).toBe('0');
    expect(heard().at(-1)).toBe('submitted long, please');
    await expect.poll(row, { timeout: 20_000 }).toMatchObject({ state: 'running' });
    const interrupted = await asPerson('interrupt', pane);
    expect(interrupted.status, interrupted.text).toBe('0');
    await expect.poll(screen, { timeout: 10_000 }).toContain('Halted at your wish');
  });

  it('DEF1 a mistake in its file is told by agents, status and doctor, and by agents check with line and remedy', async () => {
    const path = join(world.directory, '.config/agtmux/agents/sprocket.toml');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('once =', 'onec ='));
    const words = /sprocket\.toml:\d+: keys\.answer\.1: onec is not a/;
    for (const command of [['agents'], ['status'], ['doctor']])
      await expect
        .poll(async () => (await world.agtmux(...command)).stdout.replace(/\s*\n\s*/g, ' '), { timeout: 20_000 })
        .toMatch(words);
    expect(world.log()).toMatch(words);
    const checked = await world.agtmux('agents', 'check', path);
    expect([checked.status, checked.stderr]).toEqual([2, expect.stringMatching(words)]);
    expect(checked.stderr).toContain('write once');
    writeFileSync(path, text);
    await expect.poll(row, { timeout: 20_000 }).toMatchObject({ agent: 'sprocket' });
  });
});
