// Another machine as a target, reached by the system's ssh client and the user's own configuration. Sessions share one
// connection; a second one is made only when the first has no session left. Once it is lost only `connect` dials again:
// who keeps the machine decides when, and a server that counts attempts is not met by everybody who had a question.

import { type Failure, fail, ok, type Result } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { ExecResult } from '../platform/exec.ts';
import type { HostAlias } from '../text/quote.ts';
import { ByteBudget } from './byte-budget.ts';
import { sshEnvironment } from './environment.ts';
import type { Channel, ChannelEnd, ChannelHandlers, Executor, RunOptions, RunResult } from './executor.ts';
import { controlPathOf, limitedArgv, sessionArguments } from './ssh-arguments.ts';
import { channelEndOf, SshChannel } from './ssh-channel.ts';
import { SshConnection, type SshPlace, type SshPorts } from './ssh-connection.ts';
import { type SshTrouble, sshFailure, sshTroubleOf } from './ssh-trouble.ts';

export interface SshOptions extends SshPorts {
  readonly target: TargetId;
  readonly alias: HostAlias;
  /** A private directory with a short path; the sockets of shared connections stand in it. */
  readonly runtimeDir: string;
  readonly uid: number;
  /** The daemon's own environment; only what ssh needs is taken from it. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Instead of the user's own configuration (AGTMUX_SSH_CONFIG). */
  readonly configFile?: string | null;
  /** Put before the client that holds the connection, to end it with the daemon; see `findGuard`. */
  readonly guard?: readonly string[];
  readonly connectMs?: number;
  readonly bytesPerSecondMax?: number;
}

export interface SshExecutor extends Executor {
  /** Connects now, unless it is connected or about to be; says why not. After a loss nothing else dials. */
  connect(): Promise<Result<null>>;
  /** What kind of failure the last connection ended by; null while there is one or none was made yet. */
  readonly trouble: SshTrouble | null;
  /** A sign of life of the connection. Waits as long as it takes; `drop` ends the wait. */
  ping(): Promise<Result<null>>;
  /** Ends connections and channels that no longer answer. Nothing runs there until `connect`. */
  drop(why: Failure): void;
  /** Process ids of the clients that hold connections. */
  masterPids(): readonly number[];
}

/** The status the ssh client leaves with when the trouble is its own. */
const sshStatus = 255;
/** A lost connection is told by two processes; the one that holds it may be the later one. */
const secondWordMs = 50;

export function createSshExecutor(options: SshOptions): SshExecutor {
  return new SharedSsh(options);
}

class SharedSsh implements SshExecutor {
  readonly kind = 'ssh';
  readonly target: TargetId;
  readonly #options: SshOptions;
  readonly #place: SshPlace;
  readonly #budget: ByteBudget;
  readonly #lanes: (SshConnection | null)[] = Array.from({ length: limits.sshConnectionsMax }, () => null);
  readonly #channels = new Set<SshChannel>();
  readonly #freed: (() => void)[] = [];
  #closed = false;
  #connections = 0;
  /** Why the first connection is over; null when it stands, comes up, or was never made. */
  #lost: { readonly failure: Failure; readonly trouble: SshTrouble } | null = null;
  /** No further connection beside the first is tried before this: the last try failed. */
  #furtherDueMs = 0;

  constructor(options: SshOptions) {
    this.#options = options;
    this.target = options.target;
    this.#budget = new ByteBudget(options.clock, options.bytesPerSecondMax ?? limits.targetBytesPerSecondMax);
    this.#place = {
      runtimeDir: options.runtimeDir,
      uid: options.uid,
      program: 'ssh',
      guard: options.guard ?? [],
      env: sshEnvironment(options.variables),
      connectMs: options.connectMs ?? limits.sshConnectMs,
    };
  }

  async connect(): Promise<Result<null>> {
    this.#noteLoss();
    this.#lost = null;
    const lane = this.#lane(0);
    return lane.ok ? lane.value.ready : lane;
  }

  get trouble(): SshTrouble | null {
    this.#noteLoss();
    return this.#lost?.trouble ?? null;
  }

  async ping(): Promise<Result<null>> {
    const lane = this.#lane(0);
    return lane.ok ? lane.value.ping() : lane;
  }

  masterPids(): readonly number[] {
    return this.#lanes.flatMap((lane) => (lane?.pid === null || lane === null ? [] : [lane.pid]));
  }

  async run(argv: readonly string[], run: RunOptions): Promise<RunResult> {
    const { clock, exec } = this.#options;
    const dueMs = clock.monotonicMs() + run.deadlineMs;
    const session = await this.#before(dueMs, this.#session());
    if (!session.ok) return notRun(session.failure, clock.monotonicMs() >= dueMs);
    const connection = session.value;
    try {
      const deadlineMs = Math.max(dueMs - clock.monotonicMs(), 1);
      const args = sessionArguments(connection.way, limitedArgv(argv, deadlineMs));
      if (!args.ok) return notRun(args.failure, false);
      const { program, env } = this.#place;
      const { outputBytesMax } = run;
      const stdin = run.stdin === undefined ? {} : { stdin: run.stdin };
      const result = await exec.run({ program, args: args.value, env, deadlineMs, outputBytesMax, ...stdin });
      return this.#runResult(connection, result);
    } finally {
      this.#release(connection);
    }
  }

  open(argv: readonly string[], handlers: ChannelHandlers): Channel {
    const channel = new SshChannel(this.#options.clock, this.#budget, {
      onData: handlers.onData,
      onEnd: (end) => {
        this.#channels.delete(channel);
        handlers.onEnd(end);
      },
    });
    this.#channels.add(channel);
    void this.#begin(argv, channel);
    return channel;
  }

  drop(why: Failure): void {
    this.#noteLoss();
    // One that had ended before keeps its own reason.
    this.#lost ??= { failure: why, trouble: 'other' };
    for (const [index, lane] of this.#lanes.entries()) {
      lane?.drop(why, 'other');
      this.#lanes[index] = null;
    }
    for (const channel of [...this.#channels]) channel.cut(why);
    for (const wake of this.#freed.splice(0)) wake();
  }

  /** A first connection that is over leaves its place and its reason. */
  #noteLoss(): void {
    const first = this.#lanes[0] ?? null;
    if (first === null || first.failure === null) return;
    this.#lost = { failure: first.failure, trouble: first.trouble };
    this.#lanes[0] = null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const why = sshFailure(this.#options.alias, 'closed');
    for (const channel of [...this.#channels]) channel.cut(why);
    for (const wake of this.#freed.splice(0)) wake();
    await Promise.all(this.#lanes.map((lane) => lane?.close()));
  }

  async #begin(argv: readonly string[], channel: SshChannel): Promise<void> {
    const session = await this.#session();
    if (!session.ok) {
      channel.cut(session.failure);
      return;
    }
    const connection = session.value;
    const args = sessionArguments(connection.way, argv);
    if (channel.isOver || !args.ok) {
      this.#release(connection);
      if (!args.ok) channel.cut(args.failure);
      return;
    }
    const { program, env } = this.#place;
    const process = this.#options.channels.open(
      { program, args: args.value, env },
      {
        onData: (bytes) => channel.take(bytes),
        onEnd: (end) => {
          this.#release(connection);
          channel.finish(this.#channelEnd(connection, channelEndOf(end)));
        },
      },
    );
    channel.begin(process);
  }

  /** A place on a connection that stands. Waits while every one is taken. */
  async #session(): Promise<Result<SshConnection>> {
    for (;;) {
      const lane = this.#roomiest();
      if (!lane.ok) return lane;
      if (lane.value !== null) return this.#join(lane.value);
      if (this.#freed.length >= limits.sshWaitingMax) {
        return fail('E_TARGET_DOWN', `${this.#options.alias}: too many programs wait for a session`);
      }
      await new Promise<void>((resolve) => this.#freed.push(resolve));
    }
  }

  async #join(connection: SshConnection): Promise<Result<SshConnection>> {
    connection.sessions += 1;
    const ready = await connection.ready;
    if (ready.ok) return ok(connection);
    this.#release(connection);
    return ready;
  }

  /** The first connection with a free session; a further one is made only when all are full, and one at a time. */
  #roomiest(): Result<SshConnection | null> {
    for (let index = 0; index < this.#lanes.length; index += 1) {
      if (index > 0 && !this.#mayAdd(index)) return ok(null);
      const lane = this.#lane(index);
      if (!lane.ok) return lane;
      if (lane.value.sessions < limits.sshSessionsMax) return lane;
    }
    return ok(null);
  }

  #mayAdd(index: number): boolean {
    const known = this.#lanes[index] ?? null;
    if (known !== null && known.failure === null) return true;
    const { clock } = this.#options;
    // One that stood and ended may be made anew; one that never stood has to wait.
    if (known !== null && !known.isReady) this.#furtherDueMs = clock.monotonicMs() + limits.reconnectLastMs;
    this.#lanes[index] = null;
    return clock.monotonicMs() >= this.#furtherDueMs;
  }

  #lane(index: number): Result<SshConnection> {
    const { alias, runtimeDir, target, configFile = null } = this.#options;
    if (this.#closed) return { ok: false, failure: sshFailure(alias, 'closed') };
    this.#noteLoss();
    if (this.#lost !== null) return { ok: false, failure: this.#lost.failure };
    const known = this.#lanes[index];
    if (known !== null && known !== undefined && known.failure === null) return ok(known);
    const controlPath = controlPathOf(runtimeDir, target, alias, this.#connections);
    if (!controlPath.ok) return controlPath;
    const connection = new SshConnection(this.#options, this.#place, {
      alias,
      configFile,
      controlPath: controlPath.value,
    });
    this.#connections += 1;
    this.#lanes[index] = connection;
    return ok(connection);
  }

  #release(connection: SshConnection): void {
    connection.sessions -= 1;
    this.#freed.shift()?.();
  }

  /** The work, or a failure when the deadline comes first; a session that is had too late is given back. */
  #before(dueMs: number, work: Promise<Result<SshConnection>>): Promise<Result<SshConnection>> {
    const { clock, alias } = this.#options;
    return new Promise((resolve) => {
      let late = false;
      const cancel = clock.after(Math.max(dueMs - clock.monotonicMs(), 0), () => {
        late = true;
        resolve({ ok: false, failure: sshFailure(alias, 'timeout') });
      });
      void work.then((session) => {
        cancel();
        if (late && session.ok) this.#release(session.value);
        resolve(session);
      });
    });
  }

  async #runResult(connection: SshConnection, result: ExecResult): Promise<RunResult> {
    const { status, stdout, stderr, truncated, timedOut, spawnError } = result;
    const plain: RunResult = { status, stdout, stderr, truncated, timedOut };
    const { alias } = this.#options;
    if (spawnError !== null) return notRun(sshFailure(alias, 'other', `ssh cannot be started: ${spawnError}`), false);
    if (status !== sshStatus) return plain;
    const words = new TextDecoder().decode(stderr);
    const trouble = sshTroubleOf(words);
    if (trouble !== 'other') return { ...plain, status: null, failure: sshFailure(alias, trouble, words) };
    await new Promise<void>((resolve) => this.#options.clock.after(secondWordMs, resolve));
    return connection.failure === null ? plain : { ...plain, status: null, failure: connection.failure };
  }

  /** Nothing that agtmux keeps open leaves with 255 by itself. */
  #channelEnd(connection: SshConnection, end: ChannelEnd): ChannelEnd {
    if (end.status !== sshStatus) return end;
    const trouble = sshTroubleOf(end.stderr);
    const told = sshFailure(this.#options.alias, trouble === 'other' ? 'closed' : trouble, end.stderr);
    return { ...end, status: null, failure: connection.failure ?? told };
  }
}

function notRun(failure: Failure, timedOut: boolean): RunResult {
  const stderr = new TextEncoder().encode(failure.message);
  return { status: null, stdout: new Uint8Array(0), stderr, truncated: false, timedOut, failure };
}
