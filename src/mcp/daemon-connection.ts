// The way to the daemon for one process that lives as long as its agent: asks, starts a daemon that is not there, and
// tells a request that never arrived from one whose end nobody knows.

import { openAnswer, parseReply, readText } from '../api/client-lean.ts';
import type { SendOptions } from '../api/client-types.ts';
import { AgtmuxError } from '../model/errors.ts';
import type { McpParts } from './parts.ts';

export interface DaemonRequest extends Pick<SendOptions, 'method' | 'path' | 'silenceMs' | 'signal'> {
  /** Made when it is sent: time may have passed until there is a daemon. */
  readonly body?: () => object;
  /** Asked again after the daemon was lost in the middle: only what changes nothing. */
  readonly isRepeatable: boolean;
}

export interface DaemonConnection {
  /** Throws AgtmuxError; LostError when the connection ended before the answer did. */
  ask<Reply>(request: DaemonRequest): Promise<Reply>;
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

export function connectDaemon(parts: Pick<McpParts, 'socketPath' | 'startDaemon'>): DaemonConnection {
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
    body,
    ...request
  }: DaemonRequest): Promise<{ reply: Reply } | false> => {
    try {
      const { answer } = await openAnswer(
        parts.socketPath(),
        body === undefined ? request : { ...request, body: body() },
      );
      return { reply: parseReply(await readText(answer)) as Reply };
    } catch (problem) {
      if (!(problem instanceof AgtmuxError)) throw problem;
      if (problem.code === 'E_ROUTE') throw olderDaemon(problem);
      if (problem.code === 'E_VERSION') throw forUser(problem);
      if (problem.code !== 'E_DAEMON_DOWN' || request.signal?.aborted === true) throw problem;
      if (wasNeverReached(problem) || isRepeatable) return false;
      throw new LostError(problem);
    }
  };

  return {
    start,
    async ask<Reply>(request: DaemonRequest): Promise<Reply> {
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
