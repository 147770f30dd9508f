// A session in the words of the engine: what is told of it, once, and in an order that arrival cannot change.

import { describe, expect, it } from 'vitest';
import { keptSession } from '../../test/kit/managed-session.ts';
import { admit } from '../engine/admit.ts';
import { askId, mainScope, targetId } from '../model/ids.ts';
import type { PendingAsk } from '../model/sessions.ts';
import { changeFacts, endFacts, repeatFact, shownAsk, startFact, toldBefore, toldNothing } from './entry.ts';
import type { StoredSession } from './store.ts';

let seq = 0;
const place = { target: targetId('host'), at: 1_000, epoch: 5, seq: () => (seq += 1) };
const ask: PendingAsk = {
  ask_id: askId('theirs'),
  kind: 'command',
  scope: mainScope,
  text: 'touch x',
  options: [],
  accepts: ['approve', 'reject'],
};
const waiting = (fields: Partial<StoredSession> = {}): StoredSession =>
  keptSession({ state: 'waiting_approval', reason: 'approval_asked', state_version: 4, pending_ask: ask, ...fields });
const context = { now: 2_000, offsetMs: () => 0, allowed: () => new Set<string>() };
const kinds = (events: readonly { readonly kind: string }[]): readonly string[] => events.map(({ kind }) => kind);

describe('what the engine is told of a session', () => {
  it('SES9 it is a runtime in no pane, without a process of its own', () => {
    const admitted = admit(startFact(keptSession(), place), context);
    expect(admitted).toMatchObject({
      ok: true,
      event: { source: 'driver', fact: { runtime: { pane: null, server: null, process: null, parent: null } } },
    });
    for (const event of [...endFacts(keptSession(), place), repeatFact(keptSession(), place)]) {
      expect(admit(event, context)).toMatchObject({ ok: true, event: { evidence: { runtime_id: 'r1' } } });
    }
  });

  it('RSV1 a state is told with its reason, and only when it has changed', () => {
    const first = changeFacts(keptSession({ state: 'streaming', reason: 'turn_running' }), toldNothing, place);
    expect(first.events).toMatchObject([
      { kind: 'state.observed', payload: { state: 'running', reason: 'turn_running' } },
    ]);
    expect(
      changeFacts(keptSession({ state: 'streaming', reason: 'turn_running', turns: 9 }), first.told, place).events,
    ).toEqual([]);
    const failed = changeFacts(
      keptSession({ state: 'error', reason: 'api_error', words: 'no credit' }),
      first.told,
      place,
    );
    expect(failed.events).toMatchObject([{ payload: { state: 'error', detail: 'no credit' } }]);
  });

  it('RSV7 after a restart what was finished long ago is not finished anew, and what has changed is told', () => {
    const done = keptSession({ state: 'completed', reason: 'turn_completed' });
    for (const known of [
      { state: 'completed', reason: 'turn_completed', ask: null },
      { state: 'idle', reason: 'completed_aged', ask: null },
    ] as const) {
      expect(changeFacts(done, toldBefore(done, known), place).events).toEqual([]);
    }
    const paused = keptSession({ state: 'paused', reason: 'daemon_restarted' });
    const asked = { ...ask, ask_id: askId('a4-left') };
    const before = toldBefore(paused, { state: 'waiting_approval', reason: 'approval_asked', ask: asked });
    expect(kinds(changeFacts(paused, before, place).events)).toEqual(['state.observed', 'ask.settled']);
  });

  it('ORD1 every event has the next number of this run', () => {
    const { events } = changeFacts(waiting(), toldNothing, place);
    const numbers = events.map(({ source_seq }) => source_seq ?? 0);
    expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const event of events) expect(admit(event, context).ok).toBe(true);
  });

  it('ASK1 an ask is opened while somebody is waited for, and settled when that is over', () => {
    const opened = changeFacts(waiting(), toldNothing, place);
    expect(kinds(opened.events)).toEqual(['state.observed', 'ask.opened']);
    const gone = changeFacts(
      keptSession({ state: 'paused', reason: 'daemon_restarted', pending_ask: ask }),
      opened.told,
      place,
    );
    expect(kinds(gone.events)).toEqual(['state.observed', 'ask.settled']);
    expect(gone.events[1]?.payload).toMatchObject({ ask_id: opened.told.ask });
  });

  it('ASK3 other words, or the same words asked again, are another ask', () => {
    const first = shownAsk(waiting())?.ask_id;
    expect(shownAsk(waiting())?.ask_id).toBe(first);
    expect(shownAsk(waiting({ pending_ask: { ...ask, text: 'rm x' } }))?.ask_id).not.toBe(first);
    expect(shownAsk(waiting({ state_version: 6 }))?.ask_id).not.toBe(first);
    const { told } = changeFacts(waiting(), toldNothing, place);
    const changed = changeFacts(waiting({ pending_ask: { ...ask, text: 'rm x' } }), told, place);
    expect(kinds(changed.events)).toEqual(['ask.settled', 'ask.opened']);
  });

  it('ASK2 whatever an agent calls its asks, the engine takes them', () => {
    const strange: PendingAsk = {
      ...ask,
      ask_id: askId('\u0000'.repeat(500)),
      kind: 'question',
      text: 'y'.repeat(50_000),
      options: Array.from({ length: 99 }, (_, place) => ({ id: `\u001b${place}`, label: 'z'.repeat(9_000) })),
    };
    const { events } = changeFacts(waiting({ pending_ask: strange }), toldNothing, place);
    const opened = events.find(({ kind }) => kind === 'ask.opened');
    // Its machine waits for an approval: so does everyone who looks at it.
    expect(opened?.payload).toMatchObject({ ask: { kind: 'tool' } });
    expect(
      admit({ ...opened, payload: { ask: { ...(opened?.payload.ask as object), options: [] } } }, context).ok,
    ).toBe(true);
  });
});
