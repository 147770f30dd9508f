// The guard as text: nothing foreign in it can be read as a format, and each reason is told by its own part.

import { describe, expect, it } from 'vitest';
import { paneId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { guardOf, noneOf, searchable, whyOf } from './guard-format.ts';

const place = { serverPid: 7, pane: paneId('%5'), panePid: 42, command: 'claude' };

describe('guardOf', () => {
  it('ACT2: names everything the action was decided on, in pairs', () => {
    const parts = ['pid},7', 'pane_id},%5', 'pane_pid},42', 'pane_current_command},claude', 'pane_in_mode},0'];
    for (const part of [...parts, 'pane_synchronized},0']) expect(guardOf(place)).toContain(`#{==:#{${part}}`);
    for (const part of ['pane_input_off', 'pane_dead']) expect(guardOf(place)).toContain(`#{!=:#{${part}},1}`);
    expect(guardOf(place).split('#{&&:')).toHaveLength(8);
    expect(guardOf(place, { words: 'the bug' })).toContain('#{C:the bug}');
  });

  it('ACT2: of a pane that is held, that it still is, under this very name', () => {
    const guard = guardOf(place, null, 'cafe-1');
    for (const part of ['pane_input_off},1', '@agtmux-held},cafe-1']) expect(guard).toContain(`#{==:#{${part}}`);
    expect(guard).not.toContain('#{!=:#{pane_input_off}');
  });

  it('ACT2: rows are asked for letter by letter, each where it was seen first', () => {
    const lines = ['a, b {c} #1', '', '(x) [y] \\z', ''];
    const guard = guardOf(place, { lines, rows: [0, 2, 3] });
    expect(guard).toContain('#{==:#{C/r:^a#, b \\{c\\#} ##1$},1}');
    expect(guard).toContain('#{==:#{C/r:^\\(x\\) \\[y\\] \\\\z$},3}');
    expect(guard).not.toContain('#{C/r:^$}');
    expect(guardOf(place, { lines, rows: [0], core: [0] })).toMatch(/#\{==:#\{C\/r:\^\(.*\},0\}/);
  });

  it('ACT2: a foreign command is a literal', () => {
    expect(guardOf({ ...place, command: 'a},#(id)' })).toContain('#{==:#{pane_current_command},a#}#,##(id)}');
  });
});

describe('noneOf', () => {
  it('ACT2: fits every line that begins otherwise than these', () => {
    const pattern = new RegExp(noneOf(['', '│ touch a', '  (b)^-', 'to', '──────────', '> 1. Yes']));
    for (const line of ['', '│ touch a', '│ touch b', '  (b)^-', 'to', '─────────', '> 1. Yes, always'])
      expect(pattern.test(line), line).toBe(false);
    for (const line of ['t', 'ton', '│', '│ rm', '  (c)^-', '  (b)^', '> 2. No', 'rm', ' ', '    x'])
      expect(pattern.test(line), line).toBe(true);
    expect(new RegExp(noneOf(['a'])).test('')).toBe(true);
  });
});

describe('whyOf', () => {
  const fine = '7|%5|42|0|0|0|0|claude';
  it.each([
    ['8|%5|42|0|0|0|0|claude', 'gone'],
    ['7|||||||', 'gone'],
    ['', 'gone'],
    ['7|%5|42|1|0|0|0|claude', 'dead'],
    ['7|%5|43|0|0|0|0|claude', 'other_process'],
    ['7|%5|42|0|0|0|0|bash', 'other_process'],
    ['7|%5|42|0|0|0|0|claude|', 'other_process'],
    ['7|%5|42|0|1|0|0|claude', 'in_mode'],
    ['7|%5|42|0|0|1|0|claude', 'in_mode'],
    ['7|%5|42|0|0|0|1|claude', 'synchronized'],
  ])('ACT2: %s is %s', (answer, why) => expect(whyOf(place, answer, false)).toBe(why));

  it('ACT2: with all in place it was what should have been shown', () => {
    expect(whyOf(place, fine, true)).toBe('not_shown');
    expect(whyOf(place, fine, false)).toBe('other_process');
  });
});

describe('searchable', () => {
  it.each([
    ['Do you want to proceed?', 'Do you want to proceed'],
    ['#{pid} #(id) *?[a]', 'pid'],
    ['a, b', 'b'],
    ['漢字を直す。', '漢字を直す'],
    ['?!', null],
    ['', null],
  ])('ACT2: of %j tmux is asked for %j', (text, expected) => expect(searchable(text)).toBe(expected));

  it('keeps the end of a long one', () => {
    expect(searchable(`${'a'.repeat(limits.shownCharsMax)}end`)).toBe(`${'a'.repeat(limits.shownCharsMax - 3)}end`);
  });
});
