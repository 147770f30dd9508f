// Screens of Cursor's agent as others described them, and talk that quotes such screens. Little is known: whatever is not
// clearly one of the known surfaces has to stay unknown.

import { describe, expect, it } from 'vitest';
import { classify } from '../screen/classify.ts';
import { readRuleFile } from '../screen/rule-file.ts';
import screen from './screen.json' with { type: 'json' };

const rules = readRuleFile(screen);
const look = (lines: readonly string[], title = 'Cursor Agent') =>
  classify(rules, { lines, title, command: 'node' }, null);

const rule = '─'.repeat(60);
const composer = [
  '',
  '  → Add a follow-up',
  '',
  '  Auto · 7.5%                                        Run Everything',
  '  ~/work',
];
const busy = [
  '',
  '  → Add a follow-up                                  ctrl+c to stop',
  '',
  '  Auto · 7.5%',
  '  ~/work',
];
const surface = [
  rule,
  ' $  touch notes.txt in .',
  ' Run this command?',
  ' Not in allowlist: touch',
  '  → Run (once) (y)',
  '    Add Shell(touch) to allowlist? (tab)',
  '    Run Everything (shift+tab)',
  '    Skip & tell the agent what to do instead (esc or n)',
];
const form = [
  ' ┌──────────────────────────────────────────┐',
  ' │ Clarifying Questions                     │',
  ' │ 1. Red or blue?                          │',
  ' │   › [ ] Red                              │',
  ' │     [ ] Blue                             │',
  ' │ ↑/↓ option · Space select · Esc to skip  │',
  ' └──────────────────────────────────────────┘',
];
const quoted = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);

describe('screens of Cursor, from reports', () => {
  it('an approval, with or without the line to type into below it', () => {
    for (const lines of [surface, [...surface, ...composer]])
      expect(look(lines)).toMatchObject({
        state: 'waiting_approval',
        confidence: 'low',
        ask: { text: expect.stringContaining('Run this command?') },
      });
  });

  it('other surfaces of the same shape', () => {
    const mcp = [' ntc: ping', ' Run this MCP tool?', '  → Run (once) (y)', '    Skip (esc or n)'];
    const remove = [' │ Delete this file?   │', ' │  → Delete (y)       │', ' │    Keep (n)         │'];
    expect([look(mcp).state, look(remove).state]).toEqual(['waiting_approval', 'waiting_approval']);
  });

  it('a form with questions, and a turn that runs', () => {
    expect(look(form)).toMatchObject({ state: 'waiting_input', ask: { text: '1. Red or blue?' } });
    expect(look(['  Working on it.', ...busy]).state).toBe('running');
  });

  it('RSV4 a prompt that is ready is not told from one that is busy', () => {
    expect(look(['  All done.', ...composer]).state).toBe('unknown');
    expect(look(['  $ sleep 30 5s', ...composer]).state).toBe('unknown');
  });
});

describe('RSV10 quoted interfaces change nothing', () => {
  it.each([
    ['its own approval', quoted(surface)],
    ['its own form', quoted(form)],
    ['a dialog of Claude Code', ['  Do you want to proceed?', '  ❯ 1. Yes', '    2. No (esc)']],
    ['a dialog of OpenCode', ['    △ Permission required', '     Allow once   Allow always   Reject']],
    ['a dialog of Codex', ['  Would you like to run it?', '  › 1. Yes, proceed (y)', '    2. No (esc)']],
    ['a headline that was answered', [' Run this command?', '  $ touch notes.txt', '  Done.']],
    ['a question in prose', ['  Shall I go on?', '  - yes (y)', '  - no (n)']],
    ['the hint in prose', ['  Press ctrl+c to stop', '  ctrl+c to stop']],
  ])('%s in an answer', (_name, lines) => {
    expect(look(['  Here you are:', ...lines, ...composer]).state).toBe('unknown');
    expect(look(['  Here you are:', ...lines, ...busy]).state).toBe('running');
  });

  it('the permanent words in the last line are no approval, and a title proves nothing', () => {
    expect(look(['  Hello.', ...composer], 'Run this command? (y)').state).toBe('unknown');
  });
});
