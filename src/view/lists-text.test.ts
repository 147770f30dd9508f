import { describe, expect, it } from 'vitest';
import { gitFacts, paneRow, type RowOptions, targetRow } from '../../test/kit/rows.ts';
import { AgtmuxError, type Result } from '../model/errors.ts';
import { askId, mainScope } from '../model/ids.ts';
import { stateNames } from '../model/states.ts';
import { width } from '../text/width.ts';
import { type FilterRequest, type ListInput, listPanes, listSessions, listTargets, listWindows } from './lists.ts';
import { panesTable, sessionsTable, type TextOptions, targetsTable, windowsTable } from './lists-text.ts';

const now = 1_000_000;

function input(rows: readonly RowOptions[], targets = [targetRow('host')]): ListInput {
  return { rows: rows.map(paneRow), targets, now, toWall: (time) => time + 1_700_000_000_000 };
}

function value<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new AgtmuxError(result.failure.code, result.failure.message);
  return result.value;
}

const panes = (rows: ListInput, options: Partial<TextOptions> = {}): readonly string[] =>
  panesTable(value(listPanes(rows, { all_panes: true })), { columns: 120, colour: false, ...options });

const ask = (text: string, kind: 'command' | 'question' = 'command') =>
  ({ ask_id: askId('a'), kind, scope: mainScope, text, options: [] }) as const;

const day: readonly RowOptions[] = [
  { id: 1, state: 'waiting_approval', fields: { ask: ask('Bash: rm -rf build'), asks_open: 1, since: now - 240_000 } },
  { id: 2, target: 'vm1', agent: 'codex', state: 'waiting_input', fields: { ask: ask('Which one?', 'question') } },
  { id: 3, state: 'error', fields: { reason_code: 'usage_limit', until: 0, route: 'DISCONNECTED' } },
  { id: 4, state: 'running', fields: { detail: 'editing guide.md', background: { shells: 0, agents: 1 } } },
  { id: 5, state: 'unknown', fields: { reason_code: 'stale_signal', confidence: 'low', route: 'NONE' } },
  { id: 6, state: 'running', fields: { confidence: 'medium', suspended: true, reason_code: 'stalled' } },
  { id: 7, agent: null },
  {
    id: 8,
    target: 'vm2',
    state: 'unknown',
    fields: { reason_code: 'target_unreachable', confidence: 'low', last_seen_at: now - 12_000 },
  },
];
const targets = [
  targetRow('host'),
  targetRow('vm1'),
  targetRow('vm2', { health: 'down', last_seen_at: now - 12_000, trouble: 'connection refused' }),
];

describe('the table of panes', () => {
  it('calls an agent by the name a person gave it, and marks finished work that nobody has seen', () => {
    const rows = [
      { id: 1, state: 'completed', fields: { nick: 'reviewer', seen: false } },
      { id: 2, agent: 'codex', state: 'completed', fields: { seen: true } },
    ] as const;
    const [, unseen, seen] = panes(input(rows));
    expect(unseen).toMatch(/^✓ done • +reviewer \(claude\) /);
    expect(seen).toMatch(/^✓ done +codex /);
    const windows = value(listWindows(input(rows), { with_agent_status: true }));
    expect(windows.items[0]?.agents).toMatchObject([
      { nick: 'reviewer', seen: false },
      { nick: null, seen: true },
    ]);
    expect(windowsTable(windows, { columns: 120, colour: false })[1]).toContain('reviewer (claude) done');
  });

  it('FED5 has a column for what agents work on, where one of them tells it and there is room', () => {
    const rows = input([{ id: 1, state: 'running', fields: { task: 'fix the tests' } }, { id: 2 }]);
    const [head, row, other] = panes(rows, { columns: 100 });
    expect(head).toMatch(/ WHAT +TASK +AGE /);
    expect(row).toMatch(/ fix the tests +1m /);
    expect(other).not.toContain('fix the tests');
    expect(panes(rows, { columns: 99 }).join('')).not.toContain('TASK');
    expect(panes(input([{ id: 2 }]), { columns: 200 }).join('')).not.toContain('TASK');
  });

  it('GIT3 tells the branch of each on request, and lists by project and branch', () => {
    const git = gitFacts({ dirty: 2, behind: 4, repository: 'shop' });
    const rows = input([
      { id: 1, state: 'running', fields: { git } },
      { id: 2, fields: { git: { ...git, branch: null } } },
      { id: 3 },
    ]);
    const labels = panes(rows, { columns: 100, hasGit: true }).flatMap(
      (line) => /(?:main|at 0\S+) \S+ \S+/.exec(line) ?? [],
    );
    expect(labels).toEqual(['main *2 ↓4', 'at 0123456 *2 ↓4']);
    expect(panes(rows)[0]).not.toContain('GIT');
    const found = (request: FilterRequest) => value(listPanes(rows, request)).items.length;
    expect([found({ branch: ['main'] }), found({ project: ['shop'] }), found({ project: ['web-shop'] })]).toEqual([
      1, 2, 3,
    ]);
  });

  it('RSV9 says in one line what each agent does, wants or suffers from', () => {
    expect(panes(input(day, targets))).toEqual([
      'STATE        AGENT   PROJECT   WHAT                                       AGE  WHERE          ROUTE',
      '▲ approve    claude  web-shop  Bash: rm -rf build                         4m   host/work:1.0  →',
      '? answer     codex   web-shop  Which one?                                 1m   vm1/work:1.0   →',
      '✕ error      claude  web-shop  usage limit reset at 22:13                 1m   host/work:1.0  ·',
      '◌ unknown    claude  web-shop  reported running long ago, nothing since   1m   host/work:1.0',
      '◌ unknown    claude  web-shop  its machine does not answer, seen 12s ago  1m   vm2/work:1.0   →',
      '● running    claude  web-shop  editing guide.md  +1 agent                 1m   host/work:1.0  →',
      '‖ suspended  claude  web-shop  stalled  was running                       1m   host/work:1.0  →',
      '-            -       web-shop  zsh                                             host/work:1.0',
      '',
      '2 need you · 1 error · 2 unknown · 2 running   host ok · vm1 ok · vm2 down 12s',
    ]);
  });

  it('tells resets in local time', () => {
    expect(panes(input(day, targets), { offsetMinutes: 90 }).join('\n')).toContain('reset at 23:43');
  });

  it('in a narrow terminal: mark, agent, project, age', () => {
    expect(panes(input(day.slice(0, 1)), { columns: 36 })).toEqual([
      '   AGENT   PROJECT   AGE',
      '▲  claude  web-shop  4m',
      '',
      '1 needs you   host ok',
    ]);
  });

  const wide: readonly RowOptions[] = stateNames.map((state, id) => ({
    id,
    state,
    agent: '日本語のエージェント',
    session: '会議'.repeat(20),
    fields: {
      cwd: `/srv/${'プロジェクト'.repeat(9)}👩‍👩‍👧‍👦`,
      window_name: '窓'.repeat(30),
      detail: 'e\u0301'.repeat(200) + '漢字'.repeat(90),
    },
  }));

  it('never wraps, from 30 to 200 columns, with wide characters', () => {
    const rows = input([...wide, ...day], targets);
    const options = (columns: number) => ({ columns, colour: false });
    const lists = {
      panes: value(listPanes(rows, { all_panes: true })),
      windows: value(listWindows(rows, { with_agent_status: true })),
      sessions: value(listSessions(rows, { group_by: 'session-name' })),
    };
    for (let columns = 30; columns <= 200; columns += 1) {
      const lines = [
        ...panesTable(lists.panes, options(columns)),
        ...windowsTable(lists.windows, options(columns)),
        ...sessionsTable(lists.sessions, { ...options(columns), agentSummary: true }),
        ...targetsTable(listTargets(rows), options(columns)),
        ...panesTable(value(listPanes(input([]))), options(columns)),
      ];
      const tooWide = lines.filter((line) => width(line) > columns);
      expect(tooWide, `${columns} columns`).toEqual([]);
    }
  });

  it.each([1, 5, 12])('is cut rather than wrapped in %i columns', (columns) => {
    for (const line of panes(input(day, targets), { columns, colour: true })) {
      expect(width(line)).toBeLessThanOrEqual(columns);
    }
  });
});

describe('colours', () => {
  const plainOf = (line: string): string => line.replaceAll(/\u001b\[[\d;]*m/g, '');

  it('only when asked for, and they change no column', () => {
    const rows = input(day, targets);
    const plain = panes(rows);
    const coloured = panes(rows, { colour: true });
    expect(plain.join('\n')).not.toContain('\u001b');
    expect(coloured.join('\n')).toContain('\u001b[33m▲ approve\u001b[0m');
    expect(coloured.join('\n')).toContain('\u001b[32m→\u001b[0m');
    expect(coloured.map((line) => plainOf(line).trimEnd())).toEqual(plain);
  });

  it('every colour is closed on its own line', () => {
    for (const line of panes(input(day, targets), { colour: true })) {
      expect(line.match(/\u001b\[[1-9][\d;]*m/g)?.length ?? 0).toBe(line.match(/\u001b\[0m/g)?.length ?? 0);
    }
  });
});

describe('SEC3 hostile names', () => {
  const evil = '\u001b]0;owned\u0007\u001b[2J\u009b31mred\r\n\tx\u202egnp\u0000';
  const rows = input(
    [
      {
        agent: evil,
        session: evil,
        target: evil,
        state: 'error',
        fields: { cwd: `/x/${evil}`, window_name: evil, title: evil, detail: evil, ask: ask(evil) },
      },
      { agent: null, fields: { current_command: evil } },
    ],
    [targetRow(evil, { trouble: evil, health: 'down', tmux_version: evil })],
  );

  it('SEC3 reach no table with an effect', () => {
    const options = { columns: 200, colour: false };
    const text = [
      ...panes(rows, options),
      ...windowsTable(value(listWindows(rows, { with_agent_status: true })), options),
      ...sessionsTable(value(listSessions(rows)), { ...options, agentSummary: true }),
      ...sessionsTable(value(listSessions(rows, { group_by: 'session-name' })), options),
      ...targetsTable(listTargets(rows), options),
    ];
    expect(text.length).toBeGreaterThan(12);
    for (const line of text) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });

  it('SEC3 with colours only our own sequences are there', () => {
    const text = panes(rows, { columns: 200, colour: true }).join('');
    expect(text).toContain('\u001b[31m');
    expect(text.replaceAll(/\u001b\[(?:0|1|2|31|32|33|34|35|90|1;32)m/g, '')).not.toMatch(
      /[\u0000-\u001f\u007f-\u009f]/,
    );
  });
});

describe('other tables', () => {
  const options = { columns: 100, colour: false };

  it('windows and sessions show the top state and counts', () => {
    const rows = input(day, targets);
    expect(windowsTable(value(listWindows(rows)), options)[1]).toMatch(/^✕ error +window 1 +1 +2 +5 +6 +host\/work:1$/);
    expect(sessionsTable(value(listSessions(rows)), options)[1]).toMatch(/^✕ error +host\/work +1 +2 +5 +6$/);
    expect(sessionsTable(value(listSessions(rows)), { ...options, agentSummary: true }).join('\n')).toContain(
      '5 claude',
    );
  });

  it('targets show what is wrong with them', () => {
    expect(targetsTable(listTargets(input([], targets)), options)).toEqual([
      'TARGET  HEALTH  KIND   PANES  TMUX  SEEN  TROUBLE',
      'host    ok      local  4      3.3a  1s',
      'vm1     ok      local  4      3.3a  1s',
      'vm2     down    local  4      3.3a  12s   connection refused',
    ]);
  });

  it('a machine without a tmux server is not shown as well', () => {
    const empty = targetRow('host', { tmux_version: null, panes: 0, trouble: 'no tmux server is running' });
    const table = (colour: boolean) => targetsTable(listTargets(input([], [empty])), { ...options, colour }).join('\n');
    expect(table(false)).toMatch(/^host +no tmux server +local +0 /m);
    expect(table(true)).not.toContain('\u001b[32m');
    expect(table(true).replaceAll(/\u001b\[\d*m/g, '')).not.toMatch(/\bok\b/);
    expect(panesTable(value(listPanes(input([], [empty]), {})), options).at(-1)).toContain('host no tmux server');
  });

  it('FED4 nobody is said to be absent where a machine could not be looked at', () => {
    const empty = (request: Parameters<typeof listPanes>[1]) =>
      panesTable(value(listPanes(input([], targets), request)), options).join('\n');
    expect(empty({})).not.toContain('No agent is running');
    expect(empty({})).toContain('No agent was found; not checked:\n\n  vm2: connection refused\n');
    expect(empty({ needs_action: true })).toContain('No agent is known to need you; not checked:');
    expect(empty({})).not.toContain('vm1: ');
  });

  it('an empty list teaches what would fill it', () => {
    const empty = (request: Parameters<typeof listPanes>[1]) =>
      panesTable(value(listPanes(input([]), request)), options).join('\n');
    expect(empty({})).toContain('tmux new -s work');
    expect(empty({ needs_action: true })).toContain('No agent needs you.');
    expect(empty({ agent: ['codex'] })).toContain('Nothing matches these filters.');
  });
});
