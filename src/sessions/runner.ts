// The half of leading an agent that has a process: lines in, lines out, an end that is told once. What any of it means is
// the dialect's business.

import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { LedEnd, LedProcess, LedSignal } from '../platform/led-process.ts';
import type { Said } from './dialect.ts';
import { Lines } from './runner-lines.ts';
import type { Runner, RunnerHandlers, RunnerPorts, RunPlan } from './runner-parts.ts';
import { Printed } from './runner-printed.ts';

/** Reads at most so much in a stretch of time; a flood waits in the pipe, and with it the program. */
class Throttle {
  readonly #clock: Clock;
  readonly #pipe: Pick<LedProcess, 'pause' | 'resume'>;
  #bytes = 0;
  #since: number;
  #cancel: Cancel | null = null;

  constructor(clock: Clock, pipe: Pick<LedProcess, 'pause' | 'resume'>) {
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

export interface ProcessRunnerOptions {
  /** Beside being heard, for whoever looks for something in them. */
  readonly onLine?: (line: string) => void;
  /** What `onEnd` tells instead, for reasons of its own. */
  readonly wordsOf?: (end: LedEnd) => string | null;
}

/** A program that speaks on its standard input and output. */
export class ProcessRunner implements Runner {
  readonly address: string | null = null;
  readonly #handlers: RunnerHandlers;
  readonly #options: ProcessRunnerOptions;
  readonly #process: LedProcess;
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

  say(said: Said): boolean {
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

  signal(signal: LedSignal): void {
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

  async #ended(end: LedEnd): Promise<void> {
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
