// A private world for tests and benchmarks: its own tmux server, state directory and daemon. Ends what it started, by
// pid, and nothing else.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ApiClient, createClient } from '../../src/api/client.ts';
import { createRealClock } from '../../src/platform/clock.ts';
import { programsMayAll } from './policy.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The bundle where there is one: what users run. Otherwise the sources. */
const bundle = join(root, 'dist/daemon.js');
const daemonEntry = (): string => (existsSync(bundle) ? bundle : join(root, 'src/daemon/main.ts'));

export class Live {
  readonly dir = mkdtempSync(join(tmpdir(), 'agtmux-live-'));
  readonly env: NodeJS.ProcessEnv;
  readonly client: ApiClient;
  /** What the daemon is started by, as into a network of its own; it has to become the daemon. */
  through: readonly string[] = [];
  #daemon: ChildProcess | null = null;
  #typedPid: number | null = null;

  constructor(variables: NodeJS.ProcessEnv = {}) {
    for (const name of ['tmux', 'home']) mkdirSync(join(this.dir, name), { mode: 0o700 });
    chmodSync(this.dir, 0o700);
    this.env = {
      PATH: process.env.PATH,
      HOME: join(this.dir, 'home'),
      LANG: 'C.UTF-8',
      TMUX_TMPDIR: join(this.dir, 'tmux'),
      AGTMUX_STATE_DIR: join(this.dir, 'state'),
      ...variables,
    };
    this.client = createClient({ socketPath: join(this.dir, 'state/run/agtmux.sock'), clock: createRealClock() });
  }

  /** Whoever runs a test may have no parents left; from now on they count as a program of the user's (ACT6). */
  trustPrograms(): void {
    this.writePolicy(programsMayAll);
  }

  writePolicy(text: string): void {
    const folder = join(this.dir, 'home/.config/agtmux');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'policy.toml'), text);
  }

  /** One tmux command on the private server; what it printed. */
  tmux(...args: string[]): string {
    return this.#tmuxWithin(0, args);
  }

  /** The same, given up after a time; 0 is never. */
  #tmuxWithin(timeout: number, args: readonly string[]): string {
    return execFileSync('tmux', ['-u', '-f', '/dev/null', ...args], {
      timeout,
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  /** What the daemon lists and what tmux itself lists, in one order, for comparing. */
  async listed(target = 'host'): Promise<readonly string[]> {
    const { items } = await this.client.get('/v1/panes', { all_panes: true, target: [target] });
    return items
      .filter((one) => one.ended === null)
      .map((one) => `${one.identity.pane_id} ${one.identity.session_name} ${one.window_name}`)
      .sort();
  }

  tmuxListed(): readonly string[] {
    return this.tmux('list-panes', '-a', '-F', '#{pane_id} #{session_name} #{window_name}').split('\n').sort();
  }

  get serverPid(): number {
    return Number(this.tmux('display-message', '-p', '#{pid}'));
  }

  get daemonPid(): number {
    return this.#daemon?.pid ?? 0;
  }

  async startDaemon(entry: string = daemonEntry()): Promise<void> {
    const [program = '', ...args] = [...this.through, process.execPath, entry];
    const daemon = spawn(program, args, { env: this.env, stdio: 'ignore' });
    this.#daemon = daemon;
    await until(async () => {
      if (daemon.exitCode !== null) throw new Error(`the daemon left with ${daemon.exitCode}`);
      return (await this.client.get('/v1/status').catch(() => null)) !== null;
      // Where many programs start at once a runtime takes its time.
    }, 60_000);
    await this.#attached();
  }

  /**
   * Where tmux runs already, the daemon has attached its two clients to it, or says why it cannot: a window that is opened in
   * that very moment ends tmux before 3.7 (docs/tmux.md).
   */
  async #attached(): Promise<void> {
    const ask = (...args: string[]): string => this.#tmuxWithin(2_000, args);
    const clients = (): number => ask('list-clients', '-F', '#{client_control_mode}').match(/1/g)?.length ?? 0;
    const isOver = async (): Promise<boolean> => {
      if (clients() >= 2) return true;
      const { items } = await this.client.get('/v1/targets');
      const host = items.find(({ target }) => target === 'host');
      return host === undefined || host.trouble !== null;
    };
    try {
      ask('display-message', '-p', '#{pid}');
    } catch {
      // No server runs or none that answers, or there is no tmux at all.
      return;
    }
    await until(() => isOver().catch(() => true), 60_000);
  }

  /** In the foreground of a shell that a person types in. Ends with its pane. */
  async typeDaemon(pane: string): Promise<void> {
    const program = join(root, 'bin/agtmux');
    this.tmux('send-keys', '-t', pane, `${process.execPath} ${program} daemon run`, 'Enter');
    await until(async () => (await this.client.get('/v1/status').catch(() => null)) !== null, 60_000);
    this.#typedPid = (await this.client.get('/v1/status')).pid;
  }

  get stateDir(): string {
    return join(this.dir, 'state');
  }

  /** The status or signal that the daemon left with; null while it runs. */
  get daemonExit(): number | string | null {
    return this.#daemon?.exitCode ?? this.#daemon?.signalCode ?? null;
  }

  /** The daemon's exit status, once it has left by itself. */
  daemonLeft(): Promise<number | null> {
    return new Promise((resolve) => this.#daemon?.once('exit', resolve));
  }

  /** Ends the daemon and waits until it is gone. */
  async stopDaemon(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const daemon = this.#daemon;
    this.#daemon = null;
    const typed = this.#typedPid;
    this.#typedPid = null;
    if (typed !== null && isRunning(typed)) {
      process.kill(typed, signal);
      await until(() => !isRunning(typed), 60_000);
    }
    if (daemon === null || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const gone = new Promise((resolve) => daemon.once('exit', resolve));
    daemon.kill(signal);
    await gone;
  }

  /** A program that looks like an agent to whoever asks its process: a package path, run by node. */
  lookAlike(): string {
    const dir = join(this.dir, 'node_modules/@anthropic-ai/claude-code');
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'package.json'), '{"name":"@anthropic-ai/claude-code","version":"2.1.325"}');
    writeFileSync(join(dir, 'cli.js'), 'setInterval(() => {}, 1000);\n');
    return `${process.execPath} ${join(dir, 'cli.js')}`;
  }

  async close(): Promise<void> {
    await this.stopDaemon();
    try {
      this.tmux('kill-server');
    } catch {
      // It was gone already.
    }
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until something holds; gives up with what it waited for after a long time. */
export async function until(holds: () => Promise<boolean> | boolean, deadlineMs = 20_000, stepMs = 10): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > deadlineMs) throw new Error(`waited ${deadlineMs} ms in vain for ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
}
