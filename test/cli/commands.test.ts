// Every other command once: what it prints, and its exit status.
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type CommandSpec, commands } from '../../src/cli/commands.ts';
import { errorCodes, errors } from '../../src/model/errors.ts';
import { until } from '../kit/tmux-server.ts';
import { builtVersion, createWorld, root, type World } from './kit.ts';

let world: World;

beforeAll(async () => {
  world = createWorld();
  world.tmux('new-session', '-d', '-s', 'work', '-x', '100', '-y', '30', 'sleep 600');
  await world.agtmux('daemon', 'start');
});

afterAll(() => world.end());

const paths = (specs: readonly CommandSpec[], above: readonly string[] = []): readonly (readonly string[])[] =>
  specs.flatMap((spec) => [[...above, spec.name], ...paths(spec.commands ?? [], [...above, spec.name])]);

describe('words of the user on a terminal', () => {
  const nasty = '\u001b[31mred\u001b]0;title\u0007\u009b2J\u0085\u202e';
  /** What a terminal would take for more than text; line ends, and nothing else. */
  const effects = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

  it('SEC3 an argument with escape sequences in it is shown without them, in errors too', async () => {
    for (const args of [
      ['hooks', 'install', '--agent', nasty],
      ['hooks', 'status', '--agent', nasty],
      ['mcp', 'status', '--agent', nasty],
      ['list', '--agent', nasty],
      ['list', '--session', nasty],
      ['watch', '--once', '--agent', nasty],
      ['new', '--agent', nasty],
      ['notify', 'mute', '1h', '--agent', nasty],
      ['kill', nasty],
      ['target', 'add', nasty],
      [nasty],
    ]) {
      for (const json of [[], ['--json']]) {
        const { stdout, stderr } = await world.agtmux(...args, ...json);
        expect([args[0], stdout + stderr]).toEqual([args[0], expect.not.stringMatching(effects)]);
        expect(stdout + stderr).not.toBe('');
      }
    }
    await world.agtmux('notify', 'unmute');
  });

  it('SEC3 a home directory with escape sequences in its name is shown without them', async () => {
    const home = join(world.directory, nasty);
    mkdirSync(join(home, '.config'), { recursive: true });
    for (const args of [
      ['tmux', 'install', '--dry-run'],
      ['tmux', 'install'],
      ['tmux', 'status'],
      ['tmux', 'remove', '--dry-run'],
      ['tmux', 'remove'],
      ['daemon', 'install', '--dry-run'],
      ['daemon', 'uninstall', '--dry-run'],
      ['config', 'path'],
      ['config', 'check'],
      ['menubar', 'install', '--dry-run', '--dir', home],
      ['menubar', 'install', '--dir', home],
      ['menubar', 'uninstall', '--dir', home],
      ['hooks', 'install', '--dry-run'],
      ['mcp', 'status'],
      ['doctor'],
    ]) {
      const { stdout, stderr } = await world.agtmuxWith({ HOME: home, XDG_CONFIG_HOME: undefined }, ...args);
      expect([args.join(' '), stdout + stderr]).toEqual([args.join(' '), expect.not.stringMatching(effects)]);
    }
  });
});

describe('help', () => {
  it('is there for every command', async () => {
    const helps = await Promise.all(paths(commands).map((path) => world.agtmux(...path, '--help')));
    for (const [place, { status, stdout, stderr }] of helps.entries()) {
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toContain(
        `Usage: agtmux ${paths(commands)
          [place]?.join(' ')
          .replace(/^list$/, 'list|ls')}`,
      );
    }
  });

  it('has examples for every command a person starts with', async () => {
    for (const { name, examples, action } of commands) {
      if (action !== 'version') expect(examples?.length, name).toBeGreaterThan(0);
    }
    expect((await world.agtmux('help', 'watch')).stdout).toContain('Examples:\n  agtmux watch\n');
  });

  it.each([
    ['lst', 'list'],
    ['stat', 'status'],
    ['demon', 'daemon'],
  ])('suggests for %s', async (said, meant) => {
    const ran = await world.agtmux(said);
    expect(ran).toMatchObject({ status: 2, stdout: '' });
    expect(ran.stderr).toMatch(new RegExp(`Did you mean .*${meant}.*\\[E_USAGE\\]\\n$`));
  });

  it('reads on behind the first word, and does not take a word it does not know for none', async () => {
    expect((await world.agtmux('help', 'list', 'windows')).stdout).toContain('Usage: agtmux list windows');
    expect((await world.agtmux('help')).stdout).toContain('Usage: agtmux <command>');
    const unknown = await world.agtmux('help', 'lst');
    expect(unknown).toMatchObject({ status: 2, stdout: '' });
    expect(unknown.stderr).toMatch(/unknown command 'lst' \(Did you mean/);
  });

  it('of a group has the options of the command that is meant when none is named', async () => {
    const { stdout } = await world.agtmux('list', '--help');
    expect(stdout).toContain('`agtmux list` without a command is `agtmux list panes`:');
    expect(stdout).toMatch(/--needs-action {2,}Show only agents/);
    expect(stdout.indexOf('--needs-action')).toBeLessThan(stdout.indexOf('Examples:'));
  });

  it.each([
    [['list', 'panse'], "list has no command 'panse'; it has panes, windows, sessions; run `agtmux list --help`"],
    [['hooks', 'instal', '--yes'], "hooks has no command 'instal'; it has install, remove, status"],
    [['send'], "missing required argument 'agent'; run `agtmux send --help`"],
    [['list', 'panes', '--x'], "unknown option '--x'; run `agtmux list panes --help`"],
    [['list', '--color', 'x'], 'Allowed choices are auto, always, never; run'],
    [['list', '--sort', 'x'], 'there is no sort "x"; there are needs, age, agent, target, state, name'],
  ])('a mistake in %j is told with where to read on', async (args, words) => {
    const ran = await world.agtmux(...args);
    expect(ran).toMatchObject({ status: 2, stdout: '' });
    expect(ran.stderr).toContain(words);
  });

  it('a full disk behind the output is told in one line, also as JSON', () => {
    for (const [args, words] of [
      [['list'], 'agtmux: cannot write the output (ENOSPC)'],
      [['list', '--json'], '{"error":{"code":"E_FILE"'],
      [['--help'], 'agtmux: cannot write'],
    ] as const) {
      const bin = join(root, 'bin/agtmux');
      const line = ['-c', 'exec "$0" "$@" >/dev/full', process.execPath, bin, ...args];
      const ran = spawnSync('sh', line, { env: world.env, encoding: 'utf8' });
      expect(ran.status).toBe(2);
      expect(ran.stderr).toMatch(/^[^\n]+\n$/);
      expect(ran.stderr).toContain(words);
    }
  });

  it('a group without a command names its commands', async () => {
    expect((await world.agtmux('daemon')).stderr).toContain('needs one of: run, start, stop, restart');
    expect((await world.agtmux('config')).status).toBe(2);
  });

  it('the version is the same everywhere', async () => {
    for (const args of [['version'], ['--version'], ['-V']]) {
      const stdout = expect.stringMatching(builtVersion);
      expect(await world.agtmux(...args)).toEqual({ status: 0, stdout, stderr: '' });
    }
  });
});

describe('status, doctor and logs', () => {
  it('status fits a narrow terminal', async () => {
    const { status, stdout } = await world.agtmuxWith({ COLUMNS: '30' }, 'status');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^daemon {4}up /);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(30);
  });

  it('RSV10a a rule file that nobody uses is told by agents, status, doctor and the log', async () => {
    const folder = join(world.directory, '.config/agtmux/rules');
    mkdirSync(folder, { recursive: true });
    const file = (name: string): string => join(folder, name);
    for (const name of ['nobody.toml', 'README.md', '.hidden.toml']) writeFileSync(file(name), '');
    writeFileSync(file('claude.json'), '{"schema":1,"agent":"claude","rules":[]}');
    const troubles = async (): Promise<readonly string[]> =>
      (await world.json<{ rule_troubles: readonly string[] }>('agents', '--json')).rule_troubles;
    await until('the stray one is told', async () => (await troubles()).length === 1);
    const words = `${file('nobody.toml')} is not used: there is no agent "nobody"; there are `;
    expect((await troubles())[0]).toContain(words);
    expect((await world.agtmuxWith({ COLUMNS: '400' }, 'agents')).stdout).toContain(words);
    const status = await world.agtmuxWith({ COLUMNS: '400' }, 'status');
    expect([status.status, status.stdout.includes(words)]).toEqual([1, true]);
    expect((await world.agtmux('doctor')).stdout).toContain(words);
    expect(world.log().split('is not used: there is no agent').length).toBe(2);
    rmSync(file('nobody.toml'));
    writeFileSync(file('claude.toml'), 'schema = 1\nagent = "claude"\nrules = []\n');
    await until('the second one of an agent is told', async () =>
      ((await troubles())[0] ?? '').includes('claude.json is not used'),
    );
    rmSync(folder, { recursive: true });
    await until('nothing is told', async () => (await world.agtmux('status')).status === 0);
  });

  it('doctor finds nothing wrong with a healthy world', async () => {
    const { status, stdout } = await world.agtmux('doctor');
    expect(stdout).not.toContain('✕');
    expect(status).toBe(0);
    const told = await world.json<{ healthy: boolean; checks: { check: string }[] }>('doctor', '--json');
    expect(told.healthy).toBe(true);
    expect(told.checks.map(({ check }) => check)).toContain('tmux servers');
  });

  it('doctor says how to mend settings and a missing tmux', async () => {
    const config = join(world.directory, 'broken.toml');
    writeFileSync(config, '[log\n');
    const settings = await world.agtmuxWith({ AGTMUX_CONFIG: config }, 'doctor');
    expect(settings.status).toBe(1);
    expect(settings.stdout).toMatch(/✕ settings .*E_CONFIG.*\n +→ fix that line/);
    const missing = await world.agtmuxWith({ PATH: '/nowhere' }, 'doctor');
    expect(missing.stdout).toMatch(/✕ tmux .*\n +→ install tmux/);
  });

  it('doctor says when the place for its files cannot be made, and how much room there is before it is', async () => {
    const taken = join(world.directory, 'a-file');
    writeFileSync(taken, '');
    const wrong = await world.agtmuxWith({ AGTMUX_STATE_DIR: join(taken, 'state') }, 'doctor');
    expect(wrong.status).toBe(1);
    expect(wrong.stdout).toMatch(
      /✕ state directory +\S+a-file cannot be written \(ENOTDIR\)\n +→ make sure that you own it/,
    );
    const fresh = await world.agtmuxWith({ AGTMUX_STATE_DIR: join(world.directory, 'new', 'state') }, 'doctor');
    expect(fresh.stdout).toMatch(/· state directory +\S+ is created by the first command/);
    expect(fresh.stdout).toMatch(/✓ disk space +\d+ MB free/);
  });

  it('logs shows the end, and follows', async () => {
    const log = join(world.stateDir, 'daemon.log');
    appendFileSync(log, 'first\nsecond \u001b[31mred\nthird\n');
    expect((await world.agtmux('logs', '-n', '2')).stdout).toBe('second red\nthird\n');
    expect((await world.agtmux('logs', '--lines', 'x')).status).toBe(2);
    const running = world.start('logs', '-f', '-n', '1');
    await until('it has begun', () => running.lines.includes('third'));
    appendFileSync(log, 'fourth\n');
    await until('it follows', () => running.lines.includes('fourth'));
    running.signal('SIGINT');
    await running.ended;
    const none = await world.agtmuxWith({ AGTMUX_STATE_DIR: join(world.directory, 'none') }, 'logs');
    expect(none.stderr).toMatch(/there is no log yet .*\[E_FILE\]/);
  });
});

describe('config, schema and completions', () => {
  it('config', async () => {
    const config = join(world.directory, 'config.toml');
    const env = { AGTMUX_CONFIG: config };
    expect((await world.agtmuxWith(env, 'config', 'path')).stdout).toBe(`${config}\n`);
    expect((await world.agtmuxWith(env, 'config', 'check')).stdout).toContain('the defaults apply');
    writeFileSync(config, '[observe]\nsweep_ms = 500\n');
    expect((await world.agtmuxWith(env, 'config', 'check')).stdout).toBe(`${config}: no mistakes\n`);
    expect((await world.agtmuxWith(env, 'config', 'show')).stdout).toContain('[observe]\nsweep_ms = 500\n');
    expect(JSON.parse((await world.agtmuxWith(env, 'config', 'show', '--json')).stdout).observe.sweep_ms).toBe(500);
    writeFileSync(config, '[observe]\nsweep_ms = 1\n');
    const wrong = await world.agtmuxWith(env, 'config', 'check');
    expect(wrong).toMatchObject({ status: 2, stdout: '' });
    expect(wrong.stderr).toMatch(/observe\.sweep_ms.*\[E_CONFIG\]/);
  });

  it('FED3 schema prints JSON Schema and OpenAPI', async () => {
    expect(Object.keys((await world.json<{ $defs: object }>('schema')).$defs)).toContain('PaneList');
    expect(await world.json('schema', '--openapi')).toMatchObject({
      openapi: '3.1.0',
      info: { version: expect.stringMatching(builtVersion) },
    });
  });

  it('bash completes commands, options and values', async () => {
    const script = join(world.directory, 'completions.bash');
    writeFileSync(script, (await world.agtmux('completions', 'bash')).stdout);
    const complete = (...words: string[]): readonly string[] => {
      const line = `source '${script}'; COMP_WORDS=(agtmux ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _agtmux; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['--norc', '-c', line], { encoding: 'utf8' }).trim().split('\n');
    };
    expect(complete('lis')).toEqual(['list']);
    expect(complete('list', 'p')).toEqual(['panes']);
    expect(complete('list', 'panes', '--needs')).toEqual(['--needs-action']);
    expect(complete('list', '--state', 'wait')).toEqual(['waiting_approval', 'waiting_input']);
    expect(complete('completions', 'z')).toEqual(['zsh']);
    expect(complete('target', 'remove', 'ho')).toEqual(['host']);
    const config = (await world.agtmux('config', 'path')).stdout.trim();
    mkdirSync(dirname(config), { recursive: true });
    writeFileSync(config, '[preset.review]\nagents = [{ agent = "claude" }]\n');
    await until('the preset is offered', () => complete('new', '--preset', 're')[0] === 'review');
    const shown = '[preset]\nreview = { "layout" = "windows", "agents" = [{ "agent" = "claude" }] }\n';
    expect((await world.agtmux('config', 'show')).stdout).toContain(shown);
    rmSync(config);
  });

  it('zsh and fish scripts name every command and option', async () => {
    for (const shell of ['zsh', 'fish']) {
      const { stdout } = await world.agtmux('completions', shell);
      for (const path of paths(commands)) expect(stdout).toContain(path.at(-1));
      expect(stdout).toContain('with-agent-status');
      // Where the shell is here, it must be able to read the script.
      const check = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' });
      if (check.error === undefined) expect(check.stderr).toBe('');
    }
    expect((await world.agtmux('completions', 'tcsh')).status).toBe(2);
  });
});

describe('target', () => {
  it('list', async () => {
    expect((await world.agtmux('target', 'list')).stdout).toMatch(/^TARGET +HEALTH[^\n]*\nhost +ok/);
    expect(await world.json('target', '--json')).toMatchObject({ items: [{ target: 'host' }] });
  });

  it('connect', async () => {
    expect((await world.agtmux('target', 'connect', 'host')).stdout).toMatch(/^asked: host, ok/);
    expect((await world.agtmux('target', 'connect', 'mars')).status).toBe(errors.E_REF_NOT_FOUND.exit);
  });

  it('add and remove a machine', async () => {
    const added = await world.agtmux('target', 'add', 'far', '--kind', 'ssh', '--ssh-target', 'no-such-host.invalid');
    expect(added.status).toBe(0);
    expect(added.stdout).toMatch(/^added: far, /);
    expect((await world.agtmux('target', 'list')).stdout).toContain('far');
    await until('it is told as trouble', async () => (await world.agtmux('status')).status === 1);
    expect((await world.agtmux('target', 'connect', 'far')).status).toBe(errors.E_TARGET_DOWN.exit);
    expect((await world.agtmux('target', 'remove', 'far', '-y')).stdout).toBe('removed: far\n');
    expect((await world.agtmux('target', 'remove', 'far', '-y')).status).toBe(errors.E_REF_NOT_FOUND.exit);
  });

  it('add takes a tmux server of this machine by its own name, or by its socket, and lists it once', async () => {
    const shared = world;
    world = createWorld();
    onTestFinished(async () => {
      await world.end();
      world = shared;
    });
    world.tmux('-L', 'side', 'new-session', '-d', '-s', 'aside', `${world.agent('claude')} 600`);
    const targetsOf = async (): Promise<readonly string[]> => {
      const { items } = await world.json<{ items: { ended: object | null; identity: { target: string } }[] }>(
        'list',
        '--json',
      );
      return items.filter(({ ended }) => ended === null).map(({ identity }) => identity.target);
    };
    await until('it is found', async () => (await targetsOf()).join() === 'host@side');
    const added = await world.agtmux('target', 'add', 'side', '--kind', 'local');
    expect([added.stderr, added.status]).toEqual(['', 0]);
    expect(added.stdout).toMatch(/^added: side, ok/);
    await until('it has one name', async () => (await targetsOf()).join() === 'side');
    expect((await world.agtmux('target', 'list')).stdout).not.toContain('host@side');
    for (const [args, words] of [
      [['same', '--kind', 'local', '--tmux-socket', 'side'], 'already watched as side'],
      [['default', '--kind', 'local'], 'already watched as host'],
      [['odd', '--kind', 'local', '--tmux-socket', 'a b'], 'needs a tmux socket, by name or full path'],
      [['odd', '--kind', 'local', '--ssh-target', 'vm1'], '--ssh-target does not apply to a target of kind local'],
      [['odd', '--kind', 'ssh', '--tmux-socket', 'x'], '--tmux-socket does not apply to a target of kind ssh'],
    ] as const) {
      const refused = await world.agtmux('target', 'add', ...args);
      expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining(words) });
    }
    expect((await world.agtmux('target', 'remove', 'side', '--yes')).status).toBe(0);
    await until('it is found again', async () => (await targetsOf()).join() === 'host@side');
    world.tmux('-L', 'side', 'kill-server');
    await until('it is gone', async () => (await targetsOf()).length === 0);
    // One that does not run yet is watched for.
    expect((await world.agtmux('target', 'add', 'later', '--kind', 'local')).status).toBe(0);
    expect((await world.agtmux('target', 'list')).stdout).toMatch(/^later /m);
    expect((await world.agtmux('target', 'remove', 'later', '--yes')).status).toBe(0);
  });

  it('add refuses a name that cannot be one', async () => {
    const ran = await world.agtmux('target', 'add', 'a/b', '--kind', 'ssh', '--json');
    expect(ran.status).toBe(2);
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { message: expect.any(String) } });
  });

  it('remove wants a yes', async () => {
    const ran = await world.agtmux('target', 'remove', 'host');
    expect(ran.status).toBe(2);
    expect(ran.stderr).toMatch(/no terminal to ask on; use --yes \[E_USAGE\]/);
    expect((await world.agtmux('target', 'remove', 'host', '--yes')).status).not.toBe(0);
    const line = `'${process.execPath}' '${join(root, 'bin/agtmux')}' target remove mars; sleep 600`;
    world.tmux('-L', 'other', 'new-session', '-d', '-s', 'ask', '-x', '90', '-y', '10', line);
    const screen = (): string => world.tmux('-L', 'other', 'capture-pane', '-p', '-t', 'ask:');
    await until('it asks', () => screen().includes('Remove the target mars? [y/N]'));
    world.tmux('-L', 'other', 'send-keys', '-t', 'ask:', 'n', 'Enter');
    await until('it was not removed', () => screen().includes('mars was not removed'));
  });
});

describe('daemon install', () => {
  it('prints what it would do', async () => {
    const { status, stdout } = await world.agtmux('daemon', 'install', '--dry-run');
    expect(status).toBe(0);
    expect(stdout).toContain('bin/agtmux');
    expect(stdout).toContain(process.platform === 'linux' ? 'systemctl --user enable --now' : 'launchctl bootstrap');
    expect((await world.agtmux('daemon', 'uninstall', '--dry-run')).stdout).toBe('no service is installed\n');
  });

  it('writes the service, and says when nobody can start it', async () => {
    mkdirSync(join(world.directory, 'empty'), { recursive: true });
    const env = { PATH: join(world.directory, 'empty') };
    const installed = await world.agtmuxWith(env, 'daemon', 'install');
    expect(installed.status).toBe(errors.E_DAEMON_DOWN.exit);
    expect(installed.stderr).toMatch(/is written to .* but \w+ is not installed \(ENOENT\)/);
    const planned = (await world.agtmuxWith(env, 'daemon', 'uninstall', '--dry-run')).stdout;
    expect(planned).toMatch(process.platform === 'linux' ? /rm .*agtmux\.service/ : /rm .*agtmux\S*\.plist/);
    expect((await world.agtmuxWith(env, 'daemon', 'uninstall')).stdout).toMatch(/^removed: /);
    expect((await world.agtmuxWith(env, 'daemon', 'uninstall')).stdout).toBe('no service was installed\n');
  });
});

describe('docs/cli.md', () => {
  const text = readFileSync(join(root, 'docs/cli.md'), 'utf8');

  it('has every code beside its exit status', () => {
    const rows = [...text.matchAll(/^\| (\d+) \|.*\| ([A-Z_, ]*)\|$/gm)].map(([, status, codes = '']) => ({
      status: Number(status),
      codes: codes.split(',').map((code) => code.trim()),
    }));
    for (const code of errorCodes) {
      expect(
        rows.filter((row) => row.codes.includes(code)).map((row) => row.status),
        code,
      ).toEqual([errors[code].exit]);
    }
  });

  it('names every command and option', () => {
    const walk = (specs: readonly CommandSpec[]): void => {
      for (const spec of specs) {
        expect(text).toContain(spec.name);
        for (const { name, short } of spec.options ?? []) {
          expect(text.includes(`--${name}`) || (short !== undefined && text.includes(`-${short}`)), name).toBe(true);
        }
        walk(spec.commands ?? []);
      }
    };
    walk(commands);
  });
});
