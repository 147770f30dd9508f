// Which conversation a run of an agent has had, by what is in the log of it. Some agents name theirs in files of their own,
// others in the calls of their hooks alone; only a call that came from the agent's own process counts (BND1).

import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StoredEvent } from '../model/records.ts';
import type { Store } from '../store/store.ts';

type Events = Pick<Store, 'eventsOf'>;

/** The one that was named in the last call of a hook. */
export async function heardFrom(store: Events, runtime: RuntimeId, eventsMax: number): Promise<string | null> {
  for (const { event } of await store.eventsOf(runtime, eventsMax)) {
    const { ancestry, agent_session: session } = event.evidence;
    if (ancestry !== undefined && session !== undefined) return session;
  }
  return null;
}

/** Of several that it told of the last, by when that arose; where it told of none, the one its hooks named. */
export async function lastSession(
  store: Events,
  runtime: RuntimeId,
  sessions: readonly string[],
): Promise<string | null> {
  const [only] = sessions;
  if (only === undefined) return heardFrom(store, runtime, limits.sessionEventsMax);
  if (sessions.length === 1) return only;
  let best: StoredEvent['event'] | null = null;
  for (const { event } of await store.eventsOf(runtime, limits.sessionEventsMax)) {
    if (event.fact.kind === 'runtime.session' && (best === null || event.time > best.time)) best = event;
  }
  return best?.fact.kind === 'runtime.session' ? best.fact.agent_session : null;
}
