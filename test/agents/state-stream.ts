// The daemon's own account of one pane, as every screen gets it: each change of the agent in it, with the moment it came.

import type { ApiClient } from '../../src/api/client.ts';
import type { NoticeItem } from '../../src/api/notices.ts';
import type { PaneItem } from '../../src/api/panes.ts';

export interface Told {
  readonly time: number;
  readonly row: PaneItem;
}

interface Waiter {
  readonly fits: (row: PaneItem) => boolean;
  readonly tell: (told: Told) => void;
}

export class StateStream {
  readonly told: Told[] = [];
  /** What people were told of, by the id of the notice. */
  readonly notices = new Map<string, NoticeItem['event']>();
  readonly #pane: string | null;
  readonly #leaving = new AbortController();
  readonly #waiters = new Set<Waiter>();

  /** `pane` null: of the agent that is in no pane. */
  constructor(client: ApiClient, pane: string | null) {
    this.#pane = pane;
    this.#follow(client).catch((problem: unknown) => {
      if (!this.#leaving.signal.aborted) process.stderr.write(`the feed: ${problem}\n`);
    });
  }

  close(): void {
    this.#leaving.abort();
  }

  /** The run that began last. */
  current(): Told | null {
    return this.told.at(-1) ?? null;
  }

  /** What was told after a moment. */
  since(time: number): readonly Told[] {
    return this.told.filter((one) => one.time > time);
  }

  /** When the row first fits, at or after `from`; null when it does not for too long. What fits already fits at `from`. */
  fits(from: number, fits: (row: PaneItem) => boolean, deadlineMs: number): Promise<Told | null> {
    const before = this.told.findLast((one) => one.time <= from);
    if (before !== undefined && fits(before.row)) return Promise.resolve({ time: from, row: before.row });
    const after = this.told.find((one) => one.time > from && fits(one.row));
    if (after !== undefined) return Promise.resolve(after);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        fits,
        tell: (told) => {
          clearTimeout(timer);
          this.#waiters.delete(waiter);
          resolve(told);
        },
      };
      const timer = setTimeout(
        () => {
          this.#waiters.delete(waiter);
          resolve(null);
        },
        Math.max(0, deadlineMs),
      );
      this.#waiters.add(waiter);
    });
  }

  async #follow(client: ApiClient): Promise<void> {
    for await (const event of client.events({ scope: 'all', signal: this.#leaving.signal })) {
      if (event.type === 'snapshot') for (const { value } of event.data.items) this.#take(value);
      if (event.type === 'changes') for (const { value } of event.data.changes) this.#take(value);
    }
  }

  #take(value: unknown): void {
    const row = value as PaneItem | null;
    const notice = value as NoticeItem | null;
    if (notice !== null && 'notice_id' in notice) this.notices.set(notice.notice_id, notice.event);
    // Notices go by the same feed: they name an agent too, and have no pane of their own.
    if (row?.agent === undefined || row.agent === null || !('identity' in row)) return;
    if (row.identity.pane_id !== this.#pane) return;
    const last = this.told.at(-1)?.row;
    // An older run that is told of once more.
    if (last !== undefined && (last.started_at ?? 0) > (row.started_at ?? 0)) return;
    const told = { time: Date.now(), row };
    this.told.push(told);
    for (const waiter of [...this.#waiters]) if (waiter.fits(row)) waiter.tell(told);
  }
}
