// Follows a stream of an agent's own server: server-sent events or a web socket. A connection that ends is made again,
// at first soon, then every two seconds, for as long as somebody wants it.

import { limits } from '../../model/limits.ts';
import type { Cancel, Clock } from '../../platform/clock.ts';
import type { StreamHandlers, TextStream } from '../../platform/web-socket.ts';
import type { Follower, FollowHandlers } from './follower.ts';

export interface StreamFollower extends Follower {
  /** The server may be there now: do not wait for the next turn. */
  wake(): void;
}

/** Nobody is there, or not any more: what a server that starts or ends looks like. */
const absenceCodes = ['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'];

export function followStream(
  clock: Clock,
  open: (handlers: StreamHandlers) => TextStream,
  handlers: FollowHandlers,
): StreamFollower {
  let stream: TextStream | null = null;
  let openedAt: number | null = null;
  let retryMs: number = limits.streamRetryFirstMs;
  let cancelRetry: Cancel | null = null;
  let triedAt = 0;
  let closed = false;

  function ended(why: string): void {
    stream = null;
    const wasOpenMs = openedAt === null ? null : clock.monotonicMs() - openedAt;
    openedAt = null;
    if (wasOpenMs !== null && wasOpenMs >= limits.reconnectSteadyMs) retryMs = limits.streamRetryFirstMs;
    // What is not there is not hammered at.
    const delayMs = why === 'ENOENT' ? limits.streamRetryLastMs : retryMs;
    retryMs = Math.min(retryMs * 2, limits.streamRetryLastMs);
    cancelRetry = clock.after(delayMs, connect);
    handlers.onState(absenceCodes.includes(why) || wasOpenMs !== null ? 'waiting' : 'failed', why);
    if (wasOpenMs !== null) handlers.onInput({ kind: 'closed' });
  }

  function connect(): void {
    cancelRetry = null;
    if (closed) return;
    triedAt = clock.monotonicMs();
    stream = open({
      onOpen: () => {
        openedAt = clock.monotonicMs();
        handlers.onState('ok', null);
        handlers.onInput({ kind: 'opened' });
      },
      onText: (text) => handlers.onInput({ kind: 'message', text }),
      onDropped: (size) => handlers.onDropped(`a message of ${size}`),
      onEnd: ended,
    });
  }

  function close(): void {
    closed = true;
    cancelRetry?.();
    stream?.close();
  }

  connect();
  return {
    send: (text) => stream?.send(text) ?? false,
    wake: () => {
      if (cancelRetry === null || closed) return;
      cancelRetry();
      const waitMs = triedAt + limits.streamRetryFirstMs - clock.monotonicMs();
      cancelRetry = clock.after(Math.max(0, waitMs), connect);
    },
    finish: close,
    close,
  };
}
