// `agtmux` alone, and `agtmux tui`: gives the full-screen view its terminal, its daemon and its clock, and the terminal back
// to the shell, whatever ends it.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { createClient } from '../api/client.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { managedAgentNames } from '../offline/list.ts';
import { lendTerminal } from '../platform/launch.ts';
import { createSuspension } from '../platform/suspension.ts';
import type { Place } from '../tui/contract.ts';
import type { Colours } from '../tui/painter.ts';
import { runTui } from '../tui/run.ts';
import { createTerminal } from '../tui/terminal.ts';
import { approachTo, planFor, throughShell } from './attach.ts';
import { type Action, type Context, callerHere, daemonSocket, places } from './context.ts';
import { hasColour, output } from './output.ts';
import type { Parsed } from './parse.ts';
import { startDaemon } from './start-daemon.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export const tui: Action = async (parsed, context) => {
  const { stdin: input, stdout } = process;
  if (input.isTTY !== true || stdout.isTTY !== true) {
    throw new AgtmuxError('E_USAGE', 'the board needs a terminal', {
      next: 'use `agtmux list`, or `agtmux watch --format jsonl` for programs',
    });
  }
  if (process.env.TERM === 'dumb') {
    throw new AgtmuxError('E_USAGE', 'this terminal (TERM=dumb) cannot show a board', { next: 'use `agtmux list`' });
  }
  // Open all day beside one's work: memory that is used for a moment must not be kept for good.
  setFlagsFromString('--semi-space-growth-factor=1');
  const { clock } = context;
  const terminal = createTerminal({ input, output: output(), after: (ms, callback) => clock.after(ms, callback) });
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  for (const signal of signals) process.on(signal, leave);
  // Whatever breaks: the terminal first, so that the words of it can be read.
  const giveBack = (): void => terminal.leave();
  process.once('exit', giveBack);
  process.once('uncaughtExceptionMonitor', giveBack);
  try {
    await runTui({
      terminal,
      api: createClient({ socketPath: daemonSocket, clock, caller: callerHere() }),
      clock,
      env: environment(),
      self: { cwd: process.cwd(), home: homedir(), agents: managedAgentNames() },
      colours: coloursOf(parsed),
      offsetMinutes: -new Date(clock.wallMs()).getTimezoneOffset(),
      place: placeOf(parsed),
      startDaemon: starter(context),
      attach: (ref) => attach(ref, context, parsed.has('leave-on-attach') ? leave : null),
      edit,
      suspension: createSuspension(clock),
      signal: leaving.signal,
    });
  } finally {
    terminal.leave();
    for (const signal of signals) process.off(signal, leave);
    process.off('exit', giveBack);
    process.off('uncaughtExceptionMonitor', giveBack);
    input.unref();
  }
};

/** Whoever took away the state, as a demo does at its end, wants no daemon there again. */
function starter(context: Context): () => Promise<void> {
  const { stateDir } = places();
  let known = identityOf(stateDir);
  return async () => {
    if (known !== null && known !== identityOf(stateDir)) {
      throw new AgtmuxError('E_DAEMON_DOWN', 'its state directory was removed; q quits');
    }
    await startDaemon(context, [], () => undefined);
    known = identityOf(stateDir);
  };
}

/** A daemon that notices last may leave a new directory of the same name. */
function identityOf(directory: string): string | null {
  const found = statSync(directory, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

const placeOf = (parsed: Parsed): Place =>
  parsed.has('shells') ? { screen: 'shells' } : parsed.has('sessions') ? { screen: 'sessions' } : { screen: 'board' };

const environment = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

/** A terminal that does not say that it has more has sixteen. */
function coloursOf(parsed: Parsed): Colours {
  if (!hasColour(parsed)) return 'none';
  const { TERM = '', COLORTERM = '' } = process.env;
  return COLORTERM !== '' || /256|direct|kitty|alacritty|ghostty|wezterm/.test(TERM) ? 'all' : 'sixteen';
}

/** In a file that only its owner can read, gone afterwards. */
async function edit(text: string): Promise<{ readonly text: string | null; readonly words: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'agtmux-message-'));
  const path = join(folder, 'message.md');
  try {
    writeFileSync(path, text, { mode: 0o600 });
    const editor = process.env.VISUAL || process.env.EDITOR || 'vi';
    // As git starts it: the variable may hold options, the path is one word.
    const status = await lendTerminal('/bin/sh', ['sh', '-c', `${editor} "$@"`, editor, path], process.env);
    if (status !== 0) return { text: null, words: `${editor} ended with status ${status}; the message is as it was.` };
    return { text: readFileSync(path, 'utf8').slice(0, limits.requestBytesMax).replace(/\n$/, ''), words: '' };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Inside the same tmux the client goes there and the board stays where it is; elsewhere one is there until one detaches. */
async function attach(ref: string, context: Context, leave: (() => void) | null): Promise<string> {
  const way = approachTo(await planFor(context, { ref, conditions: {} }));
  const status = await lendTerminal('/bin/sh', throughShell(way.command), way.env);
  if (status !== 0) {
    throw new AgtmuxError('E_TMUX_REFUSED', `attaching failed with status ${status}`, {
      next: 'open the pane with tmux',
    });
  }
  leave?.();
  return way.isSwitch ? 'Switched to the agent and back to the board.' : 'Back on the board.';
}
