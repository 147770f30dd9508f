// `agtmux notify` and `agtmux menubar` as people type them, and `agtmux setup` with a person at the terminal.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../kit/tmux-server.ts';
import { createWorld, root, type World } from './kit.ts';

let world: World;

beforeAll(async () => {
  world = createWorld();
  world.tmux('new-session', '-d', '-s', 'work', '-x', '100', '-y', '50');
});

afterAll(() => world.end());

const file = (): string => join(world.directory, '.config/agtmux/notifications.toml');

describe('agtmux menubar', () => {
  it('MNU1 starts no daemon, and says that there is none', async () => {
    const { status, stdout } = await world.agtmux('menubar');
    expect([status, stdout.split('\n')[0]]).toEqual([0, '◌']);
    expect(JSON.parse((await world.agtmux('menubar', '--format', 'waybar')).stdout)).toMatchObject({ class: 'down' });
    expect((await world.agtmux('menubar', '--follow')).stderr).toMatch(/does not work with xbar.*\[E_USAGE\]/);
    expect(existsSync(world.socketPath)).toBe(false);
  });

  it('MNU1 follows: one line at every change, also when the daemon comes and goes', async () => {
    const bar = world.start('menubar', '--format', 'json', '--follow');
    await until('it has begun', () => bar.lines.some((line) => line.includes('"down"')));
    await world.agtmux('daemon', 'start');
    await until('it found the daemon', () => bar.lines.some((line) => line.includes('"calm"')));
    await world.agtmux('daemon', 'stop');
    await until('it noticed', () => bar.lines.at(-1)?.includes('"down"') === true);
    bar.signal('SIGINT');
    await bar.ended;
  });

  it('MNU2 the plugin runs this very program, replaces only itself, and goes again', async () => {
    const folder = join(world.directory, 'my plugins');
    const path = join(folder, 'agtmux.5s.sh');
    expect((await world.agtmux('menubar', 'install', '--dir', folder, '--dry-run')).stdout).toContain('+ exec ');
    expect(existsSync(path)).toBe(false);
    expect((await world.agtmux('menubar', 'install', '--dir', folder)).status).toBe(0);
    expect(readFileSync(path, 'utf8')).toContain(join(root, 'bin/agtmux'));
    expect((await world.agtmux('menubar', 'uninstall', '--dir', folder)).stdout).toBe(`removed: ${path}\n`);
    expect((await world.agtmux('menubar', 'uninstall', '--dir', folder)).stdout).toBe('no plugin was installed\n');
    writeFileSync(path, 'mine');
    expect((await world.agtmux('menubar', 'install', '--dir', folder)).stderr).toMatch(
      /not written by agtmux.*\[E_FILE\]/,
    );
    expect((await world.agtmux('menubar', 'install')).stderr).toMatch(/--dir.*\[E_UNSUPPORTED\]/);
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });
});

describe('agtmux notify', () => {
  it('NOT7 shows, changes and mutes', async () => {
    expect((await world.agtmux('notify')).stdout).toMatch(
      /events +waiting_approval.*\n(?:.*\n){4}channels\n +desktop +off\n/,
    );
    expect((await world.agtmux('notify', 'list')).stdout).toBe('no notifications yet\n');
    expect((await world.agtmux('notify', 'on', 'command')).stdout).toMatch(/command +on/);
    expect((await world.agtmux('notify', 'off', 'browser')).stdout).toMatch(/browser +off/);
    const set = ['--event', 'error', '--quiet', '23:00-06:30', '--text', 'ask', '--looked-at', 'skip'];
    expect((await world.agtmux('notify', 'set', ...set)).stdout).toMatch(/events +error, except for the pane/);
    expect(readFileSync(file(), 'utf8')).toMatch(/^# Made by agtmux\.\n[\s\S]*quiet = "23:00-06:30"/);
    expect((await world.agtmux('notify', 'set', '--quiet', 'never')).stdout).toMatch(/quiet +never/);
    expect((await world.agtmux('notify', 'mute', '45m', '--agent', 'codex')).stdout).toMatch(/muted +codex until 2/);
    expect((await world.agtmux('notify', 'mute')).stdout).toMatch(/everyone until unmuted/);
    expect((await world.agtmux('notify', 'unmute')).stdout).toMatch(/muted +no/);
  });

  it('NOT6 a test says which way fails and why, with a status for scripts', async () => {
    const { status, stdout } = await world.agtmux('notify', 'test');
    expect([status, stdout]).toEqual([1, expect.stringMatching(/command +failed: no command is set/)]);
    const told = await world.json<{ channels: { outcome: string }[] }>('notify', 'test', 'browser', '--json');
    expect(told.channels).toMatchObject([{ outcome: 'told' }]);
  });

  it.each([
    [['on', 'pigeon'], /pigeon/],
    [['mute', 'soon'], /duration/],
    [['set'], /nothing to change/],
    [['set', '--quiet', 'tonight'], /22:00-07:00/],
  ])('NOT7 %s is refused in words', async (args, words) => {
    const { status, stderr } = await world.agtmux('notify', ...args);
    expect([status, stderr]).toEqual([2, expect.stringMatching(words)]);
  });
});

describe('agtmux setup at a terminal', () => {
  it('INS2 asks for each change and makes those that were answered with y', async () => {
    const home = join(world.directory, 'fresh');
    mkdirSync(join(home, '.claude'), { recursive: true });
    const env = `HOME=${home} AGTMUX_STATE_DIR=${home}/state PATH=${process.env.PATH}`;
    const pane = world.tmux('new-window', '-t', 'work:', '-P', '-F', '#{pane_id}').trim();
    const screen = (): string => world.tmux('capture-pane', '-p', '-S', '-', '-t', pane);
    const count = (text: string): number => screen().split(text).length - 1;
    const type = (text: string): void => {
      world.tmux('send-keys', '-t', pane, '-l', text);
      world.tmux('send-keys', '-t', pane, 'Enter');
    };
    type(`clear; env ${env} ${process.execPath} ${join(root, 'bin/agtmux')} setup --skip mcp --skip service`);
    const asks = 'on host? [y/N, d shows all of it]';
    await until('it asks for hooks', () => count(asks) === 1);
    // A line a file is what stands before the first question; all of it comes on request.
    expect(screen().trim().split('\n').length).toBeLessThan(20);
    expect(screen()).toMatch(/^ {2}new +\S+settings\.json, \+\d+ lines$/m);
    type('d');
    await until('it asks again, below the difference', () => count(asks) === 2);
    expect(screen()).toMatch(/^\+\+\+ \S+settings\.json$/m);
    expect(existsSync(join(home, '.claude/settings.json'))).toBe(false);
    type('y');
    await until('it asks for tmux', () => count('Do this? [y/N') === 1);
    type('y');
    await until('it offers to load it', () => screen().includes('Load it into the running tmux now? [y/N]'));
    type('y');
    await until('it asks for notifications', () => count('Do this? [y/N') === 2);
    expect(world.tmux('show-options', '-gv', '@agtmux_status')).toContain('@agtmux_next');
    type('y');
    await until('it is done', () => screen().includes('agtmux uninstall` undoes'));
    expect(screen()).toMatch(
      /✓ hooks +done\s+✓ tmux +done\s+○ mcp +skipped\s+✓ notifications +done\s+○ service +skipped/,
    );
    expect(existsSync(join(home, '.claude/settings.json'))).toBe(true);
    expect(existsSync(join(home, '.config/agtmux/tmux.conf'))).toBe(true);
    type(`clear; env ${env} ${process.execPath} ${join(root, 'bin/agtmux')} uninstall`);
    await until('it asks once', () => screen().includes('Remove all of this? [y/N]'));
    type('y');
    await until('it is gone', () => screen().includes('npm uninstall -g agtmux'));
    expect(existsSync(join(home, '.claude/settings.json'))).toBe(false);
    expect(existsSync(join(home, 'state'))).toBe(false);
    expect(existsSync(join(home, '.config'))).toBe(false);
  });

  it.each(['C-c', 'C-d'])(
    'INS2 %s at a question ends all of it in words, and what was made can be undone',
    async (key) => {
      const home = join(world.directory, `left-${key}`);
      mkdirSync(join(home, '.claude'), { recursive: true });
      const env = `HOME=${home} AGTMUX_STATE_DIR=${home}/made/state PATH=${process.env.PATH}`;
      const pane = world.tmux('new-window', '-t', 'work:', '-P', '-F', '#{pane_id}').trim();
      const screen = (): string => world.tmux('capture-pane', '-p', '-J', '-S', '-', '-t', pane);
      const type = (...keys: readonly string[]): string => world.tmux('send-keys', '-t', pane, ...keys);
      const start = (words: string): string =>
        type(`clear; env ${env} ${process.execPath} ${join(root, 'bin/agtmux')} ${words}; echo "status $?"`, 'Enter');
      start('setup --skip mcp --skip service');
      await until('it asks for hooks', () => /Write \d+ files? on host\? \[y\/N/.test(screen()));
      type('y', 'Enter');
      await until('it asks for tmux', () => screen().includes('Do this? [y/N'));
      type(key);
      await until('it ends', () => /status \d/.test(screen()));
      expect(screen()).toMatch(/cancelled at the question; .*\[E_USAGE\]\s+status 2/);
      expect(screen()).not.toContain('── notifications');
      start('uninstall --yes');
      await until('it is gone', () => screen().includes('npm uninstall -g agtmux'));
      await until('and has ended', () => /status 0/.test(screen()));
      expect(readdirSync(home)).toEqual(['.claude']);
    },
  );
});
