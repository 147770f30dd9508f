// An adapter that is told anything in any order, held to what every turn of every adapter may be.

import fc from 'fast-check';
import { expect } from 'vitest';
import type { Incoming, Outgoing, ProtocolAdapter, Turn, UserAction } from '../../src/agents/protocol/adapter.ts';
import { askId } from '../../src/model/ids.ts';
import { limits } from '../../src/model/limits.ts';
import type { Scene } from './replay-session.ts';

const deed = fc.constantFrom<(id: string) => UserAction>(
  () => ({ kind: 'send', text: 'and now this' }),
  () => ({ kind: 'send', text: ' ' }),
  (ask_id) => ({ kind: 'approve', ask_id }),
  (ask_id) => ({ kind: 'reject', ask_id, because: null }),
  (ask_id) => ({ kind: 'reject', ask_id, because: 'not here' }),
  (ask_id) => ({ kind: 'choose', ask_id, option: '1' }),
  (ask_id) => ({ kind: 'write', ask_id, text: 'blue' }),
  () => ({ kind: 'cancel' }),
  () => ({ kind: 'retry' }),
  () => ({ kind: 'continue', text: null }),
);

const events: readonly Incoming[] = [
  { from: 'clock' },
  { from: 'reconnect' },
  { from: 'stderr', line: 'a complaint' },
  { from: 'exit', code: 1, signal: null },
];

/** What happens between two lines: somebody does something, and something else is heard. */
export const between = fc.array(
  fc.record({
    after: fc.nat(60),
    deed,
    heard: fc.constantFrom(...events),
    /** For the requests that are open then. */
    status: fc.constantFrom(0, 200, 204, 400, 401, 404, 500),
    body: fc.constantFrom(
      '',
      '{}',
      '[]',
      'null',
      '{"id":"ses_1"}',
      '[{"id":"per_1","sessionID":"ses_1"}]',
      '{"data":[',
      '7',
    ),
  }),
  { maxLength: 6 },
);
type Between = typeof between extends fc.Arbitrary<infer One> ? One : never;

type PersonDeed = Extract<Scene, { readonly deed: unknown }>['deed'];
export const personDeeds = fc.array(
  fc.tuple(
    fc.nat(80),
    fc.constantFrom<PersonDeed>(
      { action: 'send', text: 'and now this' },
      { action: 'approve' },
      { action: 'reject', because: 'not here' },
      { action: 'answer', option: '1' },
      { action: 'stop' },
      { action: 'resume' },
      { action: 'retry' },
    ),
  ),
  { maxLength: 4 },
);

function check<Memory>({ said, messages, wakeMs }: Turn<Memory>): void {
  for (const one of said) {
    if (one.to === 'stdin') expect(one.line).not.toContain('\n');
    if (one.to === 'server') expect(one.path).toMatch(/^\/[!-~]*$/);
  }
  for (const { id, text } of messages) {
    expect(id).not.toBe('');
    expect(text.length).toBeLessThanOrEqual(limits.sessionMessageCharsMax);
  }
  expect(wakeMs ?? 1).toBeGreaterThan(0);
}

/** Feeds it, with what happens in between; whatever it asks of a server is answered somehow. */
export function played<Memory>(
  adapter: ProtocolAdapter<Memory>,
  heards: readonly Incoming[],
  auto_approve: boolean,
  extras: Between,
): Turn<Memory> {
  let at = 1_800_000_000_000;
  const opening = { prompt: 'go', cwd: '/w', model: null, auto_approve, resume: null, spawned_at: at, rejoin: null };
  const open: Extract<Outgoing, { readonly to: 'server' }>[] = [];
  let asked = '';
  const take = (next: Turn<Memory>): Turn<Memory> => {
    for (const { ask } of next.events) asked = ask?.ask_id ?? asked;
    for (const said of next.said) if (said.to === 'server') open.push(said);
    check(next);
    return next;
  };
  let turn = take(adapter.open(opening, at));
  for (const [place, heard] of heards.entries()) {
    at += 10;
    turn = take(adapter.hear(turn.memory, heard, at));
    for (const extra of extras.filter(({ after }) => after === place)) {
      const done = adapter.do(turn.memory, extra.deed(askId(asked)), at);
      if (done.ok) turn = take(done.value);
      for (const { request } of open.splice(0)) {
        turn = take(adapter.hear(turn.memory, { from: 'reply', request, status: extra.status, body: extra.body }, at));
      }
      at += 3_600_000;
      turn = take(adapter.hear(turn.memory, extra.heard, at));
    }
  }
  expect(JSON.parse(JSON.stringify(turn.memory))).toEqual(turn.memory);
  return turn;
}
