// Who stands first, what is said of each, and what a filter finds.

import { describe, expect, it } from 'vitest';
import type { StateName } from '../../model/states.ts';
import { type AgentItem, boardGroups, countsOf, needsYou, needsYouCount } from '../../view/board.ts';
import { agentsOf, filterAgents, marksOf, whatOf } from './agents.ts';

const now = Date.parse('2026-01-01T12:00:00.000Z');
const ago = (seconds: number): string => new Date(now - seconds * 1_000).toISOString();

const agent = (runtime_id: string, state: StateName, part: Partial<AgentItem> = {}): AgentItem =>
  ({
    runtime_id,
    agent: 'claude',
    nick: null,
    state,
    reason_code: 'turn_running',
    since: ago(60),
    last_seen_at: ago(1),
    identity: { target: 'host', session_name: 'work', window_id: '@1', pane_id: '%1' },
    ref: 'pane:x',
    cwd: '/home/ada/shop',
    git: null,
    title: '',
    ask: null,
    asks_open: 0,
    detail: null,
    until: null,
    background: { shells: 0, agents: 0 },
    suspended: false,
    ended: null,
    session: null,
    terminal: null,
    window_index: 1,
    pane_index: 0,
    ...part,
  }) as AgentItem;

const rows = (...items: readonly AgentItem[]) => ({
  rows: new Map(items.map((item) => [`row:${item.runtime_id}`, item])),
});
const ids = (items: readonly AgentItem[]): string => items.map(({ runtime_id }) => runtime_id).join(' ');

describe('agents on the pages', () => {
  it('stand in the order of need, and who waits longest first', () => {
    const shown = agentsOf(
      rows(
        agent('idle', 'idle'),
        agent('run', 'running'),
        agent('young', 'waiting_approval', { since: ago(5) }),
        agent('old', 'waiting_approval', { since: ago(500) }),
        agent('ask', 'waiting_input'),
        agent('err', 'error'),
        agent('odd', 'unknown'),
        agent('done', 'completed'),
      ),
      now,
    );
    expect(ids(shown)).toBe('old young ask err odd done run idle');
  });

  it('SCR1 stand by the numbers of their windows where nothing else tells them apart', () => {
    const shown = agentsOf(
      rows(agent('ten', 'idle', { window_index: 10 }), agent('two', 'idle', { window_index: 2 })),
      now,
    );
    expect(ids(shown)).toBe('two ten');
  });

  it('RSV12 shows no bare panes and nobody who left in good order; a bad end stays for a while', () => {
    const ended = (seconds: number, shownSeconds: number | null): AgentItem['ended'] => ({
      cause: 'exit',
      status: 1,
      signal: null,
      clean: false,
      at: ago(seconds),
      listed_until: shownSeconds === null ? null : ago(seconds - shownSeconds),
    });
    const shown = agentsOf(
      rows(
        agent('gone', 'unknown', { ended: ended(5, null) }),
        agent('crash', 'error', { ended: ended(5, 600) }),
        agent('longago', 'error', { ended: ended(999_999, 600) }),
        agent('brief', 'error', { ended: ended(30, 20) }),
        { ...agent('bare', 'idle'), runtime_id: null, agent: null, state: null } as unknown as AgentItem,
      ),
      now,
    );
    expect(ids(shown)).toBe('crash');
  });

  it('need a person when they wait, fail, or hit a limit', () => {
    const needing = (
      ['waiting_approval', 'waiting_input', 'error', 'running', 'completed', 'idle', 'unknown'] as const
    ).filter((state) => needsYou(agent('a', state)));
    expect(needing).toEqual(['waiting_approval', 'waiting_input', 'error']);
    expect(needsYouCount([agent('a', 'waiting_approval'), agent('b', 'waiting_input'), agent('c', 'error')])).toBe(3);
  });

  it('say what they ask, do or suffer from; unknown never without its reason', () => {
    const ask = {
      ask_id: 'x',
      kind: 'command',
      scope: 'main',
      text: 'rm -rf build',
      options: [],
    } as unknown as AgentItem['ask'];
    expect(whatOf(agent('a', 'waiting_approval', { ask }), now)).toBe('rm -rf build');
    expect(whatOf(agent('a', 'running', { detail: 'npm test' }), now)).toBe('npm test');
    expect(whatOf(agent('a', 'running'), now)).toBe('');
    expect(whatOf(agent('a', 'unknown', { reason_code: 'unsupported_signal' }), now)).toBe(
      'shows something that no rule matches',
    );
    expect(whatOf(agent('a', 'unknown', { reason_code: 'target_unreachable', last_seen_at: ago(12) }), now)).toBe(
      'its machine does not answer, seen 12s ago',
    );
    // What was known last must not look like what is known.
    const away = { reason_code: 'target_unreachable', last_seen_at: ago(12), detail: 'npm test' } as const;
    expect(whatOf(agent('a', 'unknown', away), now)).toBe('its machine does not answer, seen 12s ago  npm test');
    expect(whatOf(agent('a', 'unknown', { ...away, ask }), now)).toBe(
      'its machine does not answer, seen 12s ago  rm -rf build',
    );
    expect(whatOf(agent('a', 'error', { reason_code: 'usage_limit', until: ago(-60) }), now)).toMatch(
      /^usage limit(?:, resets| reset at) \d\d:\d\d(?: in .+)?$/,
    );
    expect(
      marksOf(agent('a', 'running', { background: { shells: 2, agents: 1 }, asks_open: 3, suspended: true })),
    ).toEqual(['3 requests', '+2 shells +1 agent', 'was running']);
  });

  it('are grouped by target and session, those that agtmux leads in a group of their own', () => {
    const elsewhere = { target: 'vm1', session_name: 'api', window_id: '@1', pane_id: '%1' };
    const led = { session: { id: 's1' } } as unknown as Partial<AgentItem>;
    const all = [
      agent('a', 'idle'),
      agent('b', 'idle', { identity: elsewhere }),
      agent('c', 'idle'),
      agent('d', 'idle', led),
    ];
    expect(boardGroups(all, 'sessions').map(({ title, items }) => `${title}: ${ids(items)}`)).toEqual([
      'host / managed by agtmux: d',
      'host / work: a c',
      'vm1 / api: b',
    ]);
  });

  it('are found by every word that was typed', () => {
    const items = [agent('a', 'running', { detail: 'npm test' }), agent('b', 'idle', { cwd: '/home/ada/docs' })];
    expect(ids(filterAgents(items, '', now))).toBe('a b');
    expect(ids(filterAgents(items, 'claude SHOP', now))).toBe('a');
    expect(ids(filterAgents(items, 'docs idle', now))).toBe('b');
    expect(ids(filterAgents(items, 'docs running', now))).toBe('');
    for (const [typed, found] of [
      ['state:run', 'a'],
      ['state:idle agent:claude', 'b'],
      ['in:host/work:1 npm', 'a'],
      ['target:vm1', ''],
      ['agent:codex', ''],
    ] as const)
      expect([typed, ids(filterAgents(items, typed, now))]).toEqual([typed, found]);
    expect(countsOf(items)).toMatchObject({ running: 1, idle: 1, error: 0 });
  });
});
