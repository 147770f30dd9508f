// Where each agent was last seen: kept in the store, so that a target that is silent or closed after a restart takes no
// agent's place away. Written in batches: a window may be renamed many times a second.

import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { PlaceRecord } from '../model/records.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Store } from '../store/store.ts';
import type { TmuxPane } from '../terminals/tmux/view.ts';

export type Place = Pick<
  TmuxPane,
  | 'sessionId'
  | 'sessionName'
  | 'otherSessions'
  | 'windowId'
  | 'windowName'
  | 'windowIndex'
  | 'paneIndex'
  | 'title'
  | 'cwd'
  | 'currentCommand'
>;

export interface LastPlacesParts {
  readonly clock: Clock;
  readonly store: Pick<Store, 'places' | 'putPlaces'>;
  readonly log: Pick<Log, 'warn'>;
}

interface Known {
  readonly place: Place;
  readonly closedAt: number | null;
}

export class LastPlaces {
  readonly #parts: LastPlacesParts;
  readonly #known = new Map<RuntimeId, Known>();
  readonly #unsaved = new Set<RuntimeId>();
  #timer: Cancel | null = null;
  #savedAtMs = Number.NEGATIVE_INFINITY;
  #isTroubled = false;

  constructor(parts: LastPlacesParts) {
    this.#parts = parts;
  }

  /** To be called before anything is seen. */
  async load(): Promise<void> {
    for (const record of await this.#parts.store.places()) {
      this.#known.set(record.runtime_id, { place: placeOf(record), closedAt: record.closed_at });
    }
  }

  of(runtime: RuntimeId): Place | undefined {
    return this.#known.get(runtime)?.place;
  }

  /** It is there now. */
  see(runtime: RuntimeId, pane: Place): void {
    const before = this.#known.get(runtime);
    if (before?.place === pane && before.closedAt === null) return;
    this.#known.set(runtime, { place: pane, closedAt: null });
    if (before === undefined || before.closedAt !== null || !isSamePlace(before.place, pane)) this.#note(runtime);
  }

  /** It runs on without its pane; tells since when that is known. */
  lose(runtime: RuntimeId, now: number): number {
    const before = this.#known.get(runtime);
    if (before === undefined) return now;
    if (before.closedAt !== null) return before.closedAt;
    this.#known.set(runtime, { ...before, closedAt: now });
    this.#note(runtime);
    return now;
  }

  /** Forgets all others: the store drops a place with its runtime. */
  keepOnly(runtimes: { readonly size: number; has(runtime: RuntimeId): boolean }): void {
    if (this.#known.size <= runtimes.size) return;
    for (const runtime of this.#known.keys()) if (!runtimes.has(runtime)) this.#known.delete(runtime);
  }

  /** Writes what is new. A disk that takes nothing is tried again later. */
  async save(): Promise<void> {
    this.#timer?.();
    this.#timer = null;
    this.#savedAtMs = this.#parts.clock.monotonicMs();
    const runtimes = [...this.#unsaved];
    this.#unsaved.clear();
    const records = runtimes.flatMap((runtime) => {
      const known = this.#known.get(runtime);
      return known === undefined ? [] : [recordOf(runtime, known)];
    });
    if (records.length === 0) return;
    try {
      await this.#parts.store.putPlaces(records);
      this.#isTroubled = false;
    } catch (problem) {
      if (!this.#isTroubled) this.#parts.log.warn('the places of agents cannot be stored', { why: String(problem) });
      this.#isTroubled = true;
      for (const runtime of runtimes) this.#note(runtime);
    }
  }

  stop(): void {
    this.#timer?.();
    this.#timer = null;
  }

  #note(runtime: RuntimeId): void {
    this.#unsaved.add(runtime);
    const sinceMs = this.#parts.clock.monotonicMs() - this.#savedAtMs;
    const waitMs = Math.max(limits.placesSoonMs, limits.placesSaveMs - sinceMs);
    this.#timer ??= this.#parts.clock.after(waitMs, () => void this.save());
  }
}

/** Title and program turn ten times a second; they are kept as they were when something else changed. */
function isSamePlace(one: Place, other: Place): boolean {
  return (
    one.sessionId === other.sessionId &&
    one.sessionName === other.sessionName &&
    one.windowId === other.windowId &&
    one.windowIndex === other.windowIndex &&
    one.windowName === other.windowName &&
    one.paneIndex === other.paneIndex &&
    one.cwd === other.cwd &&
    (one.otherSessions ?? []).join('\n') === (other.otherSessions ?? []).join('\n')
  );
}

function placeOf(record: PlaceRecord): Place {
  return {
    sessionId: record.session_id,
    sessionName: record.session_name,
    ...(record.other_sessions.length === 0 ? {} : { otherSessions: record.other_sessions }),
    windowId: record.window_id,
    windowIndex: record.window_index,
    windowName: record.window_name,
    paneIndex: record.pane_index,
    title: record.title,
    cwd: record.cwd,
    currentCommand: record.current_command,
  };
}

const recordOf = (runtime_id: RuntimeId, { place, closedAt }: Known): PlaceRecord => ({
  runtime_id,
  session_id: place.sessionId,
  session_name: place.sessionName,
  other_sessions: place.otherSessions ?? [],
  window_id: place.windowId,
  window_index: place.windowIndex,
  window_name: place.windowName,
  pane_index: place.paneIndex,
  title: place.title,
  cwd: place.cwd,
  current_command: place.currentCommand,
  closed_at: closedAt,
});
