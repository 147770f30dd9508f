// The half of leading an agent that has a process: lines in, lines out, an end that is told once. What any of it means is
// the adapter's business.

import type { Incoming, Outgoing } from '../agents/protocol/adapter.ts';
import type { Launch } from '../agents/protocol/launch.ts';
import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { AskLoopback } from '../platform/loopback-http.ts';
import type { ManagedEnd, ManagedProcess, ManagedPrograms, ManagedSignal } from '../platform/managed-process.ts';
import type { openEventStream } from '../platform/sse.ts';
import type { connectWebSocket } from '../platform/web-socket.ts';

/** Reads at most so much in a stretch of time; a flood waits in the pipe, and with it the program. */
class Throttle {
  readonly #clock: Clock;
  readonly #pipe: Pick<ManagedProcess, 'pause' | 'resume'>;
  #bytes = 0;
  #since: number;
  #cancel: Cancel | null = null;

  constructor(clock: Clock, pipe: Pick<ManagedProcess, 'pause' | 'resume'>) {
    this.#clock = clock;
    this.#pipe = pipe;
    this.#since = clock.monotonicMs();
  }

  count(bytes: number): void {
    const now = this.#clock.monotonicMs();
    if (now - this.#since >= limits.sessionReadMs) {
      this.#since = now;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    if (this.#bytes < limits.sessionReadBytesMax || this.#cancel !== null) return;
    this.#pipe.pause();
    this.#cancel = this.#clock.after(limits.sessionReadMs, () => {
      this.#cancel = null;
      this.#bytes = 0;
      this.#pipe.resume();
    });
  }

  stop(): void {
    this.#cancel?.();
  }
}

const sizeWords = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;

interface ProcessRunnerOptions {
  /** Beside being heard, for whoever looks for something in them. */
  readonly onLine?: (line: string) => void;
  /** What `onEnd` tells instead, for reasons of its own. */
  readonly wordsOf?: (end: ManagedEnd) => string | null;
}

/** A program that speaks on its standard input and output. */
export class ProcessRunner implements Runner {
  readonly address: string | null = null;
  readonly #handlers: RunnerHandlers;
  readonly #options: ProcessRunnerOptions;
  readonly #process: ManagedProcess;
  readonly #throttle: Throttle;
  readonly #lines: Readonly<Record<'stdout' | 'stderr', Lines>>;
  readonly #printed: Printed | null;
  readonly #gone: Promise<void>;
  #tellGone: () => void = () => undefined;
  #isReleased = false;

  constructor(ports: RunnerPorts, plan: RunPlan, handlers: RunnerHandlers, options: ProcessRunnerOptions = {}) {
    const { launch, program, cwd, env, outputPath } = plan;
    this.#handlers = handlers;
    this.#options = options;
    this.#gone = new Promise((resolve) => {
      this.#tellGone = resolve;
    });
    this.#lines = { stdout: this.#linesOf('stdout'), stderr: this.#linesOf('stderr') };
    this.#printed = outputPath === null ? null : new Printed(ports, outputPath, (line) => this.#hear('stdout', line));
    const output = outputPath === null ? {} : { outputPath };
    this.#process = ports.programs.open(
      { program: program ?? '/', args: launch.command.slice(1), env, cwd, ...output },
      {
        onStdout: (bytes) => this.#take('stdout', bytes),
        onStderr: (bytes) => this.#take('stderr', bytes),
        onEnd: (end) => void this.#ended(end),
      },
    );
    this.#throttle = new Throttle(ports.clock, this.#process);
  }

  get pid(): number | null {
    return this.#process.pid;
  }

  begin(): void {
    this.#process.begin();
  }

  say(said: Outgoing): boolean {
    switch (said.to) {
      case 'stdin':
        return this.#process.write(`${said.line}\n`);
      case 'process':
        this.#process.signal(said.signal);
        return true;
      case 'server':
        return false;
    }
  }

  endInput(): void {
    this.#process.endInput();
  }

  signal(signal: ManagedSignal): void {
    this.#process.signal(signal);
  }

  release(): void {
    this.#isReleased = true;
    this.#printed?.stop();
  }

  gone(): Promise<void> {
    return this.#gone;
  }

  #linesOf(from: 'stdout' | 'stderr'): Lines {
    const onDropped = (bytes: number): void => {
      const words = `a line of ${sizeWords(bytes)} was dropped: it is longer than ${sizeWords(limits.sessionLineBytesMax)}`;
      if (!this.#isReleased) this.#handlers.onNotice(words);
    };
    return new Lines(limits.sessionLineBytesMax, (line) => this.#hear(from, line), onDropped);
  }

  #take(from: 'stdout' | 'stderr', bytes: Uint8Array): void {
    this.#throttle.count(bytes.length);
    this.#lines[from].push(bytes);
  }

  #hear(from: 'stdout' | 'stderr', line: string): void {
    if (this.#isReleased) return;
    this.#options.onLine?.(line);
    this.#handlers.onHeard({ from, line });
  }

  async #ended(end: ManagedEnd): Promise<void> {
    this.#tellGone();
    this.#throttle.stop();
    this.#lines.stdout.end();
    this.#lines.stderr.end();
    await this.#printed?.end();
    const { code, signal, spawnError } = end;
    const words =
      spawnError === null ? (this.#options.wordsOf?.(end) ?? null) : `it could not be started (${spawnError})`;
    if (!this.#isReleased) this.#handlers.onEnd({ code, signal, words });
  }
}

// What leading an agent needs of the machine, and what is asked of whoever does it: a program, a server or a socket.

/** One run of an agent's program, by whom its processes are known. */
export interface ProgramRun {
  readonly leader: ProcessIdentity;
  readonly mark: string | null;
  /** Seen to belong to it while the leader was there. */
  readonly known: readonly ProcessIdentity[];
}

export interface RunMembers {
  readonly isLeaderThere: boolean;
  readonly members: readonly ProcessIdentity[];
}

/** The processes of this machine by what they are, not by their number (IDN3). */
export interface ProcessChecks {
  identityOf(pid: number): Promise<ProcessIdentity | null>;
  isAlive(identity: ProcessIdentity): Promise<boolean>;
  /** To its group, after a look whether it is still the same; false when it is gone. */
  signal(identity: ProcessIdentity, signal: ManagedSignal): Promise<boolean>;
  /** Everyone who certainly belongs to this run: its session and group of the system, and what these have started. */
  members(run: ProgramRun): Promise<RunMembers>;
  /** Those that have this mark in their environment, as far as the system tells. */
  marked(mark: string): Promise<readonly { readonly identity: ProcessIdentity; readonly command: string }[]>;
}

export interface RunnerPorts {
  readonly clock: Clock;
  readonly programs: ManagedPrograms;
  readonly processes: ProcessChecks;
  readonly askLoopback: AskLoopback;
  readonly openEvents: typeof openEventStream;
  readonly openSocket: typeof connectWebSocket;
}

export interface RunnerHandlers {
  readonly onHeard: (heard: Incoming) => void;
  /** Worth telling to whoever reads along: something was dropped. */
  readonly onNotice: (words: string) => void;
  /** Once and last. With `words`: it cannot be led any further, for this reason. */
  readonly onEnd: (end: RunnerEnd) => void;
}

export interface RunnerEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly words: string | null;
}

export interface Runner {
  /** Of a process that it started; null where it started none. */
  readonly pid: number | null;
  /** Where its server answers, once that is known. */
  readonly address: string | null;
  /** Who it is has been written down: it may run. */
  begin(): void;
  /** False: it cannot be told any more. */
  say(said: Outgoing): boolean;
  endInput(): void;
  signal(signal: ManagedSignal): void;
  /** Nothing is told from here on; the process goes on and can still be ended. */
  release(): void;
  /** Resolves when its process is gone; at once where it has none of its own. */
  gone(): Promise<void>;
}

export interface RunPlan {
  /** Its program is a path. */
  readonly launch: Launch;
  /** Where the program was found; null where nothing is started. */
  readonly program: string | null;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly secret: string;
  /** Where it prints to, for programs that outlive us; null: to us. */
  readonly outputPath: string | null;
}

// Bytes of a pipe to lines of text, wherever they are cut. A line that is too long is passed over up to its end and
// counted, so that no program can make us keep what it prints.

const lineFeed = 0x0a;

/** More than this is given back after its line. */
const spareBytesMax = 65_536;
const nothing: Buffer = Buffer.alloc(0);

export class Lines {
  readonly #bytesMax: number;
  readonly #onLine: (line: string) => void;
  readonly #onDropped: (bytes: number) => void;
  /** The beginning of a line, copied together: a program that prints by the byte would make us keep a chunk for each. */
  #kept: Buffer = nothing;
  #bytes = 0;

  constructor(bytesMax: number, onLine: (line: string) => void, onDropped: (bytes: number) => void) {
    this.#bytesMax = bytesMax;
    this.#onLine = onLine;
    this.#onDropped = onDropped;
  }

  /** Bytes that are kept of a line that has not ended yet. */
  get held(): number {
    return this.#bytes > this.#bytesMax ? 0 : this.#bytes;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      const piece = chunk.subarray(from, at);
      if (this.#bytes === 0 && piece.length <= this.#bytesMax) this.#tell(piece);
      else {
        this.#grow(piece);
        this.#end();
      }
      from = at + 1;
    }
    if (from < chunk.length) this.#grow(chunk.subarray(from));
  }

  /** What stands behind the last line end is a line too, once nothing follows. */
  end(): void {
    if (this.#bytes > 0) this.#end();
  }

  #grow(piece: Uint8Array): void {
    const bytes = this.#bytes + piece.length;
    if (bytes > this.#bytesMax) this.#kept = nothing;
    else {
      if (bytes > this.#kept.length) {
        const larger = Buffer.allocUnsafeSlow(Math.min(this.#bytesMax, Math.max(1_024, bytes * 2)));
        larger.set(this.#kept.subarray(0, this.#bytes));
        this.#kept = larger;
      }
      this.#kept.set(piece, this.#bytes);
    }
    this.#bytes = bytes;
  }

  #end(): void {
    const [kept, bytes] = [this.#kept, this.#bytes];
    this.#bytes = 0;
    if (kept.length > spareBytesMax) this.#kept = nothing;
    if (bytes > this.#bytesMax) this.#onDropped(bytes);
    else this.#tell(kept.subarray(0, bytes));
  }

  #tell({ buffer, byteOffset, length }: Uint8Array): void {
    const text = Buffer.from(buffer, byteOffset, length).toString('utf8');
    this.#onLine(text.endsWith('\r') ? text.slice(0, -1) : text);
  }
}

// What a server prints into a file of its own, read as it grows: servers that outlive us must not write into our pipes.

const readBytesMax = 65_536;

export class Printed {
  readonly #ports: Pick<RunnerPorts, 'clock' | 'programs'>;
  readonly #path: string;
  readonly #lines: Lines;
  #from = 0;
  #isOver = false;
  #cancel: Cancel | null = null;

  constructor(ports: Pick<RunnerPorts, 'clock' | 'programs'>, path: string, onLine: (line: string) => void) {
    this.#ports = ports;
    this.#path = path;
    this.#lines = new Lines(limits.sessionLineBytesMax, onLine, () => undefined);
    this.#later(limits.sessionReadMs);
  }

  /** What it printed last, then nothing more. */
  async end(): Promise<void> {
    this.stop();
    while (await this.#read());
    this.#lines.end();
  }

  stop(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  #later(delayMs: number): void {
    if (!this.#isOver) this.#cancel = this.#ports.clock.after(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    let hasMore = true;
    for (let bytes = 0; hasMore && bytes < limits.sessionReadBytesMax; bytes += readBytesMax) {
      hasMore = await this.#read();
    }
    // Whoever prints faster than that loses some of it: the disk must not fill.
    if (hasMore || this.#from > limits.sessionReadBytesMax) {
      await this.#ports.programs.cut(this.#path);
      this.#from = 0;
    }
    this.#later(limits.sessionReadMs);
  }

  async #read(): Promise<boolean> {
    const bytes = await this.#ports.programs.printed(this.#path, this.#from, readBytesMax);
    this.#from += bytes.length;
    this.#lines.push(bytes);
    return bytes.length === readBytesMax;
  }
}
