// What is remembered of states over time: one line a change, as the screens were told it. For people who ask how a day
// went; nothing is decided by it.

import type { AgentName, RuntimeId, TargetId } from './ids.ts';
import type { ReasonCode } from './reasons.ts';
import type { StateName } from './states.ts';

/** Who a lane is about, as it was called when it was last seen. */
export interface LaneOwner {
  readonly runtime_id: RuntimeId;
  readonly agent: AgentName;
  readonly target: TargetId;
  /** Foreign text, as is `place`. */
  readonly cwd: string;
  /** `work:1.2`, or `session:<id>`. */
  readonly place: string;
}

/** Wall times, ms. */
export type StateHistoryLine =
  /** It is in this state since then; `owner` stands in its first line of a file, and where it was called otherwise. */
  | {
      readonly kind: 'state';
      readonly at: number;
      readonly runtime_id: RuntimeId;
      readonly state: StateName;
      readonly reason_code: ReasonCode;
      readonly owner: LaneOwner | null;
    }
  /** It ended, or is no longer known. */
  | { readonly kind: 'over'; readonly at: number; readonly runtime_id: RuntimeId }
  /** The daemon was there at that time. */
  | { readonly kind: 'beat'; readonly at: number }
  /** A daemon began: what went on between the last word of the one before and this was seen by nobody. */
  | { readonly kind: 'start'; readonly at: number };

/** A line with its place: numbers only grow, from one day's file to the next; `owner` is always there. */
export interface NumberedLine {
  readonly number: number;
  readonly line: StateHistoryLine;
}

export interface Span {
  readonly state: StateName;
  readonly reason_code: ReasonCode;
  readonly from: number;
  readonly to: number;
}

export interface Lane {
  readonly owner: LaneOwner;
  /** Oldest first, without overlap; where nothing stands, nobody saw it. */
  readonly spans: readonly Span[];
  /** The last one goes on. */
  readonly isOpen: boolean;
}

export interface TimelineQuestion {
  /** Of one agent, by any of its references; null for all. */
  readonly ref: string | null;
  readonly since: number;
  readonly until: number;
}
