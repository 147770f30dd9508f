// One page that looks at one pane, over a WebSocket. It is sent pictures, not output: what changed since the last one it has
// drawn, and no more than it has room for. Whoever is slow misses pictures in between and holds up nobody.

import type { RawData, WebSocket } from 'ws';
import { type PageSays, type PaneSays, pageSaysSchema } from '../../api/web.ts';
import { type Failure, failure } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { LivePane, LiveService, PaintedScreen } from '../../model/web.ts';
import type { Clock } from '../../platform/clock.ts';
import { safeJson } from '../replies.ts';
import { claimOf, type Ticket } from './web-sessions.ts';

export interface PaneSocketParts {
  readonly clock: Clock;
  readonly live: LiveService;
  readonly ticket: Ticket;
}

export class PaneSocket {
  readonly #socket: WebSocket;
  readonly #parts: PaneSocketParts;
  #pane: LivePane | null = null;
  #isOver = false;
  #sent: PaintedScreen | null = null;
  #seq = 0;
  #acked = 0;
  #isStale = false;
  #isTyping = false;
  #keysWaiting = 0;
  #keys: Promise<void> = Promise.resolve();
  #isHeard = true;
  #cancelPing: () => void = () => undefined;

  constructor(socket: WebSocket, parts: PaneSocketParts) {
    this.#socket = socket;
    this.#parts = parts;
  }

  /** Resolves when the pane is there, or when it is known why not. */
  start(): Promise<void> {
    const socket = this.#socket;
    socket.on('close', () => this.#leave());
    socket.on('error', () => socket.terminate());
    socket.on('pong', () => {
      this.#isHeard = true;
    });
    socket.on('ping', () => void this.#isCutOff());
    socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    this.#ping();
    // A page that is told nothing would wait for ever.
    const opening = this.#open().catch((defect: unknown) => {
      this.end(failure('E_INTERNAL', 'the daemon could not show the pane', 'see its log: `agtmux logs`'));
      throw defect;
    });
    // What is typed before the pane is there waits for it.
    this.#keys = opening.catch(() => undefined);
    return opening;
  }

  async #open(): Promise<void> {
    const { live, ticket } = this.#parts;
    const opened = await live.open(ticket.ref, claimOf(ticket.session), {
      onChange: () => this.#changed(),
      onEnd: (why) => this.end(why),
    });
    if (!opened.ok) this.end(opened.failure);
    else if (this.#isOver) opened.value.close();
    else {
      this.#pane = opened.value;
      this.#changed();
    }
  }

  end({ code, message, next }: Failure): void {
    if (this.#isOver) return;
    this.#say({ type: 'end', code, message, next });
    this.#leave();
    this.#socket.close(1000);
  }

  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelPing();
    this.#pane?.close();
  }

  #say(said: PaneSays): void {
    if (!this.#isOver && !this.#isCutOff()) this.#socket.send(safeJson(said));
  }

  /** A page that talks and never reads would have us keep every answer, pongs too. */
  #isCutOff(): boolean {
    if (this.#socket.bufferedAmount <= limits.webPaneBacklogBytesMax) return false;
    this.#leave();
    this.#socket.terminate();
    return true;
  }

  #changed(): void {
    this.#isStale = true;
    this.#draw();
  }

  /** Only while the page keeps up; what comes meanwhile is in the next picture. */
  #draw(): void {
    if (this.#isOver || this.#pane === null || !this.#isStale) return;
    if (this.#seq - this.#acked >= limits.webScreensAhead) return;
    // It says that it has drawn what it has not even read.
    if (this.#socket.bufferedAmount > limits.webPictureBacklogBytesMax) return;
    this.#isStale = false;
    const screen = this.#pane.screen();
    const full = this.#sent === null || this.#sent.width !== screen.width || this.#sent.height !== screen.height;
    const data = drawn(screen, full ? null : this.#sent);
    this.#sent = screen;
    if (data === null) return;
    this.#seq += 1;
    this.#say({ type: 'screen', seq: this.#seq, full, width: screen.width, height: screen.height, data });
  }

  #take(data: RawData, isBinary: boolean): void {
    this.#isHeard = true;
    const said = isBinary ? null : saidOf(data);
    if (said === null) {
      this.end(failure('E_INPUT', 'the page sent an unknown message', 'reload the page'));
      return;
    }
    switch (said.type) {
      case 'ack':
        this.#acked = Math.min(Math.max(this.#acked, said.seq), this.#seq);
        this.#draw();
        return;
      case 'typing':
        this.#inOrder(() => this.#setTyping(said.on));
        return;
      case 'keys':
        this.#inOrder(() => this.#type((pane) => pane.type(said.data)));
        return;
      case 'paste':
        this.#inOrder(() => this.#type((pane) => this.#paste(pane, said)));
        return;
    }
  }

  /** One after the other, as they were pressed. */
  #inOrder(work: () => Promise<void>): void {
    if (this.#keysWaiting >= limits.webKeysWaitingMax) {
      this.end(failure('E_QUEUE_FULL', 'more was typed than the pane can take', 'send long texts as a message'));
      return;
    }
    this.#keysWaiting += 1;
    this.#keys = this.#keys
      .then(() => (this.#isOver ? undefined : work()))
      .catch(() => this.end(failure('E_INTERNAL', 'the daemon could not type it', 'see its log: `agtmux logs`')))
      .finally(() => {
        this.#keysWaiting -= 1;
      });
  }

  async #setTyping(on: boolean): Promise<void> {
    const { ticket } = this.#parts;
    const refused = ticket.session.read_only ? failure('E_ROLE', 'this page is read-only') : null;
    const problem = refused ?? (await this.#pane?.setTyping(on)) ?? null;
    this.#isTyping = on && problem === null && this.#pane !== null;
    this.#say({ type: 'typing', on: this.#isTyping, failure: problem });
  }

  async #paste(
    pane: LivePane,
    { id, data, sure }: Pick<Extract<PageSays, { type: 'paste' }>, 'id' | 'data' | 'sure'>,
  ): Promise<Failure | null> {
    const pasted = await pane.paste(data, sure);
    if (pasted.ok) this.#say({ type: 'paste', id, doubt: pasted.value });
    return pasted.ok ? null : pasted.failure;
  }

  async #type(effect: (pane: LivePane) => Promise<Failure | null>): Promise<void> {
    const off = failure('E_ROLE', 'typing is turned off', 'turn it on first');
    const problem = this.#isTyping && this.#pane !== null ? await effect(this.#pane) : off;
    if (problem === null) return;
    // What follows was typed for what is no longer there.
    if (this.#isTyping) await this.#pane?.setTyping(false);
    this.#isTyping = false;
    this.#say({ type: 'typing', on: false, failure: problem });
  }

  /** A page that is gone without a word, or never reads, must not be drawn for ever. */
  #ping(): void {
    this.#cancelPing = this.#parts.clock.after(limits.webSocketPingMs, () => {
      if (!this.#isHeard) {
        this.#socket.terminate();
        return;
      }
      this.#isHeard = false;
      this.#socket.ping();
      this.#ping();
    });
  }
}

function saidOf(data: RawData): PageSays | null {
  try {
    const read = pageSaysSchema.safeParse(JSON.parse(String(data)));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

/** What makes the one out of the other; null when nothing does. Every row begins anew: nothing flows from one into the next. */
function drawn(now: PaintedScreen, before: PaintedScreen | null): string | null {
  const rows = now.rows.flatMap((text, row) =>
    before !== null && before.rows[row] === text ? [] : [`\x1b[${row + 1};1H\x1b[0m\x1b[2K${text}`],
  );
  const isSameCursor =
    before !== null &&
    before.cursorColumn === now.cursorColumn &&
    before.cursorRow === now.cursorRow &&
    before.isCursorShown === now.isCursorShown;
  if (rows.length === 0 && isSameCursor) return null;
  const cursor = `\x1b[${now.cursorRow + 1};${now.cursorColumn + 1}H${now.isCursorShown ? '\x1b[?25h' : '\x1b[?25l'}`;
  // Without wrapping: a row that comes out wider there than here must not push the others down.
  return `${before === null ? '\x1b[?7l' : ''}${plainIfHuge(rows.join(''))}\x1b[0m${cursor}`;
}

/** A pane of a million cells, each in a colour of its own, is shown without them. */
const plainIfHuge = (text: string): string =>
  text.length <= limits.webScreenCharsMax ? text : text.replaceAll(/\x1b\[[\d;]*m/g, '');
