// The feed as a client follows it: reads server-sent events, remembers its place, and goes on from there after a loss
// (FED2). Reads only as fast as its consumer, so that a slow screen is slowed down by the daemon and not by memory.

import { AgtmuxError, errors } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { FeedEvent, FeedRequest, SendOptions } from './client-types.ts';
import type { Answer } from './client-wire.ts';
import type { FeedChanges, FeedCut, FeedList, FeedSnapshot } from './feed.ts';

interface Follow extends FeedRequest {
  readonly clock: Clock;
  readonly open: (options: SendOptions) => Promise<Answer>;
}

export async function* followFeed(options: Follow): AsyncGenerator<FeedEvent, void, void> {
  const place = { cursor: options.since ?? null };
  yield* readAgain(options, () => readOnce(options, place));
}

interface Lost {
  readonly type: 'lost';
  readonly error: AgtmuxError;
}

/**
 * One connection after the other, with growing rests in between. A loss is told once; the first connection has to stand,
 * and what trying again cannot mend is thrown. Ends when a connection ends by itself.
 */
export async function* readAgain<Event>(
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal | undefined },
  connect: () => AsyncGenerator<Event, void, void>,
): AsyncGenerator<Event | Lost, void, void> {
  const isLeft = (): boolean => signal?.aborted ?? false;
  let isOpen = false;
  let isFirst = true;
  let delayMs: number = limits.clientRetryMs;
  while (!isLeft()) {
    try {
      for await (const event of connect()) {
        isOpen = true;
        isFirst = false;
        delayMs = limits.clientRetryMs;
        yield event;
      }
      return;
    } catch (error) {
      if (isLeft()) return;
      const isHopeful = error instanceof AgtmuxError && errors[error.code].retryable;
      if (!isHopeful || isFirst) throw error;
      if (isOpen) yield { type: 'lost', error };
      isOpen = false;
    }
    await rest(clock, delayMs, signal);
    delayMs = Math.min(delayMs * 2, limits.clientRetryMsMax);
  }
}

/** One connection, until it is lost: it never ends in any other way. */
async function* readOnce(options: Follow, place: { cursor: string | null }): AsyncGenerator<FeedEvent, void, void> {
  const { open, scope, signal } = options;
  const answer = await open({
    path: `/v1/feed${scope === undefined ? '' : `?scope=${scope}`}`,
    headers: { accept: 'text/event-stream', ...(place.cursor === null ? {} : { 'last-event-id': place.cursor }) },
    silenceMs: limits.feedSilenceMs,
    ...(signal === undefined ? {} : { signal }),
  });
  try {
    yield { type: 'connected' };
    for await (const frame of framesOf(answer)) {
      if (frame.id !== null) place.cursor = frame.id;
      const event = eventOf(frame);
      if (event !== null) yield event;
    }
  } finally {
    answer.close();
  }
  throw new AgtmuxError('E_DAEMON_DOWN', 'the daemon ended the feed');
}

export interface Frame {
  readonly event: string;
  readonly id: string | null;
  readonly data: string;
}

export async function* framesOf(answer: Answer): AsyncGenerator<Frame, void, void> {
  let buffer = '';
  for await (const chunk of answer.body()) {
    let searched = Math.max(0, buffer.length - 1);
    buffer += chunk;
    let start = 0;
    for (let end = buffer.indexOf('\n\n', searched); end >= 0; end = buffer.indexOf('\n\n', searched)) {
      yield frameOf(buffer.slice(start, end));
      start = end + 2;
      searched = start;
    }
    buffer = buffer.slice(start);
    if (buffer.length > limits.replyCharsMax)
      throw new AgtmuxError('E_TOO_LARGE', 'an event of the feed is incomplete');
  }
}

function frameOf(text: string): Frame {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  return { event: fields.get('event') ?? '', id: fields.get('id') ?? null, data: fields.get('data') ?? '' };
}

/** Null for signs of life, and for events of a newer daemon. */
function eventOf({ event, id, data }: Frame): FeedEvent | null {
  if (data === '') return null;
  const cursor = id ?? '';
  switch (event) {
    case 'snapshot':
      return { type: 'snapshot', cursor, data: JSON.parse(data) as FeedSnapshot };
    case 'changes':
      return { type: 'changes', cursor, data: JSON.parse(data) as FeedChanges };
    case 'list':
      return { type: 'list', cursor, data: JSON.parse(data) as FeedList };
    case 'cut': {
      const { reason } = JSON.parse(data) as FeedCut;
      throw new AgtmuxError('E_DAEMON_DOWN', `the daemon ended the feed: ${reason}`);
    }
    default:
      return null;
  }
}

export function rest(clock: Clock, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      cancel();
      signal?.removeEventListener('abort', over);
      resolve();
    };
    const cancel = clock.after(delayMs, over);
    signal?.addEventListener('abort', over, { once: true });
  });
}
