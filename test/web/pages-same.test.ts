// The board in the terminal and the board on the page, drawn from the same rows: the same agents in the same order, the same
// words in each, and the same of them found by a filter.

import fc from 'fast-check';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import type { PaneItem } from '../../src/api/panes.ts';
import { askKinds } from '../../src/model/asks.ts';
import { reasonCodes } from '../../src/model/reasons.ts';
import { confidences, stateNames } from '../../src/model/states.ts';
import { firstBoard, listed } from '../../src/tui/board/model.ts';
import { boardView } from '../../src/tui/board/view.ts';
import { withPaste } from '../../src/tui/text-field.ts';
import { emptyWorld } from '../../src/tui/world.ts';
import { boardGroups } from '../../src/view/board.ts';
import { lineText } from '../../src/view/shells-spans.ts';
import { Board } from '../../src/web/parts/board.tsx';
import { agentsOf, filterAgents } from '../../src/web/state/agents.ts';
import { emptyModel } from '../../src/web/state/model.ts';
import { agentRow } from './stage.ts';

const rowsCount = 500;
const hourMs = 3_600_000;
/** Half an hour off, so that no age changes while both are drawn. */
const hoursAgo = (hours: number): string => new Date(Date.now() - hours * hourMs - hourMs / 2).toISOString();

const words = fc.stringMatching(/^[a-z]{2,7}( [a-z]{2,7}){0,4}$/);
const orNull = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(value, { nil: null });
const ask = fc.record({ kind: fc.constantFrom(...askKinds), text: words });

const item = (id: number): fc.Arbitrary<PaneItem> =>
  fc
    .record({
      agent: fc.constantFrom('claude', 'codex', 'gemini'),
      state: fc.constantFrom(...stateNames),
      // A limit is one reason of many, and has a countdown that no other has.
      reason: fc.oneof({ arbitrary: fc.constantFrom(...reasonCodes), weight: 9 }, fc.constant('usage_limit' as const)),
      confidence: fc.constantFrom(...confidences),
      project: fc.constantFrom('shop', 'api', 'docs'),
      place: fc.tuple(fc.constantFrom('host', 'vm1'), fc.constantFrom('work', 'api'), fc.nat(12), fc.nat(3)),
      hours: fc.nat(40),
      seen: orNull(fc.boolean()),
      nick: orNull(fc.constantFrom('reviewer', 'boss')),
      detail: orNull(words),
      task: orNull(words),
      until: orNull(fc.constantFrom(hoursAgo(-3), hoursAgo(-9))),
      ask: orNull(ask),
      asks_open: fc.nat(3),
      background: fc.record({ shells: fc.nat(2), agents: fc.nat(2) }),
      suspended: fc.boolean(),
      route: fc.constantFrom('CONNECTED', 'DISCONNECTED', 'NONE'),
      listed: fc.constantFrom('running', 'running', 'running', 'failed', 'left', 'forgotten'),
    })
    .map(({ hours, ask, listed, confidence, seen, ...part }) => ({
      ...agentRow({ ...part, id: `r${id}`, age: 0 }),
      confidence,
      seen: part.state === 'completed' ? seen : null,
      since: hoursAgo(hours),
      last_seen_at: hoursAgo(hours),
      ask: ask === null ? null : { ask_id: 'a', scope: 'main', options: [], ...ask },
      ended: listed === 'running' ? null : ended(listed),
    }));

const ended = (how: string): PaneItem['ended'] => ({
  cause: 'exit',
  status: 1,
  signal: null,
  clean: how === 'left',
  at: hoursAgo(5),
  listed_until: how === 'left' ? null : hoursAgo(how === 'failed' ? -5 : 4),
});

const items = fc.tuple(...Array.from({ length: rowsCount }, (_, id) => item(id)));

const offsetMinutes = -new Date().getTimezoneOffset();
const size = { columns: 400, lines: 3_000 } as const;

const worldOf = (rows: ReadonlyMap<string, PaneItem>) => ({
  ...emptyWorld({ nowMs: Date.now(), offsetMinutes, self: { cwd: '/', home: '/', agents: [] }, size }),
  link: { is: 'up' } as const,
  rows,
  isFilled: true,
});

/** Every group is open from the start: among sessions they are folded until a person turns them. A preview would cut the rows. */
const boardOf = (rows: ReadonlyMap<string, PaneItem>, filter: string) => {
  const board = { ...firstBoard, isPreviewOff: true };
  const folded = { ...board, grouping: 'sessions' as const, filter: withPaste(board.filter, filter) };
  const turned = new Set(boardGroups(agentsOf({ rows }, Date.now()), 'sessions').map(({ key }) => `sessions ${key}`));
  return { ...folded, turned };
};

interface Row {
  readonly id: string;
  readonly words: readonly string[];
}

/** Marks and small forms that each screen has of its own. */
const own = /^([>→·─│]|[▲?✕◌✓●○‖•]|\(\d+\)|\d|asks|requests|connected|disconnected|\[?auto-approve\]?)$/u;
const wordsIn = (text: string): readonly string[] =>
  text
    .split(/\s+/)
    .filter((word) => word !== '' && !own.test(word))
    .toSorted();

function onPage(rows: ReadonlyMap<string, PaneItem>, filter: string): readonly Row[] {
  const now = Date.now();
  const shown = filterAgents(agentsOf({ ...emptyModel, rows }, now), filter, now);
  const html = renderToStaticMarkup(createElement(Board, { heading: 'h2', groups: boardGroups(shown, 'sessions') }));
  return [...html.matchAll(/<li [^>]*data-row="([^"]+)"[^>]*>(.*?)<\/li>/gs)].map(([, id = '', inner = '']) => ({
    id,
    words: wordsIn(inner.replace(/<[^>]+>/g, ' ')),
  }));
}

function inTerminal(rows: ReadonlyMap<string, PaneItem>, filter: string): readonly Row[] {
  const world = worldOf(rows);
  const board = boardOf(rows, filter);
  const { entries } = listed(board, world);
  const lines = boardView(board, world, size).map(lineText);
  // Above the list stand the summary and the filter, if there is one.
  const above = filter === '' ? 1 : 2;
  return entries.flatMap((entry, place) =>
    entry.is === 'agent' ? [{ id: entry.id, words: wordsIn(lines[above + place] ?? '') }] : [],
  );
}

const filters = [
  ...['state:approve', 'agent:boss state:run', 'in:host/work:1', 'target:vm1 shop', 'does not answer', 'reviewer th'],
  'nothing like it',
];

describe('the two boards', () => {
  it('SCR1 FED1 have the same agents, in the same order, in the same words, and find the same ones', () => {
    // Sampled, not asserted: nobody reads a counterexample of 500 rows, and what differs says enough.
    const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
    const [made = []] = fc.sample(items, { numRuns: 1, seed });
    const rows = new Map(made.map((one) => [`row:${one.runtime_id}`, one]));
    const page = onPage(rows, '');
    expect(page.length, `SEED=${seed}`).toBeGreaterThan(rowsCount / 2);
    expect(inTerminal(rows, ''), `SEED=${seed}`).toEqual(page);
    const found = filters.map((text) => onPage(rows, text));
    expect(found.filter(({ length }) => length > 0).length).toBeGreaterThan(filters.length / 2);
    expect(
      filters.map((text) => inTerminal(rows, text)),
      `SEED=${seed}`,
    ).toEqual(found);
  });
});
