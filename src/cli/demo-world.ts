// The private world of `agtmux demo`: a directory, a tmux server and a daemon of its own, and the way to take all of it
// away again. Touches nothing outside that directory: every tmux command names the private socket.

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AgtmuxError } from '../model/errors.ts';
import { createRealExec, type ExecResult } from '../platform/exec.ts';
import { errorCodeOf } from '../platform/files.ts';
import { startDetached } from '../platform/launch.ts';
import { quoteSh, quoteTmux } from '../text/quote.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { type Context, must, userId } from './context.ts';
import { stop } from './daemon.ts';
import { janitorSource, lookAlikeSource, paneSource, type Stage } from './demo-look-alike.ts';
import { type Role, roles } from './demo-scenario.ts';
import { environmentOf, startDaemon } from './start-daemon.ts';
import { defaultTheme, tmuxConf } from './tmux-conf.ts';
import { selfCommand, selfPath } from './tmux-self.ts';

/** A socket's path has room for about a hundred bytes, and some systems have long temporary directories. */
const baseBytesMax = 60;
const socketName = 'demo';
const commandMs = 10_000;
const outputBytesMax = 65_536;

/** Short times, so that a few minutes show what else takes a day. */
const config = `[states]
completed_seconds = 30
ended_shown_seconds = 20
`;

export class DemoWorld {
  readonly directory: string;
  readonly stateDir: string;
  readonly tmuxSocket: string;
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
    this.directory = makeDirectory();
    this.stateDir = join(this.directory, 'state');
    this.tmuxSocket = join(this.directory, `tmux-${userId()}`, socketName);
  }

  /** From here on this process and all it starts live in the private world. */
  enter(): void {
    Object.assign(process.env, {
      AGTMUX_STATE_DIR: this.stateDir,
      AGTMUX_RUNTIME_DIR: join(this.stateDir, 'run'),
      AGTMUX_CONFIG: join(this.directory, 'config.toml'),
      AGTMUX_TMUX_SOCKETS: socketName,
      TMUX_TMPDIR: this.directory,
    });
    const names = ['stage', `tmux-${userId()}`, ...new Set(roles.map((role) => role.session))];
    for (const name of names) mkdirSync(join(this.directory, name), { mode: 0o700 });
    for (const { program } of roles) {
      const path = join(this.directory, program);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, lookAlikeSource);
    }
    const watch = `${must(quoteSh(selfCommand()))} watch`;
    this.#write('config.toml', config);
    // Simulated agents may be answered by whoever started them, from a script too.
    // The janitor has lost whoever started it, and ends the daemon all the same.
    this.#write(
      'policy.toml',
      'trust_untraceable = true\nallow_approve = ["operator"]\nkinds = ["command", "question"]\nallow_operator = ["stop"]\n',
    );
    this.#write('pane.sh', paneSource);
    this.#write('janitor.sh', janitorSource);
    this.#write(
      'tmux.conf',
      `set-option -g default-terminal screen\n${tmuxConf(must(quoteTmux(watch)), defaultTheme)}`,
    );
  }

  async start(): Promise<void> {
    const sessions = new Set<string>();
    for (const role of roles) {
      const stage = this.#stagePath(role);
      const argv = ['sh', join(this.directory, 'pane.sh'), process.execPath, join(this.directory, role.program), stage];
      const where = sessions.has(role.session)
        ? ['new-window', '-d', '-t', `${role.session}:`]
        : ['new-session', '-d', '-s', role.session, '-x', '100', '-y', '30'];
      sessions.add(role.session);
      await this.#tmux([...where, '-n', role.window, '-c', join(this.directory, role.session), ...argv]);
    }
    await startDaemon(this.#context);
  }

  /** Removes everything should this process not come to do it: after kill -9, or when its reader went away. */
  startJanitor(): void {
    const args = [join(this.directory, 'janitor.sh'), String(process.pid), this.directory, this.tmuxSocket];
    startDetached({
      program: 'sh',
      args: [...args, process.execPath, selfPath()],
      env: environmentOf(process.env, []),
      cwd: '/',
      outputPath: '/dev/null',
    });
  }

  show(role: Role, stage: Stage): void {
    this.#write(this.#stagePath(role), JSON.stringify(stage));
  }

  /** The answer to the dialog of that scene, once somebody gave one. */
  answerTo(role: Role, scene: number): string | null {
    try {
      const said = JSON.parse(readFileSync(`${this.#stagePath(role)}.answer`, 'utf8')) as {
        scene: number;
        key: string;
      };
      return said.scene === scene ? said.key : null;
    } catch {
      // None was given yet, or it is being written: it is looked for again.
      return null;
    }
  }

  /** The daemon first: a tmux server cannot end well while clients hold it. */
  async end(): Promise<void> {
    await stop(this.#context).catch(() => null);
    await this.#runTmux(['kill-server']);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  #stagePath(role: Role): string {
    return join(this.directory, 'stage', `${role.name}.json`);
  }

  #write(path: string, text: string): void {
    writeFileSync(path.startsWith('/') ? path : join(this.directory, path), text, { mode: 0o600 });
  }

  async #tmux(args: readonly string[]): Promise<void> {
    const { status, spawnError, stderr } = await this.#runTmux(args);
    if (spawnError !== null) throw new AgtmuxError('E_TMUX_MISSING', `tmux did not start (${spawnError})`);
    if (status === 0) return;
    const said = sanitizeLine(foreign(Buffer.from(stderr).toString().trim()), { columnsMax: 200 });
    throw new AgtmuxError('E_TMUX_REFUSED', `tmux did not open the demo: ${said}`);
  }

  #runTmux(args: readonly string[]): Promise<ExecResult> {
    const env = Object.entries(environmentOf(process.env, [])).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    return createRealExec(this.#context.clock).run({
      program: 'tmux',
      args: ['-u', '-S', this.tmuxSocket, '-f', join(this.directory, 'tmux.conf'), ...args],
      env: Object.fromEntries(env),
      cwd: this.directory,
      deadlineMs: commandMs,
      outputBytesMax,
    });
  }
}

function makeDirectory(): string {
  const base = Buffer.byteLength(tmpdir()) > baseBytesMax ? '/tmp' : tmpdir();
  try {
    const directory = realpathSync(mkdtempSync(join(base, 'agtmux-demo-')));
    chmodSync(directory, 0o700);
    return directory;
  } catch (cause) {
    throw new AgtmuxError('E_FILE', `cannot make a directory in ${base} (${errorCodeOf(cause) ?? 'unknown error'})`, {
      next: 'set TMPDIR to a directory that you own',
      cause,
    });
  }
}
