// A private world for the command line: its own directories, tmux servers and daemon, all ended with it.
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { programsMayAll } from '../kit/policy.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The version of the package, and the commit or the sources it was built from. */
export const builtVersion = new RegExp(`^${manifest.version.replaceAll('.', '\\.')}\\+[0-9a-z.]+\\n?$`);

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  readonly lines: string[];
  readonly ended: Promise<Ran>;
  signal(name: NodeJS.Signals): void;
  /** Stops reading its output for good. */
  closeOutput(): void;
}

export interface World {
  readonly directory: string;
  readonly stateDir: string;
  readonly socketPath: string;
  readonly env: NodeJS.ProcessEnv;
  agtmux(...args: string[]): Promise<Ran>;
  /** The same with other variables, or with something to read. */
  agtmuxWith(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ran>;
  json<Value>(...args: string[]): Promise<Value>;
  start(...args: string[]): Running;
  tmux(...args: string[]): string;
  /** A program that is taken for this agent. */
  agent(name: string): string;
  log(): string;
  end(): Promise<void>;
}

let isBuilt = false;

/** As a user of a checkout does it: the launcher builds what is stale. */
function build(): void {
  if (isBuilt) return;
  const { status, stderr } = spawnSync(`${root}/agtmux`, ['version'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  isBuilt = true;
}

export function createWorld(more: NodeJS.ProcessEnv = {}): World {
  build();
  const directory = mkdtempSync(join(tmpdir(), 'agt-cli-'));
  const stateDir = join(directory, 'state');
  const { PATH } = process.env;
  // Whoever runs these tests may have no parents left; they count as a program of the user's.
  mkdirSync(join(directory, '.config/agtmux'), { recursive: true });
  writeFileSync(join(directory, '.config/agtmux/policy.toml'), programsMayAll);
  const env: NodeJS.ProcessEnv = {
    PATH,
    HOME: directory,
    TMUX_TMPDIR: directory,
    AGTMUX_STATE_DIR: stateDir,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    SHELL: '/bin/sh',
    ...more,
  };

  function start(variables: NodeJS.ProcessEnv, args: readonly string[]): Running {
    const child = spawn(process.execPath, [join(root, 'bin/agtmux'), ...args], {
      env: variables,
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    const said = { stdout: '', stderr: '' };
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said.stdout += text;
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.stderr += text;
    });
    const ended = new Promise<Ran>((resolve) => child.on('close', (status) => resolve({ status, ...said })));
    return {
      pid: child.pid ?? 0,
      lines,
      ended,
      signal: (name) => child.kill(name),
      closeOutput: () => child.stdout.destroy(),
    };
  }

  const servers = new Set(['default']);
  const world: World = {
    directory,
    stateDir,
    socketPath: join(stateDir, 'run/agtmux.sock'),
    env,
    agtmux: (...args) => start(env, args).ended,
    agtmuxWith: (variables, ...args) => start({ ...env, ...variables }, args).ended,
    json: async <Value>(...args: string[]) => {
      const ran = await world.agtmux(...args);
      if (ran.status !== 0) throw new Error(ran.stderr);
      return JSON.parse(ran.stdout) as Value;
    },
    start: (...args) => start(env, args),
    tmux: (...args) => {
      if (args[0] === '-L') servers.add(args[1] ?? '');
      const ran = spawnSync('tmux', ['-u', '-f', '/dev/null', ...args], { env, encoding: 'utf8', cwd: directory });
      if (ran.status !== 0) throw new Error(`tmux ${args.join(' ')}: ${ran.stderr}`);
      return ran.stdout;
    },
    agent: (name) => {
      const path = join(directory, 'bin', name);
      mkdirSync(join(directory, 'bin'), { recursive: true });
      if (!existsSync(path)) copyFileSync('/bin/sleep', path);
      return path;
    },
    log: () => readFileSync(join(stateDir, 'daemon.log'), 'utf8'),
    end: async () => {
      const running = await world.agtmux('status', '--json');
      const stopped = await world.agtmux('daemon', 'stop');
      for (const name of servers) spawnSync('tmux', ['-L', name, 'kill-server'], { env });
      rmSync(directory, { recursive: true, force: true });
      if (stopped.status === 0) return;
      // It would watch nothing for ever.
      process.kill((JSON.parse(running.stdout) as { daemon: { pid: number } }).daemon.pid, 'SIGKILL');
      throw new Error(`the daemon was not stopped: ${stopped.stderr}`);
    },
  };
  return world;
}

/** Every pane as tmux itself tells it. */
export const panesOf = (world: World): readonly string[] =>
  world.tmux('list-panes', '-a', '-F', '#{pane_id}').trim().split('\n').sort();

/** `agtmux ... | head -1`: what came out, once both programs of the pipe are gone. */
export const headOf = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<string> =>
  new Promise((resolve) => {
    const words = ['-c', '"$@" | head -1', 'sh', process.execPath, join(root, 'bin/agtmux'), ...args];
    const child = spawn('sh', words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more;
    });
    child.on('close', () => resolve(text));
  });
