// What one agent's folder offers to the rest of the product. Each part stands in a file of the same name in every folder.

import type { AgentName } from '../model/ids.ts';
import type { Confidence } from '../model/states.ts';

/** What a process runs. Nothing else is evidence: not its working directory, not the title, not the screen (IDN7). */
export interface ProgramView {
  /** Path of the executable; null where it cannot be known (another user's process, a machine asked through ps). */
  readonly executable: string | null;
  readonly argv: readonly string[];
}

/**
 * interactive: a person talks to it in a terminal; only such a run can own a pane.
 * headless: it does one job and reads no keys. Text typed at it would end up in the shell behind it, so it never owns a
 * pane and nothing is routed to it; it is shown.
 */
export type RunMode = 'interactive' | 'headless';

export interface Identified {
  readonly agent: AgentName;
  readonly mode: RunMode;
  readonly version: string | null;
  /** high: by its package or its own program; medium: by a name that nobody else is known to use; low: by a shared name. */
  readonly confidence: Confidence;
}

/** Null for everything that is not a run of this agent: other programs, and its own servers, helpers and errands. */
export type Identify = (program: ProgramView) => Identified | null;

export interface Agent {
  readonly name: AgentName;
  readonly identify: Identify;
}
