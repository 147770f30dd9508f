// Screens of Copilot in a known state whose conversation, tool output, prompt or title quotes the live interface of this
// and of other agents. What is quoted must not change what is read (RSV10).

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { classOf, type StateClass } from '../../model/states.ts';
import { classify } from '../screen/classify.ts';
import { readRuleFile } from '../screen/rule-file.ts';
import screen from './screen.json' with { type: 'json' };

const rules = readRuleFile(screen);
const load = (file: string): readonly string[] =>
  readFileSync(new URL(`./fixtures/screens/1.0.102-80x24-${file}.txt`, import.meta.url), 'utf8').split('\n');

const approval = [
  '╭──────────────────────────────────────────────────────────────╮',
  '│ Do you want to run this command?                             │',
  '│ ❯ 1. Yes                                                     │',
  '│   2. No, and tell Copilot what to do differently (Esc)       │',
  '│ ↑/↓ to navigate · enter to select · esc to cancel            │',
  '╰──────────────────────────────────────────────────────────────╯',
];
const question = [
  '─'.repeat(60),
  ' Copilot needs information.',
  ' ❯ Red',
  ' ↑/↓ select · enter accept · ctrl+d decline · esc cancel',
  '─'.repeat(60),
];
const working = ' ◉ Working · 143 B esc esc interrupt';
const prompt = ['─'.repeat(60), '❯', '─'.repeat(60), ' ← open sidebar · Interactive · Manual Approval · / commands'];
const otherAgents = [
  '✻ Churning… (esc to interrupt · 12s · ↓ 1.2k tokens)',
  '❯ 1. Yes',
  '  2. No, and tell Claude what to do differently (esc)',
  '• Working (3s • esc to interrupt)',
  '⠏ Thinking... (esc to cancel, 3s)',
  '│ ● 1. Allow once                 │',
  '│   3. No, suggest changes (esc)  │',
  'Enter to select · ↑/↓ to navigate · Esc to cancel',
];

const everyday = [
  ' /help       show full help                                    ctrl+a       go to line start',
  '❯',
  ' any key close help                                            claude-sonnet-4.6',
  "(reverse-i-search)`':",
  '! Execute shell command',
  ' ← open sidebar · Shell · Manual Approval · / commands · esc exit shell mode',
  ' ● Loading environment',
  'Select Permission Mode',
  '❯ 1. Manual Approval ✓    Require approval for each request',
  '  2. Allow All            Auto-approve all tool, path, and URL requests',
  '1-2 to select · ↑/↓ to navigate · enter to confirm · esc to cancel',
];

const isRuler = (line: string): boolean => /^─{40,}$/.test(line);
const rulersOf = (lines: readonly string[]): readonly [number, number] => {
  const lower = lines.findLastIndex(isRuler);
  return [lines.slice(0, lower).findLastIndex(isRuler), lower];
};

/** As Copilot sets the conversation: indented, the scroll bar at the right edge. */
const set = (head: string, lines: readonly string[]): readonly string[] =>
  lines.map((line, at) => `${`${at === 0 ? ` ${head} ` : '   '}${line}`.slice(0, 78).padEnd(79)}┃`);

/** Puts lines at the end of the conversation, above the folder and the prompt. */
function said(lines: readonly string[], added: readonly string[]): readonly string[] {
  const [upper] = rulersOf(lines);
  return [...lines.slice(0, upper - 1), ...added, `${' '.repeat(79)}┃`, ...lines.slice(upper - 1)];
}

function drafted(lines: readonly string[], draft: readonly string[]): readonly string[] {
  const [upper, lower] = rulersOf(lines);
  const typed = draft.map((line, place) => `${place === 0 ? '❯ ' : '  '}${line}`);
  return [...lines.slice(0, upper + 1), ...typed, ...lines.slice(lower)];
}

/** Text that stands in the dialog itself, above its options. */
function inDialog(lines: readonly string[], added: readonly string[]): readonly string[] {
  const at = lines.findLastIndex((line) => /^│ ❯ 1\./.test(line));
  return [...lines.slice(0, at), ...added.map((line) => `│ ${line.padEnd(76)} │`), ...lines.slice(at)];
}

const idle = load('completed_with_text_question');
const running = load('running_text');
const tool = load('running_tool');
const shellDialog = load('waiting_approval_shell');
const editDialog = load('waiting_approval_edit');
const trustDialog = load('startup_dialog');
const questionPanel = load('waiting_answer');
const failed = load('api_error_401');

type Trap = readonly [what: string, lines: readonly string[], is: StateClass];

const traps: readonly Trap[] = [
  ['idle, the answer quotes an approval', said(idle, set('●', ['It asks:', ...approval])), 'settled'],
  ['idle, the answer quotes a question', said(idle, set('●', ['It asks:', ...question])), 'settled'],
  ['idle, the answer ends in the working line', said(idle, set('●', ['It shows', working])), 'settled'],
  ['idle, the answer is the working line', said(idle, set('●', [working.trim()])), 'settled'],
  ['idle, the answer quotes an error', said(idle, set('●', ['You saw', '✗ 400 Mock error 400'])), 'settled'],
  ['idle, a tool printed an approval', said(idle, set('●', ['Shell cat notes.txt', ...approval])), 'settled'],
  ['idle, the answer quotes other agents', said(idle, set('●', otherAgents)), 'settled'],
  [
    'idle, the person quoted an error',
    said(idle, [...set('❯', ['why ✗ 400?']), ...set('●', ['It failed.'])]),
    'settled',
  ],
  ['idle, the answer quotes menus and modes', said(idle, set('●', everyday)), 'settled'],
  ['idle, the draft quotes menus and modes', drafted(idle, ['see', ...everyday]), 'settled'],
  ['running, the answer quotes menus and modes', said(running, set('●', everyday)), 'running'],
  ['running, the draft quotes menus and modes', drafted(running, ['see', ...everyday]), 'running'],
  ['an approval of a text with menus and modes in it', inDialog(shellDialog, everyday), 'waiting_approval'],
  ['an error, the draft quotes menus and modes', drafted(failed, ['see', ...everyday]), 'error'],
  ['idle, the draft is an approval', drafted(idle, ['why', ...approval]), 'settled'],
  ['idle, the draft ends in the keys of a question', drafted(idle, ['see', ...question]), 'settled'],
  ['idle, the draft quotes the working line', drafted(idle, ['see', working]), 'settled'],
  ['running, the answer quotes the prompt', said(running, set('●', prompt)), 'running'],
  ['running, the answer says it was cancelled', said(running, set('●', ['Operation cancelled by user'])), 'running'],
  ['running, the draft quotes the idle footer', drafted(running, ['see', ...prompt]), 'running'],
  ['a tool runs and prints an approval', said(tool, set('$', ['Shell cat dialog.txt', ...approval])), 'running'],
  ['an approval of a text with a question in it', inDialog(shellDialog, question.slice(1, 4)), 'waiting_approval'],
  ['an approval of a text with the prompt in it', inDialog(editDialog, [...prompt, working]), 'waiting_approval'],
  ['an approval after a quoted idle screen', ['', ...set('●', prompt), ...shellDialog.slice(2)], 'waiting_approval'],
  ['the trust dialog over a quoted working line', [...set('●', [working]), ...trustDialog], 'waiting_approval'],
  ['a question after a quoted approval', [...set('●', approval), ...questionPanel], 'waiting_input'],
  ['an error, the draft speaks of success', drafted(failed, ['● All done.', '● Operation cancelled by user']), 'error'],
];

const titles = [
  'GitHub Copilot',
  'Do you want to run this command? ◉ Working - GitHub Copilot',
  '✦  Working… (gem)',
  '',
];

const withoutFooter = drafted(idle, ['see', ...question.slice(1, -1)]).slice(0, -2);

/** Older versions begin what is said at column 0 and show the working line right above the folder. */
const older = readFileSync(new URL('./fixtures/sizes/screens/1.0.46-80x24-completed.txt', import.meta.url), 'utf8');
const olderLine = '◎ Thinking (Esc to cancel · 74 B)';

describe('traps on the screen of copilot', () => {
  it('RSV4 a draft that ends in the keys of a dialog is none, even where nothing stands below it', () => {
    expect(withoutFooter.at(-1)).toMatch(/^─+$/);
    expect(classify(rules, { lines: withoutFooter, title: '', command: 'node' }, null).state).toBe('unknown');
  });

  it('RSV10 in the layout of older versions, too', () => {
    const read = (added: readonly string[]) => {
      const whole = older.split('\n');
      const [upper] = rulersOf(whole);
      const lines = [...whole.slice(0, upper - 1), ...added, ...whole.slice(upper - 1)];
      return classOf(classify(rules, { lines, title: '', command: 'node' }, '1.0.46').state);
    };
    expect(read([`● ${olderLine}`, ''])).toBe('settled');
    expect(read(['● It shows', `  ${olderLine}`, ''])).toBe('settled');
    expect(read([olderLine])).toBe('running');
    // An answer in the very words of the working line, under its own mark, cannot be told from it.
    expect(read(['● Thinking (Esc to cancel · 74 B)', ''])).toBe('unclassified');
  });

  it.each(traps)('RSV10 %s', (_what, lines, is) => {
    for (const title of titles) {
      const reading = classify(rules, { lines, title, command: 'node' }, '1.0.102');
      expect(classOf(reading.state), `read by ${reading.rule}`).toBe(is);
    }
  });
});

describe('RSV4 what cannot be seen', () => {
  const blind = (file: string): readonly string[] =>
    readFileSync(new URL(`./fixtures/blind/1.0.102-${file}.txt`, import.meta.url), 'utf8').split('\n');
  const read = (lines: readonly string[], title: string) => classify(rules, { lines, title, command: 'node' }, null);

  it.each(['60x10-error_403', '200x10-error_529'])('RSV4 a low window may hide that the turn failed: %s', (file) => {
    expect(read(blind(file), 'do it - GitHub Copilot').state).toBe('unknown');
    // Without a prompt there was no turn, and with room for it the error would be in sight.
    expect(read(blind(file), 'GitHub Copilot').state).toBe('idle');
    const [tabs = '', ...rest] = blind(file);
    const tall = [tabs, ...Array.from({ length: 12 }, () => ''), ...rest];
    expect(read(tall, 'do it - GitHub Copilot').state).toBe('idle');
  });

  it('RSV4 while the sidebar has the keyboard, what is typed would not reach the prompt', () => {
    expect(read(blind('120x40-sidebar_focused'), 'do it - GitHub Copilot').state).toBe('unknown');
  });
});

describe('RSV4 dialogs of other programs', () => {
  it.each([
    [
      'Claude, in a frame',
      ['╭──────────────╮', '│ Do you want to proceed?', '│ ❯ 1. Yes', '│   2. No (esc)', '╰──────────────╯'],
    ],
    [
      'Claude, open',
      ['   Background work is running', '   ❯ 1. Exit', '     2. Stay', '   Enter to confirm · Esc to cancel'],
    ],
    ['Claude, with tabs', ['    1. Add a new rule…', '', '  ←/→ to switch · ↓ to select · Esc to cancel']],
    ['Codex', ['› 1. Trust and continue', '  2. Quit', '', '  enter continue · esc quit']],
    [
      'Gemini',
      ['╭──────────────╮', '│ ● 1.  Red', '│ Enter to select · ↑/↓ to navigate · Esc to cancel', '╰──────────────╯'],
    ],
    ['a wizard', ['◆  Pick a framework', '│  ● React', '└  ↑/↓ to navigate · Enter to confirm · Esc to cancel']],
  ])('%s', (_, lines) => {
    expect(classify(rules, { lines, title: '', command: 'node' }, null).state).toBe('unknown');
  });
});
