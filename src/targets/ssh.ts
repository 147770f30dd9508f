// Another machine as a target, reached by the system's ssh client and the user's own configuration. Sessions share one
// connection, which is one local process; a second one is made only when the first has no session left. Once it is lost only `connect` dials again:
// who keeps the machine decides when, and a server that counts attempts is not met by everybody who had a question.

import { type Failure, fail, ok, type Result } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { Tail } from '../platform/channel.ts';
import { CappedOutput } from '../platform/exec.ts';
import { type HostAlias, quoteSsh } from '../text/quote.ts';
import { ByteBudget } from './byte-budget.ts';
import { sshEnvironment } from './environment.ts';
import type { Channel, ChannelHandlers, Executor, RunOptions, RunResult } from './executor.ts';
import { controlPathOf, limitedArgv } from './ssh-arguments.ts';
import { SshChannel } from './ssh-channel.ts';
import { SshConnection, type SshPlace, type SshPorts } from './ssh-connection.ts';
import type { MuxSession, SessionEnd } from './ssh-mux.ts';
import { type SshTrouble, sshFailure } from './ssh-trouble.ts';

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
  /** When something last came from there over the first connection, by the clock of steps. */
  readonly heardAtMs: number;
  /** Ends connections and channels that no longer answer. Nothing runs there until `connect`. */
  drop(why: Failure): void;
  /** Process ids of the clients that hold connections. */
  masterPids(): readonly number[];
}

/** One session, and the connection it is of. */
interface Seat {
  readonly connection: SshConnection;
  readonly session: MuxSession;
}

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

  get heardAtMs(): number {
    return this.#lanes[0]?.heardAtMs ?? Number.NEGATIVE_INFINITY;
  }

  masterPids(): readonly number[] {
    return this.#lanes.flatMap((lane) => (lane?.pid === null || lane === null ? [] : [lane.pid]));
  }

  async run(argv: readonly string[], run: RunOptions): Promise<RunResult> {
    const { clock } = this.#options;
    const dueMs = clock.monotonicMs() + run.deadlineMs;
    const seat = await this.#before(dueMs, this.#seat());
    if (!seat.ok) return notRun(seat.failure, clock.monotonicMs() >= dueMs);
    const deadlineMs = Math.max(dueMs - clock.monotonicMs(), 1);
    const line = quoteSsh(limitedArgv(argv, deadlineMs));
    if (!line.ok) {
      seat.value.session.end();
      return notRun(line.failure, false);
    }
    return this.#runIn(seat.value, line.value, { ...run, deadlineMs });
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
    const seat = await this.#seat();
    if (!seat.ok) {
      channel.cut(seat.failure);
      return;
    }
    const { connection, session } = seat.value;
    const line = quoteSsh(argv);
    const variables = await connection.variables();
    if (channel.isOver || !line.ok) {
      session.end();
      if (!line.ok) channel.cut(line.failure);
      return;
    }
    const stderr = new Tail(limits.channelStderrBytesMax);
    session.start(line.value, variables, {
      onData: (bytes) => channel.take(bytes),
      onStderr: (bytes) => stderr.take(bytes),
      onEnd: ({ status, signal, lost }) => {
        const end = { status, signal, stderr: new TextDecoder().decode(stderr.bytes()) };
        if (lost === null) channel.finish(end);
        else void connection.lossOf(lost).then((failure) => channel.finish({ ...end, failure }));
      },
    });
    channel.begin(session);
  }

  /** As a program of this machine is run to its end: with a deadline, and stopped when it prints too much. */
  async #runIn({ connection, session }: Seat, line: string, run: RunOptions): Promise<RunResult> {
    const variables = await connection.variables();
    const stdout = new CappedOutput(run.outputBytesMax);
    const stderr = new CappedOutput(run.outputBytesMax);
    let timedOut = false;
    const end = await new Promise<SessionEnd>((resolve) => {
      const cancel = this.#options.clock.after(run.deadlineMs, () => {
        timedOut = true;
        session.end();
      });
      session.start(line, variables, {
        onData: (bytes) => stdout.take(bytes) || session.end(),
        onStderr: (bytes) => stderr.take(bytes) || session.end(),
        onEnd: (told) => {
          cancel();
          resolve(told);
        },
      });
      if (run.stdin !== undefined) session.write(run.stdin);
      session.endInput();
    });
    const truncated = stdout.truncated || stderr.truncated;
    const said = { stdout: stdout.bytes(), stderr: stderr.bytes(), truncated, timedOut };
    if (end.lost === null || timedOut) return { ...said, status: timedOut ? null : end.status };
    return { ...said, status: null, failure: await connection.lossOf(end.lost) };
  }

  /** A session on a connection that stands. Waits while every one is taken. */
  async #seat(): Promise<Result<Seat>> {
    for (;;) {
      const lane = this.#roomiest();
      if (!lane.ok) return lane;
      if (lane.value !== null) {
        const seat = await this.#sit(lane.value);
        if (seat !== 'refused') return seat;
        continue;
      }
      if (this.#freed.length >= limits.sshWaitingMax) {
        return fail('E_TARGET_DOWN', `${this.#options.alias}: too many programs are waiting for a session`);
      }
      await new Promise<void>((resolve) => this.#freed.push(resolve));
    }
  }

  /** Machines allow ten sessions a connection, some fewer: how many is learned from the first that is refused. */
  async #sit(connection: SshConnection): Promise<Result<Seat> | 'refused'> {
    connection.sessions += 1;
    const session = await connection.session(() => this.#release(connection));
    if (session !== 'refused' && session.ok) return ok({ connection, session: session.value });
    this.#release(connection);
    if (session !== 'refused') return session;
    connection.sessionsMax = Math.min(connection.sessions, connection.sessionsMax);
    if (connection.sessions > 0) return 'refused';
    const words = `${this.#options.alias}: it allows no program beside the connection itself`;
    return fail('E_TARGET_DOWN', words, 'set MaxSessions of its sshd to 10, as it is by default');
  }

  /** The first connection with a free session; a further one is made only when all are full, and one at a time. */
  #roomiest(): Result<SshConnection | null> {
    for (let index = 0; index < this.#lanes.length; index += 1) {
      if (index > 0 && !this.#mayAdd(index)) return ok(null);
      const lane = this.#lane(index);
      if (!lane.ok) return lane;
      if (lane.value.sessions < lane.value.sessionsMax) return lane;
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

  /** The session, or a failure when the deadline comes first; one that is had too late is given back. */
  #before(dueMs: number, work: Promise<Result<Seat>>): Promise<Result<Seat>> {
    const { clock, alias } = this.#options;
    return new Promise((resolve) => {
      let late = false;
      const cancel = clock.after(Math.max(dueMs - clock.monotonicMs(), 0), () => {
        late = true;
        resolve({ ok: false, failure: sshFailure(alias, 'timeout') });
      });
      void work.then((seat) => {
        cancel();
        if (late && seat.ok) seat.value.session.end();
        resolve(seat);
      });
    });
  }
}

function notRun(failure: Failure, timedOut: boolean): RunResult {
  const stderr = new TextEncoder().encode(failure.message);
  return { status: null, stdout: new Uint8Array(0), stderr, truncated: false, timedOut, failure };
}
