import { describe, expect, it } from 'vitest';
import { lifeCells } from '../../test/kit/shell-cells.ts';
import { born, eventOf, exit, lived, process, recordOf, started, t0, wish } from '../../test/kit/shells.ts';
import { limits } from '../model/limits.ts';
import type { ShellRecord } from '../model/shells.ts';
import { bornShell, problemOf, stateOf, step } from './life.ts';
import { lifeEventKinds, lifeStates, lifeTable } from './life-table.ts';

const kindOf = (event: string): string => event.replace(/[:!].*$/, '');

describe('the table', () => {
  const pairs = lifeStates.flatMap((state) => lifeEventKinds.map((event) => `${state} ${event}`)).sort();

  it('SHL1 has one row for every state and event, and the data has a case for each', () => {
    expect(lifeTable.map(({ state, event }) => `${state} ${event}`).sort()).toEqual(pairs);
    expect([...new Set(lifeCells.map(({ state, event }) => `${state} ${kindOf(event)}`))].sort()).toEqual(pairs);
  });

  it('every row ends in a case that always holds, and no case stands twice', () => {
    for (const { state, event, cases } of lifeTable) {
      const whens = cases.map(({ when }) => when);
      expect(whens.at(-1), `${state} ${event}`).toBe('always');
      expect(new Set(whens).size, `${state} ${event}`).toBe(whens.length);
    }
  });

  it('SHL1 every case of the table is reached by the data', () => {
    const reached = new Set(
      lifeCells.map((cell) => {
        const record = recordOf(cell);
        const row = lifeTable.find(({ state, event }) => state === cell.state && event === kindOf(cell.event));
        const holds = {
          always: true,
          status_zero: cell.event.startsWith('exit:0'),
          kill_pending: record.kill_requested_by !== null && record.status === 'running',
          is_stopped: record.is_stopped,
          unavailable: cell.event.endsWith('unavailable'),
        };
        return `${cell.state} ${kindOf(cell.event)} ${row?.cases.find(({ when }) => holds[when])?.when}`;
      }),
    );
    const all = lifeTable.flatMap(({ state, event, cases }) => cases.map(({ when }) => `${state} ${event} ${when}`));
    expect(all.filter((one) => !reached.has(one))).toEqual([]);
  });
});

describe('every cell', () => {
  it.each(lifeCells)('SHL1 SHL2 SHL3 SHL4 $title', (cell) => {
    const record = recordOf(cell);
    const frozen = JSON.stringify(record);
    const next = step(record, eventOf(cell.event));
    expect({
      from: stateOf(record),
      to: stateOf(next.record),
      result: next.result,
      effects: next.effects.map((effect) => ('result' in effect ? `${effect.kind}:${effect.result}` : effect.kind)),
      events: next.events.map(({ kind, ended_by }) => (ended_by === null ? kind : `${kind}:${ended_by}`)),
      notices: next.notices.map(({ kind, by }) => `${kind}:${by}`),
    }).toEqual({
      from: cell.state,
      to: cell.to,
      result: cell.result,
      effects: cell.effects,
      events: cell.events,
      notices: cell.notices,
    });
    expect(JSON.stringify(record), 'the record that went in is left alone').toBe(frozen);
    expect(next.reason === null).toBe(next.result === null);
    if (cell.state === cell.to && (cell.to === 'completed' || cell.to === 'failed')) expect(next.record).toBe(record);
  });
});

describe('records', () => {
  it('SHL2 a shell is born in the mode that was asked for, with the usual budget', () => {
    expect(born()).toMatchObject({
      status: 'running',
      attempt: 1,
      requested_mode: 'foreground',
      start_mode: 'foreground',
      promoted_by: null,
      budget_ms: limits.shellBudgetMs,
      timeout_ms: 30_000,
      expected_ms: null,
      started_by: 'agent',
      ended_by: null,
    });
    expect(born({ run_in_background: true, budget_ms: 55_000, expected_duration_s: 90 })).toMatchObject({
      requested_mode: 'background',
      start_mode: 'background',
      budget_ms: 55_000,
      expected_ms: 90_000,
    });
  });

  it('SHL1 an inferred signal is told with the status it was read from', () => {
    const over = lived(born(), started, exit(137, { signal: 'SIGKILL', is_signal_inferred: true }));
    expect(over).toMatchObject({ exit_code: 137, signal: 'SIGKILL', is_signal_inferred: true, end_reason: 'signaled' });
    expect(over.words).toBe('killed by SIGKILL (outside), inferred from status 137');
  });

  it('SHL2 the mode it runs in and the mode it was asked for stay apart', () => {
    expect(lived(born(), started, eventOf('budget_elapsed'))).toMatchObject({
      requested_mode: 'foreground',
      start_mode: 'background',
      promoted_by: 'system',
    });
  });

  it('SHL4 a next attempt keeps id, command and place, and nothing of how the last one went', () => {
    const { record, ended_by } = step(lived(born(), started, eventOf('kill:user'), exit(143)), eventOf('resume:user'));
    expect(record).toEqual({
      ...bornShell({ shell_id: 'shell-3', owner: born().owner, wish: wish(), at: t0 + 50 }),
      attempt: 2,
      call_id: 'call-2',
      started_by: 'user',
      requested_mode: 'background',
      start_mode: 'background',
      words: 'run again by user',
    });
    expect(ended_by, 'it runs, whoever ended the attempt before').toBeNull();
  });

  it('SHL3 what is being killed says so, wherever it is moved to, and by whom it was killed in the end', () => {
    for (const event of ['budget_elapsed', 'background_request:user', 'adopted']) {
      const moved = lived(born(), started, eventOf('kill:user'), eventOf(event));
      expect(moved, event).toMatchObject({ start_mode: 'background', words: 'being killed by user (Shell panel)' });
      expect(lived(moved, exit(143)).words, event).toBe('killed by user (Shell panel)');
    }
  });

  it('SHL6 a process that is known stays known when the shell is adopted', () => {
    const blind = step(lived(born(), started), { kind: 'adopted', at: t0 + 9, process: null });
    expect(blind.record.process).toEqual(process);
    expect(step(born(), { kind: 'adopted', at: t0 + 9, process: null })).toMatchObject({
      record: { process: null },
      events: [{ kind: 'promote' }],
    });
  });

  it('the end of a stopped shell is not stopped', () => {
    expect(lived(born(), started, eventOf('stopped'), exit(0)).is_stopped).toBe(false);
  });

  it('KILL comes when SHL3 says', () => {
    expect(step(lived(born(), started), eventOf('kill:agent')).effects).toContainEqual({
      kind: 'send_kill_later',
      after_ms: 5_000,
    });
  });

  it('events carry the call, the attempt, the pid and the mode', () => {
    const running = lived(born(), started);
    expect(step(born(), started).events).toEqual([
      {
        kind: 'start',
        at: t0 + 1,
        call_id: 'call-1',
        shell_id: 'shell-3',
        attempt: 1,
        pid: process.pid,
        start_mode: 'foreground',
        ended_by: null,
        exit_code: null,
      },
    ]);
    expect(step(running, eventOf('budget_elapsed')).events[0]).toMatchObject({ start_mode: 'background', pid: 4711 });
    expect(step(running, exit(3)).events[0]).toMatchObject({ ended_by: 'system', exit_code: 3 });
    const unheard: ShellRecord = { ...running, process: null };
    expect(step(unheard, eventOf('adopted')).events[0]).toMatchObject({ start_mode: 'foreground', pid: 4711 });
  });
});

const running = lived(born(), started);
const ended = lived(running, exit(0));
const failed = lived(running, exit(3));
const killed = lived(running, eventOf('kill:user'), exit(143));
const lost = lived(running, eventOf('holder_lost'));
const unspawned = lived(born(), eventOf('spawn_failed'));
const timed = lived(running, eventOf('timeout_elapsed'), exit(143));

describe('which records can be', () => {
  it.each([running, ended, failed, killed, lost, unspawned, timed])('SHL1 those of a real life, %#', (record) => {
    expect(problemOf(record)).toBeNull();
  });

  const broken: readonly (readonly [base: ShellRecord, change: Partial<ShellRecord>])[] = [
    [running, { attempt: 0 }],
    [running, { ended_by: 'system' }],
    [running, { end_reason: 'exited' }],
    [running, { ended_at: 5 }],
    [running, { exit_code: 0 }],
    [running, { signal: 'SIGTERM' }],
    [running, { promoted_by: 'user' }],
    [running, { start_mode: 'background' }],
    [running, { requested_mode: 'background' }],
    [ended, { ended_by: null }],
    [ended, { ended_by: 'user' }],
    [ended, { exit_code: 3 }],
    [ended, { signal: 'SIGTERM' }],
    [ended, { is_stopped: true }],
    [ended, { status: 'failed' }],
    [ended, { end_reason: 'killed' }],
    [ended, { end_reason: 'signaled' }],
    [ended, { end_reason: 'lost' }],
    [ended, { end_reason: 'spawn_error' }],
    [ended, { end_reason: 'timeout' }],
    [ended, { is_signal_inferred: true }],
    [ended, { start_mode: 'background' }],
    [failed, { exit_code: 0 }],
    [failed, { exit_code: null }],
    [failed, { status: 'completed' }],
    [killed, { ended_by: 'agent' }],
    [killed, { exit_code: null }],
    [killed, { end_reason: 'exited' }],
    [killed, { end_reason: 'timeout' }],
    [lost, { exit_code: 1 }],
    [unspawned, { ended_by: 'user' }],
    [unspawned, { exit_code: 1 }],
    [timed, { ended_by: 'user', kill_requested_by: 'user' }],
  ];

  it.each(broken)('SHL1 no other, %#', (base, change) => {
    expect(problemOf({ ...base, ...change })).toEqual(expect.any(String));
  });

  it('SHL1 a step that would make one ends the program', () => {
    expect(() => step(running, exit(null))).toThrow('broken invariant');
  });
});
