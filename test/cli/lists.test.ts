// The lists as a person and a program get them: filters, hostile names, narrow terminals, and without a daemon.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PaneList, paneListSchema, sessionListSchema, windowListSchema } from '../../src/api/panes.ts';
import { timelineSchema } from '../../src/api/timeline.ts';
import { formatRef, parseRef } from '../../src/engine/refs.ts';
import { width } from '../../src/text/width.ts';
import { asHeld, until } from '../kit/tmux-server.ts';
import { createWorld, panesOf, root, type World } from './kit.ts';

let world: World;

/** What tmux keeps of such names is its own business; that we show exactly that is ours. */
const wanted = ['two words', 'quo"te\'s', 'sla/sh', '#{pid}', '🚀 naïve', '$HOME `id`', '%5', 'tab\there'];
/** Those that this tmux takes: since 3.7 none with a control character. */
let names: readonly string[];
const oddDirectory = 'new\nline\ttab "q" #{x}';

beforeAll(async () => {
  world = createWorld();
  world.tmux('new-session', '-d', '-s', 'agents', '-x', '100', '-y', '30', `${world.agent('claude')} 600`);
  const shop = join(world.directory, 'shop');
  mkdirSync(shop);
  execFileSync('git', ['init', '-q', '-b', 'cart', shop]);
  writeFileSync(join(shop, 'new.txt'), 'new\n');
  world.tmux('new-window', '-d', '-t', 'agents:', '-c', shop, `${world.agent('codex')} 600`);
  const odd = join(world.directory, oddDirectory);
  mkdirSync(odd);
  // tmux itself expands formats in these words.
  const plain = (text: string): string => text.replaceAll('#', '##');
  names = wanted.filter((name) => {
    try {
      world.tmux('new-session', '-d', '-s', plain(name), '-n', plain(name), '-c', plain(odd), 'sleep 600');
      return true;
    } catch (error) {
      expect(String(error)).toContain('invalid window name: tab');
      return false;
    }
  });
  await until('both agents are listed', async () => {
    const { items } = await world.json<PaneList>('list', '--json');
    return items.length === 2;
  });
});

afterAll(() => world.end());

const agentsOf = async (...args: string[]): Promise<readonly (string | null)[]> => {
  const { items } = await world.json<PaneList>('list', ...args, '--json');
  return items.map((item) => item.agent).sort();
};

describe('the quick way of agtmux list', () => {
  const whole = (...args: string[]) =>
    spawnSync(process.execPath, [join(root, 'dist/main.js'), ...args], { env: world.env, encoding: 'utf8' }).stdout;

  it.each([
    ['list'],
    ['ls', '--json', '--all-panes', '--sort', 'name'],
    ['list', 'windows', '--with-agent-status', '--color', 'always'],
    ['list', 'sessions', '--group-by=session-name'],
  ])('says what the whole program says: %s %s %s', async (...args) => {
    const steady = (text: string): string =>
      text.replaceAll(/\d+[smh]\b/g, '').replaceAll(/"[a-z_]+_(?:at|ms)":[^,}]+/g, '');
    expect(steady((await world.agtmux(...args)).stdout)).toBe(steady(whole(...args)));
  });

  it('loads little, and leaves to the whole program what it cannot answer', async () => {
    const preload = join(world.directory, 'loaded.cjs');
    const isWhole = "process.moduleLoadList.includes('NativeModule internal/fs/promises')";
    writeFileSync(preload, `process.on('exit', () => require('fs').writeSync(2, ${isWhole} ? 'whole' : 'quick'));`);
    const loaded = async (...args: string[]) =>
      (await world.agtmuxWith({ NODE_OPTIONS: `--require=${preload}` }, ...args)).stderr.slice(-5);
    expect(await loaded('list')).toBe('quick');
    expect(await loaded('list', 'panes', '--json')).toBe('quick');
    expect(await loaded('list', '--no-daemon', '--json')).toBe('whole');
    expect(await loaded('list', '--state', 'nonsense')).toBe('whole');
    expect(await loaded('list', '--help')).toBe('whole');
  });
});

describe('agtmux timeline', () => {
  it('LOG7 tells states over time, for programs and for people', async () => {
    const lanes = async (...args: string[]) =>
      timelineSchema.parse(await world.json('timeline', '--json', ...args)).items;
    await until('both have a lane', async () => (await lanes()).length === 2);
    expect((await lanes()).map(({ agent }) => agent).sort()).toEqual(['claude', 'codex']);
    expect(await lanes('claude', '--last', '2h')).toMatchObject([{ agent: 'claude', target: 'host', is_open: true }]);
    const { stdout } = await world.agtmux('timeline');
    expect(stdout).toContain('AGENT');
    expect(stdout).toContain('agents waited for you: 0m');
  });

  it.each([
    [['timeline', 'nobody'], 'E_REF_NOT_FOUND'],
    [['timeline', '--last', '5y'], 'E_USAGE'],
    [['timeline', '--last', '800h'], 'E_USAGE'],
  ])('%j is refused', async (args, code) => {
    const { status, stderr } = await world.agtmux(...args);
    expect(status).not.toBe(0);
    expect(stderr).toContain(code);
  });
});

describe('agtmux list', () => {
  it('FED3 prints documents that fit their schemas', async () => {
    const panes = paneListSchema.parse(await world.json('list', 'panes', '--json'));
    expect(panes.items.map((item) => item.agent).sort()).toEqual(['claude', 'codex']);
    const windows = windowListSchema.parse(await world.json('ls', 'windows', '--with-agent-status', '--json'));
    expect(windows.items).toHaveLength(2);
    expect(windows.items[0]?.agents).toHaveLength(1);
    const sessions = sessionListSchema.parse(
      await world.json('list', 'sessions', '--group-by', 'session-name', '--agent-summary', '--json'),
    );
    expect(sessions.items).toMatchObject([{ identity: { session_name: 'agents', target: null }, total: 2 }]);
  });

  it('GIT1 an agent in a repository has its branch, and its changes can be seen', async () => {
    await until('git has told of it', async () => {
      const { items } = await world.json<PaneList>('list', '--branch', 'cart', '--json');
      return items.map(({ agent, git }) => `${agent} ${git?.repository} ${git?.dirty}`).join() === 'codex shop 1';
    });
    expect((await world.agtmux('list', '--git', '--project', 'shop')).stdout).toMatch(/codex +shop .* cart \*1 /);
    expect((await world.agtmux('diff', 'codex')).stdout).toMatch(/A {2}new\.txt {2}\+1 -0[\s\S]*\+new/);
  });

  it('narrows by every filter, each of them repeatable', async () => {
    expect(await agentsOf('--agent', 'claude')).toEqual(['claude']);
    expect(await agentsOf('--agent=claude', '--agent=codex')).toEqual(['claude', 'codex']);
    expect(await agentsOf('--state', 'running')).toEqual([]);
    expect(await agentsOf('--state', 'running', '--state', 'unknown')).toEqual(['claude', 'codex']);
    // The words of the table are as good as the names, several with commas too.
    expect(await agentsOf('--state', 'approve')).toEqual([]);
    expect(await agentsOf('--state', 'done,unknown')).toEqual(['claude', 'codex']);
    const offline = await world.agtmux('list', '--no-daemon', '--state', 'done');
    expect([offline.status, offline.stderr]).not.toContain(2);
    expect(await agentsOf('--target', 'host', '--session', 'agents', '--sort', 'agent')).toEqual(['claude', 'codex']);
    expect(await agentsOf('--session', 'two words')).toEqual([]);
    expect(await agentsOf('--target-session', 'host/two words')).toEqual([]);
    expect(await agentsOf('--target-session', 'host/two words', '--all-panes')).toEqual([null]);
    expect(await agentsOf('--needs-action', '--ended', '--all-targets')).toEqual([]);
    expect(await agentsOf('--tmux-socket', 'default')).toEqual(['claude', 'codex']);
  });

  it.each([
    [['list', '--state', 'flying'], 'E_FILTER', 'there is no state "flying"; there are approve (waiting_approval)'],
    [['watch', '--format', 'jsonl', '--state', 'flying'], 'E_FILTER', 'there is no state "flying"'],
    [['list', '--target', 'mars'], 'E_FILTER', 'there is no target "mars"'],
    [['list', '--sort', 'luck'], 'E_FILTER', 'sort'],
    [['list', 'sessions', '--group-by', 'x'], 'E_FILTER', 'group_by'],
    [['list', '--target', 'host', '--all-targets'], 'E_USAGE', 'cannot be used together'],
    [['list', '--state'], 'E_USAGE', 'argument missing'],
    [['list', '--colour'], 'E_USAGE', 'Did you mean --color?'],
    [['list', '--color', 'pink'], 'E_USAGE', 'auto, always, never'],
    [['list', 'panels'], 'E_USAGE', 'panels'],
    [['list', '--no-daemon', '--sort', 'luck'], 'E_FILTER', 'sort'],
    [['list', '\u001b[31m'], 'E_USAGE', ''],
  ])('%j is refused in one line', async (args, code, words) => {
    const ran = await world.agtmux(...args);
    expect(ran).toMatchObject({ status: 2, stdout: '' });
    expect(ran.stderr).toMatch(/^agtmux: [^\n]+\n$/);
    expect(ran.stderr).toContain(`[${code}]`);
    expect(ran.stderr).toContain(words);
    expect(ran.stderr).not.toContain('\u001b');
  });

  it('names of any kind are listed right, and refs lead back', async () => {
    const { items } = await world.json<PaneList>('list', 'panes', '--all-panes', '--json');
    expect(items.map((item) => item.identity.pane_id).sort()).toEqual(panesOf(world));
    const format = '#{pane_id} #{session_name}';
    const told = new Map(
      asHeld(world.tmux('list-panes', '-a', '-F', format), world.tmux('-V'))
        .trimEnd()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
    );
    for (const { identity, ref } of items) {
      expect(identity.session_name).toBe(told.get(identity.pane_id ?? ''));
      const parsed = parseRef(ref);
      expect(parsed).toMatchObject({
        ok: true,
        value: { kind: 'pane', session: identity.session_name, window: identity.window_id, pane: identity.pane_id },
      });
      if (parsed.ok) expect(formatRef(parsed.value)).toBe(ref);
    }
    for (const name of ['two words', 'sla/sh', '#{pid}', '🚀 naïve']) {
      expect(items.map((item) => item.identity.session_name)).toContain(name);
      expect(await agentsOf('--session', name, '--all-panes')).toEqual([null]);
    }
    expect(items.filter((item) => item.cwd === join(world.directory, oddDirectory))).toHaveLength(names.length);
  });

  it.each(['30', '80', '200'])('never wraps in %s columns', async (columns) => {
    for (const scope of ['panes', 'windows', 'sessions']) {
      const { stdout, status } = await world.agtmuxWith({ COLUMNS: columns }, 'list', scope, '--all-panes');
      expect(status).toBe(0);
      for (const line of stdout.split('\n')) expect(width(line)).toBeLessThanOrEqual(Number(columns));
    }
  });

  it('colours only a terminal, or when told to', async () => {
    expect((await world.agtmux('list')).stdout).not.toContain('\u001b');
    expect((await world.agtmux('list', '--color', 'always')).stdout).toContain('\u001b[');
    const onTerminal = async (name: string, prefix: string): Promise<string> => {
      const line = `${prefix} '${process.execPath}' '${join(import.meta.dirname, '../../bin/agtmux')}' list; sleep 600`;
      world.tmux('-L', 'other', 'new-session', '-d', '-s', name, '-x', '90', '-y', '30', line);
      return until('the list is on the screen', () => {
        const screen = world.tmux('-L', 'other', 'capture-pane', '-p', '-e', '-t', `${name}:`);
        return screen.includes('claude') && screen;
      });
    };
    expect(await onTerminal('colour', '')).toContain('\u001b[');
    expect(await onTerminal('plain', 'NO_COLOR=1')).not.toContain('\u001b[3');
  });

  it('--no-daemon shows the same panes and agents, marked as degraded', async () => {
    const near = await world.json<PaneList>('list', '--all-panes', '--json', '--sort', 'name', '--target', 'host');
    const far = await world.json<PaneList & { degraded: boolean }>(
      ...['list', '--all-panes', '--json', '--sort', 'name', '--no-daemon', '--tmux-socket', 'default'],
    );
    const { degraded, ...list } = far;
    expect(degraded).toBe(true);
    paneListSchema.parse(list);
    const who = ({ items }: PaneList) => items.map((item) => [item.ref, item.runtime_id, item.agent, item.cwd]);
    expect(who(far)).toEqual(who(near));
    expect(new Set(far.items.map((item) => item.state))).toEqual(new Set([null, 'unknown']));
    const text = await world.agtmux('list', 'windows', '--no-daemon');
    expect(text.stdout).toContain('host/agents:0');
    expect(text.stderr).toContain('without the daemon');
  });

  it('answers curl', () => {
    const curl = (path: string): string =>
      execFileSync('curl', ['-s', '--unix-socket', world.socketPath, `http://agtmux${path}`], { encoding: 'utf8' });
    expect(paneListSchema.parse(JSON.parse(curl('/v1/panes'))).items).toHaveLength(2);
    expect(curl('/v1/panes?format=text&columns=90')).toMatch(/^STATE +AGENT/);
  });
});

describe('agtmux list without a daemon', () => {
  it('works where none can run, and says why', async () => {
    writeFileSync(join(world.directory, 'file'), '');
    const blocked = { AGTMUX_STATE_DIR: join(world.directory, 'file/state') };
    const ran = await world.agtmuxWith(blocked, 'list', '--json');
    expect(ran.status).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ degraded: true });
    expect(ran.stderr).toMatch(/file\/state.*\[E_SOCKET\]\n$/);
  });

  it('says when there is no tmux', async () => {
    const ran = await world.agtmuxWith({ PATH: '/nowhere' }, 'list', '--no-daemon');
    expect(ran).toMatchObject({ status: 9, stdout: '' });
    expect(ran.stderr).toMatch(/^agtmux: tmux is not installed there; .* \[E_TMUX_MISSING\]\n$/);
  });
});
