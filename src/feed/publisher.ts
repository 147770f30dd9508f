// Tells every screen what changed: rows that differ from what was told before go on the feed together, and into tmux's own
// status line.

import type { TargetController } from '../observe/target-controller.ts';
import { optionsOf } from '../observe/tmux-status.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { RowChange, RowProjection, RowSources } from './row-projection.ts';

export interface PublishingParts {
  readonly clock: Clock;
  readonly book: RowProjection;
  readonly feed: { publish(changes: readonly RowChange[]): number };
  /** Remembers what was told. */
  readonly diary: { note(changes: readonly RowChange[]): void };
  readonly machines: () => Pick<TargetController, 'watches'>;
  /** Who else looks at what is shown, once it is. */
  readonly onRows: () => void;
}

type SeenOnMachines =
  | ('topology' | 'topologies' | 'hasNoServer' | 'hasLeftPane' | 'outsideOf')
  | ('healthOf' | 'targets' | 'seenAskOf' | 'taskOf');

/** What rows are made of, as far as the watches know it. */
export const seenOn = (machines: () => TargetController): Pick<RowSources, SeenOnMachines> => ({
  topology: (target) => machines().watch(target)?.topology ?? null,
  topologies: () =>
    [...machines().watches()].flatMap(({ target, topology }) => (topology === null ? [] : [[target, topology]])),
  hasNoServer: (target) => machines().hasNoServer(target),
  hasLeftPane: (target, runtime) => machines().watch(target)?.hasLeftPane(runtime) ?? false,
  outsideOf: (runtime) => machines().outsideOf(runtime),
  healthOf: (target) => machines().healthOf(target),
  targets: () => machines().rows(),
  taskOf: (identity) => machines().taskOf(identity),
  seenAskOf: (target, runtime) => machines().watch(target)?.screens.askOf(runtime) ?? null,
});

/** Changes within this time are told together: a spinner in a title rings ten times a second. */
const publishMs = 20;

export class Publisher {
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
