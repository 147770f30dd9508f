// Starts the daemon in the background and waits until it answers. Many commands may come here at once: one of them starts
// it, the others wait; should two try all the same, the lock of the log lets one daemon live.

import { closeSync, openSync, readFileSync, readSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { get } from '../api/requests.ts';
import { AgtmuxError, type ErrorCode, errors } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Places } from '../platform/environment.ts';
import { createRealFiles, errorCodeOf } from '../platform/files.ts';
import { type DetachedProcess, startDetached } from '../platform/launch.ts';
import { ensurePrivateDirectory } from '../platform/private-directory.ts';
import { createRealProcesses } from '../platform/processes.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { type Context, logPath, must, places, sleep, userId } from './context.ts';
import { note } from './output.ts';
import { askRunning, isDown } from './running.ts';

/** `tell` gets what is worth knowing: that it takes long, that the log was upgraded; without it that goes beside the output. */
export async function startDaemon(
  context: Context,
  tmuxSockets: readonly string[] = [],
  tell: (text: string) => void = note,
): Promise<void> {
  const upgrade = await startAfter(async () => environmentOf(process.env, tmuxSockets), context, tell);
  if (upgrade !== null) tell(upgrade);
}

/**
 * Ends the daemon and starts it again, with nobody else between: a board or a list that misses it meanwhile waits for this
 * one, and does not start it with an environment of its own. `end` gives back what the new one shall have. Resolves with what
 * became of the event log, null when it is as it was.
 */
export async function restartDaemon(context: Context, end: () => Promise<Environment>): Promise<string | null> {
  const { clock } = context;
  const turn = await openTurn();
  const deadlineMs = clock.monotonicMs() + limits.daemonStartMsMax;
  try {
    while (!turn.take(clock.wallMs())) {
      if (clock.monotonicMs() > deadlineMs)
        throw new AgtmuxError('E_DAEMON_DOWN', 'another command is starting the daemon and has not finished', {
          next: 'see its log: `agtmux logs`',
        });
      await sleep(clock, limits.daemonPollMs);
    }
    return await startAfter(end, context, note, turn);
  } finally {
    turn.release();
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

async function openTurn(): Promise<Turn> {
  const where = places();
  const files = createRealFiles();
  must(await ensurePrivateDirectory(files, where.stateDir, userId()));
  must(await ensurePrivateDirectory(files, where.runtimeDir, userId()));
  return new Turn(`${where.runtimeDir}/starting`);
}

async function startAfter(
  first: () => Promise<Environment>,
  context: Context,
  tell: (text: string) => void,
  held?: Turn,
): Promise<string | null> {
  const turn = held ?? (await openTurn());
  const { lookAtStore, upgradeWords } = await import('../offline/store.ts');
  const { stateDir } = places();
  try {
    const begin = new Beginning(context, places(), await first(), tell);
    const before = lookAtStore(stateDir);
    await begin.untilReady(turn);
    await untilSeen(context);
    return upgradeWords(before, lookAtStore(stateDir));
  } finally {
    turn.release();
  }
}

class Beginning {
  readonly #context: Context;
  readonly #places: Places;
  readonly #environment: Environment;
  readonly #tell: (text: string) => void;
  #process: DetachedProcess | null = null;
  #logStart = 0;
  /** Who holds the log, as ours said when it found it taken. */
  #holder: string | null = null;

  constructor(context: Context, where: Places, environment: Environment, tell: (text: string) => void) {
    this.#context = context;
    this.#places = where;
    this.#environment = environment;
    this.#tell = tell;
  }

  async untilReady(turn: Turn): Promise<void> {
    const { clock } = this.#context;
    const beganMs = clock.monotonicMs();
    let isTold = false;
    for (;;) {
      if (await isReady()) return;
      if (turn.take(clock.wallMs())) this.#startOrLook();
      const passedMs = clock.monotonicMs() - beganMs;
      if (passedMs > limits.daemonStartMsMax) {
        const words =
          this.#holder === null
            ? 'the daemon was started but does not respond'
            : `${this.#holder}; it does not respond`;
        throw new AgtmuxError('E_DAEMON_DOWN', words, { next: 'see its log: `agtmux logs`' });
      }
      if (passedMs > limits.daemonStartMs && !isTold) {
        isTold = true;
        this.#tell('the daemon is slow to start; still waiting');
      }
      await sleep(clock, limits.daemonPollMs);
    }
  }

  /** Another daemon that is just ending may still hold the log; whatever else ended ours is final. */
  #startOrLook(): void {
    const status = this.#process?.status() ?? null;
    if (this.#process !== null && status === null) return;
    if (status !== null) {
      const problem = lastWords(logPath(), this.#logStart, status);
      if (problem.code !== 'E_STORE_LOCKED') throw problem;
      this.#holder = problem.message;
    }
    this.#start();
  }

  #start(): void {
    const path = logPath();
    try {
      this.#logStart = rotate(path);
      this.#process = startDetached({
        program: process.execPath,
        args: [fileURLToPath(this.#context.daemonUrl)],
        env: this.#environment,
        cwd: this.#places.stateDir,
        outputPath: path,
      });
    } catch (cause) {
      throw new AgtmuxError('E_STORE_IO', `cannot write ${path}: ${errorCodeOf(cause) ?? 'unknown error'}`, {
        cause,
      });
    }
  }
}

async function isReady(): Promise<boolean> {
  try {
    await askRunning(get('/v1/status'));
    return true;
  } catch (problem) {
    if (isDown(problem)) return false;
    throw problem;
  }
}

/** A daemon that has just started has seen nothing yet; its first look is a moment away, and a list should not miss it. */
async function untilSeen({ clock }: Context): Promise<void> {
  const deadlineMs = clock.monotonicMs() + limits.daemonFirstLookMs;
  while (clock.monotonicMs() < deadlineMs) {
    const { items } = (await askRunning(get('/v1/targets'))).reply;
    if (items.every((item) => item.kind !== 'local' || item.last_seen_at !== null || item.trouble !== null)) return;
    await sleep(clock, limits.daemonPollMs);
  }
}

/** The terminal this command runs in is no business of a daemon that serves all of them. */
export function environmentOf(variables: Environment, tmuxSockets: readonly string[]): Environment {
  const { TMUX, TMUX_PANE, ...rest } = variables;
  return tmuxSockets.length === 0 ? rest : { ...rest, AGTMUX_TMUX_SOCKETS: tmuxSockets.join(':') };
}

/** The environment that a process of the user's was started with; null where nobody tells. */
export function environmentOfProcess(pid: number): Environment | null {
  try {
    const text = readFileSync(`/proc/${pid}/environ`, 'utf8');
    const pairs = text.split('\0').flatMap((pair) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    });
    return pairs.length === 0 ? null : Object.fromEntries(pairs);
  } catch {
    return null;
  }
}

/** Where the new run's lines begin. */
function rotate(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= limits.daemonLogBytesMax) return size;
  renameSync(path, `${path}.1`);
  return 0;
}

const wordsBytesMax = 65_536;

/** What the daemon said last before it ended, as the failure it is. */
function lastWords(path: string, start: number, status: number): AgtmuxError {
  const lines = readFrom(path, start).trim().split('\n');
  const told = lines.map((line) => /^agtmux: (.*); (.*) \[(E_\w+)\]$/.exec(line)).findLast((match) => match !== null);
  const [, message = '', next = '', code = ''] = told ?? [];
  if (isErrorCode(code)) return new AgtmuxError(code, `the daemon did not start: ${message}`, { next });
  const words = sanitizeLine(foreign(lines.findLast((line) => line.trim() !== '') ?? ''), { columnsMax: 300 });
  return new AgtmuxError(
    'E_DAEMON_DOWN',
    `the daemon exited at once with status ${status}${words === '' ? '' : `: ${words}`}`,
    {
      next: 'see its log: `agtmux logs`',
    },
  );
}

const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errors, text);

function readFrom(path: string, start: number): string {
  try {
    const handle = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(wordsBytesMax);
      return buffer.toString('utf8', 0, readSync(handle, buffer, 0, wordsBytesMax, start));
    } finally {
      closeSync(handle);
    }
  } catch {
    return '';
  }
}

/** The right to start the daemon: a file that only one can create. A holder that is gone has none. */
class Turn {
  readonly #path: string;
  readonly #processes = createRealProcesses();
  #isHeld = false;

  constructor(path: string) {
    this.#path = path;
  }

  take(wallMs: number): boolean {
    if (this.#isHeld) return true;
    try {
      writeFileSync(this.#path, String(process.pid), { flag: 'wx', mode: 0o600 });
      this.#isHeld = true;
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST') {
        throw new AgtmuxError('E_STORE_IO', `cannot write ${this.#path}: ${errorCodeOf(error) ?? 'unknown error'}`);
      }
      if (this.#isLeftover(wallMs)) this.#remove();
    }
    return this.#isHeld;
  }

  release(): void {
    if (this.#isHeld) this.#remove();
    this.#isHeld = false;
  }

  #isLeftover(wallMs: number): boolean {
    try {
      const age = wallMs - statSync(this.#path).mtimeMs;
      const pid = Number(readFileSync(this.#path, 'latin1'));
      // Empty for the moment between its creation and its first byte.
      if (!Number.isSafeInteger(pid) || pid <= 0) return age > limits.daemonStartMs;
      return age > limits.daemonStartMsMax || !this.#processes.exists(pid);
    } catch {
      return false;
    }
  }

  #remove(): void {
    try {
      unlinkSync(this.#path);
    } catch {
      // Somebody else removed it.
    }
  }
}
