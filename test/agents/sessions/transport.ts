// How a led session and its agent reach each other: by the same runners as in the daemon, on the real ports.

import { randomBytes } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { Incoming, Outgoing } from '../../../src/agents/protocol/adapter.ts';
import type { Launch } from '../../../src/agents/protocol/launch.ts';
import type { ProcessIdentity } from '../../../src/model/ids.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createAskLoopback } from '../../../src/platform/loopback-http.ts';
import { createManagedPrograms } from '../../../src/platform/managed-process.ts';
import { createRealProcesses } from '../../../src/platform/processes.ts';
import { openEventStream } from '../../../src/platform/sse.ts';
import { connectWebSocket } from '../../../src/platform/web-socket.ts';
import {
  ProcessRunner,
  type Runner,
  type RunnerHandlers,
  type RunnerPorts,
  type RunPlan,
} from '../../../src/sessions/runner.ts';
import { FoundRunner, HttpRunner, placeOfAddress, SocketRunner } from '../../../src/sessions/server-runner.ts';
import { createProcessChecks } from '../../../src/sessions/session-processes.ts';

const clock = createRealClock();
const forceMs = 5_000;

function tell(pid: number, name: string): boolean {
  try {
    return process.kill(pid, `SIG${name}`);
  } catch {
    // It was gone already.
    return false;
  }
}

const ports: RunnerPorts = {
  clock,
  programs: createManagedPrograms(clock),
  processes: {
    ...createProcessChecks(createRealProcesses(), () => null, clock),
    signal: async ({ pid }, name) => tell(pid, name),
  },
  askLoopback: createAskLoopback(clock),
  openEvents: openEventStream,
  openSocket: connectWebSocket,
};

export interface TransportPlan {
  readonly launch: Launch;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly secret: string;
  /** What a server that outlives us prints goes here; null: it does not. */
  readonly outputPath: string | null;
}

/** What is known of a server that was left. */
export interface Left {
  readonly address: string;
  readonly identity: ProcessIdentity;
}

export const newSecret = (): string => randomBytes(16).toString('hex');

export class Transport {
  readonly #runner: Runner;
  readonly #gone: Promise<void>;

  constructor(plan: TransportPlan, left: Left | null, hear: (heard: Incoming) => void, fail: (words: string) => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gone = promise;
    this.#runner = runnerOf(plan, left, {
      onHeard: hear,
      onNotice: () => undefined,
      onEnd: ({ code, signal, words }) => {
        if (words !== null) fail(words);
        hear({ from: 'exit', code, signal });
        resolve();
      },
    });
  }

  begin(): void {
    this.#runner.begin();
  }

  say(said: Outgoing): void {
    this.#runner.say(said);
  }

  /** Ends it in good order; the last thing heard is its exit. */
  async end(): Promise<void> {
    this.#runner.endInput();
    this.#runner.signal('TERM');
    const force = setTimeout(() => this.#runner.signal('KILL'), forceMs);
    await this.#gone;
    clearTimeout(force);
  }

  /** Leaves it as a daemon does that is killed. What is found there later: the server, where there is one of its own. */
  async leave(): Promise<Left | null> {
    const { address, pid } = this.#runner;
    const identity = pid === null ? null : await ports.processes.identityOf(pid);
    void this.#runner.release();
    return address === null || identity === null ? null : { address, identity };
  }
}

function runnerOf(plan: TransportPlan, left: Left | null, handlers: RunnerHandlers): Runner {
  const { launch } = plan;
  if (launch.socket !== undefined) return new SocketRunner(ports, launch.socket, handlers);
  const program = programOf(launch.command[0] ?? '', plan.env.PATH ?? '');
  const whole: RunPlan = { ...plan, env: { ...plan.env, ...launch.env }, program };
  const place = left === null ? null : placeOfAddress(left.address);
  if (left !== null && place !== null) return new FoundRunner(ports, whole, { ...left, place }, handlers);
  return launch.address === null ? new ProcessRunner(ports, whole, handlers) : new HttpRunner(ports, whole, handlers);
}

function programOf(name: string, path: string): string {
  const found = path
    .split(':')
    .map((folder) => join(folder, name))
    .find(isProgram);
  if (found === undefined) throw new Error(`${name} is not in ${path}`);
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
