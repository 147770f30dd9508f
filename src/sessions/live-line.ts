// The line to one agent: the process that is led, what the dialect remembers of it, the timer it asked for, and the end it
// is given. What any of it means for the session is not decided here.

import type { Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Cancel } from '../platform/clock.ts';
import type { LedSignal } from '../platform/led-process.ts';
import type { Deed, Heard, Opening, Said, Turn, Wakeful } from './dialect.ts';
import { Ending } from './live-ending.ts';
import type { LiveParts } from './live-parts.ts';
import type { Runner, RunnerEnd, RunnerHandlers } from './runner-parts.ts';

export interface LineHandlers {
  /** Something is shown to a person to be answered. */
  readonly isAsked: () => boolean;
  /** Something came in; `turn` is what it means, null when it could not be understood. */
  readonly onTurn: (turn: Turn<unknown>, what: Heard) => void;
  readonly onNotice: (words: string) => void;
  /** It cannot be led any further, though it is still there. */
  readonly onTrouble: (words: string) => void;
  readonly onEnd: (end: RunnerEnd) => void;
}

export class AgentLine {
  readonly #parts: Pick<LiveParts, 'ports' | 'dialect' | 'handlers' | 'record' | 'asks'>;
  readonly #handlers: LineHandlers;
  #memory: unknown = null;
  #runner: Runner | null = null;
  #ending: Ending | null = null;
  #cancelWake: Cancel | null = null;
  /** What its open asks hold, as it was told to all. */
  #held = 0;
  /** What is said when something is on disk; null: nothing waits for that. */
  #unsaid: Said[] | null = null;

  constructor(parts: LiveParts, handlers: LineHandlers) {
    this.#parts = parts;
    this.#handlers = handlers;
  }

  get isOpen(): boolean {
    return this.#runner !== null;
  }

  /** It is there and was not told to go. */
  get isAlive(): boolean {
    return this.#runner !== null && this.#ending?.isBegun !== true;
  }

  /** As the dialect sees it; null: its process may go. */
  get wakeful(): Wakeful | null {
    return this.#parts.dialect.wakeful(this.#memory);
  }

  get pid(): number | null {
    return this.#runner?.pid ?? null;
  }

  get address(): string | null {
    return this.#runner?.address ?? null;
  }

  /** The one before was let go: nothing is heard of it any more. */
  connect(make: (handlers: RunnerHandlers) => Runner): Runner {
    const runner = make({
      onHeard: (what) => this.#hear(what),
      onNotice: (words) => this.#handlers.onNotice(words),
      onEnd: (end) => {
        this.#forget();
        this.#hear({ from: 'exit', code: end.code, signal: end.signal });
        this.#stopWaking();
        this.#handlers.onEnd(end);
      },
    });
    this.#runner = runner;
    return runner;
  }

  /** The first words. */
  open(runner: Runner, opening: Opening): Turn<unknown> {
    runner.begin();
    return this.#parts.dialect.open(opening, this.#parts.ports.now());
  }

  /** What a deed would lead to; nothing is said yet. */
  try(deed: Deed): Result<Turn<unknown>> {
    return this.#parts.dialect.do(this.#memory, deed, this.#parts.ports.now());
  }

  /** Says what a turn has to say: at once, or when `kept` says that it is on disk. Nothing overtakes what waits for that. */
  take(turn: Turn<unknown>, kept: Promise<boolean> | null = null): void {
    this.#memory = turn.memory;
    this.#hold(this.#parts.dialect.asksBytes(turn.memory));
    if (turn.wakeMs !== undefined) this.#wakeAfter(turn.wakeMs);
    if (this.#unsaid !== null) this.#unsaid.push(...turn.said);
    else if (kept === null) this.#sayAll(turn.said);
    else void this.#sayKept([...turn.said], kept);
  }

  async #sayKept(unsaid: Said[], kept: Promise<boolean>): Promise<void> {
    const runner = this.#runner;
    this.#unsaid = unsaid;
    const isKept = await kept;
    // It was let go meanwhile, and what it was to be told with it.
    if (this.#unsaid !== unsaid) return;
    this.#unsaid = null;
    if (this.#runner !== runner) return;
    if (isKept) this.#sayAll(unsaid);
    else this.#giveUp('it could not be told, since that could not be written down first');
  }

  #sayAll(all: readonly Said[]): void {
    const isTold = all.every((said) => this.#runner?.say(said) ?? true);
    if (!isTold && this.isAlive) this.#giveUp('it does not take what it is told');
  }

  signal(signal: LedSignal): void {
    this.#runner?.signal(signal);
  }

  /** Told to go after a while, unless it is called back before. */
  endAfter(delayMs: number): void {
    if (this.#runner === null || this.#ending !== null) return;
    this.#ending = new Ending(this.#parts.ports.clock, this.#runner, limits.sessionEndStepMs, delayMs);
  }

  callBack(): void {
    if (this.#ending?.isBegun !== false) return;
    this.#ending.stop();
    this.#ending = null;
  }

  /** Nothing is heard of it any more, and it is ended. Resolves when it is gone. */
  async end(stepMs: number): Promise<void> {
    const runner = this.#runner;
    this.#drop();
    if (runner === null) return;
    runner.release();
    const ending = new Ending(this.#parts.ports.clock, runner, stepMs, 0);
    await runner.gone();
    ending.stop();
  }

  /** Nothing is heard of it any more; it goes on. */
  letGo(): void {
    const runner = this.#runner;
    this.#drop();
    runner?.release();
  }

  #hold(bytes: number): void {
    this.#parts.asks.change(bytes - this.#held);
    this.#held = bytes;
  }

  /** For good: what it asked goes with it. */
  #drop(): void {
    this.#forget();
    this.#stopWaking();
    this.#memory = null;
    this.#hold(0);
  }

  #forget(): void {
    this.#runner = null;
    this.#unsaid = null;
    this.#ending?.stop();
    this.#ending = null;
  }

  #hear(what: Heard): void {
    const { dialect, ports, handlers, record, asks } = this.#parts;
    let turn: Turn<unknown>;
    try {
      turn = dialect.hear(this.#memory, what, ports.now(), asks.left);
    } catch (problem) {
      // A defect in how one agent is understood must not end the sessions of all others.
      handlers.warn('an agent was not understood', {
        session: record.id,
        driver: dialect.name,
        problem: String(problem),
      });
      this.#giveUp('agtmux failed to understand it: a defect, see `agtmux logs`');
      return;
    }
    this.#handlers.onTurn(turn, what);
  }

  #giveUp(words: string): void {
    this.endAfter(0);
    this.#handlers.onTrouble(words);
  }

  #wakeAfter(delayMs: number | null): void {
    this.#stopWaking();
    if (delayMs !== null)
      this.#cancelWake = this.#parts.ports.clock.after(delayMs, () =>
        this.#hear({ from: 'clock', isAsked: this.#handlers.isAsked() }),
      );
  }

  #stopWaking(): void {
    this.#cancelWake?.();
    this.#cancelWake = null;
  }
}
