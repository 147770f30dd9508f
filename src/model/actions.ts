// What can be done to agents, and what became of it: requests, receipts and callers. Every action leaves one audit row,
// refused ones too.

import type { Failure, Result } from './errors.ts';
import type { AskId, RuntimeId, SnapshotId, TargetId } from './ids.ts';
import type { AuditRecord } from './records.ts';
import type { StateName } from './states.ts';

export const actionKinds = [
  'send',
  'approve',
  'reject',
  'answer',
  'interrupt',
  'kill',
  'attach',
  'view',
  'resume',
  'new',
  'name',
  'seen',
  'activate',
  'queue',
  'agents',
  'hooks',
  'mcp',
  'target',
  'notify',
  'restore',
  'stop',
  'web',
  'editor',
  'hub',
  'pair',
  'type',
] as const;
export type ActionKind = (typeof actionKinds)[number];

/**
 * Who acts (ACT6). human: a person, at a terminal with no agent above it. operator: a program of the user's. A web session has
 * the role of whoever asked for its link. observer: an agent; it reads and sends to others, it answers nothing and never reaches itself. editor: an editor that a
 * person has paired, as far as the scopes of its key go.
 */
export const callerRoles = ['human', 'operator', 'observer', 'editor'] as const;
export type CallerRole = (typeof callerRoles)[number];

export interface Caller {
  readonly role: CallerRole;
  /** In a few words, for the audit and for the line that tells where a message came from. */
  readonly name: string;
  /** The agent that is behind it, if one is. */
  readonly runtime_id: RuntimeId | null;
  /** How many agents a message has already gone through. */
  readonly hops: number;
  /** Why it has this role. */
  readonly why: string;
  /** Of an editor: which one's key it has. What that is for is looked up when it matters, for it can be revoked. */
  readonly editor_id?: string | null;
}

/** Conditions that the caller sets (ACT1, ACT8). */
export interface ActionConditions {
  readonly if_runtime?: RuntimeId;
  readonly if_state?: readonly StateName[];
  readonly if_updated_within_ms?: number;
  readonly force_stale?: boolean;
}

export type Signal = 'INT' | 'TERM' | 'KILL';

/** A file that a message is about, or lines of it. The path is absolute. */
export interface FileReference {
  readonly path: string;
  readonly from: number | null;
  readonly to: number | null;
}

/** Which ask an answer is for: the one with this id, or whatever is open. One of the two has to be said (ASK3). */
interface AskMeant {
  readonly ask_id?: AskId;
  readonly any_ask?: boolean;
}

export type ActionRequest = { readonly ref: string; readonly conditions: ActionConditions } & (
  | {
      readonly action: 'send';
      readonly text: string;
      /** False: the text is left in the prompt. */
      readonly enter: boolean;
      /** Waits in the queue until the agent can take it. */
      readonly when_ready: boolean;
      readonly strip_control: boolean;
      /** Waits until the usage limit of the agent resets, and goes out only if it is still limited then (LIM3). */
      readonly at_reset?: boolean;
      /** Named in front of the text, in the syntax of the agent that gets it (RTE6). */
      readonly files?: readonly FileReference[];
      /** For the CONNECTED agent, and no other (RTE4); the reference is empty. */
      readonly connected?: boolean;
      /** A message and no more, never the answer to what is asked. Nobody asks for it: whoever acts finds out. */
      readonly is_plain?: boolean;
    }
  | ({ readonly action: 'approve' } & AskMeant)
  | ({ readonly action: 'reject'; readonly because?: string } & AskMeant)
  | ({ readonly action: 'answer'; readonly option?: string; readonly text?: string } & AskMeant)
  | { readonly action: 'interrupt' }
  | { readonly action: 'kill'; readonly signal: Signal }
  | { readonly action: 'resume' }
  | { readonly action: 'seen' }
  | { readonly action: 'activate' }
  | { readonly action: 'name'; readonly nick: string | null }
);

/** delivered: it was seen to arrive. unconfirmed: it left, and nobody saw it arrive. queued: it waits. refused: nothing happened. */
export const outcomes = ['delivered', 'unconfirmed', 'queued', 'refused'] as const;
export type Outcome = (typeof outcomes)[number];

export interface Receipt {
  readonly outcome: Outcome;
  readonly action: ActionKind;
  /** The canonical reference of who it was for; null when nobody was found. */
  readonly ref: string | null;
  /** The same in the words of lists, as it was then: `reviewer (claude), host/work:1.2`. Null when it is listed nowhere. */
  readonly who: string | null;
  readonly runtime_id: RuntimeId | null;
  readonly snapshot_id: SnapshotId | null;
  /** By which way: `keys`, or the name of the agent's own channel. */
  readonly way: string | null;
  /**
   * What stood between the look and the keys. atomic: tmux checked and typed in one step. checked: compared right before,
   * and seen afterwards. Null where nothing was typed.
   */
  readonly strength: 'atomic' | 'checked' | null;
  /** Why it was refused; null when it was not. */
  readonly failure: Failure | null;
  /** What is worth knowing: "pasted, not submitted". */
  readonly words: string | null;
}

/** A web session as a caller. Its role is that of whoever asked for the link, looked at in that moment (ACT6). */
export interface WebCaller {
  /** A name for the audit; not what opens anything. */
  readonly session: string;
  readonly role: CallerRole;
  /** Who asked for the link, in a few words. */
  readonly opened_by: string;
  readonly is_traceable: boolean;
}

/**
 * What a key is for. look: output, and the way to an agent. send: messages, the route, names, new agents and sessions. answer:
 * what agents ask. control: interrupt, kill, stop.
 */
export const editorScopes = ['look', 'send', 'answer', 'control'] as const;
export type EditorScope = (typeof editorScopes)[number];

/** A paired editor as the one who asks. Only the socket says this, after it has looked at the key. */
export interface EditorCaller {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly EditorScope[];
}

/** What the API, the web server or a notification knows of who asks. The daemon looks at the process itself; the words are only words. */
export interface CallerClaim {
  /** The process that asks, on this machine; null where there is none. */
  readonly pid: number | null;
  /** How many agents the message has gone through, as far as the caller was told. */
  readonly hops: number;
  /** A person pressed a button that the daemon itself put on the desktop. No route reads this from anyone. */
  readonly isNotification?: true;
  /** Somebody at the hub: signed by it, and allowed by the owner of this machine. Only the uplink says this (HUB5). */
  readonly hub?: { readonly order: string; readonly who: string };
  /** A web session, looked at when its link was asked for. Only the web server says this; no request can. */
  readonly web?: WebCaller;
  /** The holder of an editor's key, which the daemon has looked at; its process is looked at as well. No request says this. */
  readonly editor?: EditorCaller;
}

/** A message that waits for its agent (ACT7). */
export interface QueuedMessage {
  readonly id: string;
  readonly ref: string;
  /** As in a receipt. */
  readonly who: string | null;
  readonly runtime_id: RuntimeId;
  readonly text: string;
  readonly from: string;
  readonly queued_at: number;
  readonly expires_at: number;
  /** Waits for the reset of a usage limit: not before this. Null for all others. */
  readonly not_before: number | null;
  readonly outcome: Outcome;
}

/** How a person gets to a pane. The command line carries it out: it has the terminal. */
export interface AttachPlan {
  readonly ref: string;
  readonly target: TargetId;
  readonly kind: 'local' | 'ssh';
  readonly connection_ref: string;
  readonly socket_path: string;
  readonly session_id: string;
  readonly window_id: string;
  readonly pane_id: string;
  /** Where it is in no pane: its terminal, in front of others now, or the command that shows it. Null in a pane. */
  readonly terminal: { readonly name: string; readonly command: readonly string[] | null } | null;
}

export interface ViewedOutput {
  readonly ref: string;
  readonly lines: readonly string[];
  /** screen: what tmux keeps. transcript: the agent's own, where its screen keeps no history. */
  readonly from: 'screen' | 'transcript';
  /** What is worth knowing about that: why a screen is all there is. */
  readonly words?: string;
}

/** How tmux itself arranges the panes of a window. */
export const tmuxLayouts = ['even-horizontal', 'even-vertical', 'main-horizontal', 'main-vertical', 'tiled'] as const;

export interface NewAgent {
  readonly agent: string;
  readonly target: TargetId | null;
  readonly session: string | null;
  readonly cwd: string | null;
  readonly args: readonly string[];
  /** In a pane beside this agent, whose window is arranged like this; otherwise in a window of its own. */
  readonly beside?: { readonly runtime: string; readonly layout: (typeof tmuxLayouts)[number] };
}

/** What changes agtmux itself: which agents it sees, whom it tells, whether its daemon runs. */
export interface AdminAction {
  readonly action: Extract<
    ActionKind,
    'agents' | 'hooks' | 'mcp' | 'target' | 'notify' | 'restore' | 'stop' | 'web' | 'editor' | 'hub' | 'pair' | 'view'
  >;
  readonly named: string;
  /** For the audit. */
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface ViewRequest {
  /** Its screen, also where that keeps no history. */
  readonly isScreen?: boolean | undefined;
  /** With the colours of its screen, as sequences that only the gate may let through. */
  readonly hasColours?: boolean | undefined;
}

export interface ActionService {
  /** Never rejects for a refusal: that is a receipt too, and in the audit. */
  act(request: ActionRequest, claim: CallerClaim): Promise<Receipt>;
  attach(ref: string, conditions: ActionConditions, claim: CallerClaim): Promise<Result<AttachPlan>>;
  view(ref: string, linesMax: number, claim: CallerClaim, how?: ViewRequest): Promise<Result<ViewedOutput>>;
  start(wanted: NewAgent, claim: CallerClaim): Promise<Receipt>;
  queue(): readonly QueuedMessage[];
  editQueued(id: string, text: string, claim: CallerClaim): Promise<Receipt>;
  dropQueued(id: string, claim: CallerClaim): Promise<Receipt>;
  /** These editors were revoked: what waits of theirs is dropped, each message with its row. */
  dropQueuedOf(editors: readonly string[]): Promise<void>;
  /** Who asks, as the daemon sees it. */
  who(claim: CallerClaim): Promise<Caller & { readonly is_traceable: boolean }>;
  /** Does it if the caller may, and leaves its row. */
  authorizeAndAudit<Value>(
    deed: AdminAction,
    claim: CallerClaim,
    effect: () => Promise<Result<Value>>,
  ): Promise<Result<Value>>;
  /** Newest first. */
  audit(countMax: number): Promise<readonly AuditRecord[]>;
}
