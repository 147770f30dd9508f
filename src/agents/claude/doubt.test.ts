// Screens that look like something they are not: prose that begins like an error, parts that are out of sight, status
// lines that people set, and other programs. Doubt is unknown; no such screen may be read as a state that is wrong.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { classOf } from '../../model/states.ts';
import { classify, type Reading } from '../screen/classify.ts';
import { readRuleFile } from '../screen/rule-file.ts';
import rules from './screen.json' with { type: 'json' };

interface Recording {
  readonly file: string;
  readonly class: string;
  readonly title: string;
}

const file = readRuleFile(rules);
const agents = join(import.meta.dirname, '..');
const screensOf = (agent: string): readonly (Recording & { readonly lines: readonly string[] })[] =>
  ['fixtures', 'fixtures/sizes', 'fixtures/narrow']
    .map((part) => join(agents, agent, part))
    .filter((folder) => existsSync(join(folder, 'screens.json')))
    .flatMap((folder) =>
      (JSON.parse(readFileSync(join(folder, 'screens.json'), 'utf8')) as Recording[]).map((one) => ({
        ...one,
        lines: readFileSync(join(folder, 'screens', one.file), 'utf8')
          .trimEnd()
          .split('\n'),
      })),
    );

const recorded = screensOf('claude');
const screen = (name: string): readonly string[] => {
  const found = recorded.find((one) => one.file === `${name}.txt`);
  if (found === undefined) throw new Error(`no recording ${name}`);
  return found.lines;
};
// Nothing but the lines: neither the title nor the process helps.
const read = (lines: readonly string[], title = ''): Reading => classify(file, { lines, title, command: null }, null);

const rule = '─'.repeat(80);
const box = [rule, '❯ ', rule];
const turn = (...lines: readonly string[]) => ['❯ go on', '', ...lines, '', ...box, '  ? for shortcuts'];

const isRule = (line: string): boolean => /^─{6,}$/.test(line);
const isBoxed = (lines: readonly string[]): boolean => {
  const low = lines.findLastIndex(isRule);
  const high = lines.slice(0, low).findLastIndex(isRule);
  return low > 0 && high >= 0 && /^[❯>]/.test(lines[high + 1] ?? '');
};

describe('RSV4 prose that begins like an error', () => {
  const sentences = [
    'Request timed out tests were flaky; I raised the limit to 5s.',
    'Not logged in users now see the landing page.',
    "You've hit your usage limit is shown by the banner; I changed the text.",
    'Prompt is too long a name for that column, so I renamed it.',
    'Credit balance is too low: that text is in billing.ts:40.',
    'Rate limit reached 429 in your tests because the mock has no bucket.',
    'API Error: 500 is what the server says when the pool is empty.',
    'OAuth token tests pass now.',
    'Your account has three open invoices in the fixture.',
  ];

  it.each(sentences)('is no error, however the turn ended: %s', (words) => {
    for (const end of [[], ['', '✻ Worked for 3s'], ['', '✻ Brewed for 1m 3s · done 8:01 AM']])
      expect(read(turn(`● ${words}`, ...end)).state).toBe('unknown');
    expect(read(turn(`● ${words}`, '', '  Tests pass.', '', '✻ Worked for 3s')).state).toBe('completed');
  });

  it('what a tool printed last is not how the turn ended', () => {
    const printed = [
      '● Bash(cat server.log)',
      '  ⎿  API Error: 500 Internal server error',
      '     at handler (server.js:12)',
    ];
    expect(read(turn(...printed)).state).toBe('unknown');
  });

  it.each([
    ['Prompt is too long'],
    ['Credit balance is too low · Add funds'],
    ['Not logged in · Please run /login'],
    ['API Error: 400 {"type":"error"}'],
    ['API Error: 400 messages.1.content.0: unexpected', '  `tool_use_id` found'],
    [
      "There's an issue with the selected",
      '  model (claude-x). It may not exist or',
      '  you may not have access to it.',
    ],
    ['Please run /login · API Error: 403 Your', '  account does not have access'],
  ])('an error stays one, in a narrow pane too: %s', (...words) => {
    const [first = '', ...more] = words;
    expect(read(turn(`● ${first}`, ...more, '', '✻ Cooked for 0s')).state).toBe('error');
  });

  it("a limit that wraps stays one: You've hit your session limit", () => {
    const lines = turn("● You've hit your session", '  limit · resets 3pm (UTC)', '', '✻ Cooked for 0s');
    expect(read(lines)).toMatchObject({ state: 'error', reason: 'usage_limit' });
  });
});

describe('RSV4 what is out of sight', () => {
  it.each([[[]], [['', '✻ Churned for 1s']]])('the end of a message without its beginning: %j', (end) => {
    const cut = ['  corresponding `tool_use` block in the previous message."},"request_id":"req_011"}', ...end];
    expect(read([...cut, '', ...box, '  ? for shortcuts']).state).toBe('unknown');
  });

  it('an answer of several paragraphs, or a long one, is no error', () => {
    const paragraphs = ['  and the tests pass.', '', '  Nothing else changed.', '', '✻ Worked for 3s', '', ...box];
    expect(read(paragraphs).state).toBe('completed');
    const long = Array.from({ length: 30 }, (_, at) => `  ${at}. a step of the plan that was carried out`);
    expect(read([...long, '', '✻ Worked for 3s', '', ...box]).state).toBe('completed');
  });

  it('no recording of an error is read as anything else when its upper part is cut off', () => {
    const errors = recorded.filter((one) => one.class === 'error');
    const wrong = errors.flatMap(({ file: name, lines }) =>
      [8, 10, 12, 15, 20]
        .map((rows) => read(lines.slice(-rows)).state)
        .filter((state) => !['error', 'unknown'].includes(state))
        .map((state) => `${name}: ${state}`),
    );
    expect(errors.length).toBeGreaterThan(60);
    expect(wrong).toEqual([]);
  });

  it('no recording of an approval becomes a question when its upper part is cut off', () => {
    const approvals = recorded.filter((one) => one.class === 'waiting_approval');
    const readings = approvals.flatMap(({ file: name, lines }) =>
      [6, 8, 10, 12, 14].map((rows) => ({ name, state: read(lines.slice(-rows)).state })),
    );
    expect(readings.filter(({ state }) => !['waiting_approval', 'unknown'].includes(state))).toEqual([]);
    const known = readings.filter(({ state }) => state === 'waiting_approval');
    expect(known.length / readings.length).toBeGreaterThan(0.9);
  });

  it('the answers of an approval, without its question', () => {
    const lines = screen('2.1.325-approval_bash.80x24');
    const short = lines.slice(lines.findIndex((line) => line.includes('❯ 1. Yes')));
    const { state, ask } = read(short);
    expect(state).toBe('waiting_approval');
    expect(ask?.options.at(-1)).toEqual({ id: '4', label: 'No' });
  });

  it('agents at work below the box, the spinner out of sight', () => {
    const lines = screen('2.1.325-running_subagent.80x24');
    const short = lines.slice(lines.slice(0, lines.findLastIndex(isRule)).findLastIndex(isRule));
    expect(['running', 'unknown']).toContain(read(['● Reading.', '', ...short]).state);
  });
});

describe('a status line that somebody set', () => {
  const boxed = recorded.filter(
    ({ class: was, lines }) => ['running', 'settled', 'error'].includes(was) && isBoxed(lines),
  );
  const withLine = (lines: readonly string[], more: string): readonly string[] => {
    const low = lines.findLastIndex(isRule);
    return [...lines.slice(0, low + 1), more, ...lines.slice(low + 1)];
  };

  it.each([
    '────────── main ✔ │ 45% ──────────',
    '─'.repeat(24),
    rule,
    '  esc to interrupt',
    'Press esc to cancel · Enter to confirm',
    '  Do you want to proceed? ❯ 1. Yes  2. No',
  ])('never makes it another state: %s', (words) => {
    const wrong = boxed
      .map((one) => ({ name: one.file, was: one.class, ...read(withLine(one.lines, words)) }))
      .filter(({ was, state }) => state !== 'unknown' && classOf(state) !== was)
      .map(({ name, state, rule: by }) => `${name}: ${state} by ${by}`);
    expect(boxed.length).toBeGreaterThan(200);
    expect(wrong).toEqual([]);
  });

  it('a rule among its lines hides no running turn', () => {
    const foot = '  ⏵⏵ accept edits on · esc to interrupt';
    for (const line of ['────── main ✔ ──────', rule])
      expect(read(['❯ run it', '', '✻ Cooking… (12s · ↓ 1.2k tokens)', '', ...box, line, foot]).state).toBe('running');
  });
});

describe('a spinner that tells of a duration', () => {
  it.each([
    '✳ Waiting for 30s between retries… (12s · ↓ 1.2k tokens)',
    '✶ Wait for it for 3s… (2s)',
    '✳ Working for 5m… (esc to interrupt)',
  ])('is no turn that ended: %s', (spinner) => {
    expect(read(turn('● Bash(npm start)', '  ⎿  Running…', '', spinner)).state).toBe('running');
  });
});

describe('other programs are not Claude Code', () => {
  it.each(['codex', 'copilot', 'gemini', 'opencode', 'kilo'])('the recordings of %s', (agent) => {
    const others = screensOf(agent).filter((one) => one.class !== 'gone');
    const claimed = others.flatMap(({ file: name, lines, title }) =>
      ['', title]
        .map((words) => read(lines, words))
        .filter(({ state }) => state !== 'unknown')
        .map(({ state, rule: by }) => `${name}: ${state} by ${by}`),
    );
    expect(others.length).toBeGreaterThan(0);
    expect(claimed).toEqual([]);
  });

  it.each(
    Object.entries({
      'a list to choose from': ['? Select a framework:', '❯ 1. React', '  2. Vue', '', '(Use arrow keys)'],
      'a list with hints': [
        '◆  Pick a framework',
        '│  ● React',
        '│  ○ Vue',
        '└  ↑/↓ to navigate · Enter to confirm · Esc to cancel',
      ],
      'a quote between rules': ['Title', rule, '> quote of something', rule, '  and more text'],
      'a heading between rules': ['$ glow README.md', rule, '# Heading', rule, '  text'],
      'a framed prompt': [`╭${'─'.repeat(30)}╮`, `│ > fix${' '.repeat(24)}│`, `╰${'─'.repeat(30)}╯`, '  esc to cancel'],
      'a text that shows a dialog': [
        '# Notes',
        '',
        'Do you want to proceed?',
        '❯ 1. Yes',
        '  2. No',
        '',
        'Esc to cancel · Tab to amend',
        '~',
      ],
      'a change that shows a dialog': [
        '+ Do you want to proceed?',
        '+ ❯ 1. Yes',
        '+   2. No',
        '+ Esc to cancel · Tab to amend',
      ],
    }),
  )('%s', (_name, lines) => {
    for (const title of ['', '⠋ busy', '✳ work']) expect(read(lines, title).state).toBe('unknown');
  });
});

describe('RSV13 only a finished answer makes a turn done', () => {
  const status = '✻ Churned for 3s · done 1:29 PM';

  it('as it was seen: two questions that were declined, with a fixed blank behind the mark', () => {
    const lines = readFileSync(join(agents, 'claude/fixtures/cut/declined-two-questions.txt'), 'utf8').split('\n');
    expect(read(lines)).toMatchObject({ state: 'idle', reason: 'refused_by_person' });
  });

  it.each([
    ['● User declined to answer questions', '  ⎿  · Which colour? (Green / Violet)'],
    ['●\u00a0User rejected the plan', '  ⎿  1. Build it'],
    ['● Somebody said no to this', '  ⎿  · Which colour? (Green / Violet)', '     · Which shape? (Round / Square)'],
    ['● Bash(rm -r build)', '  ⎿  Not allowed'],
    ['● Update(a.ts)', '  ⎿  Declined by the reviewer'],
  ])('a status line below what is no answer: %s', (...cell) => {
    for (const end of [['', status], []]) {
      const { state, reason, unfinished } = read(turn('● I need a decision.', '', ...cell, ...end));
      expect(state).toBe('idle');
      expect(unfinished || reason === 'refused_by_person').toBe(true);
    }
  });

  it('words of the agent, also where they quote a refusal', () => {
    for (const cell of [['● All done.'], ['● It said:', '', '  ⎿  User declined to answer questions']])
      expect(read(turn(...cell, '', status))).toMatchObject({ state: 'completed' });
    expect(read(turn('● All done.'))).toMatchObject({ state: 'idle', unfinished: false });
  });
});
