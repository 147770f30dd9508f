// Shells on the feed: each as an item `shell:<id>`, and what happened to them as changes of their own that no other change
// replaces. The last of these are kept, for clients that come back too late to be told by the feed itself.

import { isSame } from '../engine/canonical.ts';
import { limits } from '../model/limits.ts';
import type { ShellEvent, ShellId, ShellRow } from '../model/shells.ts';

export interface ShellFeedTarget {
  version(): number;
  publish(changes: readonly { readonly key: string; readonly value: ShellRow | ShellEvent | null }[]): number;
}

export class ShellFeed {
  readonly #feed: ShellFeedTarget;
  readonly #rows = new Map<ShellId, ShellRow>();
  #events: readonly ShellEvent[] = [];

  constructor(feed: ShellFeedTarget) {
    this.#feed = feed;
  }

  put(id: ShellId, row: ShellRow | null): void {
    if (isSame(this.#rows.get(id) ?? null, row)) return;
    if (row === null) this.#rows.delete(id);
    else this.#rows.set(id, row);
    this.#feed.publish([{ key: `shell:${id}`, value: row }]);
  }

  /** An event has the number of its version: those never repeat, not even across a restart (FED2). */
  tell(happened: readonly Omit<ShellEvent, 'seq'>[]): void {
    const first = this.#feed.version() + 1;
    const events = happened.map((event, place) => ({ ...event, seq: first + place }));
    // Kept first: whoever is told by a snapshot meanwhile asks for them.
    this.#events = [...this.#events, ...events].slice(-limits.shellEventsKept);
    this.#feed.publish(events.map((event) => ({ key: `shell-event:${event.seq}`, value: event })));
  }

  after(version: number): readonly ShellEvent[] {
    return this.#events.filter(({ seq }) => seq > version);
  }

  /** Exactly what was published. */
  snapshot(): readonly { readonly key: string; readonly value: ShellRow }[] {
    return [...this.#rows].map(([id, value]) => ({ key: `shell:${id}`, value }));
  }
}
