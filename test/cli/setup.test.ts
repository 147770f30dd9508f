// The first run and the last: what setup puts into a home, uninstall takes out again, byte for byte.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { programsMayAll } from '../kit/policy.ts';
import { type Ran, root } from './kit.ts';

let home = '';
let tools = '';
let marks: Readonly<Record<string, string>> = {};

afterEach(async () => {
  marks = {};
  await agtmux('daemon', 'stop');
  for (const folder of [home, tools]) rmSync(folder, { recursive: true, force: true });
});

function world(files: Readonly<Record<string, string>>, hasService = true): void {
  home = mkdtempSync(join(tmpdir(), 'agt-home-'));
  tools = mkdtempSync(join(tmpdir(), 'agt-tools-'));
  // Whoever runs these tests may have no parents left; they count as a program of the user's.
  const policy = { '.config/agtmux/policy.toml': programsMayAll };
  for (const [path, text] of Object.entries({ ...policy, ...files })) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  if (hasService) put('systemctl', `#!/bin/sh\necho "$@" >>${tools}/service\n`);
}

function put(name: string, text: string): void {
  writeFileSync(join(tools, name), text, { mode: 0o755 });
}

function agtmux(...args: string[]): Promise<Ran> {
  const env = {
    PATH: `${tools}:${process.env.PATH}`,
    HOME: home,
    TMUX_TMPDIR: tools,
    LANG: 'C.UTF-8',
    SHELL: '/bin/sh',
    ...marks,
  };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, 'bin/agtmux'), ...args], { env, cwd: home });
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (data: Buffer) => {
      said.stdout += data.toString();
    });
    child.stderr.on('data', (data: Buffer) => {
      said.stderr += data.toString();
    });
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, ...said }));
    child.stdin.end();
  });
}

/** Every file, folder and link below home: what it is, its rights, and what it holds. */
function tree(folder = home): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    const mode = (stat.mode & 0o7777).toString(8);
    const key = path.slice(home.length + 1);
    if (stat.isDirectory()) Object.assign(found, { [key]: `folder ${mode}` }, tree(path));
    else if (stat.isSymbolicLink()) found[key] = `link ${readlinkSync(path)}`;
    else if (stat.isFile()) found[key] = `file ${mode} ${readFileSync(path, 'base64')}`;
    else found[key] = `other ${mode}`;
  }
  return found;
}

const own = {
  '.claude/settings.json':
    '{\n  // mine\n  "model": "opus",\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\n}',
  '.claude.json': '{"mcpServers": {"mine": {"command": "x"}}}\n',
  '.codex/config.toml': 'model = "o5" # mine\n\n[mcp_servers.mine]\ncommand = "x"\n',
  '.codex/hooks.json': '{"hooks": {}}',
  '.gemini/settings.json': '{"theme": "dark"}',
  '.tmux.conf': 'set -g mouse on',
  '.config/agtmux/config.toml': '[observe]\nsweep_ms = 500\n',
  '.config/agtmux/notifications.toml': '# my own\nchannels = ["browser"]\n',
} as const;

describe('setup and uninstall', () => {
  it.each([
    ['an empty home', {}],
    ['a home with settings of its own', own],
    ['a home with agents and nothing else', { '.claude/x': '', '.codex/x': '', '.gemini/x': '' }],
  ])('INS1 leave %s as it was, byte for byte', async (_, files) => {
    world(files);
    const before = tree();
    const done = await agtmux('setup', '--yes');
    expect({ status: done.status, stderr: done.stderr }).toEqual({ status: 0, stderr: '' });
    expect(done.stdout).toMatch(/✓ hooks +done\n✓ tmux +done\n✓ mcp +done\n/);
    const after = tree();
    expect(after).not.toEqual(before);
    expect(existsSync(join(home, '.local/state/agtmux/agtmux.db'))).toBe(true);
    expect(readFileSync(join(tools, 'service'), 'utf8')).toContain('enable --now agtmux.service');
    if ('.claude/settings.json' in files)
      expect(after['.claude/settings.json']).not.toBe(before['.claude/settings.json']);
    // A second time changes nothing.
    expect((await agtmux('setup', '--yes')).status).toBe(0);
    const gone = await agtmux('uninstall', '--yes');
    expect({ status: gone.status, stderr: gone.stderr }).toEqual({ status: 0, stderr: '' });
    expect(tree()).toEqual(before);
    expect(readFileSync(join(tools, 'service'), 'utf8')).toContain('disable --now agtmux.service');
  });

  it('INS1 what a person wrote into the file of notifications stays', async () => {
    world({});
    expect((await agtmux('setup', '--yes', '--skip', 'service')).status).toBe(0);
    const path = join(home, '.config/agtmux/notifications.toml');
    const text = `${readFileSync(path, 'utf8')}\n[webhook]\nurl = "https://example.org/x"\n`;
    writeFileSync(path, text);
    expect((await agtmux('uninstall', '--yes')).status).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('INS1 ACT6 an agent takes nothing out: it is refused before anything is changed', async () => {
    world(own);
    expect((await agtmux('setup', '--yes')).status).toBe(0);
    const isOwn = ([path]: readonly [string, string]): boolean => !path.startsWith('.local/state/');
    const before = Object.entries(tree()).filter(isOwn);
    marks = { CLAUDECODE: '1' };
    const refused = await agtmux('uninstall', '--yes');
    expect([refused.status, refused.stderr]).toEqual([12, expect.stringContaining('[E_ROLE]')]);
    expect(Object.entries(tree()).filter(isOwn)).toEqual(before);
    expect(existsSync(join(home, '.local/state/agtmux/agtmux.db'))).toBe(true);
  });

  it('INS1 --settings takes what the user wrote for agtmux as well', async () => {
    world({ '.config/agtmux/config.toml': '' });
    expect((await agtmux('setup', '--yes')).status).toBe(0);
    expect((await agtmux('uninstall', '--yes', '--settings')).status).toBe(0);
    expect(tree()).toEqual({ '.config': tree()['.config'] });
  });

  it('INS2 --dry-run shows every change and makes none, and without a terminal nothing is asked or done', async () => {
    world(own);
    const before = tree();
    const shown = await agtmux('setup', '--dry-run', '--skip', 'service');
    expect(shown.status).toBe(0);
    expect(shown.stdout).not.toContain('+++ ');
    expect(shown.stdout).toMatch(/^ {2}change +\S+\.claude\/settings\.json, \+\d+/m);
    expect(shown.stdout.split('\n').length).toBeLessThan(50);
    const whole = await agtmux('setup', '--dry-run', '--diff', '--skip', 'service');
    expect([whole.status, whole.stdout]).toEqual([0, expect.stringContaining('+++ ')]);
    expect(shown.stdout).toMatch(/○ service +skipped/);
    const refused = await agtmux('setup');
    expect([refused.status, refused.stderr]).toEqual([
      2,
      expect.stringContaining('--dry-run`, then use --yes [E_USAGE]'),
    ]);
    expect((await agtmux('uninstall')).stderr).toMatch(/no terminal .*\[E_USAGE\]/);
    const plan = (await agtmux('uninstall', '--dry-run')).stdout;
    expect([...plan.matchAll(/^── (.+)$/gm)].map(([, words]) => words)).toContain('files of agtmux itself');
    expect(plan).toContain('── service\nno service is installed\n');
    await agtmux('daemon', 'stop');
    const { '.local': _, ...left } = Object.fromEntries(
      Object.entries(tree()).filter(([path]) => !path.startsWith('.local/')),
    );
    expect(left).toEqual(before);
  });

  it('INS2 a step that cannot be done here keeps no other from being done, and nothing half-made stays', async () => {
    world({ '.claude/settings.json': '{ broken', '.tmux.conf': 'x' }, false);
    put('systemctl', '#!/bin/sh\necho "no bus" >&2\nexit 1\n');
    const ran = await agtmux('setup', '--yes');
    expect(ran.status).toBe(1);
    expect(ran.stdout).toMatch(/✕ hooks +.*settings\.json.*\[E_HOOKS\]/);
    expect(ran.stdout).toMatch(/✓ tmux +done/);
    expect(ran.stdout).toMatch(/not available: .*no bus/);
    expect(ran.stdout).toMatch(/○ service +skipped/);
    expect(existsSync(join(home, '.config/systemd/user/agtmux.service'))).toBe(false);
    // Hooks that cannot be looked at may still call what would be removed: so nothing is.
    const stopped = await agtmux('uninstall', '--yes');
    expect([stopped.status, stopped.stderr]).toEqual([2, expect.stringContaining('[E_HOOKS]')]);
    expect(existsSync(join(home, '.local/state/agtmux/agtmux.db'))).toBe(true);
    expect(readFileSync(join(home, '.tmux.conf'), 'utf8')).toContain('agtmux');
  });

  it('INS1 without state it says that nobody looked at the agents', async () => {
    world(own);
    const before = tree();
    expect((await agtmux('uninstall', '--yes')).stdout).toContain('agents were not checked');
    expect(tree()).toEqual(before);
  });

  it('INS1 a state directory that is not one is left alone', async () => {
    world({ 'precious.txt': 'x' });
    chmodSync(home, 0o700);
    const before = tree();
    symlinkSync('/nowhere', join(home, 'link'));
    const ran = await new Promise<Ran>((resolve) => {
      const env = { PATH: process.env.PATH, HOME: home, AGTMUX_STATE_DIR: home };
      const child = spawn(process.execPath, [join(root, 'bin/agtmux'), 'uninstall', '--yes'], { env });
      let stderr = '';
      child.stderr.on('data', (data: Buffer) => {
        stderr += data.toString();
      });
      child.once('close', (status) => resolve({ status, stdout: '', stderr }));
    });
    expect(ran.stderr).toContain('[E_UNSAFE_DIR]');
    rmSync(join(home, 'link'));
    expect(tree()).toEqual(before);
  });
});
