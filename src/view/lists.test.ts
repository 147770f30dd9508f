import { describe, expect, it } from 'vitest';
import { paneRow, type RowOptions, targetRow } from '../../test/kit/rows.ts';
import { paneListSchema, sessionListSchema, sorts, windowListSchema } from '../api/panes.ts';
import { type TargetRow, targetListSchema } from '../api/targets.ts';
import type { Failure, Result } from '../model/errors.ts';
import { askId, mainScope } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { stateNames } from '../model/states.ts';
import { boardItems } from './board.ts';
import { type FilterRequest, type ListInput, listPanes, listSessions, listTargets, listWindows } from './lists.ts';

const now = 1_000_000;

function input(rows: readonly RowOptions[], targets: readonly TargetRow[] = [targetRow('host')]): ListInput {
  return { rows: rows.map(paneRow), targets, now, toWall: (time) => time + 1_700_000_000_000 };
}

function value<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
}

const failureOf = (result: Result<unknown>): Failure | null => (result.ok ? null : result.failure);

const names = (rows: ListInput, request: FilterRequest = {}): string[] =>
  value(listPanes(rows, request)).items.map((item) => item.runtime_id ?? item.ref);

/** A bad end stays for `shownMs`, one in good order not at all. */
const end = (at: number, clean: boolean, shownMs: number = limits.endedShownMs) =>
  ({ cause: 'exit', status: 1, signal: null, clean, at, listed_until: clean ? null : at + shownMs }) as const;

const hosts = [targetRow('host'), targetRow('vm1', { kind: 'ssh' }), targetRow('host@ci')];

const crowd: readonly RowOptions[] = [
  { id: 1, state: 'idle', agent: 'codex', fields: { since: 500 } },
  { id: 2, state: 'running', fields: { since: 400 } },
  { id: 3, state: 'waiting_input', target: 'vm1', session: 'api', fields: { since: 300 } },
  { id: 4, state: 'waiting_approval', target: 'vm1', session: 'work', window: 2, fields: { since: 150 } },
  { id: 5, state: 'error', agent: 'gemini', fields: { since: 100, reason_code: 'usage_limit' } },
  { id: 6, state: 'unknown', session: 'api', fields: { since: 50 } },
  { id: 7, state: 'completed', target: 'host@ci', fields: { since: 60 } },
  { id: 8, state: 'waiting_approval', window: 3, fields: { since: 199 } },
  { id: 9, agent: null, window: 4 },
];

describe('the list of panes', () => {
  it('FED3 has head, filters, summary and items with identity, and fits its schema', () => {
    const list = value(listPanes(input(crowd, hosts), { all_panes: true }));
    expect(paneListSchema.parse(list)).toEqual(list);
    expect(list.generated_at).toBe('2023-11-14T22:30:00.000Z');
    expect(list.summary).toMatchObject({
      total: 9,
      needs_action: 4,
      by_agent: { claude: 6, codex: 1, gemini: 1 },
      by_target: { host: 5, vm1: 2, 'host@ci': 1 },
    });
    expect(list.summary.by_state).toEqual({
      error: 1,
      waiting_approval: 2,
      waiting_input: 1,
      running: 1,
      completed: 1,
      idle: 1,
      unknown: 1,
    });
    expect(list.items[0]?.identity).toEqual({
      target: 'vm1',
      session_name: 'work',
      window_id: '@2',
      pane_id: '%4',
    });
    expect(list.items[0]?.since).toBe('2023-11-14T22:13:20.150Z');
    expect(list.items.at(-1)).toMatchObject({ agent: null, state: null, runtime_id: null });
  });

  it('FED4 what no list would show costs none: panes without an agent, and agents that ended long ago', () => {
    const day = 86_400_000;
    const rows: readonly RowOptions[] = [
      { id: 1 },
      { id: 2, agent: null },
      { id: 3, fields: { ended: end(now - day, true) } },
      { id: 4, fields: { ended: end(now - day, false) } },
      { id: 5, fields: { ended: end(now - 1_000, false) } },
    ];
    let times = 0;
    const counted = {
      ...input(rows),
      toWall: (time: number) => {
        times += 1;
        return time + 1_700_000_000_000;
      },
    };
    const costOf = (request: FilterRequest): number => {
      times = 0;
      names(counted, request);
      return times;
    };
    expect(names(counted)).toHaveLength(2);
    expect(costOf({})).toBeLessThan(costOf({ ended: true }) - 6);
    expect(names(counted, { ended: true })).toHaveLength(4);
    expect(names(counted, { all_panes: true })).toHaveLength(3);
  });

  it('FED3 an item with everything in it fits the schema', () => {
    const ask = {
      ask_id: askId('a'),
      kind: 'command',
      scope: mainScope,
      text: 'rm -rf build',
      options: [{ id: '1', label: 'Yes' }],
    } as const;
    const fields = { ask, asks_open: 2, until: 5, ended: end(4, false), background: { shells: 1, agents: 2 } };
    const list = value(listPanes(input([{ state: 'error', fields }]), { ended: true }));
    expect(paneListSchema.parse(list)).toEqual(list);
    expect(list.items[0]).toMatchObject({
      until: '2023-11-14T22:13:20.005Z',
      ended: { at: '2023-11-14T22:13:20.004Z' },
    });
  });

  it('RSV12 a bad end leaves the list and the board in the same moment, whatever the settings say', () => {
    for (const shownMs of [0, 20_000, 600_000, 86_400_000]) {
      const bad = { state: 'error', fields: { ended: end(1_000, false, shownMs) } } as const;
      for (const now of [1_000, 20_999, 21_000, 600_999, 601_000]) {
        const at = { ...input([bad]), now };
        const all = value(listPanes(at, { ended: true })).items;
        expect(boardItems(all, at.toWall(now))).toHaveLength(value(listPanes(at)).items.length);
      }
    }
  });

  it('FED1 whoever needs a person stands first, the longest wait before the others', () => {
    expect(names(input(crowd, hosts))).toEqual([
      'vm1-work-4',
      'host-work-8',
      'vm1-api-3',
      'host-work-5',
      'host-api-6',
      'host@ci-work-7',
      'host-work-2',
      'host-work-1',
    ]);
  });

  it.each([
    ['age', 'host-api-6'],
    ['agent', 'vm1-work-4'],
    ['target', 'host-api-6'],
    ['state', 'host-work-5'],
    ['name', 'host-api-6'],
  ] as const)('sorts by %s, the same whatever the order of the rows', (sort, first) => {
    const sorted = names(input(crowd, hosts), { sort, all_panes: true });
    expect(sorted[0]).toBe(first);
    expect(names(input([...crowd].reverse(), hosts), { sort, all_panes: true })).toEqual(sorted);
    expect(new Set(sorted).size).toBe(crowd.length);
  });

  it.each([
    [{ target: ['vm1'] }, ['vm1-work-4', 'vm1-api-3']],
    [{ target: ['vm1', 'host@ci'] }, ['vm1-work-4', 'vm1-api-3', 'host@ci-work-7']],
    [{ target_session: ['host/api', 'vm1/api'] }, ['vm1-api-3', 'host-api-6']],
    [{ session: ['api'] }, ['vm1-api-3', 'host-api-6']],
    [{ state: ['idle', 'running'] }, ['host-work-2', 'host-work-1']],
    [{ agent: ['codex', 'gemini'] }, ['host-work-5', 'host-work-1']],
    [{ needs_action: true }, ['vm1-work-4', 'host-work-8', 'vm1-api-3', 'host-work-5']],
    [{ needs_action: true, target: ['host'] }, ['host-work-8', 'host-work-5']],
    [{ all_panes: true, state: ['idle'] }, ['host-work-1']],
    [{ session: ['nowhere'] }, []],
  ] as const)('filters: %j', (request, expected) => {
    expect(names(input(crowd, hosts), request)).toEqual(expected);
  });

  it('a usage limit needs a person whatever the state', () => {
    const fields = { reason_code: 'usage_limit' } as const;
    expect(names(input([{ state: 'idle', fields }, { id: 2 }]), { needs_action: true })).toHaveLength(1);
  });

  it('a session name may hold a slash', () => {
    expect(names(input([{ session: 'a/b' }]), { target_session: ['host/a/b'] })).toHaveLength(1);
  });

  it.each([
    [{ state: ['bogus'] }, /no state "bogus".*waiting_approval/],
    [{ target: ['vm9'] }, /no target "vm9".*host, host@ci, vm1/],
    [{ target_session: ['vm9/x'] }, /no target "vm9"/],
    [{ target_session: ['host'] }, /"host" is not a target_session/],
  ])('refuses %j and names what there is', (request, words) => {
    const failure = failureOf(listPanes(input(crowd, hosts), request));
    expect(failure?.code).toBe('E_FILTER');
    expect(failure?.message).toMatch(words);
    expect(failureOf(listWindows(input(crowd, hosts), request))?.code).toBe('E_FILTER');
    expect(failureOf(listSessions(input(crowd, hosts), request))?.code).toBe('E_FILTER');
  });
});

describe('who is shown', () => {
  it('RSV12 agents only; other panes on request', () => {
    const rows = input([{ id: 1 }, { id: 2, agent: null }]);
    expect(names(rows)).toEqual(['host-work-1']);
    expect(names(rows, { all_panes: true })).toEqual(['host-work-1', 'pane:host/work/@1/%2']);
  });

  it('RSV12 a bad end shows for ten minutes, a quiet one not at all, both on request', () => {
    const rows = input([
      { id: 1, state: 'error', fields: { ended: end(now - limits.endedShownMs + 1, false) } },
      { id: 2, state: 'error', fields: { ended: end(now - limits.endedShownMs, false) } },
      { id: 3, state: 'unknown', fields: { reason_code: 'exited', ended: end(now - 1, true) } },
    ]);
    expect(names(rows)).toEqual(['host-work-1']);
    expect(names(rows, { ended: true })).toHaveLength(3);
  });
});

describe('missing targets', () => {
  const broken = [
    targetRow('vm1', { health: 'down', trouble: 'no route' }),
    targetRow('host'),
    targetRow('vm2', { health: 'degraded' }),
  ];
  const rows: readonly RowOptions[] = [
    { id: 1 },
    { id: 2, target: 'vm1', state: 'unknown', fields: { reason_code: 'target_unreachable', confidence: 'low' } },
  ];

  it('FED4 a list says which target is missing and keeps its rows', () => {
    const list = value(listPanes(input(rows, broken)));
    expect(list).toMatchObject({ partial: true, missing_targets: ['vm1', 'vm2'] });
    expect(list.items.map((item) => item.identity.target)).toContain('vm1');
  });

  it('RSV6 the rows of a target that is down are unknown, not gone', () => {
    const [first] = value(listPanes(input(rows, broken), { target: ['vm1'] })).items;
    expect(first).toMatchObject({ state: 'unknown', reason_code: 'target_unreachable' });
  });

  it('FED4 who asked for whole targets only gets a whole list', () => {
    expect(value(listPanes(input(rows, broken), { target: ['host'] }))).toMatchObject({
      partial: false,
      missing_targets: [],
      summary: { targets: [{ target: 'host' }] },
    });
    expect(value(listPanes(input(rows, broken), { target_session: ['vm1/work'] })).missing_targets).toEqual(['vm1']);
  });

  it('FED4 the list of targets says the same', () => {
    const list = listTargets(input(rows, broken));
    expect(targetListSchema.parse(list)).toEqual(list);
    expect(list).toMatchObject({ partial: true, missing_targets: ['vm1', 'vm2'] });
    expect(list.items.map((item) => item.target)).toEqual(['host', 'vm1', 'vm2']);
  });
});

describe('windows', () => {
  const rows: readonly RowOptions[] = [
    { window: 1, id: 1, state: 'running' },
    { window: 1, id: 2, state: 'waiting_input' },
    { window: 1, id: 3, agent: null },
    { window: 1, id: 1, state: 'idle', agent: 'codex', fields: { ref: 'runtime:child' } },
    { window: 2, id: 4, state: 'error', fields: { ended: end(now - 1, false) } },
    { window: 2, id: 4, agent: null },
    { window: 2, id: 9, state: 'error', fields: { ended: end(now - 1, false) } },
    { window: 3, id: 5, agent: null },
    { window: 1, id: 6, target: 'vm1', state: 'completed' },
  ];

  it('RSV2 the top state follows precedence, with counts beside it', () => {
    const list = value(listWindows(input(rows, hosts)));
    expect(windowListSchema.parse(list)).toEqual(list);
    expect(list.items).toMatchObject([
      { identity: { target: 'host', window_id: '@1' }, top_state: 'waiting_input', waiting: 1, running: 1, total: 3 },
      { identity: { target: 'host', window_id: '@2' }, top_state: 'error', total: 2, panes: 1 },
      { identity: { target: 'vm1', window_id: '@1' }, top_state: 'completed', total: 1, panes: 1 },
    ]);
    expect(list.items[0]).toMatchObject({ panes: 3, by_agent: { claude: 2, codex: 1 }, window_name: 'window 1' });
    expect(list.items[0]).not.toHaveProperty('agents');
  });

  it('windows without an agent on request, statuses on request', () => {
    const list = value(listWindows(input(rows, hosts), { all_panes: true, with_agent_status: true }));
    expect(windowListSchema.parse(list)).toEqual(list);
    expect(list.items.at(-1)).toMatchObject({ identity: { window_id: '@3' }, top_state: null, total: 0, agents: [] });
    expect(list.items[0]?.agents?.map((one) => `${one.agent} ${one.state}`)).toEqual([
      'claude waiting_input',
      'claude running',
      'codex idle',
    ]);
  });
});

describe('sessions', () => {
  const rows: readonly RowOptions[] = [
    { window: 1, id: 1, state: 'running' },
    { window: 2, id: 2, state: 'waiting_approval' },
    { window: 1, id: 3, target: 'vm1', state: 'error', agent: 'codex' },
    { window: 1, id: 4, target: 'vm1', session: 'api', state: 'idle' },
  ];

  it('are kept apart by target', () => {
    const list = value(listSessions(input(rows, hosts)));
    expect(sessionListSchema.parse(list)).toEqual(list);
    expect(list.items).toMatchObject([
      { identity: { target: 'host', session_name: 'work' }, top_state: 'waiting_approval', windows: 2, total: 2 },
      { identity: { target: 'vm1', session_name: 'work' }, top_state: 'error', by_target: { vm1: 1 } },
      { identity: { target: 'vm1', session_name: 'api' }, top_state: 'idle' },
    ]);
  });

  it('are merged by name on request', () => {
    const list = value(listSessions(input(rows, hosts), { group_by: 'session-name' }));
    expect(sessionListSchema.parse(list)).toEqual(list);
    expect(list.items[0]).toMatchObject({
      identity: { target: null, session_name: 'work' },
      top_state: 'error',
      waiting: 1,
      running: 1,
      total: 3,
      windows: 3,
      panes: 3,
      by_target: { host: 2, vm1: 1 },
      by_agent: { claude: 2, codex: 1 },
    });
    expect(list.items).toHaveLength(2);
  });
});

it('FED3 every state and every order fits the schemas', () => {
  const rows = input(stateNames.map((state, id) => ({ id, state })));
  for (const sort of sorts) {
    expect(paneListSchema.safeParse(value(listPanes(rows, { sort }))).success).toBe(true);
    expect(windowListSchema.safeParse(value(listWindows(rows, { sort }))).success).toBe(true);
  }
  expect(paneListSchema.safeParse(value(listPanes(input([])))).success).toBe(true);
});
