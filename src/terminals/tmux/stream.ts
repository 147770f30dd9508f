// Watching one pane live: a control client that gets the output of the pane's session, told to pause instead of falling
// behind, with the other panes of the session muted. Only while somebody looks, and only beside a command client that
// takes no output: a pane whose every client is stuck would freeze.

import { AgtmuxError } from '../../model/errors.ts';
import type { PaneId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { PaintedScreen } from '../../model/web.ts';
import type { Cancel, Clock } from '../../platform/clock.ts';
import { controlArgv, type TmuxAddress } from './address.ts';
import { turnsOf } from './client-turns.ts';
import { type CommandClient, openCommandClient, type ReplyBlock } from './command-client.ts';
import { createPaneTerminal, type PaneTerminal, type TerminalSeed, type TerminalView } from './pane-terminal.ts';

export interface PaneWatch {
  readonly pane: PaneId;
  view(): TerminalView;
  /** The same with its colours, drawn anew. */
  paint(): PaintedScreen;
  /** Whether the program wants pastes marked (DECSET 2004); null when neither tmux nor the stream has said. */
  asksForPasteMarks(): boolean | null;
  close(): void;
}

export interface StreamOptions {
  readonly address: TmuxAddress;
  readonly clock: Clock;
  readonly nonce: string;
  readonly dieWithParent: boolean;
  /** The session that the pane's window is in, `$1`. */
  readonly session: string;
  readonly pane: PaneId;
  /** The screen changed; told at most once in `streamUpdateMs`. */
  readonly onUpdate: (view: TerminalView) => void;
  /** It ended by itself; safe to show. */
  readonly onEnd: (reason: string) => void;
  readonly onOpen?: (pid: number) => void;
}

const seedFormat = [
  '#{pane_width} #{pane_height} #{cursor_x} #{cursor_y}',
  '#{alternate_on} #{alternate_saved_x} #{alternate_saved_y} #{cursor_flag}',
  // Empty before tmux 3.7.
  '#{bracket_paste_flag}',
].join(' ');
const seedHead = /^\d+ \d+ \d+ \d+ [01] \d+ \d+ [01] ?[01]?$/;

export async function openStream(options: StreamOptions): Promise<PaneWatch> {
  const watch = new Stream(options);
  await watch.open();
  return watch;
}

class Stream implements PaneWatch {
  readonly #options: StreamOptions;
  readonly #terminal: PaneTerminal = createPaneTerminal();
  readonly #paneNumber: number;
  #client: CommandClient | null = null;
  /** Until the first seed, what the pane prints is already in the capture that comes. */
  #isSeeded = false;
  #isClosed = false;
  #cancelUpdate: Cancel | null = null;
  /** It prints more than is followed; what comes until the next look is not drawn. */
  #isFlooded = false;
  #counted = 0;
  #countedAtMs = 0;
  readonly #muted = new Set<number>();

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#paneNumber = Number(options.pane.slice(1));
  }

  get pane(): PaneId {
    return this.#options.pane;
  }

  async open(): Promise<void> {
    const { address, clock, nonce, session, dieWithParent } = this.#options;
    const flags = `ignore-size,pause-after=${limits.streamPauseSeconds}`;
    const client = await openCommandClient({
      executor: address.executor,
      clock,
      nonce,
      argv: controlArgv(address, { session, flags, dieWithParent }),
      turns: turnsOf(address),
      onOutput: (pane, bytes) => this.#takeOutput(pane, bytes),
      onNotification: (name, rest) => this.#takeNotification(name, rest),
      onEnd: (reason) => this.#end(reason),
    });
    this.#client = client;
    if (client.pid !== null) this.#options.onOpen?.(client.pid);
    await this.#seed(false);
    if (!this.#isSeeded) {
      this.close();
      throw new AgtmuxError('E_REF_NOT_FOUND', `pane ${this.pane} no longer exists`);
    }
    // What was written is drawn in the background; whoever looks first must not see half of it.
    await new Promise<void>((resolve) => this.#terminal.write(new Uint8Array(0), resolve));
  }

  view(): TerminalView {
    return this.#terminal.view();
  }

  paint(): PaintedScreen {
    return this.#terminal.paint();
  }

  asksForPasteMarks(): boolean | null {
    return this.#terminal.asksForPasteMarks();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelUpdate?.();
    this.#client?.close();
    this.#terminal.dispose();
  }

  #end(reason: string): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.onEnd(reason);
  }

  /**
   * Reads the pane anew. Replies and output share one ordered queue of this client, so the capture stands at an exact
   * place in the stream: what comes after its block was printed after it. All on one line, so that nothing is printed
   * between size, cursor and text.
   */
  async #seed(isPaused: boolean): Promise<void> {
    // What it printed meanwhile is in the capture, but not what it asked the terminal for.
    if (isPaused) this.#terminal.forgetModes();
    const resume = isPaused ? `refresh-client -A "${this.pane}:continue" ; ` : '';
    const capture = `capture-pane -e -p -N -t ${this.pane}`;
    // -a asks for what a full-screen program hides, -q for nothing when there is none.
    const question = `display-message -p -t ${this.pane} "${seedFormat}" ; ${capture} -a -q ; ${capture}`;
    let head: readonly number[] | null = null;
    let hidden: Uint8Array | null = null;
    const onBlock = (block: ReplyBlock): void => {
      if (this.#isClosed || block.isError) return;
      if (head === null) head = headOf(block.body);
      else if (hidden === null) hidden = block.body;
      else {
        this.#terminal.seed(seedOf(head, hidden, block.body));
        this.#isSeeded = true;
        this.#isFlooded = false;
        this.#changed();
      }
    };
    await this.#client?.request([resume + question], { onBlock });
  }

  #takeOutput(pane: number, bytes: Uint8Array): void {
    if (this.#isClosed) return;
    if (pane !== this.#paneNumber) this.#mute(pane);
    else if (this.#isSeeded && !this.#isFlooded) {
      this.#terminal.write(bytes, () => this.#changed());
      this.#count(bytes.length);
    }
  }

  /** More than anyone reads: tmux is told to keep it, and the pane is looked at again a moment later. */
  #count(bytes: number): void {
    const now = this.#options.clock.monotonicMs();
    if (now - this.#countedAtMs > limits.streamFloodMs) {
      this.#countedAtMs = now;
      this.#counted = 0;
    }
    this.#counted += bytes;
    if (this.#counted < limits.streamFloodBytes || this.#client === null) return;
    this.#isFlooded = true;
    const later = (): void => void this.#options.clock.after(limits.streamRestMs, () => this.#reseedAgain());
    this.#client.request([`refresh-client -A "${this.pane}:pause"`]).then(later, later);
  }

  /** Paused, never switched off: since tmux 3.4 a pane that all its clients switched off is not read any more. */
  #mute(pane: number): void {
    if (this.#muted.has(pane) || this.#client === null) return;
    this.#muted.add(pane);
    this.#client.request([`refresh-client -A "%${pane}:pause"`]).catch(() => undefined);
  }

  #takeNotification(name: string, rest: Uint8Array): void {
    if (this.#isClosed || this.#client === null) return;
    const isPaused = name === 'pause' && Buffer.from(rest).toString() === this.pane;
    // That of our own asking has its look already.
    if (isPaused && !this.#isFlooded) this.#reseed(true);
    // Another size means other rows; only tmux knows how it wrapped them.
    else if (name === 'layout-change' && this.#isSeeded) this.#reseed(false);
  }

  #reseed(isPaused: boolean): void {
    this.#seed(isPaused).catch(() => {
      // A client that is over tells so by its end; one that was too busy to answer would stay paused for ever.
      if (!this.#isClosed) this.#options.clock.after(limits.reconnectMsMin, () => this.#reseedAgain());
    });
  }

  #reseedAgain(): void {
    if (!this.#isClosed) this.#reseed(true);
  }

  #changed(): void {
    if (this.#isClosed || this.#cancelUpdate !== null) return;
    this.#cancelUpdate = this.#options.clock.after(limits.streamUpdateMs, () => {
      this.#cancelUpdate = null;
      // What was written is drawn in the background; an empty write comes after all of it.
      this.#terminal.write(new Uint8Array(0), () => {
        if (!this.#isClosed) this.#options.onUpdate(this.view());
      });
    });
  }
}

/** Null for the empty reply of `refresh-client`. */
function headOf(body: Uint8Array): readonly number[] | null {
  const text = Buffer.from(body).toString('latin1');
  return seedHead.test(text) ? text.trimEnd().split(' ').map(Number) : null;
}

function seedOf(head: readonly number[], hidden: Uint8Array, screen: Uint8Array): TerminalSeed {
  const [
    width = 0,
    height = 0,
    cursorColumn = 0,
    cursorRow = 0,
    isAlternate = 0,
    column = 0,
    row = 0,
    flag = 1,
    marks,
  ] = head;
  const behind = isAlternate === 1 ? { screen: hidden, cursorColumn: column, cursorRow: row } : null;
  const asksForPasteMarks = marks === undefined ? null : marks === 1;
  return { width, height, cursorColumn, cursorRow, isCursorShown: flag === 1, asksForPasteMarks, behind, screen };
}
