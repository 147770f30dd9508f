// One connection to one machine, shared by many sessions: the ssh client that holds it, from its start to its end. It
// lives once; when it is over the executor makes a new one.

import { type Failure, fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Channels, ProcessChannel, ProcessEnd } from '../platform/channel.ts';
import type { Clock } from '../platform/clock.ts';
import type { Exec } from '../platform/exec.ts';
import type { Files } from '../platform/files.ts';
import { ensurePrivateDirectory } from '../platform/private-directory.ts';
import {
  configArguments,
  exitArguments,
  masterArguments,
  readyWord,
  type SshConnectionOptions,
  sentVariables,
} from './ssh-arguments.ts';
import { type MuxSession, SshMux } from './ssh-mux.ts';
import { type SshTrouble, sshFailure, sshTroubleOf } from './ssh-trouble.ts';

export interface SshPorts {
  readonly clock: Clock;
  readonly exec: Exec;
  readonly channels: Channels;
  readonly files: Files;
}

export interface SshPlace {
  readonly runtimeDir: string;
  readonly uid: number;
  readonly program: string;
  /** A program and its options that end the client when the daemon dies, to stand before it; empty where none is. */
  readonly guard: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly connectMs: number;
}

/** How long the client may take to leave when it is asked to. */
const leaveMs = 1_000;

/** A lost connection is told by two; the one that knows why may be the later one. */
const secondWordMs = 50;

const pingBytes = new TextEncoder().encode('.');

export class SshConnection {
  readonly way: SshConnectionOptions;
  /** Kept when the connection stands or when it is known that it never will. */
  readonly ready: Promise<Result<null>>;
  /** Sessions that use it now; counted by the executor. */
  sessions = 0;
  /** How many the machine allows, as far as it has said. */
  sessionsMax: number = limits.sshSessionsMax;
  readonly #ports: SshPorts;
  readonly #place: SshPlace;
  readonly #ended: Promise<void>;
  #master: ProcessChannel | null = null;
  #mux: SshMux | null = null;
  /** What the user's configuration sends along with every program. */
  #variables: Promise<ReadonlyMap<string, string>> = Promise.resolve(new Map());
  #greeting = '';
  #isReady = false;
  #pings: ((result: Result<null>) => void)[] = [];
  #failure: Failure | null = null;
  #trouble: SshTrouble = 'other';
  #tellReady: (result: Result<null>) => void = () => undefined;
  #tellEnded: () => void = () => undefined;

  constructor(ports: SshPorts, place: SshPlace, way: SshConnectionOptions) {
    this.#ports = ports;
    this.#place = place;
    this.way = way;
    this.#ended = new Promise((resolve) => {
      this.#tellEnded = resolve;
    });
    this.ready = new Promise((resolve) => {
      this.#tellReady = resolve;
    });
    void this.#start();
  }

  /** Why it is over; null while it stands or comes up. */
  get failure(): Failure | null {
    return this.#failure;
  }

  /** What kind of failure it is over by. */
  get trouble(): SshTrouble {
    return this.#trouble;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** When a program over there was last heard of. */
  get heardAtMs(): number {
    return this.#mux?.heardAtMs ?? Number.NEGATIVE_INFINITY;
  }

  get pid(): number | null {
    return this.#master?.pid ?? null;
  }

  /** A session for one program; `refused` when the machine allows no more. `onOver` follows each that was had, once. */
  async session(onOver: () => void): Promise<Result<MuxSession> | 'refused'> {
    const ready = await this.ready;
    if (!ready.ok) return ready;
    if (this.#failure !== null || this.#mux === null) return { ok: false, failure: this.#gone() };
    return this.#mux.session(onOver);
  }

  variables(): Promise<ReadonlyMap<string, string>> {
    return this.#variables;
  }

  /**
   * Why a session was lost. A lost connection is told by its socket and by the client that holds it, which knows the
   * reason and may be the later one.
   */
  async lossOf(told: Failure): Promise<Failure> {
    if (this.#failure !== null) return this.#failure;
    await new Promise<void>((resolve) => this.#ports.clock.after(secondWordMs, resolve));
    return this.#failure ?? { ...told, message: `${this.way.alias}: ${told.message}` };
  }

  /**
   * A sign of life: one byte there and back through a program that does nothing else, so that no slow work over there
   * can hold it up. Kept when the byte is back or the connection over, never after a time: the caller has the clock.
   */
  ping(): Promise<Result<null>> {
    if (this.#failure !== null) return Promise.resolve({ ok: false, failure: this.#failure });
    if (!this.#isReady || this.#master === null) return this.ready;
    const master = this.#master;
    return new Promise((resolve) => {
      this.#pings.push(resolve);
      master.write(pingBytes);
    });
  }

  /** Ends it at once, without a word to the far side: for a connection that no longer answers. */
  drop(why: Failure, trouble: SshTrouble): void {
    this.#over(why, trouble);
    this.#master?.end();
    if (this.#master === null) this.#tellEnded();
  }

  /** Ends it in good order; resolves when no process of it is left. */
  async close(): Promise<void> {
    const master = this.#master;
    const wasReady = this.#isReady;
    this.#over(sshFailure(this.way.alias, 'closed'), 'closed');
    if (master !== null) {
      const cancel = this.#ports.clock.after(leaveMs, () => master.end());
      if (wasReady) await this.#askToLeave();
      else master.end();
      await this.#ended;
      cancel();
    }
    await this.#forget();
  }

  /** A client that was killed leaves its socket. */
  async #forget(): Promise<void> {
    await this.#ports.files.remove(this.way.controlPath).catch(() => false);
  }

  async #askToLeave(): Promise<void> {
    const { program, env } = this.#place;
    const args = exitArguments(this.way);
    await this.#ports.exec.run({ program, args, env, deadlineMs: leaveMs, outputBytesMax: 4_096 });
  }

  async #start(): Promise<void> {
    const prepared = await this.#prepare();
    if (this.#failure !== null) return;
    if (!prepared.ok) {
      this.#over(prepared.failure, 'other');
      this.#tellEnded();
      return;
    }
    const { guard, env, connectMs } = this.#place;
    this.#variables = this.#askVariables();
    const [program = this.#place.program, ...args] = [...guard, this.#place.program, ...prepared.value];
    const cancel = this.#ports.clock.after(connectMs, () => {
      if (!this.#isReady) this.drop(sshFailure(this.way.alias, 'timeout'), 'timeout');
    });
    const master = this.#ports.channels.open(
      { program, args, env },
      {
        onData: (bytes) => this.#listen(bytes),
        onEnd: (end) => {
          cancel();
          this.#end(end);
          void this.#forget();
          this.#tellEnded();
        },
      },
    );
    this.#master = master;
  }

  /** The directory is looked at each time: what was private at the start may not be private now (SEC1). */
  async #prepare(): Promise<Result<string[]>> {
    const { files } = this.#ports;
    const directory = await ensurePrivateDirectory(files, this.#place.runtimeDir, this.#place.uid);
    if (!directory.ok) return directory;
    // A socket left by a connection that was killed would make ssh go without sharing.
    const removed = await files.remove(this.way.controlPath).catch(() => null);
    if (removed === null) return fail('E_SOCKET', `${this.way.controlPath} is in the way and cannot be removed`);
    return masterArguments(this.way);
  }

  /** A login shell may greet first. */
  #listen(bytes: Uint8Array): void {
    if (this.#failure !== null) return;
    if (this.#isReady) {
      this.#repeat(bytes);
      return;
    }
    this.#greeting += new TextDecoder().decode(bytes);
    if (this.#greeting.includes(`${readyWord}\n`)) {
      this.#isReady = true;
      this.#greeting = '';
      void this.#share();
    } else if (this.#greeting.length > limits.collectorNoiseBytesMax) {
      this.drop(sshFailure(this.way.alias, 'no_shell'), 'no_shell');
    }
  }

  /** Programs find their sessions over the client's socket; without it the connection is of no use. */
  async #share(): Promise<void> {
    const { clock } = this.#ports;
    const mux = await SshMux.open(this.way.controlPath, clock, this.#place.connectMs);
    if (!mux.ok) {
      const { message, next } = mux.failure;
      this.drop({ code: 'E_TARGET_DOWN', message: `${this.way.alias}: ${message}`, next }, 'other');
    } else if (this.#failure !== null) mux.value.close(this.#failure);
    else {
      this.#mux = mux.value;
      this.#tellReady(ok(null));
    }
  }

  async #askVariables(): Promise<ReadonlyMap<string, string>> {
    const { program, env } = this.#place;
    const bounds = { deadlineMs: this.#place.connectMs, outputBytesMax: limits.collectorNoiseBytesMax };
    const told = await this.#ports.exec.run({ program, args: configArguments(this.way), env, ...bounds });
    return sentVariables(new TextDecoder().decode(told.stdout), env);
  }

  #gone(): Failure {
    return this.#failure ?? sshFailure(this.way.alias, 'closed');
  }

  /** One byte for each sign of life that was asked for. A machine that sends more is not in its right mind. */
  #repeat(bytes: Uint8Array): void {
    if (bytes.length > this.#pings.length) {
      this.drop(sshFailure(this.way.alias, 'no_shell', 'it sends unexpected data'), 'no_shell');
      return;
    }
    for (const tell of this.#pings.splice(0, bytes.length)) tell(ok(null));
  }

  #end(end: ProcessEnd): void {
    const { alias } = this.way;
    if (end.spawnError !== null) {
      const words = `the ssh client cannot be started: ${end.spawnError}`;
      const failure = { message: `${alias}: ${words}`, next: 'install the OpenSSH client' };
      this.#over({ code: 'E_TARGET_DOWN', ...failure }, 'other');
      return;
    }
    const stderr = new TextDecoder().decode(end.stderr);
    const trouble = this.#troubleOf(end, stderr);
    this.#over(sshFailure(alias, trouble, stderr), trouble);
  }

  #troubleOf(end: ProcessEnd, stderr: string): SshTrouble {
    const trouble = sshTroubleOf(stderr);
    // ssh itself leaves with 255; any other status is the far shell's own.
    if (!this.#isReady && end.status !== null && end.status !== 255) return 'no_shell';
    return this.#isReady && trouble === 'other' ? 'closed' : trouble;
  }

  #over(why: Failure, trouble: SshTrouble): void {
    if (this.#failure !== null) return;
    this.#failure = why;
    this.#trouble = trouble;
    this.#tellReady({ ok: false, failure: why });
    this.#mux?.close(why);
    for (const tell of this.#pings.splice(0)) tell({ ok: false, failure: why });
  }
}
