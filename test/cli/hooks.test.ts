// `agtmux hooks` as a person uses it: what is shown, asked and refused, and what stands in the files afterwards.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../kit/tmux-server.ts';
import { createWorld, type Ran, root, type World } from './kit.ts';

let world: World;
let claude: string;
let programs: string;
const user = '{\n  "model": "opus",\n  "hooks": {\n    "Stop": [\n      { "hooks": [] }\n    ]\n  }\n}\n';

beforeAll(() => {
  programs = mkdtempSync(join(tmpdir(), 'agt-bin-'));
  world = createWorld({ PATH: `${programs}:${process.env.PATH}` });
  mkdirSync(join(world.directory, '.claude'));
  claude = join(world.directory, '.claude/settings.json');
});
afterAll(async () => {
  await world.end();
  rmSync(programs, { recursive: true });
});
beforeEach(async () => {
  writeFileSync(claude, user);
  version('echo "2.0.77 (Claude Code)"');
});

/** What `claude --version` does. */
const version = (script: string): void =>
  writeFileSync(join(programs, 'claude'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

const hooks = (...args: string[]): Promise<Ran> => world.agtmux('hooks', ...args);
const held = (): string => readFileSync(claude, 'utf8');

describe('agtmux hooks', () => {
  it('shows the difference, and without a terminal and a yes writes nothing', async () => {
    const ran = await hooks('install', '--agent', 'claude');
    expect(ran.status).toBe(2);
    expect(ran.stdout).toContain(`--- ${claude}\n+++ ${claude}\n@@ -2,7 +2,`);
    expect(ran.stdout).toMatch(/^\+ {4}"SessionEnd": \[.*agtmux-hook' claude SessionEnd"/m);
    expect(ran.stdout).not.toContain('\u001b');
    expect(ran.stderr).toMatch(/^agtmux: nothing was written: .*--yes \[E_USAGE\]\n$/);
    expect(held()).toBe(user);
    expect((await hooks('install', '--agent', 'claude', '--color', 'always')).stdout).toContain('\u001b[32m+');
  });

  it('a dry run writes nothing, not even the program or a folder', async () => {
    const ran = await hooks('install', '--agent', 'claude', '--agent', 'gemini', '--dry-run');
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    expect(ran.stdout).toContain('agtmux-hook, the program that agents call\n');
    expect(held()).toBe(user);
    expect(readdirSync(join(world.directory, '.claude'))).toEqual(['settings.json']);
    expect(existsSync(join(world.stateDir, 'bin'))).toBe(false);
    expect(existsSync(join(world.directory, '.gemini'))).toBe(false);
  });

  it('installs, says what is there, and removes without a trace', async () => {
    expect(await hooks('status')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^claude +absent$/m) });
    const ran = await hooks('install', '--yes');
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    expect(ran.stdout).toContain(`written: ${claude}\n`);
    expect(ran.stdout).toMatch(/^not in use on host, skipped: codex, /m);
    const status = await hooks('status');
    expect(status.stdout).toMatch(/^claude +installed$/m);
    expect(status.stdout).toMatch(/^gemini +absent \(not in use here\)$/m);
    expect(status.stdout).toContain(`${join(world.stateDir, 'bin/agtmux-hook')} is installed\n`);
    expect(await hooks('install', '--yes')).toMatchObject({
      stdout: expect.stringContaining('already installed: claude'),
    });
    // Where the state is kept is not the usual place, so the program has to be told.
    expect(held()).toContain(
      `"AGTMUX_SPOOL='${world.stateDir}/spool' '${world.stateDir}/bin/agtmux-hook' claude Stop"`,
    );
    const program = join(world.stateDir, 'bin/agtmux-hook');
    expect(readFileSync(program, 'utf8')).toBe(readFileSync(join(root, 'bin/agtmux-hook'), 'utf8'));
    writeFileSync(program, '#!/bin/sh\n');
    expect(await hooks('status')).toMatchObject({ status: 1, stdout: expect.stringContaining('another version') });
    expect(await hooks('install', '--yes')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`written: ${program}`),
    });
    const removed = await hooks('remove', '--yes');
    expect(removed).toMatchObject({ status: 0, stderr: '' });
    expect(held()).toBe(user);
    expect(readdirSync(join(world.directory, '.claude'))).toEqual(['settings.json']);
    expect((await hooks('remove', '--yes')).stdout).toContain('nothing was installed: claude');
  });

  it('puts in what the installed version understands, says what it left out, and notices an upgrade', async () => {
    const events = () => Object.keys((JSON.parse(held()) as { hooks: object }).hooks);
    const first = await hooks('install', '--agent', 'claude', '--yes');
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(first.stdout).toMatch(/^claude: version 2\.0\.77 was found.*StopFailure.*omitted/m);
    expect(events()).not.toContain('StopFailure');
    version('echo "2.1.325 (Claude Code)"');
    expect(await hooks('status', '--agent', 'claude')).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^claude +partial \(not what version 2\.1\.325 needs; /),
    });
    expect((await hooks('install', '--agent', 'claude', '--yes')).stdout).toContain('2.1.325 was found');
    expect(events()).toContain('StopFailure');
    expect(await hooks('status', '--agent', 'claude')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^claude +installed$/m),
    });
    version('exit 127');
    expect((await hooks('status', '--agent', 'claude')).stdout).toMatch(
      /^claude +installed \(its version is not known\)/,
    );
    await hooks('remove', '--yes');
    expect(held()).toBe(user);
    expect((await hooks('install', '--agent', 'claude', '--yes')).stdout).toMatch(/^claude: its version is not known/m);
    expect(events()).not.toContain('PermissionRequest');
    await hooks('remove', '--yes');
    expect(held()).toBe(user);
  });

  it('speaks JSON for programs', async () => {
    const plan = await hooks('install', '--agent', 'claude', '--json', '--dry-run');
    expect(JSON.parse(plan.stdout)).toMatchObject({
      action: 'install',
      edits: expect.arrayContaining([expect.objectContaining({ agent: 'claude', path: claude, change: 'change' })]),
    });
    const done = await hooks('install', '--agent', 'claude', '--json', '--yes');
    expect(JSON.parse(done.stdout)).toMatchObject({ target: 'host', written: expect.arrayContaining([claude]) });
    const status = JSON.parse((await hooks('status', '--json', '--agent', 'claude')).stdout) as { agents: unknown };
    expect(status.agents).toMatchObject([{ agent: 'claude', state: 'installed', files: [{ path: claude }] }]);
    const refused = await hooks('remove', '--json');
    expect(refused.status).toBe(2);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'E_USAGE' } });
    await hooks('remove', '--yes');
  });

  it('asks at a terminal, and only y means yes', async () => {
    world.tmux('new-session', '-d', '-s', 'ask', '-x', '120', '-y', '50', '/bin/sh');
    const words = `${process.execPath} ${join(root, 'bin/agtmux')} hooks install --agent claude; echo "ended with $?"`;
    const screen = (): string => world.tmux('capture-pane', '-p', '-t', 'ask', '-S', '-');
    const answer = async (key: string, ends: number): Promise<void> => {
      world.tmux('send-keys', '-t', 'ask', words, 'Enter');
      await until('it asks', () => screen().split('on host? [y/N]').length === ends + 1);
      world.tmux('send-keys', '-t', 'ask', key, 'Enter');
      await until('it ends', () => screen().split(/ended with \d/).length === ends + 1);
    };
    await answer('n', 1);
    expect(held()).toBe(user);
    await answer('y', 2);
    expect(held()).toContain('agtmux-hook');
    await hooks('remove', '--yes');
  });

  it('follows the variables of the shell it is called in', async () => {
    const elsewhere = join(world.directory, 'else where');
    const ran = await world.agtmuxWith(
      { CLAUDE_CONFIG_DIR: elsewhere },
      'hooks',
      'install',
      '--agent',
      'claude',
      '--yes',
    );
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(join(elsewhere, 'settings.json'), 'utf8')).toContain('agtmux-hook');
    expect(held()).toBe(user);
    expect((await hooks('status', '--agent', 'claude')).stdout).toMatch(/^claude +absent$/m);
    await world.agtmuxWith({ CLAUDE_CONFIG_DIR: elsewhere }, 'hooks', 'remove', '--yes');
    expect(existsSync(elsewhere)).toBe(false);
  });

  it('refuses what it cannot merge with, in one line with a code, and writes nothing', async () => {
    writeFileSync(claude, '{\n  "hooks": {\n    "Stop": [}\n');
    const broken = await hooks('install', '--yes');
    expect(broken).toMatchObject({ status: 2, stdout: '' });
    expect(broken.stderr).toMatch(/^agtmux: .*settings\.json, line 3: .* \[E_HOOKS\]\n$/);
    expect(await hooks('status')).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^claude +broken\n {2}.*line 3/m),
    });
    writeFileSync(claude, user);
    chmodSync(claude, 0o444);
    const readOnly = await hooks('install', '--yes');
    expect(readOnly).toMatchObject({ status: 2, stdout: '' });
    expect(readOnly.stderr).toMatch(/is read-only.* \[E_FILE\]\n$/);
    chmodSync(claude, 0o644);
    expect((await hooks('install', '--agent', 'nobody', '--yes')).stderr).toMatch(/no agent "nobody".*\[E_FILTER\]\n$/);
    expect((await hooks('install', '--target', 'vm9', '--yes')).stderr).toMatch(
      /no target vm9.*\[E_REF_NOT_FOUND\]\n$/,
    );
    expect(held()).toBe(user);
  });

  it('two at once leave one of each', async () => {
    const both = await Promise.all([1, 2].map(() => hooks('install', '--agent', 'claude', '--yes')));
    for (const ran of both) expect(ran).toMatchObject({ status: 0, stderr: '' });
    const { hooks: all } = JSON.parse(held()) as { hooks: Record<string, unknown[]> };
    expect([all.Stop?.length, all.SessionStart?.length]).toEqual([2, 1]);
    await hooks('remove', '--yes');
    expect(held()).toBe(user);
  });

  it('whatever the user has comes back byte for byte', async () => {
    const entry = fc.record({ hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() })) });
    const settings = fc.record({
      env: fc.dictionary(fc.string(), fc.string()),
      hooks: fc.dictionary(fc.constantFrom('Stop', 'PreToolUse', 'Mine'), fc.array(entry, { maxLength: 2 })),
    });
    const text = fc.tuple(settings, fc.constantFrom(undefined, 2, '\t'), fc.constantFrom('', '\n'));
    await fc.assert(
      fc.asyncProperty(text, async ([value, space, end]) => {
        const before = JSON.stringify(value, null, space) + end;
        writeFileSync(claude, before);
        expect((await hooks('install', '--agent', 'claude', '--yes')).status).toBe(0);
        expect(held()).not.toBe(before);
        expect((await hooks('remove', '--agent', 'claude', '--yes')).status).toBe(0);
        expect(held()).toBe(before);
      }),
      { numRuns: 8 },
    );
  });
});
