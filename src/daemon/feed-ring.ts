// The last changes of the feed, in a ring that never grows beyond its bound. Versions are consecutive, so a version is
// its place. Shared by all subscribers: nobody gets a copy of a backlog.

import { assert } from '../model/errors.ts';
import type { FeedChange } from './feed-messages.ts';

export class FeedRing<Value> {
  readonly #changesMax: number;
  readonly #firstVersion: number;
  readonly #slots: FeedChange<Value>[] = [];
  #newest: number;

  constructor(changesMax: number, firstVersion: number) {
    assert(Number.isSafeInteger(changesMax) && changesMax >= 1, 'a ring has room for a change');
    assert(Number.isSafeInteger(firstVersion) && firstVersion >= 0, 'versions are whole numbers from 0 up');
    this.#changesMax = changesMax;
    this.#firstVersion = firstVersion;
    this.#newest = firstVersion;
  }

  get newest(): number {
    return this.#newest;
  }

  get length(): number {
    return this.#slots.length;
  }

  /** The oldest version that can still be resumed from: every change after it is here. */
  get resumable(): number {
    return this.#newest - this.#slots.length;
  }

  push(key: string, value: Value | null): void {
    const version = this.#newest + 1;
    assert(Number.isSafeInteger(version), 'versions do not run out');
    this.#slots[this.#slotOf(version)] = { version, key, value };
    this.#newest = version;
  }

  /** Changes after `from` up to `to`, by version; of several changes of one key only the last. */
  between(from: number, to: number): FeedChange<Value>[] {
    assert(from >= this.resumable && to <= this.#newest, 'the ring still holds what is asked for');
    const seen = new Set<string>();
    const changes: FeedChange<Value>[] = [];
    for (let version = to; version > from; version -= 1) {
      const change = this.#slots[this.#slotOf(version)];
      assert(change !== undefined && change.version === version, 'a version stands in its own slot');
      if (seen.has(change.key)) continue;
      seen.add(change.key);
      changes.push(change);
    }
    return changes.reverse();
  }

  /** The first change ever pushed stands in slot 0, and the others follow it round. */
  #slotOf(version: number): number {
    return (version - this.#firstVersion - 1) % this.#changesMax;
  }
}
