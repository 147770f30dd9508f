// Follows the feed for as long as the page lives: goes on where it stopped after a loss, and at once when the page wakes
// from sleep. The page never decides what is true; it only knows how old its knowledge is.

import { followFeed } from '../api/client-feed.ts';
import { AgtmuxError, failure } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { clock, every, keep, onKept } from './port.ts';
import { renewPush } from './push.ts';
import { enter, hasToken, open, whenShut } from './requests.ts';
import { setEntrance } from './state/entrance.ts';
import { told } from './state/store.ts';

const tickMs = 1_000;
/** The feed is never silent for longer than its heartbeat; a little more means that it may be dead. */
const quietMs = limits.feedHeartbeatMs + 2_000;

/** How exactly the next visit knows when the daemon was last heard. */
const keepHeardMs = 5_000;

const place: { cursor: string | null; heardAt: number; keptAt: number; round: AbortController } = {
  cursor: null,
  heardAt: 0,
  keptAt: 0,
  round: new AbortController(),
};

/** Starts again from where we are, now. */
function wake(): void {
  place.round.abort();
}

async function follow(signal: AbortSignal): Promise<void> {
  const since = place.cursor === null ? {} : { since: place.cursor };
  const heardOpen: typeof open = async (options) => {
    const answer = await open(options);
    return { ...answer, body: () => noting(answer.body()) };
  };
  for await (const event of followFeed({ clock, open: heardOpen, scope: 'all', signal, ...since })) {
    if ('cursor' in event) place.cursor = event.cursor;
    told(event);
  }
}

async function* noting(body: AsyncGenerator<string, void, void>): AsyncGenerator<string, void, void> {
  for await (const part of body) {
    heardAt(clock.wallMs());
    yield part;
  }
}

/** A visit that never reaches the daemon can say since when (state/model.ts knows it of this visit alone). */
function heardAt(now: number): void {
  if (now - place.keptAt >= keepHeardMs) {
    keep('heard', String(now));
    place.keptAt = now;
  }
  place.heardAt = now;
}

/** One visit: enters, then follows until something ends it. */
async function visit(signal: AbortSignal): Promise<void> {
  const entering = await enter();
  if (entering.type === 'in') {
    setEntrance(entering.entrance);
    void renewPush();
    await follow(signal);
    return;
  }
  told({ type: entering.type === 'shut' ? 'shut' : 'failed', failure: entering.failure });
}

async function keepVisiting(): Promise<never> {
  let delayMs: number = limits.clientRetryMs;
  for (;;) {
    const round = new AbortController();
    place.round = round;
    const began = clock.monotonicMs();
    try {
      await visit(round.signal);
    } catch (error) {
      const { code, message, next } =
        error instanceof AgtmuxError ? error : new AgtmuxError('E_INTERNAL', String(error));
      if (!round.signal.aborted) told({ type: 'failed', failure: failure(code, message, next) });
    }
    // Woken: at once. Otherwise with patience that grows while it does not help.
    delayMs = clock.monotonicMs() - began > limits.clientRetryMsMax ? limits.clientRetryMs : delayMs;
    if (!round.signal.aborted) await resting(delayMs, round.signal);
    delayMs = Math.min(delayMs * 2, limits.clientRetryMsMax);
  }
}

function resting(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(delayMs, resolve);
    signal.addEventListener('abort', () => {
      cancel();
      resolve();
    });
  });
}

export function startFollowing(): void {
  whenShut(() => told({ type: 'shut', failure: shutOut }));
  const wakeIfQuiet = (): void => {
    if (document.visibilityState === 'visible' && clock.wallMs() - place.heardAt > quietMs) wake();
  };
  let tickedAt = clock.wallMs();
  // A gap in the ticks is a sleep: the machine's, or the browser's for pages that nobody looks at.
  every(tickMs, () => {
    const now = clock.wallMs();
    if (now - tickedAt > tickMs + quietMs) wake();
    tickedAt = now;
  });
  document.addEventListener('visibilitychange', wakeIfQuiet);
  window.addEventListener('pageshow', wakeIfQuiet);
  window.addEventListener('online', wake);
  // A new link in this very tab loads nothing: only what stands behind the # changes.
  window.addEventListener('hashchange', () => {
    if (hasToken()) wake();
  });
  onKept((name) => {
    if (name === 'key') wake();
  });
  void keepVisiting();
}

const shutOut = failure('E_SIGNED_OUT', 'this browser is not signed in');
