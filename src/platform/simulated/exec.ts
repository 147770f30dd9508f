// Programs of the simulated world: what each would answer and how long it would take is scripted; deadline and output cap
// work as for real ones. Nothing is ever started.

import { assert } from '../../model/errors.ts';
import type { Clock } from '../clock.ts';
import { assertCommand, CappedOutput, type Command, type Exec, type ExecResult, notStarted } from '../exec.ts';

/** How a scripted program behaves. It exits with status 0, at once and in silence, unless said otherwise. */
export interface ScriptedRun {
  readonly takesMs?: number;
  readonly status?: number;
  readonly signal?: string;
  readonly stdout?: string | Uint8Array;
  readonly stderr?: string | Uint8Array;
  /** It cannot be started at all. */
  readonly spawnError?: string;
  /** It never ends by itself. */
  readonly hangs?: boolean;
}

export interface SimulatedExec extends Exec {
  /** Programs are found by their name, without the path; a later script replaces an earlier one. */
  script(program: string, behave: (command: Command) => ScriptedRun): void;
  /** The n-th run from now fails to start with this code; 1 is the next one. */
  failAt(nth: number, code: string): void;
  runs(): number;
  /** Programs under way. */
  running(): number;
}

export function createSimulatedExec(clock: Clock): SimulatedExec {
  const scripts = new Map<string, (command: Command) => ScriptedRun>();
  const faults = new Map<number, string>();
  let runs = 0;
  let running = 0;

  function begin(command: Command): ScriptedRun {
    assertCommand(command);
    runs += 1;
    const fault = faults.get(runs);
    faults.delete(runs);
    if (fault !== undefined) return { spawnError: fault };
    const name = command.program.slice(command.program.lastIndexOf('/') + 1);
    return scripts.get(name)?.(command) ?? { spawnError: 'ENOENT' };
  }

  function run(command: Command): Promise<ExecResult> {
    const scripted = begin(command);
    if (scripted.spawnError !== undefined) return Promise.resolve(notStarted(scripted.spawnError));
    const takesMs = scripted.hangs === true ? Number.POSITIVE_INFINITY : (scripted.takesMs ?? 0);
    const timedOut = takesMs >= command.deadlineMs;
    running += 1;
    return new Promise((resolve) => {
      clock.after(timedOut ? command.deadlineMs : takesMs, () => {
        running -= 1;
        resolve(endOf(command, scripted, timedOut));
      });
    });
  }

  return {
    run,
    script(program, behave) {
      assert(!program.includes('/'), 'scripts are named by the program alone');
      scripts.set(program, behave);
    },
    failAt(nth, code) {
      assert(Number.isSafeInteger(nth) && nth >= 1, 'the next run is number 1');
      faults.set(runs + nth, code);
    },
    runs: () => runs,
    running: () => running,
  };
}

function endOf(command: Command, scripted: ScriptedRun, timedOut: boolean): ExecResult {
  const stdout = new CappedOutput(command.outputBytesMax);
  const stderr = new CappedOutput(command.outputBytesMax);
  stdout.take(bytesOf(scripted.stdout));
  stderr.take(bytesOf(scripted.stderr));
  const truncated = stdout.truncated || stderr.truncated;
  const killed = timedOut || truncated;
  return {
    status: killed || scripted.signal !== undefined ? null : (scripted.status ?? 0),
    signal: killed ? 'SIGKILL' : (scripted.signal ?? null),
    stdout: stdout.bytes(),
    stderr: stderr.bytes(),
    truncated,
    timedOut,
    leftOpen: false,
    spawnError: null,
  };
}

function bytesOf(output: string | Uint8Array | undefined): Uint8Array {
  return typeof output === 'string' ? new TextEncoder().encode(output) : (output ?? new Uint8Array(0));
}
