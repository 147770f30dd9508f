// `agtmux tmux` on real files and a real tmux: what it adds is shown right, and what it removes leaves nothing behind.
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stateNames } from '../../src/model/states.ts';
import { wordsOf } from '../../src/view/words.ts';
import { until } from '../kit/tmux-server.ts';
import { createWorld, type Ran, type World } from './kit.ts';

let world: World;
let conf: string;
let own: string;

beforeEach(() => {
  world = createWorld();
  conf = join(world.directory, '.tmux.conf');
  own = join(world.directory, '.config/agtmux/tmux.conf');
});

afterEach(() => world.end());

const install = (...args: string[]): Promise<Ran> => world.agtmux('tmux', 'install', ...args);
const remove = (...args: string[]): Promise<Ran> => world.agtmux('tmux', 'remove', ...args);

describe('the files', () => {
  it.each([
    ['plain', 'set -g status-right "mine"\n'],
    ['without an end of line', 'set -g status-right "mine"'],
    ['with CRLF', '# one\r\n# two\r\n'],
    ['with bytes that are no UTF-8', '# \u00ff\u00fe caf\u00e9\n'],
    ['empty', ''],
  ])('a tmux.conf %s is byte for byte the same after remove', async (_name, text) => {
    const before = Buffer.from(text, 'latin1');
    writeFileSync(conf, before);
    chmodSync(conf, 0o664);
    expect(await install()).toMatchObject({ status: 0, stderr: '' });
    const during = readFileSync(conf);
    expect(during.subarray(0, before.length).equals(before)).toBe(true);
    expect(during.toString('latin1')).toContain('source-file -q ~/.config/agtmux/tmux.conf\n');
    expect((await world.agtmux('tmux', 'status')).status).toBe(0);

    expect((await install()).stdout).toMatch(/^already installed/);
    expect(readFileSync(conf).equals(during)).toBe(true);

    expect(await remove()).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(conf).equals(before)).toBe(true);
    expect(statSync(conf).mode & 0o777).toBe(0o664);
    // The policy of this world was there before.
    expect(readdirSync(join(world.directory, '.config/agtmux'))).toEqual(['policy.toml']);
    expect((await world.agtmux('tmux', 'status')).status).toBe(1);
    expect((await remove()).stdout).toBe('nothing was installed\n');
  });

  it('a dry run prints what would change and changes nothing', async () => {
    writeFileSync(conf, 'set -g mine 1\n');
    const ran = await install('--dry-run');
    expect(ran.status).toBe(0);
    expect(ran.stdout).toContain(`--- ${conf}\n+ # >>> agtmux >>>\n+ source-file -q ~/.config/agtmux/tmux.conf\n`);
    expect(ran.stdout).toContain('+ set-option -g @agtmux_status');
    expect(existsSync(own)).toBe(false);
    expect(readFileSync(conf, 'utf8')).toBe('set -g mine 1\n');
    await install();
    const during = readFileSync(conf, 'utf8');
    expect((await remove('--dry-run')).stdout).toContain('- source-file -q ~/.config/agtmux/tmux.conf\n');
    expect(readFileSync(conf, 'utf8')).toBe(during);
    expect(existsSync(own)).toBe(true);
  });

  it('a linked tmux.conf is followed, not replaced', async () => {
    mkdirSync(join(world.directory, 'dotfiles'));
    const real = join(world.directory, 'dotfiles/tmux.conf');
    writeFileSync(real, 'set -g mine 1\n');
    symlinkSync('dotfiles/tmux.conf', conf);
    await install();
    expect(lstatSync(conf).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, 'utf8')).toContain('# >>> agtmux >>>');
    await remove();
    expect(lstatSync(conf).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, 'utf8')).toBe('set -g mine 1\n');
    unlinkSync(real);
    const ran = await install();
    expect(ran.status).toBe(2);
    expect(ran.stderr).toMatch(/is a broken link.*\[E_FILE\]\n$/);
  });

  it('INS4 the owner, the mode and every name of a tmux.conf stay', async () => {
    const isRoot = process.getuid?.() === 0;
    const other = join(world.directory, 'dotfiles.conf');
    writeFileSync(other, 'set -g mine 1\n');
    linkSync(other, conf);
    chmodSync(conf, 0o640);
    if (isRoot) chownSync(conf, 4_321, 1_234);
    const facts = () => {
      const { uid, gid, mode, ino, nlink } = statSync(conf);
      return { uid, gid, mode, ino, nlink };
    };
    const before = facts();
    expect((await install()).status).toBe(0);
    expect(readFileSync(other, 'utf8')).toContain('# >>> agtmux >>>');
    expect(facts()).toEqual(before);
    expect((await remove()).status).toBe(0);
    expect(readFileSync(other, 'utf8')).toBe('set -g mine 1\n');
    expect(facts()).toEqual(before);
    unlinkSync(other);
    expect((await install()).status).toBe(0);
    expect(facts()).toMatchObject({ uid: before.uid, gid: before.gid, mode: before.mode, nlink: 1 });
  });

  it('INS4 what is made new in a home belongs to whoever owns that home', async () => {
    const home = join(world.directory, 'theirs');
    mkdirSync(home);
    if (process.getuid?.() === 0) chownSync(home, 4_321, 1_234);
    const { uid, gid } = statSync(home);
    const env = { HOME: home, XDG_CONFIG_HOME: join(home, 'x') };
    expect(await world.agtmuxWith(env, 'tmux', 'install')).toMatchObject({ status: 0, stderr: '' });
    for (const made of ['x', 'x/agtmux', 'x/agtmux/tmux.conf', 'x/tmux', 'x/tmux/tmux.conf'])
      expect(statSync(join(home, made))).toMatchObject({ uid, gid });
  });

  it('without any tmux.conf one is made where tmux looks last, and goes again', async () => {
    const fresh = join(world.directory, 'xdg/tmux/tmux.conf');
    const xdg = { XDG_CONFIG_HOME: join(world.directory, 'xdg') };
    expect((await world.agtmuxWith(xdg, 'tmux', 'install')).status).toBe(0);
    expect(readFileSync(fresh, 'utf8')).toContain('source-file -q ~/xdg/agtmux/tmux.conf\n');
    expect((await world.agtmuxWith(xdg, 'tmux', 'remove')).status).toBe(0);
    expect(existsSync(fresh)).toBe(false);
  });

  it('keeps what the user wrote since, and the file from before', async () => {
    writeFileSync(conf, 'one');
    await install();
    writeFileSync(conf, `${readFileSync(conf, 'utf8')}two\n`);
    expect((await remove()).stdout).toContain('the original is in');
    expect(readFileSync(conf, 'utf8')).toBe('one\ntwo\n');
    expect(readFileSync(`${own}.before`, 'utf8')).toBe('one');
  });

  it('refuses a read-only file and a broken block in one line with a code, and writes nothing', async () => {
    writeFileSync(conf, 'set -g mine 1\n');
    chmodSync(conf, 0o444);
    const readOnly = await install();
    expect(readOnly).toMatchObject({ status: 2, stdout: '' });
    expect(readOnly.stderr).toMatch(/^agtmux: .*is read-only; .*source-file -q .* \[E_FILE\]\n$/);
    expect(existsSync(own)).toBe(false);
    chmodSync(conf, 0o644);
    writeFileSync(conf, '# >>> agtmux >>>\nset -g mine 1\n');
    const broken = await remove();
    expect(broken.stderr).toMatch(/^agtmux: .*\[E_INPUT\]\n$/);
    expect(readFileSync(conf, 'utf8')).toBe('# >>> agtmux >>>\nset -g mine 1\n');
  });
});

describe('in tmux', () => {
  const start = (...confs: string[]): void => {
    const files = confs.flatMap((path) => ['-f', path]);
    world.tmux(...files, 'new-session', '-d', '-s', 'work', '-n', 'one', '-x', '120', '-y', '30', 'sleep 600');
  };
  const keyA = (): string | undefined =>
    world
      .tmux('list-keys', '-T', 'prefix')
      .split('\n')
      .find((line) => / prefix +A /.test(line));
  const format = (target: string, text: string): string =>
    world.tmux('display-message', '-p', '-t', target, text).replace(/\n$/, '');

  beforeEach(async () => {
    writeFileSync(
      conf,
      [
        'set -g status-right "mine, #{session_name} #[fg=red]x"',
        'set -g window-status-format "#I #W"',
        'set -g status-right-length 33',
      ].join('\n'),
    );
    await install();
  });

  it('adds to what the user has, once, however often it is read', async () => {
    start(conf);
    for (let round = 1; round <= 2; round += 1) {
      expect(world.tmux('show-options', '-gv', 'status-right')).toBe(
        '#{E:@agtmux_status}mine, #{session_name} #[fg=red]x\n',
      );
      expect(world.tmux('show-options', '-gv', 'window-status-format')).toBe('#I #W#{E:@agtmux_mark}\n');
      expect(world.tmux('show-options', '-gv', 'status-right-length')).toBe('33\n');
      world.tmux('source-file', own);
      world.tmux('source-file', own);
    }
    const binding = await until('the key', () => keyA());
    expect(binding).toMatch(/display-popup -E .* tui --leave-on-attach/);
  });

  it("leaves the user's own key alone", () => {
    writeFileSync(conf, `bind-key A display-message mine\n${readFileSync(conf, 'utf8')}`);
    start(conf);
    expect(keyA()).toContain('display-message mine');
  });

  it('shows the mark of every state, and nothing without one', () => {
    start(conf);
    expect(format('work:0', '#{E:window-status-format}')).toBe('0 one');
    for (const state of stateNames) {
      world.tmux('set-option', '-p', '-t', 'work:0.0', '@agtmux_state', state);
      world.tmux('set-option', '-w', '-t', 'work:0', '@agtmux_state', state);
      expect(format('work:0', '#{E:window-status-format}')).toBe(`0 one ${wordsOf(state).mark}`);
    }
  });

  it('shows the top state of a window whose active pane has another one', () => {
    start(conf);
    world.tmux('split-window', '-t', 'work:0', 'sleep 600');
    world.tmux('set-option', '-p', '-t', 'work:0.0', '@agtmux_state', 'waiting_input');
    world.tmux('set-option', '-p', '-t', 'work:0.1', '@agtmux_state', 'idle');
    world.tmux('set-option', '-w', '-t', 'work:0', '@agtmux_state', 'waiting_input');
    expect(format('work:0', '#{pane_index}#{@agtmux_state}')).toBe('1idle');
    expect(format('work:0', '#{E:window-status-format}')).toBe('0 one ?');
  });

  it("shows the summary in front of the user's own words", () => {
    start(conf);
    expect(format('work', '#{E:status-right}')).toBe('mine, work #[fg=red]x');
    for (const [name, value] of Object.entries({ approve: '2', answer: '1', error: '1', next: '%0' }))
      world.tmux('set-option', '-g', `@agtmux_${name}`, value);
    const shown = (): string => format('work', '#{E:status-right}').replaceAll(/#\[[^\]]*\]/g, '');
    expect(shown()).toBe(' ▲ 2   ? 1   ✕ 1  mine, work x');
    expect(format('work', '#{E:status-right}')).toContain('#[bg=yellow] ▲ 2 #[default]');
    world.tmux('set-option', '-gu', '@agtmux_answer');
    expect(shown()).toBe(' ▲ 2   ✕ 1  mine, work x');
  });

  it('SCR8 has themes, one without colours, and keeps the one that was chosen', async () => {
    start(conf);
    for (const [name, value] of Object.entries({ approve: '2', error: '1', next: '%0' }))
      world.tmux('set-option', '-g', `@agtmux_${name}`, value);
    const shown = async (...args: string[]): Promise<string> => {
      expect((await install(...args)).status).toBe(0);
      world.tmux('source-file', own);
      return format('work', '#{E:@agtmux_status}').replaceAll(/#\[range=[^\]]*\]/g, '');
    };
    expect(await shown('--theme', 'colour')).toBe('#[fg=yellow]▲2#[default] #[fg=red]✕1#[default] ');
    expect(await shown('--theme', 'words')).toBe('#[fg=yellow]2 approve#[default] #[fg=red]1 error#[default] ');
    expect(await shown('--theme', 'plain')).toBe('▲2 ✕1 ');
    expect(await shown()).toBe('▲2 ✕1 ');
    expect((await world.agtmux('tmux', 'status')).status).toBe(0);
    expect((await install('--theme', 'none')).status).toBe(2);
  });

  it('SCR8 a press of the mouse on the counts goes to who has waited longest, in whatever session that is', async () => {
    start(conf);
    world.tmux('set-option', '-g', 'mouse', 'on');
    world.tmux('new-session', '-d', '-s', 'other', '-x', '120', '-y', '30', 'sleep 600');
    const waiting = world.tmux('list-panes', '-t', 'other', '-F', '#{pane_id}').trim();
    world.tmux('set-option', '-g', '@agtmux_approve', '2');
    world.tmux('set-option', '-g', '@agtmux_next', waiting);
    // A person's terminal: the pane of another tmux, in which this one is attached.
    const outer = (...args: string[]): string => world.tmux('-L', 'outer', ...args);
    outer('new-session', '-d', '-x', '120', '-y', '30', 'env -u TMUX tmux -u attach -t work');
    outer('set-option', '-g', 'status', 'off');
    const place = await until('the count', () => {
      const lines = outer('capture-pane', '-p').split('\n');
      const [line, column] = [lines.findIndex((text) => text.includes('▲')), lines.join('\n').match(/^(.*)▲/m)];
      return line < 0 || column === null ? undefined : { line: line + 1, column: (column[1] ?? '').length + 1 };
    });
    const at = `\u001b[<0;${place.column};${place.line}`;
    outer('send-keys', '-l', `${at}M${at}m`);
    const here = (): string => world.tmux('list-clients', '-F', '#{session_name} #{pane_id}').trim();
    await until('it is there', () => here() === `other ${waiting}`);
  });

  it('shows what the daemon sees', async () => {
    start(conf);
    world.tmux('new-window', '-d', '-n', 'agent', '-t', 'work:', `exec ${world.agent('claude')} 600`);
    await world.agtmux('list');
    await until('its state in the window list', () => format('work:1', '#{E:window-status-format}') === '1 agent ◌');
  });
});
