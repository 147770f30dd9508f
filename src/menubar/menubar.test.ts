// What bars print, read back by the formats' own rules: a reader for each stands here, written from its documentation.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { paneRow, type RowOptions } from '../../test/kit/rows.ts';
import type { PaneItem, PaneList } from '../api/panes.ts';
import { askId, runtimeId } from '../model/ids.ts';
import { listPanes } from '../view/lists.ts';
import { barJson, down, isWritable, polybar, summaryOf, waybar, xbarDown, xbarMenu } from './menubar.ts';

interface MenuLine {
  readonly depth: number;
  readonly text: string;
  readonly params: Readonly<Record<string, string>>;
}

interface Menu {
  readonly bar: readonly MenuLine[];
  readonly menu: readonly MenuLine[];
}

/** xbar and SwiftBar: lines before the first `---` stand in the bar; `--` in front is depth; behind `|` are `key=value`. */
function readXbar(text: string): Menu {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const split = lines.indexOf('---');
  const read = (line: string): MenuLine => {
    const [, dashes = '', rest = ''] = /^((?:--)*)(.*)$/.exec(line) ?? [];
    const bar = rest.indexOf('|');
    const said = bar < 0 ? rest : rest.slice(0, bar);
    const params = [...(bar < 0 ? '' : rest.slice(bar + 1)).matchAll(/([A-Za-z]+\d*)=(?:"([^"]*)"|'([^']*)'|(\S+))/g)];
    const values = params.map(([, key = '', two, one, bare]) => [key.toLowerCase(), two ?? one ?? bare ?? ''] as const);
    return { depth: dashes.length / 2, text: said.trim(), params: Object.fromEntries(values) };
  };
  const isLine = (line: string): boolean => !/^(?:--)*---$/.test(line);
  const bar = split < 0 ? lines : lines.slice(0, split);
  return { bar: bar.map(read), menu: (split < 0 ? [] : lines.slice(split + 1)).filter(isLine).map(read) };
}

const wordsOfRun = ({ params }: MenuLine): readonly string[] => {
  const count = Object.keys(params).filter((key) => /^param\d+$/.test(key)).length;
  return [params.shell ?? '', ...Array.from({ length: count }, (_, place) => params[`param${place + 1}`] ?? '')];
};

function listOf(...rows: readonly RowOptions[]): PaneList {
  const made = rows.map((row, place) => paneRow({ pane: place, ...row }));
  const result = listPanes({ rows: made, targets: [], now: 1_000_000, toWall: (time) => time });
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
}

const ask = (text: string, id = 'toolu_1') => ({
  ask: { ask_id: askId(id), kind: 'command' as const, scope: 'main' as never, text, options: [] },
  asks_open: 1,
});
const known = /^(?:shell|param\d|terminal|refresh|emojize|symbolize|trim)$/;
const program = ['/opt/node', '/opt/agtmux/bin/agtmux'];

describe('IDN6 a suspended agent', () => {
  it('looks suspended in every bar, whatever it did', () => {
    for (const state of ['running', 'waiting_approval'] as const) {
      const list = listOf({ state, fields: { suspended: true } });
      const menu = xbarMenu(list, { program });
      const bars = [menu, waybar(list), barJson(list)].map((text) => text.includes('‖ suspended'));
      expect([state, ...bars]).toEqual([state, true, true, false]);
    }
  });
});

describe('the menu of SwiftBar and xbar', () => {
  it('MNU1 shows the counts, and below them who needs you, then sessions, windows and panes', () => {
    const list = listOf(
      { state: 'waiting_approval', fields: ask('rm -rf build') },
      { state: 'running', window: 2, session: 'api' },
      { state: 'error' },
    );
    const { bar, menu } = readXbar(xbarMenu(list, { program }));
    expect(bar.map(({ text }) => text)).toEqual(['▲1 ✕1']);
    expect(menu[0]?.text).toBe('1 approve, 1 error, 1 running');
    const tree = menu.filter(({ params }) => params.shell === undefined).map(({ depth, text }) => [depth, text]);
    expect(tree).toContainEqual([0, '▲ approve  claude  web-shop  1m']);
    expect(tree).toContainEqual([1, 'rm -rf build']);
    expect(tree).toContainEqual([0, 'host / api']);
    expect(tree).toContainEqual([1, '2: window 2']);
    expect(tree).toContainEqual([2, '● running  claude  web-shop  1m']);
  });

  it('MNU2 every action runs this program on that very agent, in a terminal, approvals by the id of the ask', () => {
    const list = listOf({ state: 'waiting_approval', fields: ask('rm -rf build') });
    const { menu } = readXbar(xbarMenu(list, { program }));
    const runs = menu.filter(({ params }) => params.shell !== undefined);
    const ref = `runtime:${list.items[0]?.runtime_id}`;
    const first = runs.slice(0, 6).map((line) => [line.text, ...wordsOfRun(line).slice(2)]);
    expect(first).toEqual([
      ['Approve', 'approve', ref, '--ask', 'toolu_1'],
      ['Reject', 'reject', ref, '--ask', 'toolu_1'],
      ['Attach', 'attach', ref],
      ['View output', 'view-output', ref],
      ['Send…', 'send', ref],
      ['Kill…', 'kill', ref],
    ]);
    for (const line of runs) {
      expect(wordsOfRun(line).slice(0, 2)).toEqual(program);
      expect(line.params).toMatchObject({ terminal: 'true', refresh: 'true' });
    }
  });

  it.each([
    ['is longer than the menu shows', 'x'.repeat(200), 'toolu_1'],
    ['has a bar in it', 'cat a | sh', 'toolu_1'],
    ['has an id that a parameter cannot hold', 'ls', 'a" shell="/bin/sh'],
  ])('MNU2 an ask that %s is shown in the terminal before anyone answers', (_, text, id) => {
    const { menu } = readXbar(xbarMenu(listOf({ state: 'waiting_approval', fields: ask(text, id) }), { program }));
    const approve = menu.find((line) => line.text.startsWith('Approve'));
    expect(approve?.text).toBe('Approve…');
    expect(approve === undefined ? [] : wordsOfRun(approve)).not.toContain('--ask');
  });

  it('MNU3 nobody can add a line, a parameter or a depth by a name', () => {
    const plain = readXbar(xbarMenu(listOf({ state: 'waiting_approval', fields: ask('x') }), { program }));
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom(
        ...[
          'a | shell=/bin/rm',
          'a\n---\nb',
          '--deep',
          '---',
          '-----',
          '|',
          'x|href=http://e',
          '\u2028--x',
          ':smile:',
          ' ',
        ],
        ...['a\r\n--b | bash="x"', '\u001b[31mred', '\u202eevil', 'a" param1="b', '\u0085next'],
      ),
    );
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, (cwd, nick, window, text) => {
        const place = { cwd: `/p/${cwd}`, window_name: window };
        const fields = { runtime_id: runtimeId('r1'), nick, ...place, ...ask(text) };
        const printed = xbarMenu(listOf({ state: 'waiting_approval', session: `s${cwd}`, fields }), { program });
        const { bar, menu } = readXbar(printed);
        expect(bar).toEqual(plain.bar);
        expect(menu.map(({ depth }) => depth)).toEqual(plain.menu.map(({ depth }) => depth));
        for (const { params } of menu) {
          const strange = Object.keys(params).filter((key) => !known.test(key));
          expect(strange).toEqual([]);
          if (params.shell !== undefined) expect(params.shell).toBe('/opt/node');
        }
      }),
      { numRuns: 150 },
    );
  });

  it('says in one line that the daemon is away, and asks nothing of it', () => {
    const { bar, menu } = readXbar(xbarDown('the daemon does not run'));
    expect([bar[0]?.text, menu[0]?.text]).toEqual(['◌', 'the daemon does not run']);
  });

  it('knows which programs it cannot name', () => {
    expect(['/opt/my tools/node', '/a"b', '/a|b', '/a\nb', '/a$b'].map(isWritable)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('bars of Linux', () => {
  const list = listOf(
    { state: 'waiting_input', fields: ask('Which <b>database</b> & "why"?') },
    { state: 'idle', fields: { nick: '<span>' } },
  );

  it('MNU1 MNU3 Waybar gets one line of JSON whose texts are whole markup', () => {
    const line = waybar(list);
    expect(line).not.toContain('\n');
    const read = JSON.parse(line) as Record<string, string>;
    expect(Object.keys(read).sort()).toEqual(['alt', 'class', 'text', 'tooltip']);
    expect(read).toMatchObject({ text: '?1', class: 'ask', alt: 'ask' });
    for (const text of Object.values(read)) {
      // Markup: every `<` would begin a tag, every `&` has to be one of the five that are named.
      expect(text).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|apos);)/);
    }
    expect(read.tooltip).toContain('&lt;b&gt;database&lt;/b&gt; &amp; &quot;why&quot;?');
  });

  it('MNU1 Polybar gets counts between tags that are closed, and nothing when nobody needs you', () => {
    expect(polybar(list)).toBe('%{F#a06cd5}?1%{F-}');
    expect(polybar(listOf({ state: 'idle' }))).toBe('');
    expect([JSON.parse(down.waybar('x')).class, down.polybar(), JSON.parse(down.json('x')).level]).toEqual([
      'down',
      '◌',
      'down',
    ]);
  });

  it('MNU1 JSON has the same summary and the items of the list', () => {
    const read = JSON.parse(barJson(list)) as { text: string; level: string; items: readonly PaneItem[] };
    expect([read.text, read.level, read.items.length]).toEqual(['?1', 'ask', 2]);
    expect(summaryOf([]).words).toBe('no agents');
  });
});
