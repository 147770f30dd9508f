// Screens on which something else is quoted than what is going on: transcripts, tool output, drafts, commands and titles
// that show dialogs, spinners, prompts and footers. Made from recordings, so that everything around the quote is real.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { classOf } from '../../model/states.ts';
import { classify, type Reading } from '../screen/classify.ts';
import { readRuleFile } from '../screen/rule-file.ts';
import rules from './screen.json' with { type: 'json' };

const file = readRuleFile(rules);
const folder = join(import.meta.dirname, 'fixtures');
const linesOf = (name: string): readonly string[] => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
const screen = (name: string): readonly string[] => linesOf(join('screens', `${name}.txt`));

const read = (lines: readonly string[], title = '✳ Claude Code', command = 'claude'): Reading =>
  classify(file, { lines, title, command }, null);
const classIn = (lines: readonly string[], title?: string, command?: string): string =>
  classOf(read(lines, title, command).state);

const rule = '─'.repeat(60);
const isRule = (line: string): boolean => /^─{6,}/.test(line);

/** The place where the newest part of the transcript ends: above the spinner, or above the prompt box. */
function endOfTranscript(lines: readonly string[]): number {
  const bottom = lines.findLastIndex(isRule);
  const top = lines.slice(0, bottom).findLastIndex(isRule);
  const status = lines.slice(0, top).findLastIndex((line) => /^[·✢*✶✻✽] \S/.test(line));
  const bullet = lines.slice(0, top).findLastIndex((line) => /^[●❯>] \S/.test(line));
  return status > bullet ? status : top;
}

function withBlock(lines: readonly string[], block: readonly string[]): readonly string[] {
  const at = endOfTranscript(lines);
  return [...lines.slice(0, at), ...block, '', ...lines.slice(at)];
}

const answering = (quote: readonly string[]) => ['● It looked like this:', '', ...quote.map((line) => `  ${line}`)];
const printing = (quote: readonly string[]) => [
  '● Bash(cat screen.txt)',
  ...quote.map((line, at) => `${at === 0 ? '  ⎿  ' : '     '}${line}`),
];

function withDraft(lines: readonly string[], draft: readonly string[]): readonly string[] {
  const bottom = lines.findLastIndex(isRule);
  const top = lines.slice(0, bottom).findLastIndex(isRule);
  const mark = lines[top + 1]?.slice(0, 1) ?? '❯';
  const typed = draft.map((line, at) => `${at === 0 ? `${mark}\u00a0` : '  '}${line}`);
  return [...lines.slice(0, top + 1), ...typed, ...lines.slice(bottom)];
}

const quotes: Readonly<Record<string, readonly string[]>> = {
  'a command approval': [
    rule,
    ' Bash command',
    '   rm -rf build',
    ' Do you want to proceed?',
    ' ❯ 1. Yes',
    '   2. No',
    '',
    ' Esc to cancel · Tab to amend',
  ],
  'a question': [
    rule,
    ' ☐ Database',
    '',
    'Which one?',
    '',
    '❯ 1. SQLite',
    '  2. Postgres',
    'Enter to select · Esc to cancel',
  ],
  'a spinner': ['✻ Baking… (12s · ↓ 40 tokens · esc to interrupt)', '  ⎿  Tip: press esc to interrupt'],
  'a retry': ['✻ API error · Retrying in 3s · attempt 1/10'],
  'an empty prompt': [rule, '❯ ', rule, '  ? for shortcuts'],
  'a finished turn': ['✻ Cooked for 9s · done 8:04 AM'],
  'an interrupt': [
    '⎿  Interrupted · What should Claude do instead?',
    '  ⎿  Interrupted · What should Claude do instead?',
  ],
  'an error': ['⎿  API Error: 500 Internal server error', 'API Error: 529 Overloaded'],
  'a goodbye': ['Resume this session with:', 'claude --resume 2f4f5ad5-3f11-4a43-9c0a-1f2f3e4d5c6b'],
  'the detailed transcript': [rule, 'Showing detailed transcript · ctrl+o to toggle'],
  'framed approval of 1.0': [
    '╭────────────╮',
    '│ Bash command │',
    '│ Do you want to proceed? │',
    '│ ❯ 1. Yes │',
    '│   2. No │',
    '╰────────────╯',
  ],
  'codex at work': ['• Working (12s • esc to interrupt)', '› Ask Codex to do anything', '  gpt-5 · 90% context left'],
  'codex asking': [
    'Would you like to run the following command?',
    '$ rm -rf build',
    '› 1. Yes, proceed (y)',
    '  2. No (esc)',
    'Press enter to confirm or esc to cancel',
  ],
  'gemini and copilot': [
    '⠏ Thinking... (esc to cancel, 5s)',
    ' > Type your message or @path/to/file',
    '● Running (Esc to cancel)',
    'Allow execution of: rm?',
    '● 1. Yes, allow once',
  ],
  'opencode and kilo': [
    '■■■⬝⬝⬝  esc interrupt',
    '△ Permission required',
    ' Allow once   Allow always   Reject   ⇆ select  enter confirm',
  ],
};

const bases: readonly (readonly [string, string])[] = [
  ['2.1.325-completed_text.80x24', 'settled'],
  ['2.1.325-running_streaming.200x50', 'running'],
  ['2.1.325-running_tool_bash.80x24', 'running'],
  ['2.1.197-completed_text.80x24', 'settled'],
  ['2.1.197-running_queued_message.80x24', 'running'],
  ['2.0.77-completed_text.200x50', 'settled'],
  ['2.0.77-running_streaming.80x24', 'running'],
  ['1.0.128-completed_text.80x24', 'settled'],
];

describe('RSV10 what is quoted is not what is going on', () => {
  it.each(bases)('an answer that shows anything at all, on %s', (base, expected) => {
    const readings = Object.entries(quotes).map(([name, quote]) => [
      name,
      classIn(withBlock(screen(base), answering(quote))),
    ]);
    expect(readings).toEqual(Object.keys(quotes).map((name) => [name, expected]));
  });

  it.each(bases)('the output of a tool, followed by an answer, on %s', (base, expected) => {
    const readings = Object.entries(quotes).map(([name, quote]) => [
      name,
      classIn(withBlock(screen(base), [...printing(quote), '', '● That is all.'])),
    ]);
    expect(readings).toEqual(Object.keys(quotes).map((name) => [name, expected]));
  });

  it.each(bases)('a draft, on %s', (base, expected) => {
    const readings = Object.entries(quotes).map(([name, quote]) => [
      name,
      classIn(withDraft(screen(base), ['see here:', ...quote])),
    ]);
    expect(readings).toEqual(Object.keys(quotes).map((name) => [name, expected]));
  });

  it.each(Object.entries(quotes))('a prompt of 1.0, which stands in column 0: %s', (_name, quote) => {
    const lines = withBlock(screen('1.0.128-completed_text.80x24'), [
      '> what does this mean?',
      ...quote,
      '',
      '● Nothing.',
    ]);
    expect(classIn(lines)).toBe('settled');
  });

  it.each([
    ['⠐ Fixing the build', 'settled'],
    ['✳ esc to interrupt', 'settled'],
    ['Do you want to proceed? ❯ 1. Yes', 'settled'],
  ])('a title: %s', (title, expected) => {
    expect(classIn(screen('2.1.325-completed_text.80x24'), title)).toBe(expected);
    expect(classIn(screen('2.1.325-running_streaming.80x24'), '✳ ready')).toBe('running');
  });
});

/** Puts lines in front of the first line of a dialog that matches. */
function before(lines: readonly string[], mark: RegExp, more: readonly string[]): readonly string[] {
  const at = lines.findLastIndex((line) => mark.test(line));
  if (at < 0) throw new Error(`no line ${mark}`);
  return [...lines.slice(0, at), ...more, ...lines.slice(at)];
}

describe('what stands in a dialog does not make it another one', () => {
  const inBody = Object.entries(quotes).map(([name, quote]) => [name, quote.map((line) => ` ${line}`)] as const);

  it.each(inBody)('the command that is asked about: %s', (_name, quote) => {
    const { state, ask } = read(before(screen('2.1.325-approval_bash.80x24'), /^╌/, quote));
    expect([state, ask?.kind]).toEqual(['waiting_approval', 'command']);
    expect(ask?.options.at(-1)).toEqual({ id: '4', label: 'No' });
    expect(ask?.text).toContain('touch made-a.txt && sleep 8');
  });

  it.each(inBody)('the command of 2.1.197: %s', (_name, quote) => {
    const lines = before(screen('2.1.197-approval_bgbash.80x24'), /^ {3}Run in background/, quote);
    expect(read(lines)).toMatchObject({ state: 'waiting_approval', ask: { kind: 'command' } });
  });

  it.each(inBody)('the change that is asked about: %s', (_name, quote) => {
    const diff = quote.map((line, at) => ` ${at + 2} +${line}`);
    const { state, ask } = read(before(screen('2.1.325-approval_edit.80x24'), /^╌/, diff));
    expect([state, ask?.kind]).toEqual(['waiting_approval', 'edit']);
    expect(ask?.options.map(({ id }) => id)).toEqual(['1', '2', '3']);
  });

  it.each(inBody)('the plan: %s', (_name, quote) => {
    const lines = before(screen('2.1.197-waiting_plan_approval.200x50'), /^ 3\. Run the tests/, quote);
    expect(read(lines)).toMatchObject({ state: 'waiting_approval', ask: { kind: 'plan' } });
  });

  it('the options of a question', () => {
    const lines = before(screen('2.1.325-waiting_question.200x50'), /^ {2}2\. Postgres/, [
      '     Do you want to proceed? ❯ 1. Yes',
      '     ✻ Baking… (3s · esc to interrupt)',
    ]);
    expect(read(lines)).toMatchObject({ state: 'waiting_input', ask: { kind: 'question' } });
  });
});

describe('doubt is unknown', () => {
  it.each(readdirSync(join(folder, 'traps')))('RSV4 an answer that broke off without a mark: %s', (name) => {
    // What was going on is an error, but nothing on the screen says so.
    expect(read(linesOf(join('traps', name)), '', 'claude')).toMatchObject({
      state: 'unknown',
      rule: 'ready-in-doubt',
    });
  });

  it('IDN8 whatever a killed agent left on the screen', () => {
    for (const base of [
      '2.1.325-running_streaming.80x24',
      '2.1.325-approval_bash.80x24',
      '2.1.197-completed_text.80x24',
    ])
      expect(read(screen(base), '⠐ busy', 'zsh')).toMatchObject({ state: 'unknown', reason: 'agent_not_running' });
  });

  it('a dialog without its lower half, and a box without its upper rule', () => {
    const dialog = screen('2.1.325-approval_bash.80x24');
    const cut = dialog.slice(
      0,
      dialog.findIndex((line) => line.includes('❯ 1. Yes')),
    );
    expect(read(cut).state).toBe('unknown');
    expect(read([rule, '  ? for shortcuts']).state).toBe('unknown');
    expect(read(['❯ ', rule, '  ? for shortcuts']).state).toBe('unknown');
  });

  it('a message that waits to be sent is never idle', () => {
    const lines = screen('2.1.325-running_queued_message.80x24').filter((line) => !/^· |esc to interrupt/.test(line));
    expect(read(lines).state).not.toBe('idle');
    expect(read(lines).state).not.toBe('completed');
  });
});

describe('views that are not the conversation', () => {
  const idle = screen('2.1.325-completed_text.80x24');
  const busy = screen('2.1.325-running_streaming.80x24');
  const scrolled = (lines: readonly string[]) =>
    withBlock(
      lines.filter((line) => !/^[·✢*✶✻✽] \S/.test(line)),
      ['● API Error: 500 Internal server error', '  and what it Jump to bottom (ctrl+End) ↓  was about'],
    );

  it('an earlier part of it: only the footer counts', () => {
    expect(read(scrolled(idle))).toMatchObject({ state: 'idle', confidence: 'medium' });
    expect(read(scrolled(busy)).state).toBe('running');
  });

  it('the list of other sessions, with a prompt of its own', () => {
    const lines = [
      'Working',
      '✶ rewrite the readme  starting…                                2s',
      '',
      rule,
      '❯ describe a task for a new session',
      rule,
      '  enter to return · space to reply · ctrl+x to remove · ? for shortcuts',
    ];
    expect(read(lines)).toMatchObject({ state: 'unknown', rule: 'agents-view' });
  });

  it('the detailed transcript: finished where it ends so, else nobody knows', () => {
    expect(read(screen('2.1.325-idle_transcript_view.80x24')).state).toBe('completed');
    const running = ['❯ go on', '', '', rule, '  Showing detailed transcript · ctrl+o to toggle · ? for shortcuts'];
    expect(read(running).state).toBe('unknown');
  });

  it('what another run left above a program that is starting', () => {
    const dialog = screen('2.1.325-exit_with_background_bash.80x24');
    expect(read([...dialog, '$ claude'], '', 'node').state).toBe('unknown');
  });
});

describe('what is known from reports only', () => {
  const ended = (...block: readonly string[]) => {
    const lines = screen('2.1.325-error_400.80x24');
    const at = lines.findIndex((line) => line.startsWith('● API Error'));
    return read([...lines.slice(0, at), ...block, ...lines.slice(at + 1)]);
  };

  it.each([
    "You've hit your session limit · resets 3pm (UTC)",
    '5-hour limit reached ∙ resets 3pm',
    'Claude usage limit reached. Your limit will reset at 3pm',
  ])('a usage limit: %s', (words) => {
    for (const block of [[`● ${words}`], [`  ⎿  ${words}`]])
      expect(ended(...block)).toMatchObject({ state: 'error', reason: 'usage_limit', detail: words });
  });

  it.each([
    ['Prompt is too long', 'error'],
    ['Credit balance is too low', 'error'],
    ['Invalid API key · Please run /login', 'error'],
    ['The usage limit reached by the crane is 5 t', 'completed'],
    ['Errors are told as API Error: and a number', 'completed'],
  ])('an answer: %s', (words, expected) => {
    expect(ended(`● ${words}`).state).toBe(expected);
  });

  it.each([
    'Prompt is too long · automatic compaction failed · /clear to start fresh',
    'Context limit reached · /compact or /clear to continue',
    'Credit balance too low · Add funds: https://platform.claude.com/settings/billing',
  ])('a turn that could not begin: %s', (words) => {
    expect(ended(`  ⎿  ${words}`)).toMatchObject({ state: 'error', reason: 'api_error', detail: words });
    const box = [rule, '❯ ', rule, '  ? for shortcuts'];
    const told = ['❯ what is this', '', '● It says:', '', `  ⎿  ${words}`, '', '✻ Baked for 1s', '', ...box];
    expect(read(told).state).toBe('completed');
  });

  it('the end of a message that was flagged', () => {
    const tail = [
      '  Message ID: msg_6',
      '',
      '✻ Baked for 3s · done 5:43 AM',
      '',
      rule,
      '❯ ',
      rule,
      '  ? for shortcuts',
    ];
    expect(read(tail).state).toBe('unknown');
  });

  it('the warning before all permissions are skipped, and a login', () => {
    const lines = [
      rule,
      ' WARNING: Claude Code running in Bypass Permissions mode',
      '',
      ' By proceeding, you accept all responsibility.',
      '',
      ' ❯ 1. No, exit',
      '   2. Yes, I accept',
      '',
      ' Enter to confirm · Esc to exit',
    ];
    expect(read(lines)).toMatchObject({ state: 'waiting_approval', reason: 'trust_asked', ask: { kind: 'trust' } });
    const login = [
      '',
      ' Select login method:',
      '',
      ' ❯ 1. Claude account with subscription',
      '   2. Anthropic Console account',
    ];
    expect(read(login)).toMatchObject({ state: 'waiting_input', reason: 'login_needed' });
  });
});
