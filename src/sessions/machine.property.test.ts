// Whatever comes, in whatever order: the machine never throws, stays inside its table, keeps its bounds, and answers no ask
// twice. Events are drawn without any regard to what makes sense.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pendingAsk, t0 } from '../../test/kit/machine.ts';
import { isReasonCode } from '../model/reasons.ts';
import { extraEventKinds, type MachineEvent, machineEventKinds, machineStates } from '../model/sessions.ts';
import { canonicalOf } from './entry.ts';
import { dueOf, heard, step, tick } from './machine.ts';
import { freshFields, freshMemory, isPersonKind, type Machined } from './machine-memory.ts';
import { cellOf, stateOf } from './table.ts';

const runs = 2_000;
const ids = Array.from({ length: 12 }, (_, index) => `ask-${index}`);
const askIdOrNone = fc.option(fc.constantFrom(...ids), { nil: undefined });

const anyEvent = fc
  .record({
    kind: fc.constantFrom(...machineEventKinds, ...extraEventKinds),
    waitMs: fc.constantFrom(0, 1, 40, 1_500, 3_000, 130_000),
    saidMs: fc.option(fc.integer({ min: -5_000, max: 5_000 }), { nil: undefined }),
    partial: fc.constantFrom(undefined, undefined, false, true),
    request: fc.option(fc.constantFrom('r1', 'r2', 'r3'), { nil: undefined }),
    is_usage: fc.constantFrom(undefined, undefined, true),
    ask: fc.option(
      fc.record({ id: fc.constantFrom(...ids), accepts: fc.constantFrom(['approve', 'reject'], ['text'], ['retry']) }),
      { nil: undefined },
    ),
    ask_id: askIdOrNone,
    code: fc.constantFrom(null, 0, 1, 124, 130, 137, 143),
    signal: fc.constantFrom(null, null, 'SIGTERM', 'SIGKILL', 'SIGSEGV'),
    words: fc.option(fc.string({ maxLength: 4_000 }), { nil: undefined, freq: 9 }),
    retry: fc.option(
      fc.record({ count: fc.nat(6), status: fc.constantFrom(null, 401, 429, 500), until: fc.constant(null) }),
      { nil: undefined },
    ),
    outcome: fc.constantFrom(undefined, 'verified' as const, 'unverified' as const),
    state: fc.option(fc.constantFrom(...machineStates), { nil: undefined }),
    is_alive: fc.constantFrom(undefined, true, false),
  })
  .map(({ waitMs, saidMs, ask, code, signal, ...rest }) => ({
    waitMs,
    /** Only to be read in a counterexample. */
    kind: rest.kind,
    make(at: number): MachineEvent {
      const known = Object.entries(rest).filter(([, value]) => value !== undefined);
      return {
        ...(Object.fromEntries(known) as Pick<MachineEvent, 'kind'>),
        at,
        exit: { code, signal },
        ...(saidMs === undefined ? {} : { said_at: at + saidMs }),
        ...(ask === undefined ? {} : { ask: pendingAsk(ask.id, { accepts: ask.accepts }) }),
      };
    },
  }));

const anyLife = fc.record({
  auto_approve: fc.boolean(),
  hasNoCreated: fc.boolean(),
  events: fc.array(anyEvent, { maxLength: 60 }),
});

/** True at all times. */
function expectSound(record: Machined): void {
  expect(machineStates).toContain(record.state);
  expect(record.answered.length).toBeLessThanOrEqual(256);
  expect(new Set(record.answered).size).toBe(record.answered.length);
  expect(record.memory.requests.length).toBeLessThanOrEqual(64);
  expect(record.words?.length ?? 0).toBeLessThanOrEqual(2_000);
  if (record.reason !== null) {
    expect(isReasonCode(record.reason)).toBe(true);
    // What is published is the reason of the record, not a substitute for one that does not fit.
    expect(canonicalOf(record).reason).toBe(record.reason);
  }
  const isWaiting = record.state === 'waiting_approval' || record.state === 'waiting_input';
  if (isWaiting) {
    expect(record.pending_ask).not.toBeNull();
    expect(record.answered).not.toContain(record.pending_ask?.ask_id);
  }
  if (record.state === 'creating') expect(dueOf(record)).not.toBeNull();
  expect(JSON.parse(JSON.stringify(record))).toEqual(record);
}

function expectInsideTable(before: Machined, event: MachineEvent, after: Machined): void {
  const cell = cellOf(before.state, event.kind);
  const allowed = [cell.yes, cell.no].map((outcome) => (outcome === '@' ? event.state : stateOf(outcome)));
  if (event.kind === 'rejoined') allowed.push('streaming');
  if (event.kind === 'partial_stall') {
    const held = before.memory.held;
    const ripe = held === null ? null : cellOf(before.state, held.kind);
    allowed.push(...(ripe === null ? [] : [stateOf(ripe.yes), stateOf(ripe.no)]));
  }
  expect([before.state, ...allowed]).toContain(after.state);
}

describe('SES1 any life', () => {
  it('SES1 never throws, never leaves the table, stays bounded, answers no ask twice', () => {
    fc.assert(
      fc.property(anyLife, ({ auto_approve, hasNoCreated, events }) => {
        let now = t0;
        let record: Machined = { ...freshFields(now), auto_approve, memory: freshMemory({ hasNoCreated }) };
        const accepted = new Set<string>();
        for (const { waitMs, make } of events) {
          now += waitMs;
          record = tick(heard(record, now), now).record;
          const event = make(now);
          const before = record;
          const { record: after, refusal, changed, effect } = step(before, event);
          expectSound(after);
          expectInsideTable(before, event, after);
          expect(after.state_version).toBeGreaterThanOrEqual(before.state_version);
          if (after.state !== before.state) expect(after.state_version).toBeGreaterThan(before.state_version);
          if (!isPersonKind(event.kind)) expect([refusal, effect]).toEqual([null, 'none']);
          if (refusal !== null) expect([after, changed, effect]).toEqual([before, false, 'none']);
          const open = before.pending_ask?.ask_id;
          const isAnswer = ['approve_action', 'reject_action', 'retry', 'send_message'].includes(event.kind);
          // A leftover that a process took with it may be asked anew; it was never answered.
          const wasOpen = before.state !== 'paused' && before.state !== 'completed' && before.state !== 'stopped';
          if (isAnswer && effect === 'deliver' && open !== undefined && wasOpen) {
            expect(accepted).not.toContain(open);
            expect(after.answered).toContain(open);
            accepted.add(open);
          }
          record = after;
        }
      }),
      { numRuns: runs },
    );
  });

  it('SES2 time always runs out: after the last due time nothing is due, and no session is left in creating', () => {
    fc.assert(
      fc.property(anyLife, ({ auto_approve, hasNoCreated, events }) => {
        let now = t0;
        let record: Machined = { ...freshFields(now), auto_approve, memory: freshMemory({ hasNoCreated }) };
        for (const { waitMs, make } of events) {
          now += waitMs;
          record = step(record, make(now)).record;
        }
        for (let dues = 0; dueOf(record) !== null; dues += 1) {
          const due = dueOf(record) ?? 0;
          expect(tick(record, due - 1).record).toBe(record);
          record = tick(record, due).record;
          expectSound(record);
          expect(dues).toBeLessThan(3);
        }
        expect(record.state).not.toBe('creating');
      }),
      { numRuns: runs },
    );
  });
});
