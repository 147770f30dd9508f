// Looking for a pattern in what all agents have shown and said, and in the logs of their shells: the question and its answer.

import type { CallerClaim } from './actions.ts';
import type { Result } from './errors.ts';

export const grepPlaces = ['screens', 'transcripts', 'shells'] as const;
export type GrepPlace = (typeof grepPlaces)[number];

export interface GrepQuestion {
  readonly pattern: string;
  readonly places: readonly GrepPlace[];
  readonly hits_max: number;
}

export interface GrepHit {
  readonly place: GrepPlace;
  /** Of the agent, or of the one that owns the shell; null where that is a person. */
  readonly ref: string | null;
  readonly runtime_id: string | null;
  readonly shell_id: string | null;
  /** The agent and where it is, or the label of the shell. Foreign text. */
  readonly name: string;
  readonly where: string;
  /** The line that it stands in. Foreign text. */
  readonly line: string;
}

export interface GrepReport {
  readonly items: readonly GrepHit[];
  /** There is more than was asked for. */
  readonly is_cut: boolean;
  /** Screens, transcripts and logs that were looked into. */
  readonly searched: number;
  /** Those that nobody could look into in time. */
  readonly left_out: number;
}

export interface GrepService {
  grep(question: GrepQuestion, claim: CallerClaim): Promise<Result<GrepReport>>;
}
