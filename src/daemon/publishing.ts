// Tells every screen what changed: rows that differ from what was told before go on the feed together, and into tmux's own
// status line.

import type { Cancel, Clock } from '../platform/clock.ts';
import type { Machines } from './machines.ts';
import type { RowBook, RowChange } from './rows.ts';
import { optionsOf } from './tmux-status.ts';

export interface PublishingParts {
  readonly clock: Clock;
  readonly book: RowBook;
  readonly feed: { publish(changes: readonly RowChange[]): number };
  /** Remembers what was told. */
  readonly diary: { note(changes: readonly RowChange[]): void };
  readonly machines: () => Pick<Machines, 'watches'>;
  /** Who else looks at what is shown, once it is. */
  readonly onRows: () => void;
}

/** Changes within this time are told together: a spinner in a title rings ten times a second. */
const publishMs = 20;

export class Publishing {
  readonly #parts: PublishingParts;
  #timer: Cancel | null = null;
  #isStopped = false;

  constructor(parts: PublishingParts) {
    this.#parts = parts;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  soon(): void {
    if (this.#timer !== null || this.#isStopped) return;
    this.#timer = this.#parts.clock.after(publishMs, () => {
      this.#timer = null;
      const changes = this.#parts.book.changes();
      this.#parts.feed.publish(changes);
      this.#parts.diary.note(changes);
      if (changes.length > 0) this.#showInTmux();
      this.#parts.onRows();
    });
  }

  #showInTmux(): void {
    const rows = this.#parts.book.shown();
    for (const watch of this.#parts.machines().watches()) watch.show(optionsOf(rows, watch.target));
  }
}
