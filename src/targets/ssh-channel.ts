// A program on another machine as the caller holds it: it may write before the connection stands, is slowed down when its
// machine sends too much, and is ended when it stops reading.

import { type Failure, failure } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ProcessChannel } from '../platform/channel.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Channel, ChannelEnd, ChannelHandlers } from './executor.ts';

export class SshChannel implements Channel {
  readonly #clock: Clock;
  readonly #budget: ByteBudget;
  readonly #handlers: ChannelHandlers;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #process: ProcessChannel | null = null;
  #failure: Failure | null = null;
  #over = false;
  #cancelResume: Cancel = () => undefined;

  constructor(clock: Clock, budget: ByteBudget, handlers: ChannelHandlers) {
    this.#clock = clock;
    this.#budget = budget;
    this.#handlers = handlers;
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  get writeBacklog(): number {
    return this.#waitingBytes + (this.#process?.writeBacklog ?? 0);
  }

  get isOver(): boolean {
    return this.#over;
  }

  write(bytes: Uint8Array): void {
    if (this.#over) return;
    if (this.writeBacklog + bytes.length > limits.channelBacklogBytesMax) {
      this.cut(failure('E_TARGET_DOWN', 'the program on the other machine stopped reading'));
      return;
    }
    if (this.#process !== null) {
      this.#process.write(bytes);
      return;
    }
    // Copied: the caller may use its buffer again, a live pipe would have taken the bytes by then.
    this.#waiting.push(new Uint8Array(bytes));
    this.#waitingBytes += bytes.length;
  }

  end(): void {
    if (this.#process !== null) this.#process.end();
    else this.finish({ status: null, signal: null, stderr: '' });
  }

  /** Ends it for a reason that is not the program's own. */
  cut(why: Failure): void {
    this.#failure ??= why;
    if (this.#process !== null) this.#process.end();
    else this.finish({ status: null, signal: null, stderr: '' });
  }

  /** The connection stands: what was written meanwhile goes first. */
  begin(process: ProcessChannel): void {
    this.#process = process;
    for (const bytes of this.#waiting) process.write(bytes);
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  take(bytes: Uint8Array): void {
    if (this.#over) return;
    const waitMs = this.#budget.take(bytes.length);
    this.#handlers.onData(bytes);
    if (waitMs <= 0 || this.#process === null) return;
    const process = this.#process;
    process.pause();
    // What was on its way still comes, and each part of it makes the wait longer.
    this.#cancelResume();
    this.#cancelResume = this.#clock.after(waitMs, () => process.resume());
  }

  finish(end: ChannelEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelResume();
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#handlers.onEnd(this.#failure === null ? end : { ...end, failure: this.#failure });
  }
}
