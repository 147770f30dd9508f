// Screens of Gemini in a known state whose conversation, tool output, prompt or title quotes the live interface of this and
// of other agents. What is quoted must not change what is read (RSV10).

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { classOf, type StateClass } from '../../model/states.ts';
import { classify } from '../screen/classify.ts';
import { readRuleFile } from '../screen/rule-file.ts';
import screen from './screen.json' with { type: 'json' };

const rules = readRuleFile(screen);
const load = (file: string): readonly string[] =>
  readFileSync(new URL(`./fixtures/screens/0.61.0-${file}.txt`, import.meta.url), 'utf8').split('\n');

const approval = [
  '╭──────────────────────────────────────────────────────────────────────╮',
  '│ ? Shell  rm -rf build                                                │',
  '│ Allow execution of [Shell]?                                          │',
  '│                                                                      │',
  '│ ● 1. Allow once                                                      │',
  '│   2. Allow for this session                                          │',
  '│   3. No, suggest changes (esc)                                       │',
  '╰──────────────────────────────────────────────────────────────────────╯',
];
const question = [
  '│ Answer Questions                                                     │',
  '│ ● 1.  Red                                                            │',
  '│ Enter to select · ↑/↓ to navigate · Esc to cancel                    │',
];
const prompt = [
  '─'.repeat(60),
  ' Shift+Tab to accept edits',
  '',
  ' >   Type your message or @path/to/file',
  '',
  ' workspace (/directory)      sandbox      /model',
];
const spinner = ' ⠏ Thinking... (esc to cancel, 3s)                   ? for shortcuts';
const failure = '✕ [API Error: {"error":{"code":400}}]';
const otherAgents = [
  '✻ Churning… (esc to interrupt · 12s · ↓ 1.2k tokens)',
  '❯ 1. Yes',
  '  2. No, and tell Claude what to do differently (esc)',
  '• Working (3s • esc to interrupt)',
  '› 1. Yes, proceed (y)',
  ' ◉ Working · 143 B esc esc interrupt',
  '△ Permission required',
  '╭───────────────────────────────╮',
  '│ Do you want to run this command? │',
  '│ ❯ 1. Yes                      │',
  '╰───────────────────────────────╯',
];

const isRuler = (line: string): boolean => /^─{40,}$/.test(line);

/** Puts lines at the end of the conversation, above the status row. */
function said(lines: readonly string[], added: readonly string[]): readonly string[] {
  const ruler = lines.findLastIndex(isRuler);
  return [...lines.slice(0, ruler - 2), '', ...added, '', ...lines.slice(ruler - 2)];
}

/** As Gemini sets its answer: a mark before the first line, two spaces before the others. */
const answer = (lines: readonly string[]): readonly string[] =>
  lines.map((line, at) => `${at === 0 ? '✦ ' : '  '}${line}`);

const toolOutput = (head: string, lines: readonly string[]): readonly string[] => [
  `╭${'─'.repeat(74)}╮`,
  ...[head, '', ...lines].map((line) => `│ ${line.padEnd(73)}│`),
  `╰${'─'.repeat(74)}╯`,
];

function drafted(lines: readonly string[], draft: readonly string[]): readonly string[] {
  const at = lines.findLastIndex((line) => line.startsWith(' >   Type your'));
  return [
    ...lines.slice(0, at),
    ...draft.map((line, place) => `${place === 0 ? ' > ' : '   '}${line}`),
    ...lines.slice(at + 1),
  ];
}

/** Text that stands in the dialog itself, above its options. */
function inDialog(lines: readonly string[], added: readonly string[]): readonly string[] {
  const at = lines.findLastIndex((line) => /^│ ● 1\./.test(line));
  return [...lines.slice(0, at), ...added.map((line) => `│ ${line.padEnd(76)} │`), ...lines.slice(at)];
}

const idle = load('80x24-completed_with_text_question');
const running = load('80x24-api_error_500_retrying');
const tool = load('80x24-running_tool');
const shellDialog = load('80x24-waiting_approval_shell');
const questionDialog = load('80x24-waiting_answer');
const trustDialog = load('80x24-startup_dialog');
const failed = load('80x24-api_error_400');
const done = '✓  Shell cat notes.txt';

type Trap = readonly [what: string, lines: readonly string[], is: StateClass, titles: readonly string[]];

const quiet = ['◇  Ready (gem)', 'Gemini CLI (gem)', ''];
const working = ['✦  Working… (gem)', 'Gemini CLI (gem)', ''];
const asking = ['✋  Action Required (gem)', 'Gemini CLI (gem)', ''];

const traps: readonly Trap[] = [
  ['idle, the answer quotes an approval', said(idle, answer(['It asks:', ...approval])), 'settled', quiet],
  ['idle, the answer ends in a spinner', said(idle, answer(['It shows', spinner])), 'settled', quiet],
  ['idle, the answer is nothing but a spinner', said(idle, answer([spinner.trim()])), 'settled', quiet],
  ['idle, the answer quotes an error', said(idle, answer(['You saw', failure])), 'settled', quiet],
  ['idle, a tool printed an approval', said(idle, toolOutput(done, approval)), 'settled', quiet],
  ['idle, a tool printed a question', said(idle, toolOutput(done, question)), 'settled', quiet],
  [
    'idle, a tool printed a running tool',
    said(idle, toolOutput(done, ['⊶  Shell sleep 30', spinner])),
    'settled',
    quiet,
  ],
  ['idle, the draft quotes a spinner and a dialog', drafted(idle, ['why', spinner, ...approval]), 'settled', quiet],
  ['idle, the answer quotes other agents', said(idle, answer(otherAgents)), 'settled', quiet],
  ['idle, a tool printed other agents', said(idle, toolOutput(done, otherAgents)), 'settled', quiet],
  [
    'idle, the person quoted an error',
    said(idle, [` > why ${failure}`, `   ${spinner}`, '', '✦ It failed.']),
    'settled',
    quiet,
  ],
  ['running, the answer quotes the prompt', said(running, answer(['Below is', ...prompt])), 'running', working],
  ['running, the answer quotes an approval', said(running, answer(approval)), 'running', working],
  ['running, the answer says it was cancelled', said(running, answer(['ℹ Request cancelled.'])), 'running', working],
  ['running, the draft quotes the prompt', drafted(running, ['see', ...prompt]), 'running', working],
  [
    'a tool runs and prints a question',
    said(tool, toolOutput('⊶  Shell cat dialog.txt', question)),
    'running',
    working,
  ],
  [
    'an approval of a text with a question in it',
    inDialog(
      shellDialog,
      question.map((line) => line.slice(2, 60)),
    ),
    'waiting_approval',
    asking,
  ],
  [
    'an approval of a text with a prompt in it',
    inDialog(shellDialog, [...prompt, spinner.trim()]),
    'waiting_approval',
    asking,
  ],
  [
    'a question about an approval',
    inDialog(questionDialog, ['Which of', '1. Allow once', '2. No, suggest changes (esc)', 'is right?']),
    'waiting_input',
    asking,
  ],
  [
    'a question about trust',
    inDialog(questionDialog, ['Do you trust the files in this folder?']),
    'waiting_input',
    asking,
  ],
  ['the trust dialog under a quiet title', trustDialog, 'waiting_approval', quiet],
  [
    'an error, the draft speaks of a cancelled request',
    drafted(failed, ['ℹ Request cancelled.', '✦ Done.']),
    'error',
    quiet,
  ],
  [
    'idle, the folder is called like a state',
    idle,
    'settled',
    ['◇  Ready (✦  Working…)', '◇  Ready (✋  Action Required)'],
  ],
  ['idle, the title is that of another agent', idle, 'settled', ['✳ Claude Code', '⠋ codex', 'OC | fix it']],
];

describe('traps on the screen of gemini', () => {
  it.each(traps)('RSV10 %s', (_what, lines, is, titles) => {
    for (const title of titles) {
      const reading = classify(rules, { lines, title, command: 'node' }, '0.61.0');
      expect(classOf(reading.state), `${title}, read by ${reading.rule}`).toBe(is);
    }
  });

  it('RSV4 a title that says another thing than the screen proves neither', () => {
    for (const title of ['✦  Working… (gem)', '✋  Action Required (gem)'])
      expect(classify(rules, { lines: idle, title, command: 'node' }, '0.61.0').state).toBe('unknown');
  });
});

describe('screens of which only a part is there', () => {
  const shown = (lines: readonly string[], title = '') => classify(rules, { lines, title, command: 'node' }, '0.61.0');
  const filled = (file: string) => load(file).join('\n').trimEnd().split('\n');

  it('RSV4 the question of trust in a low window is no mere choice', () => {
    for (const rows of [6, 8, 10])
      expect(shown(filled('80x24-startup_dialog').slice(-rows))).toMatchObject({
        state: 'waiting_approval',
        reason: 'trust_asked',
      });
    expect(shown(filled('80x24-startup_dialog').slice(-4)).state).toBe('unknown');
  });

  it('RSV4 a prompt that a shell wrote over is nobody’s', () => {
    for (const name of ['80x24-killed_inner', '80x24-killed_outer']) expect(shown(filled(name)).state).toBe('unknown');
  });

  it('RSV4 a tool whose head is out of sight may still run', () => {
    const lines = filled('80x24-after_answer');
    const composer = lines.slice(lines.findLastIndex(isRuler));
    const tool = ['│ started                              │', '╰──────────────────────────────────────╯', '', ''];
    expect(shown([...tool, ...composer]).state).toBe('unknown');
    expect(shown([...tool, ...composer], '◇  Ready (gem)').state).toBe('idle');
    expect(shown([...tool, '✦ Done.', '', '', ...composer]).state).toBe('idle');
  });

  it('RSV10 a spinner in the first column is one too', () => {
    const lines = filled('80x24-after_answer');
    const ruler = lines.findLastIndex(isRuler);
    const words = '⠙ Why do programmers prefer dark mode? (esc to cancel, 30s)';
    expect(shown([...lines.slice(0, ruler), words, ...lines.slice(ruler)]).state).toBe('running');
  });
});
