// A session as one more agent among all others (IDN9): what its record means in the events that every source speaks in, so
// that engine, lists, routing and explanations need no second way. Pure.

import { canonical, hashText } from '../engine/canonical.ts';
import { stateOfAsk } from '../model/asks.ts';
import type { EventEnvelope, Fact, RuntimeIdentity } from '../model/events.ts';
import { type AskId, askId, type TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import type { PendingAsk } from '../model/sessions.ts';
import { canonicalOf } from './canonical.ts';
import type { KeptSession } from './store-record.ts';

/**
 * What is asked, under an id that is everyone's: it changes with every word of it and with every new asking, so that an
 * answer to what was seen is never taken for an answer to something else (ASK3).
 */
export function shownAsk({
  pending_ask,
  state_version,
}: Pick<KeptSession, 'pending_ask' | 'state_version'>): PendingAsk | null {
  if (pending_ask === null) return null;
  const hash = hashText(canonical(pending_ask)).slice(-6);
  return { ...pending_ask, ask_id: askId(`a${state_version}-${hash}`) };
}

/** Only while somebody is waited for; beside a pause it is shown and no more. */
const isAsking = ({ state }: KeptSession): boolean => state === 'waiting_approval' || state === 'waiting_input';

/** What the engine was told last, as far as it is compared. */
export interface Told {
  readonly claim: string;
  readonly ask: AskId | null;
}

export const toldNothing: Told = { claim: '', ask: null };

type Payload = { readonly [Kind in Fact['kind']]: Omit<Extract<Fact, { kind: Kind }>, 'kind'> };

export interface Place {
  readonly target: TargetId;
  readonly at: number;
  /** When this count began, and how far it has come (ORD1). */
  readonly epoch: number;
  readonly seq: () => number;
}

function event<Kind extends Fact['kind']>(
  session: Pick<KeptSession, 'runtime_id'>,
  { target, at, epoch, seq }: Place,
  kind: Kind,
  payload: Payload[Kind],
): EventEnvelope {
  return {
    evidence: kind === 'runtime.started' ? { target } : { target, runtime_id: session.runtime_id },
    source: 'driver',
    kind,
    event_time: at,
    source_seq: seq(),
    source_epoch: epoch,
    payload: payload as EventEnvelope['payload'],
  };
}

export function startFact(session: KeptSession, place: Place): EventEnvelope {
  const runtime: RuntimeIdentity = {
    runtime_id: session.runtime_id,
    target: place.target,
    agent: session.agent,
    server: null,
    pane: null,
    pane_epoch: 0,
    // It has one process after another; who it is does not change with them.
    process: null,
    parent: null,
    started_at: session.created_at,
  };
  const started = event(session, place, 'runtime.started', { runtime });
  return { ...started, dedupe_key: `start:${session.runtime_id}` };
}

export function endFacts(session: KeptSession, place: Place): readonly EventEnvelope[] {
  return [
    event(session, place, 'runtime.goodbye', {}),
    event(session, place, 'runtime.ended', { cause: 'exit', status: 0 }),
  ];
}

/** It still does what it did. */
export const repeatFact = (session: KeptSession, place: Place): EventEnvelope =>
  event(session, place, 'state.repeated', {});

function claimOf(session: KeptSession): Payload['state.observed'] {
  const { state, reason } = canonicalOf(session);
  const { words, confidence } = session;
  return { state, reason, confidence, ...(words === null ? {} : { detail: words.slice(0, limits.detailCharsMax) }) };
}

/** What a former daemon told, by what the engine knows: work that was finished long ago is not finished anew. */
export function toldBefore(session: KeptSession, known: Pick<StateRecord, 'state' | 'reason' | 'ask'>): Told {
  const claim = claimOf(session);
  const isAged = claim.state === 'completed' && known.reason === 'completed_aged';
  const isSame = (known.state === claim.state && known.reason === claim.reason) || isAged;
  return { claim: isSame ? canonical(claim) : '', ask: known.ask?.ask_id ?? null };
}

/** What has to be told after a change, and what was told then. */
export function changeFacts(
  session: KeptSession,
  told: Told,
  place: Place,
): { readonly events: readonly EventEnvelope[]; readonly told: Told } {
  const claim = claimOf(session);
  const ask = isAsking(session) ? shownAsk(session) : null;
  const now: Told = { claim: canonical(claim), ask: ask?.ask_id ?? null };
  const events: EventEnvelope[] = [];
  if (now.claim !== told.claim) events.push(event(session, place, 'state.observed', claim));
  if (told.ask !== null && told.ask !== now.ask) {
    events.push(event(session, place, 'ask.settled', { ask_id: told.ask, how: 'answered' }));
  }
  if (ask !== null && told.ask !== now.ask)
    events.push(event(session, place, 'ask.opened', { ask: engineAsk(session, ask) }));
  return { events, told: now };
}

/** Its kind says whether a yes or a choice is wanted; the machine knows better than the agent's word for it. */
function engineAsk({ state }: KeptSession, { accepts: _, ...ask }: PendingAsk): Omit<PendingAsk, 'accepts'> {
  const isFitting = stateOfAsk(ask.kind) === state;
  const kind = isFitting ? ask.kind : state === 'waiting_input' ? 'question' : 'tool';
  const options = ask.options.slice(0, limits.askOptionsMax).map(({ id, label }) => ({
    id: plainId(id),
    label: label.slice(0, limits.detailCharsMax),
  }));
  return { ...ask, kind, text: ask.text.slice(0, limits.askCharsMax), options };
}

/** Ids of agents may be anything; the engine's are short and visible. */
const plainId = (id: string): string =>
  id.replace(/[\u0000-\u001f\u007f-\u009f]/g, '').slice(0, limits.idCharsMax) || '-';
