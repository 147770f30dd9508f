// Why a state is what it is: what `explain` tells about one runtime, and what is known about each adapter. Made by the
// daemon, shown by every screen.

import type { FactKind } from './events.ts';
import type { AgentName, EventId } from './ids.ts';
import type { ReasonCode } from './reasons.ts';
import type { Evidence, Health } from './records.ts';
import type { SourceName } from './sources.ts';
import type { Confidence, StateName } from './states.ts';
import type { VerdictReason } from './verdicts.ts';

export interface RuleTrial {
  readonly rule: string;
  readonly matched: boolean;
  readonly why: string | null;
}

export interface ScreenExplanation {
  readonly state: StateName;
  readonly reason: ReasonCode;
  readonly confidence: Confidence;
  readonly rule: string | null;
  /** The words of the dialog that stands there; foreign text. */
  readonly ask: string | null;
  readonly tried: readonly RuleTrial[];
}

export interface EventExplanation {
  readonly event_id: EventId;
  readonly time: number;
  readonly source: SourceName;
  readonly kind: FactKind;
  /** The fact in a few words. Foreign text may be among them. */
  readonly words: string;
  readonly verdict: VerdictReason;
}

export interface Explanation {
  /** Every voice that counts at the moment, the deciding one first. */
  readonly evidence: readonly (Evidence & {
    readonly rank: number;
    readonly part: 'decides' | 'agrees' | 'contradicts';
  })[];
  /** Null where no screen is looked at. */
  readonly screen: ScreenExplanation | null;
  /** The last events of this runtime, newest first. */
  readonly events: readonly EventExplanation[];
}

/** One way by which an adapter hears of its agents. */
export interface SourceInfo {
  readonly source: string;
  readonly health: Health;
  readonly trouble: string | null;
  readonly count: number;
  readonly last_at: number | null;
}

export interface AgentInfo {
  readonly agent: AgentName;
  readonly contract: string;
  readonly enabled: boolean;
  /** Why it is not used at all; null when it may be. */
  readonly refused: string | null;
  readonly capabilities: {
    readonly event_driven: boolean;
    readonly polling_required: boolean;
    readonly supports_waiting_approval: boolean;
    readonly supports_waiting_input: boolean;
    readonly supports_completed: boolean;
    readonly supports_interrupted: boolean;
  };
  readonly measured: readonly string[];
  readonly limits: readonly string[];
  readonly health: Health;
  readonly rules: { readonly count: number; readonly user_file: string | null; readonly trouble: string | null };
  readonly sources: readonly SourceInfo[];
  readonly running: number;
}
