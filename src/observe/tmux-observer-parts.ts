// What a watch over one tmux server is given.

import type { Identify } from '../agents/contract.ts';
import type { EventProcessor } from '../ingest/event-processor.ts';
import type { EventEnvelope } from '../model/events.ts';
import type { ProcessIdentity, TargetId } from '../model/ids.ts';
import type { Clock } from '../platform/clock.ts';
import type { Surroundings } from '../reconcile/elsewhere.ts';
import type { NestedAgentsParts } from '../reconcile/nested-agents.ts';
import type { ScreenReconcilerParts } from '../reconcile/screen-reconciler.ts';
import type { RunViews } from '../sources/native/run-view.ts';
import type { ProcessTable } from '../sources/process/table.ts';
import type { TmuxLinkOptions } from '../terminals/tmux/link.ts';
import type { RunFollowerParts } from './run-follower.ts';

/** The processes of a machine, near or far. */
export interface ProcessView {
  /**
   * Null when the machine did not answer. `isAgain`: where that is cheaper, processes that had nothing to do with these panes
   * are told as they were.
   */
  read(panePids: readonly number[], isAgain?: boolean): Promise<ProcessTable | null>;
  /** A few words that change when a pane's foreground changes; null where looking is as dear as reading. */
  readonly glance: ((panePid: number) => string | null) | null;
  /** The same for a machine that is asked: all at once, of panes and of agents. Null where there is no such way. */
  readonly glanceFar: ((pids: readonly number[]) => Promise<string | null>) | null;
  /**
   * Whether any of them has ended. Cheap, and wrong only about zombies and pids that came back: full looks find those.
   * Null where there is no such way.
   */
  readonly anyGone: ((processes: readonly ProcessIdentity[]) => boolean) | null;
}

export interface TmuxObserverParts {
  readonly target: TargetId;
  readonly kind: 'local' | 'ssh';
  readonly link: Omit<TmuxLinkOptions, 'handlers' | 'now' | 'clock'>;
  readonly clock: Clock;
  readonly now: () => number;
  readonly toTimeline: (wallMs: number) => number;
  readonly sight: ProcessView;
  readonly ledger: EventProcessor;
  readonly identify: Identify;
  /** False when some were turned away. */
  readonly offer: (events: readonly EventEnvelope[]) => Promise<boolean>;
  readonly rulesOf: ScreenReconcilerParts['rulesOf'];
  readonly rules: NestedAgentsParts['rules'];
  readonly agentOf: RunFollowerParts['agentOf'];
  /** One word for its machine, however the target is called. */
  readonly machine: string;
  readonly around: () => Surroundings;
  readonly views: RunViews;
  /** Processes of agents that are in panes of this server. */
  readonly onFound: (processes: ReadonlySet<string>) => void;
  /** The runs of this target, whenever something about them may have changed. */
  readonly onRuns: RunFollowerParts['onRuns'];
  readonly onLook: ScreenReconcilerParts['onLook'];
  /** Something a screen shows may have changed. */
  readonly onChange: () => void;
  /** Between two looks at the foreground of every pane. */
  readonly glanceMs: number;
  readonly aliveMs: number;
}
