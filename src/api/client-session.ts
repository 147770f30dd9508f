// A session as a client follows it: its messages and its state as they come, from where it stopped after a loss.

import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { framesOf, readAgain } from './client-feed.ts';
import type { SendOptions, SessionEvent, SessionRequest } from './client-types.ts';
import type { Answer } from './client-wire.ts';
import type { ManagedReply, MessagePageReply } from './sessions.ts';

interface Follow extends SessionRequest {
  readonly path: string;
  readonly clock: Clock;
  readonly open: (options: SendOptions) => Promise<Answer>;
}

export async function* followSession(options: Follow): AsyncGenerator<SessionEvent, void, void> {
  const place = { after: options.after ?? 0 };
  yield* readAgain(options, () => readOnce(options, place));
}

/** One connection, until it is lost or the session is gone. */
async function* readOnce(
  { open, path, signal }: Follow,
  place: { after: number },
): AsyncGenerator<SessionEvent, void, void> {
  const answer = await open({
    path: `${path}/follow?after=${place.after}`,
    headers: { accept: 'text/event-stream' },
    silenceMs: limits.feedSilenceMs,
    ...(signal === undefined ? {} : { signal }),
  });
  try {
    for await (const { event, data } of framesOf(answer)) {
      if (event === 'gone') {
        yield { type: 'gone' };
        return;
      }
      if (event === 'session') yield { type: 'session', data: JSON.parse(data) as ManagedReply };
      if (event !== 'messages') continue;
      const page = JSON.parse(data) as MessagePageReply;
      place.after = page.cursor;
      yield { type: 'messages', data: page };
    }
  } finally {
    answer.close();
  }
  throw new AgtmuxError('E_DAEMON_DOWN', 'the daemon closed the connection');
}
