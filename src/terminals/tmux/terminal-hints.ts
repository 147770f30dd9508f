// Hints of the system that something was printed into a pane, so that a server on which nothing moves is swept seldom and a
// screen that moves is looked at once. A hint only says when to look; where hints do not come the sweep keeps its pace.

import type { PaneId } from '../../model/ids.ts';
import type { TerminalHint, TerminalWatch } from '../../platform/terminal-watch.ts';

export interface TerminalHintsParts {
  readonly watch: TerminalWatch;
  /** Something was printed into one of the panes. */
  readonly onPrinted: () => void;
  /** The terminal of a pane is gone: the pane ended, or was respawned. */
  readonly onGone: () => void;
}

/** Changes in a row that no hint announced; a window that is resized draws its panes anew without a word of theirs. */
const unannouncedMax = 3;

interface Watched {
  readonly tty: string;
  /** Null since its hint came, and where the system gives none. */
  hint: TerminalHint | null;
}

export class TerminalHints {
  readonly #parts: TerminalHintsParts;
  readonly #watched = new Map<PaneId, Watched>();
  #unannounced = 0;

  constructor(parts: TerminalHintsParts) {
    this.#parts = parts;
  }

  /** True when the hints of all of these panes were waited for already when the last sweep began. */
  follow(ttys: ReadonlyMap<PaneId, string>): boolean {
    for (const [pane, { tty }] of this.#watched) if (ttys.get(pane) !== tty) this.#drop(pane);
    if (this.#unannounced >= unannouncedMax) return false;
    let isCovered = ttys.size > 0;
    for (const [pane, tty] of ttys) {
      if (this.#isWaiting(pane)) continue;
      isCovered = false;
      this.#watched.set(pane, { tty, hint: this.#hintOf(pane, tty) });
    }
    return isCovered;
  }

  /** The screen of a pane was seen to have changed. */
  sawChange(pane: PaneId): void {
    if (!this.#isWaiting(pane)) return;
    this.#unannounced += 1;
    if (this.#unannounced >= unannouncedMax) this.close();
  }

  close(): void {
    for (const pane of [...this.#watched.keys()]) this.#drop(pane);
  }

  #isWaiting(pane: PaneId): boolean {
    return (this.#watched.get(pane)?.hint ?? null) !== null;
  }

  /** One hint is enough: while a pane goes on printing, nobody needs to be told of every piece. */
  #hintOf(pane: PaneId, tty: string): TerminalHint | null {
    return this.#parts.watch(tty, (isGone) => {
      const watched = this.#watched.get(pane);
      if (watched?.tty === tty) watched.hint = null;
      this.#unannounced = 0;
      if (isGone) this.#parts.onGone();
      else this.#parts.onPrinted();
    });
  }

  #drop(pane: PaneId): void {
    this.#watched.get(pane)?.hint?.close();
    this.#watched.delete(pane);
  }
}
