// One life of the control connection to a tmux server: the command client, the bell beside it, and the sweeps between.
// Ends with the command client; whoever holds it makes a new one.

import { AgtmuxError } from '../../model/errors.ts';
import type { PaneId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Cancel, Clock } from '../../platform/clock.ts';
import type { RandomSource } from '../../platform/random.ts';
import type { TerminalWatch } from '../../platform/terminal-watch.ts';
import { controlArgv, type TmuxAddress } from './address.ts';
import { type Bell, hangBell } from './bell.ts';
import { escapesDollars } from './capabilities.ts';
import type { ClientRecords } from './client-records.ts';
import { turnsOf } from './client-turns.ts';
import { type CommandClient, openCommandClient, type ReplyBlock, type ReplyBlocks } from './command-client.ts';
import type { HealthWatch } from './health.ts';
import type { SweepState } from './sweep-state.ts';
import { TerminalHints } from './terminal-hints.ts';
import { createQuestions, parseServer, type Questions, rowsMaxOf, serverCommand } from './topology.ts';
import type { PaneScreen, TmuxServer } from './view.ts';

export interface ConnectionOptions {
  readonly address: TmuxAddress;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly ledger: ClientRecords | null;
  readonly session: string;
  readonly dieWithParent: boolean;
  readonly sweepMs: number;
  readonly state: SweepState;
  readonly health: HealthWatch;
  /** The daemon's timeline. */
  readonly now: () => number;
  /** After each sweep that was answered in full: first this, with the screens that changed. */
  readonly onSwept: (server: TmuxServer, screens: readonly PaneScreen[]) => void;
  /** Null where the system tells nothing of terminals, and for those of other machines. */
  readonly terminals: TerminalWatch | null;
  /** Nothing that was seen has to be looked at again soon. */
  readonly isSettled: () => boolean;
}

/** Captures in one request, so that a person's command never waits behind more than a few milliseconds of them. */
const capturesPerRequestMax = 64;
const quietFlags = 'no-output,ignore-size';

export class ControlConnection {
  readonly #options: ConnectionOptions;
  readonly #client: CommandClient;
  readonly #server: TmuxServer;
  readonly #questions: Questions;
  #bell: Bell | null = null;
  #cancelBellRetry: Cancel = () => undefined;
  #isClosed = false;
  #isFullWanted = true;
  #fullAtMs = 0;
  /** The last full answer told of a new process, which may not yet stand where it will, nor be what it will be. */
  #isFresh = false;
  /** Panes that the last sweep had to capture. */
  #busyPanes = 0;
  /** tmux's own clock at the last answer. */
  #serverTime = 0;
  #wake: (() => void) | null = null;
  #isNudged = false;
  /** Somebody rang already, and the swarm is let pass. */
  #isQuiet = false;
  readonly #hints: TerminalHints | null;
  /** Whatever is printed is hinted at, since before the last sweep. */
  #isHinted = false;
  /** They wait for the end of a sweep that has not begun yet. */
  #lookers: (() => void)[] = [];
  /** It sleeps longer than usual, because nothing moves. */
  #isAtRest = false;
  #cancelHint: Cancel | null = null;
  #hintedAtMs = Number.NEGATIVE_INFINITY;

  private constructor(options: ConnectionOptions, client: CommandClient, server: TmuxServer) {
    this.#options = options;
    this.#client = client;
    this.#server = server;
    const rowsMax = rowsMaxOf(options.address.executor.kind);
    const printing = { escapesDollars: escapesDollars(server.version), rowsMax };
    this.#questions = createQuestions(options.random.hex(4), printing);
    const { terminals } = options;
    const onPrinted = (): void => this.#onHint(false);
    const onGone = (): void => this.#onHint(true);
    this.#hints = terminals === null ? null : new TerminalHints({ watch: terminals, onPrinted, onGone });
  }

  static async open(options: ConnectionOptions): Promise<ControlConnection> {
    let connection: ControlConnection | null = null;
    const client = await openClient(options, () => connection?.nudge());
    const [block] = await client.request([serverCommand]);
    const server = block === undefined || block.isError ? null : parseServer(block.body);
    if (server === null) {
      client.close();
      throw new AgtmuxError('E_TARGET_DOWN', 'tmux did not identify itself');
    }
    connection = new ControlConnection(options, client, server);
    return connection;
  }

  get server(): TmuxServer {
    return this.#server;
  }

  /** Sweeps until the client is over. Throws what ended it. */
  async run(): Promise<void> {
    await this.#hangBell();
    while (!this.#isClosed) {
      const startMs = this.#options.clock.monotonicMs();
      await this.#sweep();
      await this.#pause(startMs);
    }
  }

  /** Look now, and at everything. Many nudges in a short time are one. */
  nudge(): void {
    this.#isFullWanted = true;
    this.lookSoon();
  }

  /** Look now at what is wanted; the panes themselves are known. */
  lookSoon(): void {
    this.#isNudged = true;
    if (!this.#isQuiet) this.#wake?.();
  }

  /** Something was learned elsewhere that a look at the screens may have to follow. */
  stir(): void {
    if (this.#isAtRest) this.#wake?.();
  }

  /**
   * Resolves when everything printed up to now was looked at: at once where the system would have told, and the end of the
   * next sweep otherwise.
   */
  looked(): Promise<void> {
    if (this.#isClosed || (this.#isHinted && !this.#isNudged && this.#cancelHint === null)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#lookers.push(resolve);
      this.lookSoon();
    });
  }

  #onHint(isGone: boolean): void {
    this.#isFullWanted ||= isGone;
    if (this.#isClosed || this.#cancelHint !== null) return;
    const { clock } = this.#options;
    this.#cancelHint = clock.after(limits.terminalHintMs, () => {
      this.#cancelHint = null;
      this.#hintedAtMs = clock.monotonicMs();
      this.lookSoon();
    });
  }

  request(commands: readonly string[], deadlineMs: number = limits.tmuxRequestMs): Promise<ReplyBlocks> {
    return this.#client.request(commands, { deadlineMs });
  }

  /** Takes the hooks away, then the clients. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelBellRetry();
    this.#quiet();
    const bell = this.#bell;
    this.#bell = null;
    await bell?.close();
    this.#client.close();
    this.#wake?.();
  }

  /** At once: a tmux that hangs is not asked for anything. The next bell finds the hooks of this one and removes them. */
  abandon(): void {
    this.#isClosed = true;
    this.#cancelBellRetry();
    this.#quiet();
    this.#bell?.abandon();
    this.#bell = null;
    this.#client.close();
    this.#wake?.();
  }

  #quiet(): void {
    for (const resolve of this.#lookers.splice(0)) resolve();
    this.#cancelHint?.();
    this.#hints?.close();
  }

  async #sweep(): Promise<void> {
    const { state, clock } = this.#options;
    // What was hinted at is being looked at: until that has ended nobody may say that it was.
    this.#isHinted = false;
    const lookers = this.#lookers;
    this.#lookers = [];
    try {
      await this.#look(state, clock);
    } finally {
      for (const resolve of lookers) resolve();
    }
  }

  async #look(state: SweepState, clock: Clock): Promise<void> {
    const isFull = this.#isFullWanted || clock.monotonicMs() - this.#fullAtMs >= this.#fullPeriodMs();
    if (isFull) await this.#lookFull();
    else {
      const gate = await this.#askOne(this.#questions.gateCommand);
      if (!state.takeGate(gate.body, this.#questions.parseGate)) await this.#lookFull();
    }
    const due = state.capturesDue();
    this.#busyPanes = due.length;
    const screens = await this.#capture(due);
    for (const { pane } of screens) this.#hints?.sawChange(pane);
    // While something moves the sweep is quick anyway.
    this.#isHinted = due.length === 0 && this.#hints?.follow(state.wantedTtys) === true;
    this.#options.onSwept(this.#server, screens);
    this.#options.health.answer();
  }

  async #lookFull(): Promise<void> {
    this.#isFullWanted = false;
    this.#fullAtMs = this.#options.clock.monotonicMs();
    const { fullCommand, parseFull } = this.#questions;
    this.#isFresh = this.#options.state.takeFull(parseFull((await this.#askOne(fullCommand)).body));
  }

  /** Without the bell nothing rings for renames and moves, so everything is asked more often. */
  #fullPeriodMs(): number {
    if (this.#bell === null || this.#isFresh) return limits.sweepSpawnMs;
    const isActive = this.#options.state.isActive(this.#serverTime, limits.fullSweepActiveMs / 1_000);
    return isActive ? limits.fullSweepActiveMs : limits.fullSweepIdleMs;
  }

  async #capture(due: readonly PaneId[]): Promise<PaneScreen[]> {
    const askedAt = this.#serverTime;
    const screens: PaneScreen[] = [];
    for (let start = 0; start < due.length; start += capturesPerRequestMax) {
      const panes = due.slice(start, start + capturesPerRequestMax);
      const blocks = await this.#ask(panes.map((pane) => `capture-pane -p -t ${pane}`));
      const capturedAt = this.#options.now();
      for (const [index, pane] of panes.entries()) {
        const block = blocks[index];
        // An error: the pane went between the list and here; the next list tells.
        if (block === undefined || block.isError) continue;
        const screen = this.#options.state.takeCapture(pane, block.body, capturedAt, askedAt);
        if (screen !== null) screens.push(screen);
      }
    }
    return screens;
  }

  async #askOne(command: string): Promise<ReplyBlock> {
    const [block] = await this.#ask([command]);
    if (block === undefined || block.isError) throw new AgtmuxError('E_TARGET_DOWN', 'tmux does not list its panes');
    return block;
  }

  async #ask(commands: readonly string[]): Promise<ReplyBlocks> {
    const deadlineMs = limits.sweepAnswerMs * limits.sweepMissesMax;
    const blocks = await this.#options.health.watch(this.#client.request(commands, { deadlineMs }));
    if (blocks.length !== commands.length) throw new AgtmuxError('E_TARGET_DOWN', 'tmux left a command unanswered');
    this.#serverTime = blocks.at(-1)?.time ?? this.#serverTime;
    return blocks;
  }

  /** The next sweep begins a period after the last began, or sooner when something rings; never two at a time. */
  async #pause(startMs: number): Promise<void> {
    const { clock, sweepMs, state } = this.#options;
    const crowdMs = Math.min(state.paneCount * limits.sweepPerPaneMs, limits.sweepMsMax);
    // Where no screen is wanted the bell tells nearly everything; the sweep only looks for what rings none.
    const isFar = this.#options.address.executor.kind === 'ssh';
    const unseenMs = Math.max(sweepMs * limits.sweepCalmFactor, isFar ? limits.sweepFarCalmMs : 0);
    this.#isAtRest = this.#isHinted && this.#bell !== null && this.#options.isSettled();
    const hintedMs = Math.max(sweepMs, limits.sweepHintedMs);
    const lookMs = this.#isAtRest ? hintedMs : this.#lookMs(sweepMs);
    const calmMs = state.wantsScreens ? lookMs : unseenMs;
    const nextMs = startMs + Math.max(calmMs, crowdMs);
    // What rings comes in swarms, and each time everything is asked for.
    const soonestMs = startMs + Math.max(limits.ringQuietMs, crowdMs / 8);
    if (!this.#isNudged) await this.#sleep(nextMs - clock.monotonicMs());
    this.#isAtRest = false;
    this.#isQuiet = this.#isNudged;
    if (this.#isQuiet) await this.#sleep(soonestMs - clock.monotonicMs());
    this.#isQuiet = false;
    this.#isNudged = false;
  }

  /** Where something moves it is worth looking sooner, as long as only a few do: what moves now will soon stand. */
  #lookMs(sweepMs: number): number {
    const isHinted = this.#options.clock.monotonicMs() - this.#hintedAtMs < limits.terminalHintedMs;
    if (this.#busyPanes === 0) return isHinted ? Math.min(sweepMs, limits.sweepBusyMs) : sweepMs;
    return Math.min(sweepMs, Math.max(limits.sweepBusyMs, this.#busyPanes * limits.sweepPerBusyPaneMs));
  }

  /** Until the time is over or somebody wakes it. At least a turn of the event loop, so that others get theirs. */
  #sleep(delayMs: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#wake = null;
        cancel();
        resolve();
      };
      const cancel = this.#options.clock.after(Math.max(delayMs, 0), done);
      this.#wake = done;
    });
  }

  /** A bell that fails costs promptness, not truth; it is hung again while the connection lives. */
  async #hangBell(): Promise<void> {
    let waiter: CommandClient | null = null;
    try {
      waiter = await openClient(this.#options, () => this.#loseBell());
      const bell = await hangBell({ command: this.#client, waiter }, this.#options.random, () => this.nudge());
      if (this.#isClosed) bell.abandon();
      else if (waiter.isEnded) await bell.close();
      else this.#bell = bell;
    } catch {
      waiter?.close();
      this.#loseBell();
    }
  }

  #loseBell(): void {
    if (this.#isClosed || this.#client.isEnded) return;
    const bell = this.#bell;
    this.#bell = null;
    this.#cancelBellRetry();
    this.#cancelBellRetry = this.#options.clock.after(limits.reconnectMsMax / 2, () => {
      void this.#hangBell();
    });
    void bell?.close();
  }
}

/** A client that gets no output and has no size: it neither slows a pane nor resizes anything. */
async function openClient(options: ConnectionOptions, onEnd: () => void): Promise<CommandClient> {
  const { address, clock, random, session, dieWithParent, ledger } = options;
  let pid: number | null = null;
  const client = await openCommandClient({
    executor: address.executor,
    clock,
    nonce: random.hex(8),
    argv: controlArgv(address, { session, flags: quietFlags, dieWithParent }),
    turns: turnsOf(address),
    onEnd: () => {
      if (pid !== null) void ledger?.remove(pid);
      onEnd();
    },
  });
  pid = client.pid;
  if (pid !== null && !client.isEnded) void ledger?.add(pid);
  return client;
}
