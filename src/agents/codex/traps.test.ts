// Screens of Codex that quote dialogs, spinners, prompts and footers, its own and those of other agents: in answers, in
// the output of tools, in what a person wrote or is about to send, and in the title. None of it is the live interface.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { classOf } from '../../model/states.ts';
import { classify } from '../screen/classify.ts';
import { readRuleFile } from '../screen/rule-file.ts';
import rules from './screen.json' with { type: 'json' };

const fixtures = join(import.meta.dirname, 'fixtures');
const file = readRuleFile(rules);
const quotes = JSON.parse(readFileSync(join(fixtures, 'traps', 'quotes.json'), 'utf8')) as Record<string, string[]>;
const recorded = JSON.parse(readFileSync(join(fixtures, 'screens.json'), 'utf8')) as {
  file: string;
  class: string;
  title: string;
}[];

interface Base {
  readonly lines: readonly string[];
  readonly title: string;
  readonly class: string;
}

function base(name: string): Base {
  const meta = recorded.find((one) => one.file === `${name}.txt`);
  if (meta === undefined) throw new Error(`no recording ${name}`);
  const lines = readFileSync(join(fixtures, 'screens', meta.file), 'utf8')
    .trimEnd()
    .split('\n');
  return { lines, title: meta.title, class: meta.class };
}

const isPrompt = (line: string): boolean => line.startsWith('› ');
const promptOf = (lines: readonly string[]): number => lines.findLastIndex(isPrompt);

/** Where the last words end: above the row, the summary or the dialog that follows them, else right above the prompt. */
function wordsEnd(lines: readonly string[]): number {
  const dialog = lines.findLastIndex((line) => /^ {2}(?:Would you like|Question \d)/.test(line));
  const limit = dialog < 0 ? promptOf(lines) : dialog;
  const chrome = lines.slice(0, limit).findLastIndex((line) => /^[•◦■›] |^ {2}Worked for /.test(line));
  return /esc to interrupt|^■|^ {2}/.test(lines[chrome] ?? '') ? chrome : limit;
}

const insert = (lines: readonly string[], at: number, more: readonly string[]): readonly string[] => [
  ...lines.slice(0, at),
  ...more,
  ...lines.slice(at),
];

type Place = (lines: readonly string[], quote: readonly string[]) => readonly string[];

const places: Readonly<Record<string, Place>> = {
  'in an answer': (lines, quote) =>
    insert(lines, wordsEnd(lines), ['• It looked like this:', '', ...quote.map((line) => `  ${line}`.trimEnd()), '']),
  'as all of an answer': (lines, quote) =>
    insert(lines, wordsEnd(lines), [`• ${quote[0] ?? ''}`, ...quote.slice(1).map((line) => `  ${line}`.trimEnd()), '']),
  'in the output of a command': (lines, quote) =>
    insert(lines, wordsEnd(lines), [
      '• Ran cat screen.txt',
      `  └ ${quote[0] ?? ''}`,
      ...quote.slice(1).map((line) => `    ${line}`.trimEnd()),
      '',
    ]),
  'in what a person wrote': (lines, quote) =>
    insert(lines, wordsEnd(lines), [
      `› ${quote[0] ?? ''}`,
      ...quote.slice(1).map((line) => `  ${line}`.trimEnd()),
      '',
      '',
      '• I see.',
      '',
    ]),
  'in a draft': (lines, quote) => {
    const prompt = promptOf(lines);
    const draft = [`› ${quote[0] ?? ''}`, ...quote.slice(1).map((line) => `  ${line}`.trimEnd())];
    return [...lines.slice(0, prompt), ...draft, ...lines.slice(prompt + 1)];
  },
};

const bases = {
  'finished, 0.166': base('04_turn_completed.80x24'),
  'with work in the background, 0.166': base('19_idle_with_background.80x24'),
  'interrupted, 0.166': base('16_interrupted_esc.200x50'),
  'failed, 0.166': base('26_error_usage_limit.80x24'),
  'running, 0.166': base('05_running_thinking.80x24'),
  'streaming, 0.166': base('06_running_streaming.200x50.daemon'),
  'asking for approval, 0.166': base('10_waiting_approval_exec.80x24'),
  'asking a question, 0.166': base('42_waiting_answer.80x24'),
  'finished, 0.128': base('04_turn_completed.100x30.v0.128.0'),
  'running, 0.128': base('05_running_thinking.100x30.v0.128.0'),
  'finished, 0.80': base('04_turn_completed.100x30.v0.80.0'),
  'running, 0.80': base('09_running_command.100x30.v0.80.0'),
} satisfies Record<string, Base>;

const read = (lines: readonly string[], title: string) => classify(file, { lines, title, command: 'node' }, null);

/** An answer of just these words is what 0.80 shows while it works; that version has nothing else to tell them apart. */
const bareRow = 'a status row of Codex without its mark';

/** Screens that even a person could not tell apart, so that nothing is said of them. */
function mayBeUnknown(name: string, place: string): boolean {
  // An answer of several paragraphs: versions without a title show a growing one and a whole one alike.
  if (name === 'finished, 0.80') return place.includes('answer') || place.includes('command');
  // The very words of a row as all of an answer, in a version that ends a turn without a word: only the title denies it.
  return name === 'finished, 0.128' && place === 'as all of an answer';
}

describe('RSV10 what a screen quotes is not its interface', () => {
  const drafts = Object.entries(bases).filter(([, one]) => !one.class.startsWith('waiting'));
  for (const [place, put] of Object.entries(places)) {
    for (const [name, one] of place === 'in a draft' ? drafts : Object.entries(bases)) {
      const told = Object.keys(quotes).filter((quote) => !(name.endsWith('0.80') && quote === bareRow));
      it.each(told)(`${name}: %s ${place}`, (quote) => {
        const reading = read(put(one.lines, quotes[quote] ?? []), one.title);
        const seen = classOf(reading.state);
        if (!(seen === 'unclassified' && mayBeUnknown(name, place))) expect(seen, String(reading.rule)).toBe(one.class);
      });
    }
  }
});

describe('RSV10 screens that look like something else', () => {
  const trap = (name: string): readonly string[] =>
    readFileSync(join(fixtures, 'traps', `${name}.txt`), 'utf8').split('\n');
  const screen = (name: string): readonly string[] => base(name).lines;

  it.each([
    ['the spinner another agent left, 0.80', '04_turn_completed.100x30.v0.80.0', '⠐ Fix the build', 'settled'],
    ['the star of another agent, 0.166', '04_turn_completed.80x24', '✳ Action Required', 'settled'],
    ['a directory with the name of a status word', '04_turn_completed.80x24', 'Working', 'settled'],
    ['a directory that is called like a warning', '02_idle_fresh.80x24', 'Action Required', 'settled'],
    ['a still title over a working agent', '05_running_thinking.80x24', 'proj', 'running'],
    ['no title over a working agent', '09_running_command.100x30.v0.128.0', '', 'running'],
    ['no title over a finished agent', '07_turn_completed_long.80x24', '', 'settled'],
  ])('title: %s', (_, name, title, expected) => {
    expect(classOf(read(screen(name), title).state)).toBe(expected);
  });

  it.each([
    ['an answer that streams, without a title', screen('06_running_streaming.80x24'), ''],
    ['a finished turn under a title that still spins', screen('07_turn_completed_long.80x24'), '⠋ proj'],
    ['the question how to leave a turn that goes on', screen('17_interrupted_ctrl_c.200x50.daemon'), '⠹ proj'],
    ['the end of an error in a low window', trap('error-tail'), 'proj'],
    ['the overview of all agents', trap('agents-overview'), 'proj'],
    ['an answer of several paragraphs, 0.80, growing', trap('growing-answer.v0.80.0'), 'vm'],
    ['an answer of several paragraphs, 0.80, whole', trap('whole-answer.v0.80.0'), 'vm'],
    ['the transcript in full, 0.128', trap('transcript.v0.128.0'), 'proj'],
    ['the transcript in full, 0.80', trap('transcript.v0.80.0'), 'vm'],
    ['a list of files in place of the footer', trap('file-list.v0.128.0'), 'proj'],
  ])('RSV4 nothing is said of what proves nothing: %s', (_, lines, title) => {
    expect(read(lines, title).state).toBe('unknown');
  });

  it('IDN8 whatever a dead Codex left on the screen, a shell in front of it is no agent', () => {
    for (const name of ['53_killed_9.80x24', '54_killed_term.80x24', '10_waiting_approval_exec.80x24']) {
      const reading = classify(file, { lines: screen(name), title: '⠧ proj', command: 'bash' }, null);
      expect(reading).toMatchObject({ state: 'unknown', reason: 'agent_not_running' });
    }
  });
});

describe('RSV4 screens of which a part is out of sight', () => {
  /** An answer so long that its first line, and all that was said before it, scrolled off. */
  const long = (name: string, rows: number): readonly string[] => {
    const { lines } = base(name);
    const steps = Array.from({ length: rows }, (_, step) => `  ${step + 1}. Step ${step + 1}, still being written.`);
    return [...steps, '', '', ...lines.slice(promptOf(lines))];
  };

  it.each(['06_running_streaming.80x24', '06_running_streaming.200x50.daemon', '06_running_streaming.100x30.v0.80.0'])(
    'a long answer: only the title tells whether it still grows (%s)',
    (name) => {
      for (const rows of [10, 24, 60]) {
        expect(read(long(name, rows), '').state).toBe('unknown');
        if (!name.endsWith('v0.80.0')) expect(read(long(name, rows), '⠸ proj')).toMatchObject({ state: 'running' });
      }
    },
  );

  it('a banner that an answer quotes is not the one of a fresh start', () => {
    const lines = long('06_running_streaming.80x24', 12);
    const quoted = [...lines.slice(0, 5), '  >_ OpenAI Codex (v0.166.0)', '     ~/proj', ...lines.slice(5)];
    expect(read(quoted, '').state).toBe('unknown');
  });

  const asks = recorded.filter((one) => one.class === 'waiting_approval');
  it.each(asks.map(({ file: name }) => name.replace(/\.txt$/, '')))('an ask in a low window: %s', (name) => {
    const { lines } = base(name);
    for (const rows of [5, 6, 8, 10, 14]) {
      const seen = classOf(read(lines.slice(-rows), '').state);
      expect(['waiting_approval', 'unclassified']).toContain(seen);
    }
  });
});

describe('RSV10 a menu that a person opened below a quoted dialog asks what stands in it, and nothing of the quote', () => {
  const ofQuotes = Object.values(quotes).flatMap((lines) => lines.filter((line) => /[a-z]{3}/.test(line)));
  const isQuoted = (text: string): boolean => ofQuotes.some((line) => text.includes(line.trim().slice(0, 24)));
  const heads = /^ {2}(?:Select (?:Model|Approval)|Update Model)/;
  const menus = recorded.filter(({ file: name }) => /^live_(?:model|permissions)_menu/.test(name));

  /** What a long list shows when it is scrolled: the first options are out of sight. */
  const scrolled = (menu: readonly string[], by: number): readonly string[] => {
    const first = menu.findIndex((line) => /^[› ] 1\. /.test(line));
    const kept = menu.findIndex((line) => line.slice(2).startsWith(`${by + 1}. `));
    if (first < 0 || kept < 0) return menu;
    const marked = menu.slice(kept).map((line, place) => (place === 0 ? `›${line.slice(1)}` : line));
    return [...menu.slice(0, first), '↑', ...marked];
  };

  it.each(menus.map(({ file: name }) => name.replace(/\.txt$/, '')))('%s', (name) => {
    const { lines, title } = base(name);
    const at = lines.findIndex((line) => heads.test(line));
    expect(at).toBeGreaterThanOrEqual(0);
    const end = name.includes('v0.166') ? ['', '  Worked for 3s • 07:56'] : [];
    for (const quote of Object.values(quotes)) {
      for (const indent of ['  ', '    ']) {
        const answer = [
          '• It looked like this:',
          '',
          ...quote.map((line) => `${indent}${line}`.trimEnd()),
          ...end,
          '',
          '',
        ];
        for (const by of [0, 1, 2]) {
          const reading = read([...answer, ...scrolled(lines.slice(at), by)], title);
          expect(['waiting_input', 'unknown'], `${by} ${reading.rule}`).toContain(reading.state);
          if (reading.state === 'waiting_input') expect(reading.reason).toBe('dialog_open');
          for (const { label } of reading.ask?.options ?? []) expect(isQuoted(label), label).toBe(false);
        }
      }
    }
  });

  it('as it was seen: the models, scrolled down to the last one', () => {
    const reading = read(
      readFileSync(join(fixtures, 'traps', 'model-list-under-quote.txt'), 'utf8').split('\n'),
      'project',
    );
    expect(reading).toMatchObject({ state: 'waiting_input', reason: 'dialog_open' });
    expect(reading.ask?.text).toBe('Select Model and Effort');
    expect(reading.ask?.options[0]?.label).toMatch(/^GPT-6/);
  });
});

describe('RSV10 hints of other programs, and footers of a person', () => {
  const hints = [
    ['Choose:', '> Yes', '  No', '', '←↓↑→ navigate • enter submit'],
    ['? Select a framework:', '❯ 1. React', '  2. Vue', '', '(Use arrow keys, enter to select, esc to cancel)'],
    [' > Ready?', ':::', ' esc cancel • enter send • ctrl+p commands'],
    ['Every 2.0s: list', '', '  running           codex   %5  Working (3s • esc to interrupt)'],
    ['╭──────────────╮', '│ > fix        │', '╰──────────────╯', '  esc to cancel'],
    ['  ┃   Confirm   Cancel', '  ┃', '  ┃  ⇆ select  enter confirm', '  ┃'],
  ];
  it.each(hints.map((lines) => [lines.at(-1) ?? '', lines] as const))('no dialog of Codex: %s', (_, lines) => {
    for (const title of ['', 'host']) expect(read(lines, title).state).toBe('unknown');
  });

  it.each([
    ['04_turn_completed.80x24', 'settled'],
    ['16_interrupted_esc.200x50', 'settled'],
    ['26_error_usage_limit.80x24', 'error'],
    ['05_running_thinking.80x24', 'running'],
  ])('a footer of its own choice, or none: %s', (name, expected) => {
    const { lines, title } = base(name);
    const upTo = lines.slice(0, promptOf(lines) + 1);
    for (const footer of [[], ['', '  main · 5h 20%'], ['', '  ~/proj']])
      expect(classOf(read([...upTo, ...footer], title).state), footer.join()).toBe(expected);
  });

  it('a hint in a footer is none of a dialog', () => {
    const { lines, title } = base('04_turn_completed.80x24');
    const noted = [...lines.slice(0, promptOf(lines) + 1), '', '  ⚠ esc to interrupt'];
    expect(classOf(read(noted, title).state)).not.toBe('waiting_input');
  });
});

describe('what codex asks, as its screen shows it', () => {
  const asked = (name: string) => read(base(name).lines, base(name).title).ask;

  it('a command, with its reason and all options, in a narrow window too', () => {
    expect(asked('10_waiting_approval_exec.80x24')).toEqual({
      kind: 'command',
      text: [
        'Would you like to run the following command?',
        'Environment: local',
        'Reason: Do you want to allow writing outside the workspace?',
        '$ touch /lab/outside-approved.txt',
      ].join('\n'),
      options: [
        { id: '1', label: 'Yes, proceed (y)' },
        { id: '2', label: "Yes, and don't ask again for commands that start with `touch` (p)" },
        { id: '3', label: 'No, and tell Codex what to do differently (esc)' },
      ],
    });
    expect(asked('live_approval.44x40.v0.80.0')?.options.at(-1)).toEqual({
      id: '3',
      label: 'No, and tell Codex what to do differently (esc)',
    });
  });

  it.each([
    ['13_waiting_approval_patch.80x24', 'edit', 'Would you like to make the following edits?', 3],
    ['61_mcp_waiting_approval.100x30', 'tool', 'Allow the lab MCP server to run tool "slow"?', 4],
    ['42_waiting_answer.80x24', 'question', 'Which database should I use?', 3],
    ['64_mcp_elicitation.100x30', 'question', 'Which port should the shell use?', 0],
    ['70_startup_trust_dialog.80x24', 'dialog', 'Trust this folder?', 2],
    ['72_startup_hooks_review.80x24', 'dialog', 'Hooks need review', 3],
    ['73_startup_login.80x24', 'dialog', 'Choose how you want to use Codex.', 4],
    ['55_resumed.80x24', 'dialog', 'This conversation is open in another app', 0],
  ])('%s: %s', (name, kind, text, options) => {
    const ask = asked(name);
    expect(ask?.kind).toBe(kind);
    expect(ask?.text).toContain(text);
    expect(ask?.options).toHaveLength(options);
  });

  it('RSV9 background terminals are counted beside the state', () => {
    const count = (name: string) => read(base(name).lines, base(name).title).background;
    expect(count('19_idle_with_background.80x24')).toEqual({ shells: 1, agents: 0 });
    expect(count('18_running_background_poll.80x24')).toEqual({ shells: 1, agents: 0 });
    expect(count('04_turn_completed.80x24')).toEqual({ shells: 0, agents: 0 });
  });
});
