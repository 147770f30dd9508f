// The typed client of the daemon: every route with its types, and the feed. No schema library is loaded: what comes in was
// made by our own daemon, whose version is checked.

import { limits } from '../model/limits.ts';
import type { ShellControl } from '../model/shells.ts';
import type { Clock } from '../platform/clock.ts';
import { followFeed } from './client-feed.ts';
import { type LeanQuery, openAnswer, parseReply, readText, withQuery } from './client-lean.ts';
import { followSession } from './client-session.ts';
import type { FeedEvent, FeedRequest, SendOptions, SessionEvent, SessionRequest } from './client-types.ts';
import type { Answer } from './client-wire.ts';
import type {
  DoneReply,
  PaneList,
  SessionList,
  StatusReply,
  TargetList,
  TargetReply,
  VerdictsReply,
  WindowList,
} from './schemas.ts';
import type { AttachPlanReply, AuditList, QueueList, ReceiptReply, ViewedOutputReply } from './schemas-act.ts';
import type { AgentList, ExplanationDocument } from './schemas-explain.ts';
import type { HookOutcomeReply, HookPlanReply, HookStatusReply } from './schemas-hooks.ts';
import type { NoticeListReply, NoticeSettingsReply, NoticeTestReply } from './schemas-notices.ts';
import type { RestorePlanReply, RestoreReply } from './schemas-restore.ts';
import type { ManagedList, ManagedReply, MessagePageReply } from './schemas-sessions.ts';
import type {
  NewShellBody,
  ShellClaimBody,
  ShellList,
  ShellNoticesReply,
  ShellPageReply,
  ShellReceiptReply,
} from './schemas-shells.ts';
import type { TimelineDocument } from './schemas-timeline.ts';
import type { UsageReply } from './schemas-usage.ts';

interface GetReplies {
  readonly '/v1/panes': PaneList;
  readonly '/v1/windows': WindowList;
  readonly '/v1/sessions': SessionList;
  readonly '/v1/targets': TargetList;
  readonly '/v1/hooks': HookStatusReply;
  readonly '/v1/explain': ExplanationDocument;
  readonly '/v1/timeline': TimelineDocument;
  readonly '/v1/agents': AgentList;
  readonly '/v1/output': ViewedOutputReply;
  readonly '/v1/queue': QueueList;
  readonly '/v1/audit': AuditList;
  readonly '/v1/shells': ShellList;
  readonly [log: `/v1/shells/${string}/log`]: ShellPageReply;
  readonly '/v1/managed': ManagedList;
  readonly [managed: `/v1/managed/${string}`]: ManagedReply;
  readonly '/v1/notifications': NoticeListReply;
  readonly '/v1/notifications/settings': NoticeSettingsReply;
  readonly '/v1/restore': RestorePlanReply;
  readonly '/v1/usage': UsageReply;
  readonly '/v1/status': StatusReply;
}

interface PostReplies {
  readonly '/v1/targets': TargetReply;
  readonly '/v1/hooks/plan': HookPlanReply;
  readonly '/v1/hooks/apply': HookOutcomeReply;
  readonly '/v1/act': ReceiptReply;
  readonly '/v1/attach': AttachPlanReply;
  readonly '/v1/runtimes': ReceiptReply;
  readonly '/v1/shells/notices': ShellNoticesReply;
  readonly '/v1/events': VerdictsReply;
  readonly '/v1/notifications/settings': NoticeSettingsReply;
  readonly '/v1/notifications/mute': NoticeSettingsReply;
  readonly '/v1/notifications/unmute': NoticeSettingsReply;
  readonly '/v1/notifications/test': NoticeTestReply;
  readonly '/v1/restore': RestoreReply;
  readonly '/v1/stop': DoneReply;
  readonly [connect: `/v1/targets/${string}/connect`]: TargetReply;
  readonly [queued: `/v1/queue/${string}`]: ReceiptReply;
  readonly '/v1/managed': ManagedReply;
  readonly [deed: `/v1/managed/${string}/${string}`]: ManagedReply;
}

interface DeleteReplies {
  readonly [target: `/v1/targets/${string}`]: DoneReply;
  readonly [queued: `/v1/queue/${string}`]: ReceiptReply;
}

export interface ApiClient {
  get<Path extends keyof GetReplies>(path: Path, query?: LeanQuery): Promise<GetReplies[Path]>;
  /** The body as it came: a table, or JSON that is only passed on. */
  getText(path: keyof GetReplies | `/v1/${string}.json`, query?: LeanQuery): Promise<string>;
  post<Path extends keyof PostReplies>(
    path: Path,
    body?: unknown,
    options?: Pick<SendOptions, 'silenceMs'>,
  ): Promise<PostReplies[Path]>;
  delete<Path extends keyof DeleteReplies>(path: Path): Promise<DeleteReplies[Path]>;
  /** Waits as long as the command may keep its caller waiting. Leaving before, by the signal, ends the command. */
  runShell(body: NewShellBody, options?: { readonly signal?: AbortSignal }): Promise<ShellReceiptReply>;
  controlShell(control: ShellControl, ref: string, claim: ShellClaimBody): Promise<ShellReceiptReply>;
  /** What was said in a session, a page at a time. */
  messages(id: string, query?: LeanQuery): Promise<MessagePageReply>;
  /** A session as it goes on; ends when it is gone. */
  session(id: string, options?: SessionRequest): AsyncGenerator<SessionEvent, void, void>;
  /** Goes on by itself after a loss. Throws when the first connection fails, or when going on is pointless. */
  events(options?: FeedRequest): AsyncGenerator<FeedEvent, void, void>;
  /** The version of the daemon that answered last; null before the first answer. */
  daemonVersion(): string | null;
}

export interface ClientOptions {
  /** Asked before each request: the next daemon may listen elsewhere. */
  readonly socketPath: string | (() => string);
  readonly clock: Clock;
}

/** Names may hold anything, also a slash. */
export const shellPath = <Last extends ShellControl | 'log'>(ref: string, last: Last): `/v1/shells/${string}/${Last}` =>
  `/v1/shells/${encodeURIComponent(ref)}/${last}`;
export const targetPath = (name: string): `/v1/targets/${string}` => `/v1/targets/${encodeURIComponent(name)}`;

export const sessionPath = (id: string): `/v1/managed/${string}` => `/v1/managed/${encodeURIComponent(id)}`;

export function createClient({ socketPath, clock }: ClientOptions): ApiClient {
  let version: string | null = null;

  async function open(options: SendOptions): Promise<Answer> {
    const opened = await openAnswer(typeof socketPath === 'string' ? socketPath : socketPath(), options);
    version = opened.version;
    return opened.answer;
  }

  const readJson = async (options: SendOptions): Promise<unknown> => parseReply(await readText(await open(options)));

  return {
    get: <Path extends keyof GetReplies>(path: Path, query: LeanQuery = {}) =>
      readJson({ path: withQuery(path, query) }) as Promise<GetReplies[Path]>,
    getText: async (path, query = {}) => readText(await open({ path: withQuery(path, query) })),
    post: <Path extends keyof PostReplies>(path: Path, body?: unknown, options: Pick<SendOptions, 'silenceMs'> = {}) =>
      readJson({ method: 'POST', path, body, ...options }) as Promise<PostReplies[Path]>,
    delete: <Path extends keyof DeleteReplies>(path: Path) =>
      readJson({ method: 'DELETE', path }) as Promise<DeleteReplies[Path]>,
    runShell: (body, options = {}) =>
      readJson({
        method: 'POST',
        path: '/v1/shells',
        body,
        silenceMs: patienceMs(body),
        ...options,
      }) as Promise<ShellReceiptReply>,
    controlShell: (control, ref, claim) =>
      readJson({
        method: 'POST',
        path: shellPath(ref, control),
        body: claim,
        silenceMs: limits.actAnswerMs,
      }) as Promise<ShellReceiptReply>,
    messages: (id, query = {}) =>
      readJson({ path: withQuery(`${sessionPath(id)}/messages`, query) }) as Promise<MessagePageReply>,
    session: (id, options = {}) => followSession({ ...options, path: sessionPath(id), clock, open }),
    events: (options = {}) => followFeed({ ...options, clock, open }),
    daemonVersion: () => version,
  };
}

/** The budget, the time a kill takes at its end, and what any answer takes. */
const patienceMs = ({ budget_ms }: NewShellBody): number =>
  (budget_ms ?? limits.shellBudgetMs) + limits.shellKillAnswerMs + limits.answerMs;
