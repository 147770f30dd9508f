// What the sweeps of one tmux server have seen so far: its panes, their activity stamps and last screens. Decides which
// panes are worth a capture and what is news. No I/O: bodies of replies in, records out.

import type { PaneId } from '../../model/ids.ts';
import {
  type ActivityRow,
  type FullRow,
  hasSameShape,
  isSameTopology,
  keepingSame,
  topologyOf,
  withActivity,
} from './topology.ts';
import type { PaneScreen, TmuxServer, Topology } from './view.ts';

/** The stamp has whole seconds: a window that printed in this second or the last may print again under the same stamp. */
const settledSeconds = 1;

interface Captured {
  /** The window's stamp when the capture was asked for. */
  activity: number;
  /** The stamp was old by then, by tmux's own clock: whatever is printed later has another one. */
  isSettled: boolean;
  body: Uint8Array;
}

export class SweepState {
  #rows: readonly FullRow[] = [];
  #gateBody: Uint8Array | null = null;
  #latestActivity = 0;
  #topology: Topology | null = null;
  /** Rows changed since the topology was last told. */
  #isTold = false;
  #wanted: ReadonlySet<PaneId> = new Set();
  readonly #captured = new Map<PaneId, Captured>();
  #activities: ReadonlyMap<PaneId, number> = new Map();

  want(panes: Iterable<PaneId>): void {
    this.#wanted = new Set(panes);
    for (const pane of this.#captured.keys()) if (!this.#wanted.has(pane)) this.#captured.delete(pane);
  }

  /** After this everything is news again. */
  forget(): void {
    this.#rows = [];
    this.#activities = new Map();
    this.#gateBody = null;
    this.#topology = null;
    this.#isTold = false;
    this.#captured.clear();
  }

  /** True when panes came, went or have another process since the last answer. */
  takeFull(rows: readonly FullRow[]): boolean {
    this.#gateBody = null;
    const isReshaped = !hasSameShape(this.#rows, rows);
    this.#setRows(rows);
    const alive = this.#activities;
    for (const pane of this.#captured.keys()) if (!alive.has(pane)) this.#captured.delete(pane);
    return isReshaped;
  }

  /** False when panes came, went or moved: then only a full answer tells the truth. */
  takeGate(body: Uint8Array, parse: (body: Uint8Array) => ActivityRow[]): boolean {
    if (this.#gateBody !== null && isEqual(this.#gateBody, body)) return true;
    const gate = parse(body);
    if (!hasSameShape(this.#rows, gate)) return false;
    this.#gateBody = body;
    this.#setRows(withActivity(this.#rows, gate));
    return true;
  }

  #setRows(rows: readonly FullRow[]): void {
    const isOther =
      rows.length !== this.#rows.length || rows.some((row, index) => row.view !== this.#rows[index]?.view);
    this.#isTold &&= !isOther;
    this.#rows = rows;
    this.#activities = new Map(rows.map((row) => [row.pane, row.activity]));
    this.#latestActivity = rows.reduce((latest, row) => Math.max(latest, row.activity), 0);
  }

  get wantsScreens(): boolean {
    return this.#wanted.size > 0;
  }

  /** The terminals of the wanted panes. */
  get wantedTtys(): ReadonlyMap<PaneId, string> {
    return new Map(this.#rows.flatMap(({ pane, view }) => (this.#wanted.has(pane) ? [[pane, view.tty] as const] : [])));
  }

  get paneCount(): number {
    return this.#rows.length;
  }

  /** Whether anything printed within the last `seconds` of tmux's clock. */
  isActive(time: number, seconds: number): boolean {
    return time - this.#latestActivity <= seconds;
  }

  /**
   * Wanted panes that printed since their last capture, or may have. What time it is now does not matter: after a stall
   * of whatever length a capture from within the second of its stamp is taken again.
   */
  capturesDue(): PaneId[] {
    const due: PaneId[] = [];
    for (const pane of this.#wanted) {
      const activity = this.#activities.get(pane);
      if (activity === undefined) continue;
      const last = this.#captured.get(pane);
      if (last === undefined || last.activity !== activity || !last.isSettled) due.push(pane);
    }
    return due;
  }

  /** The screen when it differs from the last one. `serverTime` is tmux's own clock, in seconds, at or before the capture. */
  takeCapture(pane: PaneId, body: Uint8Array, capturedAt: number, serverTime: number): PaneScreen | null {
    const activity = this.#activities.get(pane);
    if (activity === undefined || !this.#wanted.has(pane)) return null;
    const known = this.#captured.get(pane);
    this.#captured.set(pane, { activity, isSettled: serverTime - activity > settledSeconds, body });
    if (known !== undefined && isEqual(known.body, body)) return null;
    return { pane, lines: linesOf(body), capturedAt };
  }

  /** Its screen is captured by the next sweep and is news then, whatever it shows. */
  tellAgain(pane: PaneId): void {
    this.#captured.delete(pane);
  }

  /** The topology when it differs from the one last told. */
  news(server: TmuxServer): Topology | null {
    if (this.#isTold && this.#topology?.server === server) return null;
    const topology = topologyOf(server, this.#rows);
    this.#isTold = true;
    if (this.#topology !== null && isSameTopology(this.#topology, topology)) return null;
    this.#topology = this.#topology === null ? topology : keepingSame(this.#topology, topology);
    return this.#topology;
  }

  get topology(): Topology | null {
    return this.#topology;
  }
}

export function linesOf(body: Uint8Array): string[] {
  return Buffer.from(body.buffer, body.byteOffset, body.length).toString().split('\n');
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
