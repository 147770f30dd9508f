// What the API serves: the daemon as its API sees it. The server is given one of these; tests give it a small one.

import type { ExplainedRow, PaneRow } from '../api/panes.ts';
import type { TargetRow } from '../api/targets.ts';
import type { Feed, FeedRow } from '../feed/feed.ts';
import type { ActionService, CallerClaim } from '../model/actions.ts';
import type { Result } from '../model/errors.ts';
import type { AgentInfo } from '../model/explanations.ts';
import type { TurnDiff } from '../model/git.ts';
import type { GrepService } from '../model/grep.ts';
import type { HubService } from '../model/hub.ts';
import type { TargetId } from '../model/ids.ts';
import type { NoticeService } from '../model/notices.ts';
import type { PushService } from '../model/push.ts';
import type { RestoreService } from '../model/restore.ts';
import type { WithAgent } from '../model/rows.ts';
import type { SessionService } from '../model/sessions.ts';
import type { ShellLatency, ShellService } from '../model/shells.ts';
import type { Lane, TimelineQuestion } from '../model/state-history.ts';
import type { UsageService } from '../model/usage.ts';
import type { Verdict, VerdictName } from '../model/verdicts.ts';
import type { LiveService } from '../model/web.ts';
import type { HookService } from './service-hooks.ts';

export type { FeedCursor, FeedMessage, Subscriber } from '../feed/feed.ts';

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
  /** Agents of a lost tmux server that `agtmux restore` could bring back. */
  readonly restorable: number;
  readonly shells: { readonly running: number; readonly run_to_answer: ShellLatency };
  readonly feed_version: number;
  readonly memory_bytes: number;
}

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
  /** Resolves when what the screens of this machine show now is part of the rows, or a moment later in any case. */
  caughtUp(): Promise<void>;
  targets(): readonly TargetRow[];
  status(): DaemonStatus;
  /** The daemon's timeline, and the wall time that it stands for. */
  now(): number;
  toWall(time: number): number;
  /**
   * Keys are `row:<runtime or pane ref>`, `target:<name>`, `shell:<shell id>` and `notice:<id>`; null means gone. Under
   * `shell-event:<seq>` stands what happened to a shell, which is never part of a snapshot.
   */
  readonly feed: Feed<FeedRow>;
  readonly hooks: HookService;
  /** The same for our MCP server among those of agents; on this machine only. */
  readonly mcp: HookService;
  readonly acting: ActionService;
  readonly sessions: SessionService;
  readonly shells: ShellService;
  readonly notices: NoticeService;
  readonly push: PushService;
  readonly restore: RestoreService;
  readonly usage: UsageService;
  /** What agents have shown and said. */
  readonly search: GrepService;
  /** The hub that this daemon reports to, if any. */
  readonly hub: HubService;
  /** Panes as pages show them. */
  readonly live: LiveService;
  /** From outside: what the agent that started this program would say itself. */
  submitEvents(raws: readonly unknown[], claim: CallerClaim): Promise<readonly Verdict[]>;
  /** These three leave rows in the audit: they change what is seen. */
  addTarget(target: NewTarget, claim: CallerClaim): Promise<Result<TargetRow>>;
  connectTarget(target: TargetId, claim: CallerClaim): Promise<Result<TargetRow>>;
  removeTarget(target: TargetId, claim: CallerClaim): Promise<Result<null>>;
  /** States over time, in wall time. */
  timeline(question: TimelineQuestion): Promise<Result<readonly Lane[]>>;
  /** `ref` in any of its forms. */
  explain(ref: string): Promise<Result<ExplainedRow>>;
  /** What has changed in its work tree since its turn began. */
  diff(ref: string): Promise<Result<{ readonly row: WithAgent<PaneRow>; readonly diff: TurnDiff }>>;
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
