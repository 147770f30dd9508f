// What is remembered of one agent's screen between two looks, and how a reading becomes a fact.

import type { Reading } from '../agents/screen/classify.ts';
import { type Doubt, newTrail, type Trail } from '../engine/contradict.ts';
import type { StateFact } from '../model/events.ts';
import type { AgentName, PaneId, RuntimeId } from '../model/ids.ts';
import type { ReasonCode } from '../model/reasons.ts';
import type { StateName } from '../model/states.ts';
import type { Cancel } from '../platform/clock.ts';
import { ScreenAsks } from './screen-asks.ts';

/** An agent whose screen is looked at. */
export interface ScreenRun {
  readonly runtime_id: RuntimeId;
  readonly pane: PaneId;
  readonly agent: AgentName;
  readonly version: string | null;
  /** Seen behind a door only: what it seems to do is told with this reason and low confidence (IDN7). */
  readonly inside: ReasonCode | null;
}

export interface Counted {
  readonly shells: number;
  readonly agents: number;
}

export interface Memory {
  run: ScreenRun;
  lines: readonly string[];
  title: string;
  current: Reading | null;
  /** What was told last, and when. */
  told: Reading | null;
  toldAt: number;
  /** Since when no rule fits; null while one does. */
  unreadSince: number | null;
  doubt: Doubt | null;
  /** How far the screen is behind what better witnesses say. */
  trail: Trail;
  /** Its last picture is from before what better witnesses say now. */
  isLate: boolean;
  readonly asks: ScreenAsks;
  /** The work in the background that was told last; null when nothing was. */
  counted: Counted | null;
  output: string;
  outputAt: number;
  outputLookedAt: number;
  /** The second look that is on its way. */
  confirm: Cancel | null;
}

export function newMemory(run: ScreenRun, now: number): Memory {
  return {
    run,
    lines: [],
    title: '',
    current: null,
    told: null,
    toldAt: 0,
    unreadSince: null,
    doubt: null,
    trail: newTrail,
    isLate: false,
    asks: new ScreenAsks(run.runtime_id),
    counted: null,
    output: '',
    outputAt: now,
    outputLookedAt: 0,
    confirm: null,
  };
}

export const isDialog = (state: StateName): boolean => state === 'waiting_approval' || state === 'waiting_input';

export function factOf({ state, reason, confidence, detail }: Reading): Omit<StateFact, 'kind'> {
  const dialog = state === 'unknown' ? {} : { dialog: isDialog(state) };
  return { state, reason, confidence, ...dialog, ...(detail === null ? {} : { detail }) };
}
