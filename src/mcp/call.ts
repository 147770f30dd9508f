// One call of a tool: who makes it, how long it may take, and whether it was cancelled; and what every tool works with.

import type { ApiClient } from '../api/client.ts';
import { openAnswer, readText } from '../api/client-lean.ts';
import type { SendOptions } from '../api/client-types.ts';
import { type ApiRequest, replyTo } from '../api/requests.ts';
import type { ShellNoticeItem } from '../api/shells.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

// The way to the daemon for one process that lives as long as its agent: asks, starts a daemon that is not there, and
// tells a request that never arrived from one whose end nobody knows.

interface DaemonRequest<Reply> extends Pick<SendOptions, 'signal'> {
  /** A function: made when it is sent, as time may have passed until there is a daemon. */
  readonly request: ApiRequest<Reply> | (() => ApiRequest<Reply>);
  /** Asked again after the daemon was lost in the middle: only what changes nothing. */
  readonly isRepeatable: boolean;
}

interface DaemonConnection {
  /** Throws AgtmuxError; LostError when the connection ended before the answer did. */
  ask<Reply>(request: DaemonRequest<Reply>): Promise<Reply>;
  /** Until a daemon answers. Several callers share one attempt. */
  start(): Promise<void>;
}

/** The daemon was reached and then lost: what was asked for may have been done. */
export class LostError extends AgtmuxError {
  constructor(cause: AgtmuxError) {
    super('E_DAEMON_DOWN', `${cause.message}; the result is not known`, {
      next: 'check with shell_summary or agents_list before you try again',
      cause,
    });
  }
}

export function connectDaemon(parts: Pick<McpParts, 'socketPath' | 'startDaemon' | 'pid' | 'hops'>): DaemonConnection {
  let starting: Promise<void> | null = null;

  const start = (): Promise<void> => {
    starting ??= parts.startDaemon().finally(() => {
      starting = null;
    });
    return starting;
  };

  /** The answer; or false when it may be asked again of another daemon. */
  const askOnce = async <Reply>({
    isRepeatable,
    request,
    ...how
  }: DaemonRequest<Reply>): Promise<{ reply: Reply } | false> => {
    try {
      const made = typeof request === 'function' ? request() : request;
      const caller = { pid: parts.pid, hops: parts.hops };
      const { answer } = await openAnswer(parts.socketPath(), { ...made, ...how, caller });
      return { reply: replyTo(made, await readText(answer)) };
    } catch (problem) {
      if (!(problem instanceof AgtmuxError)) throw problem;
      if (problem.code === 'E_ROUTE') throw olderDaemon(problem);
      if (problem.code === 'E_VERSION') throw forUser(problem);
      if (problem.code !== 'E_DAEMON_DOWN' || how.signal?.aborted === true) throw problem;
      if (wasNeverReached(problem) || isRepeatable) return false;
      throw new LostError(problem);
    }
  };

  return {
    start,
    async ask<Reply>(request: DaemonRequest<Reply>): Promise<Reply> {
      const first = await askOnce<Reply>(request);
      if (first !== false) return first.reply;
      await start();
      const second = await askOnce<Reply>(request);
      if (second !== false) return second.reply;
      throw new AgtmuxError('E_DAEMON_DOWN', 'the agtmux daemon was started and stopped again', {
        next: 'ask the user to check its log: `agtmux logs`',
      });
    },
  };
}

function wasNeverReached({ cause }: AgtmuxError): boolean {
  return cause instanceof Error && 'code' in cause && ['ENOENT', 'ECONNREFUSED'].includes(String(cause.code));
}

/** Agents are not to restart what serves everyone. */
const forUser = (cause: AgtmuxError): AgtmuxError =>
  new AgtmuxError(cause.code, cause.message, { next: `ask the user to do this: ${cause.next}`, cause });

/** It speaks the same API, but of a time before it had shells. */
const olderDaemon = (cause: AgtmuxError): AgtmuxError =>
  new AgtmuxError('E_VERSION', 'the running agtmux daemon is older than this MCP server and does not support this', {
    next: 'ask the user to run `agtmux daemon restart`',
    cause,
  });

// What the MCP server is given from outside: its process, time, and the way to the daemon. Types only.

export interface McpParts {
  readonly version: string;
  readonly socketPath: () => string;
  /** For the feed. */
  readonly client: ApiClient;
  /** This process: the daemon finds the agent above it (ACT6). */
  readonly pid: number;
  /** Where commands run unless they say otherwise, and what they find in their environment. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** How many agents a message went through before it reached this process (ACT6). */
  readonly hops: number;
  /** How long this client may be kept waiting (SHL2). Null: it did not say its name. */
  readonly budgetMs: (client: string | null) => number;
  readonly startDaemon: () => Promise<void>;
  /** A number that only grows, in milliseconds. */
  readonly now: () => number;
  readonly after: (delayMs: number, work: () => void) => () => void;
  /** A name that no other call has. */
  readonly newCallId: () => string;
  /** For people; never to standard output, which belongs to the protocol. */
  readonly onTrouble: (words: string) => void;
}

// Notices that were taken from the daemon and could not be handed over, because their call was cancelled or given up. They
// come first in the next result of the same thread, so that each is told once and none is lost (SHL7).

interface PendingNotices {
  keep(thread: string | null, notices: readonly ShellNoticeItem[]): void;
  take(thread: string | null): readonly ShellNoticeItem[];
}

/** One process serves one agent: more threads than these were never seen. */
const threadsMax = 64;

export function createPendingNotices(): PendingNotices {
  const byThread = new Map<string | null, readonly ShellNoticeItem[]>();
  return {
    keep(thread, notices) {
      if (notices.length === 0) return;
      const all = [...(byThread.get(thread) ?? []), ...notices];
      byThread.delete(thread);
      byThread.set(thread, all.slice(-limits.shellNoticesMax));
      const [oldest] = byThread.keys();
      if (byThread.size > threadsMax && oldest !== undefined) byThread.delete(oldest);
    },
    take(thread) {
      const kept = byThread.get(thread) ?? [];
      byThread.delete(thread);
      return kept;
    },
  };
}

export interface Call {
  /** What the client says of itself; the process is told with every request (ACT6). */
  readonly claim: { readonly client: string | null; readonly thread: string | null };
  /** The client gave it up, or is gone. */
  readonly signal: AbortSignal;
  readonly beganMs: number;
  readonly budgetMs: number;
  /** Null: the client did not ask to be told. */
  readonly progress: ((seconds: number, ofSeconds: number, words: string) => void) | null;
}

export interface McpContext {
  readonly parts: McpParts;
  readonly daemon: DaemonConnection;
  readonly held: PendingNotices;
}

/** Of the budget, not less than one: what is over already goes to the background at once. */
export const leftMs = ({ parts }: McpContext, { beganMs, budgetMs }: Call): number =>
  Math.max(1, Math.floor(beganMs + budgetMs - parts.now()));

/** The same where there is no body. */
export function claimQuery({ claim }: Call): { client?: string; thread?: string } {
  const { client, thread } = claim;
  return { ...(client === null ? {} : { client }), ...(thread === null ? {} : { thread }) };
}

export const pause = ({ parts }: McpContext, delayMs: number): Promise<void> =>
  new Promise((resolve) => void parts.after(delayMs, resolve));
