// What the API serves: the daemon as its doors see it. The server is given one of these; tests give it a small one.

import type { Feed } from '../daemon/feed.ts';
import type { Lane, TimelineQuestion } from '../model/diary.ts';
import type { Result } from '../model/errors.ts';
import type { AgentInfo, Explanation } from '../model/explanations.ts';
import type { TargetId } from '../model/ids.ts';
import type { NoticeRow, NoticeService } from '../model/notices.ts';
import type { PaneRow, TargetRow } from '../model/rows.ts';
import type { SessionService } from '../model/sessions.ts';
import type { ShellEvent, ShellLatency, ShellRow, ShellService } from '../model/shells.ts';
import type { Verdict, VerdictName } from '../model/verdicts.ts';
import type { LiveService } from '../model/web.ts';
import type { ActService, CallerClaim } from './service-act.ts';
import type { HookService } from './service-hooks.ts';

export type { FeedCursor, FeedMessage, Subscriber } from '../daemon/feed-messages.ts';

export interface DaemonStatus {
  readonly version: string;
  readonly pid: number;
  /** Milliseconds since the daemon was ready. */
  readonly up_ms: number;
  readonly ready: boolean;
  readonly state_dir: string;
  readonly socket_path: string;
  /** Why the log does not take anything at the moment, null when it does. */
  readonly trouble: string | null;
  readonly events: { readonly taken: number; readonly verdicts: Readonly<Record<VerdictName, number>> };
  /** Files in the spools of all machines: taken, waiting, refused and set aside. */
  readonly hook_calls: { readonly taken: number; readonly waiting: number; readonly refused: number };
  readonly shells: { readonly running: number; readonly run_to_answer: ShellLatency };
  readonly feed_version: number;
  readonly memory_bytes: number;
}

/** What the feed carries: rows by their key, and what happened to shells, each under a key of its own. */
export type FeedRow = PaneRow | TargetRow | ShellRow | ShellEvent | NoticeRow;

export interface NewTarget {
  readonly name: string;
  readonly kind: 'local' | 'ssh';
  /** Alias of the user's own ssh configuration. */
  readonly connection_ref: string;
}

export interface DaemonService {
  /**
   * One row for every runtime that is known (living, or ended and still remembered) with the place it is or was in, and
   * one for every pane without a living agent. In no particular order.
   */
  rows(): readonly PaneRow[];
  targets(): readonly TargetRow[];
  status(): DaemonStatus;
  /** The daemon's timeline, and the wall time that it stands for. */
  now(): number;
  toWall(time: number): number;
  /** How long a bad end stays in the default lists (RSV12; configurable). */
  endedShownMs(): number;
  /**
   * Keys are `row:<runtime or pane ref>`, `target:<name>`, `shell:<shell id>` and `notice:<id>`; null means gone. Under
   * `shell-event:<seq>` stands what happened to a shell, which is never part of a snapshot.
   */
  readonly feed: Feed<FeedRow>;
  readonly hooks: HookService;
  /** The same for our MCP server among those of agents; on this machine only. */
  readonly mcp: HookService;
  readonly acting: ActService;
  readonly sessions: SessionService;
  readonly shells: ShellService;
  readonly notices: NoticeService;
  /** Panes as pages show them. */
  readonly live: LiveService;
  /** From outside: what the agent that started this program would say itself. */
  handIn(raws: readonly unknown[], claim: CallerClaim): Promise<readonly Verdict[]>;
  /** These three leave rows in the audit: they change what is seen. */
  addTarget(target: NewTarget, claim: CallerClaim): Promise<Result<TargetRow>>;
  connectTarget(target: TargetId, claim: CallerClaim): Promise<Result<TargetRow>>;
  removeTarget(target: TargetId, claim: CallerClaim): Promise<Result<null>>;
  /** States over time, in wall time. */
  timeline(question: TimelineQuestion): Promise<Result<readonly Lane[]>>;
  /** `ref` in any of its forms. */
  explain(ref: string): Promise<Result<Explanation>>;
  agentInfos(): readonly AgentInfo[];
  /** Rule files of the user that belong to no agent. */
  ruleTroubles(): readonly string[];
  /** An agent may not: who is not seen is not known to be one. */
  setAgentEnabled(agent: string, enabled: boolean, claim: CallerClaim): Promise<Result<null>>;
  /** Whether this caller may end it. */
  mayStop(claim: CallerClaim): Promise<Result<null>>;
  /** Answers first, then ends in good order. */
  stop(): void;
}
