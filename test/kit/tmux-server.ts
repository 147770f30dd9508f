// A private tmux server for one test: its own directory, socket and environment, and the means to ask it directly.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLocalExecutor, type LocalExecutor } from './local-executor.ts';

const execute = promisify(execFile);

export interface TmuxServerKit {
  readonly directory: string;
  readonly socketPath: string;
  readonly env: Readonly<Record<string, string>>;
  readonly executor: LocalExecutor;
  /** What tmux prints; rejects when it fails. */
  tmux(...args: string[]): Promise<string>;
  /** A new server with one session `main`, or one more. */
  newSession(name: string, ...args: string[]): Promise<void>;
  end(): Promise<void>;
}

export async function createTmuxServer(): Promise<TmuxServerKit> {
  const directory = await mkdtemp(join(tmpdir(), 'agt-test-'));
  const socketPath = join(directory, 'tmux.sock');
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: directory,
    TMUX_TMPDIR: directory,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    SHELL: '/bin/sh',
    PS1: '$ ',
  };
  const executor = createLocalExecutor(env);
  const tmux = async (...args: string[]): Promise<string> => {
    const { stdout } = await execute('tmux', ['-u', '-S', socketPath, '-f', '/dev/null', ...args], {
      env,
      timeout: 10_000,
    });
    return stdout.trimEnd();
  };
  return {
    directory,
    socketPath,
    env,
    executor,
    tmux,
    newSession: async (name, ...args) => {
      await tmux('new-session', '-d', '-s', name, '-x', '100', '-y', '30', ...args);
    },
    end: async () => {
      await executor.close();
      await tmux('kill-server').catch(() => undefined);
      await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

/** What tmux of this version printed, as it is: 3.4 alone prints a backslash before `$NAME` that is not there. */
export function asHeld(printed: string, version: string): string {
  return version.trim().endsWith('3.4') ? printed.replace(/\\(?=\$[A-Za-z_{])/g, '') : printed;
}

/** Waits for a condition, not for a time; fails with its last words when it does not come true. */
export async function until<Value>(
  what: string,
  condition: () => Value | null | undefined | false | Promise<Value | null | undefined | false>,
  patienceMs = 20_000,
): Promise<Value> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const value = await condition();
    if (value !== null && value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`did not come true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
