// The panes that somebody watches live on one tmux server: opens their streams, counts them, and ends them with the
// connection beside which they are safe, or when their pane goes or moves to another session.

import { AgtmuxError } from '../../model/errors.ts';
import type { PaneId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RandomSource } from '../../platform/random.ts';
import type { TmuxAddress } from './address.ts';
import type { ClientRecords } from './client-records.ts';
import type { TerminalView } from './pane-terminal.ts';
import { openStream, type PaneWatch } from './stream.ts';
import type { Topology } from './view.ts';

export interface WatchHandlers {
  /** The screen changed. Foreign text. */
  readonly onUpdate: (view: TerminalView) => void;
  /** It ended by itself; the reason is safe to show. */
  readonly onEnd: (reason: string) => void;
}

export interface WatchPlace {
  readonly pane: PaneId;
  /** The session its window is in. */
  readonly session: string;
  readonly dieWithParent: boolean;
}

export interface WatchesOptions {
  readonly address: TmuxAddress;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly ledger?: ClientRecords;
}

interface Slot {
  readonly place: WatchPlace;
  readonly onEnd: (reason: string) => void;
  watch: PaneWatch | null;
  pid: number | null;
}

export class PaneWatches {
  readonly #options: WatchesOptions;
  readonly #slots = new Set<Slot>();

  constructor(options: WatchesOptions) {
    this.#options = options;
  }

  async open(place: WatchPlace, handlers: WatchHandlers): Promise<PaneWatch> {
    if (this.#slots.size >= limits.streamClientsMax) {
      throw new AgtmuxError('E_FEED_FULL', `${limits.streamClientsMax} panes are already watched`);
    }
    const slot: Slot = { place, onEnd: handlers.onEnd, watch: null, pid: null };
    this.#slots.add(slot);
    const { address, clock, random, ledger } = this.#options;
    try {
      const watch = await openStream({
        ...place,
        address,
        clock,
        nonce: random.hex(8),
        onUpdate: handlers.onUpdate,
        onEnd: (reason) => this.#end(slot, reason),
        onOpen: (pid) => {
          slot.pid = pid;
          void ledger?.add(pid);
        },
      });
      slot.watch = watch;
      if (!this.#slots.has(slot)) watch.close();
      return {
        pane: place.pane,
        view: () => watch.view(),
        paint: () => watch.paint(),
        asksForPasteMarks: () => watch.asksForPasteMarks(),
        close: () => this.#release(slot),
      };
    } catch (error) {
      this.#release(slot);
      throw error;
    }
  }

  /** Ends what can no longer be followed: a client gets output only of the session it is attached to. */
  check(topology: Topology): void {
    for (const slot of [...this.#slots]) {
      const pane = topology.panes.get(slot.place.pane);
      if (pane === undefined) this.#end(slot, 'the pane is gone');
      else if (pane.sessionId !== slot.place.session) this.#end(slot, 'the pane moved to another session');
    }
  }

  endAll(reason: string): void {
    for (const slot of [...this.#slots]) this.#end(slot, reason);
  }

  #end(slot: Slot, reason: string): void {
    if (this.#release(slot)) slot.onEnd(reason);
  }

  /** False when it was released before. */
  #release(slot: Slot): boolean {
    if (!this.#slots.delete(slot)) return false;
    slot.watch?.close();
    if (slot.pid !== null) void this.#options.ledger?.remove(slot.pid);
    return true;
  }
}
