// The table as a whole: every cell there is, against the list it was designed with; and every cell through the machine.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { happening, pendingAsk, sessionIn, t0 } from '../../test/kit/machine.ts';
import {
  extraEventKinds,
  type MachineEvent,
  type MachineEventKind,
  type MachineState,
  machineEventKinds,
  machineStates,
} from '../model/sessions.ts';
import { step } from './machine.ts';
import { isPersonKind, type Machined, personKinds } from './machine-memory.ts';
import { type Cell, cellOf, origins, rows, shortNames, stateOf } from './table.ts';

const file = join(import.meta.dirname, '../../test/fixtures/sessions/transitions.json');
/** By event, one entry a state: where it leads (`a/b`: two outcomes, `!`: refused), and the origin. */
const designed = JSON.parse(readFileSync(file, 'utf8')) as Record<string, readonly string[]>;

const everyKind = [...machineEventKinds, ...extraEventKinds];
const pairs = everyKind.flatMap((kind) => machineStates.map((state) => ({ state, kind })));

/** Where a cell may lead, as the designed list writes it. */
function leadsTo(state: MachineState, cell: Cell): string[] {
  const name = (outcome: Cell['yes']): string => (outcome === '!' ? '!' : (stateOf(outcome) ?? state));
  return [...new Set([name(cell.yes), name(cell.no)])].sort();
}

/**
 * Cells that can do more than the list says, each for a reason that the list gives in words: a process that is gone is
 * started again, an ask may be live or answered, a silent end is no success, an error may pass.
 */
const widened: Readonly<Record<string, string>> = {
  'send_message completed': 'creating',
  'send_message paused': 'creating',
  'send_message stopped': 'creating',
  'resume_session completed': 'creating',
  'resume_session paused': 'creating',
  'resume_session error': 'creating',
  'resume_session stopped': 'creating',
  'retry error': 'creating',
  'send_message waiting_input': '!',
  'approve_action waiting_approval': '!',
  'reject_action waiting_approval': '!',
  'ask:tool paused': 'waiting_approval',
  'ask:command paused': 'waiting_approval',
  'ask:browser_action_launch paused': 'waiting_approval',
  'ask:use_mcp_server paused': 'waiting_approval',
  'ask:followup paused': 'waiting_input',
  'process_exit_zero streaming': 'error',
  'say:text error': 'streaming',
};

describe('SES1 the table', () => {
  it('SES1 has 9 states by 27 events, and rows of their own for the others', () => {
    expect(machineStates).toHaveLength(9);
    expect(machineEventKinds).toHaveLength(27);
    expect(Object.keys(rows).sort()).toEqual([...everyKind].sort());
    expect(new Set(everyKind).size).toBe(everyKind.length);
    expect(Object.values(shortNames)).toEqual(machineStates);
    for (const columns of Object.values(rows)) expect(columns).toHaveLength(9);
  });

  it('SES1 is the one it was designed as, in all 243 cells', () => {
    const found = machineEventKinds.flatMap((kind) =>
      machineStates.map((state, index) => {
        const cell = cellOf(state, kind);
        const [next = '', origin = ''] = (designed[kind]?.[index] ?? '').split(' ');
        const more = widened[`${kind} ${state}`];
        const wanted = [...new Set([...next.split('/'), ...(more === undefined ? [] : [more])])].sort();
        return { at: `${kind} ${state}`, is: `${leadsTo(state, cell)} ${cell.origin}`, wanted: `${wanted} ${origin}` };
      }),
    );
    expect(found).toHaveLength(243);
    expect(found.filter(({ is, wanted }) => is !== wanted)).toEqual([]);
  });

  it('SES1 says of each cell where it comes from', () => {
    const counts: Record<string, number> = {};
    for (const kind of machineEventKinds)
      for (const state of machineStates) {
        const { origin } = cellOf(state, kind);
        counts[origin] = (counts[origin] ?? 0) + 1;
      }
    expect(counts).toEqual({ T: 35, C: 12, X: 10, U: 3, D: 2, E: 2, N: 179 });
    expect(Object.keys(counts).sort()).toEqual(Object.keys(origins).sort());
  });

  it('SES1 refuses only what people want', () => {
    const refusing = pairs.filter(({ state, kind }) => [cellOf(state, kind).yes, cellOf(state, kind).no].includes('!'));
    expect(refusing.filter(({ kind }) => !isPersonKind(kind))).toEqual([]);
    expect(new Set(refusing.map(({ kind }) => kind))).toEqual(
      new Set(personKinds.filter((kind) => kind !== 'cancel_session')),
    );
  });

  it('SES1 a word that is in no table changes nothing', () => {
    expect(cellOf('streaming', 'nonsense' as MachineEventKind).yes).toBe('=');
  });
});

/** The shapes in which an event may come; what does not matter to it is there as well. */
const shapes: readonly Partial<MachineEvent>[] = [
  {},
  { ask: pendingAsk('new'), request: 'r9', said_at: t0 + 900, exit: { code: 1, signal: null }, is_alive: true },
  { ask: pendingAsk('open'), ask_id: 'open', exit: { code: 143, signal: null }, is_alive: false, partial: false },
  { ask_id: 'other', exit: { code: null, signal: 'SIGKILL' }, retry: { count: 9, status: 500, until: null } },
  { state: 'streaming', retry: { count: 1, status: 401, until: null }, outcome: 'unverified' },
  { state: 'completed', said_at: t0 - 1, is_usage: true },
];

/** The memories that guards look at. */
const memories: readonly (Partial<Machined['memory']> | undefined)[] = [
  undefined,
  { saw_session: true, saw_request: true, spoke: true, resumed_at: t0 },
];

describe('SES1 every cell through the machine', () => {
  it.each(pairs)('SES1 $kind in $state stays inside its cell', ({ state, kind }) => {
    const allowed = new Set([...leadsTo(state, cellOf(state, kind)), ...(kind === 'rejoined' ? machineStates : [])]);
    for (const shape of shapes) {
      for (const memory of memories) {
        const record = sessionIn(state, memory === undefined ? {} : { memory });
        const { record: next, refusal, changed, effect } = step(record, happening(kind, shape));
        // What has no effect, by SES2 and SES3, is inside every cell.
        expect([...allowed, state]).toContain(refusal === null ? next.state : '!');
        if (refusal !== null) {
          expect(isPersonKind(kind)).toBe(true);
          expect(refusal.code).toMatch(/^E_(STATE_CHANGED|DIALOG)$/);
          expect(refusal.message).not.toBe('');
          expect(next).toBe(record);
          expect(effect).toBe('none');
        }
        if (next.state !== state) expect(changed).toBe(true);
        if (changed) expect(next.updated_at).toBe(t0 + 1_000);
        if (effect === 'spawn') expect(next.state).toBe('creating');
        if (effect !== 'none') expect(isPersonKind(kind)).toBe(true);
      }
    }
  });

  it.each(pairs.filter(({ state, kind }) => leadsTo(state, cellOf(state, kind)).length > 1))(
    'SES1 $kind in $state can end both ways',
    ({ state, kind }) => {
      const seen = new Set<string>();
      const errors: Partial<Machined>[] =
        state === 'error'
          ? [{ reason: 'needs_action' }, { pending_ask: pendingAsk('open', { accepts: ['text'] }) }]
          : [];
      const pausedWithAsk: Partial<Machined>[] = state === 'paused' ? [{ pending_ask: pendingAsk('open') }] : [];
      for (const patch of [{}, ...errors, ...pausedWithAsk])
        for (const memory of [...memories, { saw_request: true }, { saw_session: true }])
          for (const shape of shapes) {
            const record = sessionIn(state, { ...patch, ...(memory === undefined ? {} : { memory }) });
            const { record: next, refusal } = step(record, happening(kind, shape));
            seen.add(refusal === null ? next.state : '!');
          }
      expect([...seen]).toEqual(expect.arrayContaining(leadsTo(state, cellOf(state, kind))));
    },
  );
});
