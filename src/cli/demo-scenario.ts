// What the look-alikes of `agtmux demo` play: one role a pane, each with scenes that come round again. At the start every
// state is on the stage at once. Data only.

import type { AskKind, AskOption } from '../model/asks.ts';
import type { ReasonCode } from '../model/reasons.ts';
import type { StateName } from '../model/states.ts';

/** What becomes of the turn when a key is pressed in a dialog. */
export type Answer = 'granted' | 'refused';

export type Cue =
  | {
      readonly kind: 'state';
      readonly state: StateName;
      readonly reason: ReasonCode;
      readonly detail?: string;
      /** When a limit resets, from now. */
      readonly untilMs?: number;
    }
  | {
      readonly kind: 'dialog';
      /** What its hook tells of it. */
      readonly ask: { readonly kind: AskKind; readonly text: string; readonly options: readonly AskOption[] };
      /** By the key that is pressed. */
      readonly answers: Readonly<Record<string, Answer>>;
    }
  | { readonly kind: 'killed' };

export interface Scene {
  readonly cue: Cue;
  readonly lines: readonly string[];
  readonly seconds: number;
  readonly background?: { readonly shells: number; readonly agents: number };
}

export interface Role {
  /** A word of its own: the name of its stage file. */
  readonly name: string;
  readonly session: string;
  readonly window: string;
  readonly agent: string;
  readonly title: string;
  /** Where its program stands: agents are known by their packages (IDN7). */
  readonly program: string;
  readonly scenes: readonly Scene[];
}

const programs = {
  claude: 'node_modules/@anthropic-ai/claude-code/cli.js',
  codex: 'node_modules/@openai/codex/bin/codex.js',
  gemini: 'node_modules/@google/gemini-cli/dist/index.js',
  opencode: 'node_modules/opencode-ai/bin/opencode.js',
} as const;

const working = (reason: ReasonCode, detail: string, seconds: number): Scene => ({
  cue: { kind: 'state', state: 'running', reason, detail },
  lines: [`Working: ${detail}`],
  seconds,
});

const settled = (state: 'completed' | 'idle', reason: ReasonCode, line: string, seconds: number): Scene => ({
  cue: { kind: 'state', state, reason, ...(state === 'completed' ? { detail: line } : {}) },
  lines: [line, '', '> '],
  seconds,
});

const rule = '─'.repeat(78);
const granting = (keys: string): Readonly<Record<string, Answer>> =>
  Object.fromEntries([...keys].map((key) => [key, 'granted']));
const refusing = (keys: string): Readonly<Record<string, Answer>> =>
  Object.fromEntries([...keys].map((key) => [key, 'refused']));
const escapeKey = '\u001b';

/**
 * Dialogs as the agents draw them: the daemon reads them from the screen, and an answer is the key that the agent takes. Each
 * stands until it is answered where somebody looks, else until its time is over.
 */
interface Dialog {
  readonly kind: AskKind;
  readonly text: string;
  readonly labels: readonly string[];
  readonly lines: readonly string[];
  readonly answers: Readonly<Record<string, Answer>>;
}

const dialogs = {
  claudeCommand: (what: string, command: string): Dialog => ({
    kind: 'command',
    text: command,
    labels: ['Yes', 'No'],
    lines: [
      `● ${what}`,
      `  ⎿  $ ${command}`,
      '',
      rule,
      ' Bash command',
      ` ${what}`,
      '╌'.repeat(78),
      ` ${command}`,
      '╌'.repeat(78),
      ' Do you want to proceed?',
      ' ❯ 1. Yes',
      '   2. No',
      '',
      ' Esc to cancel · Tab to amend',
    ],
    answers: { ...granting('1\r'), ...refusing(`2${escapeKey}`) },
  }),
  claudeQuestion: (title: string, question: string, choices: readonly string[]): Dialog => ({
    kind: 'question',
    text: question,
    labels: choices,
    lines: [
      rule,
      ` ☐ ${title}`,
      '',
      question,
      '',
      ...choices.map((choice, place) => `${place === 0 ? '❯' : ' '} ${place + 1}. ${choice}`),
      `  ${choices.length + 1}. Type something.`,
      rule,
      `  ${choices.length + 2}. Chat about this`,
      '',
      'Enter to select · ↑/↓ to navigate · Esc to cancel',
    ],
    answers: { ...granting(`${choices.map((_, place) => place + 1).join('')}\r`), ...refusing(escapeKey) },
  }),
  codexCommand: (why: string, command: string): Dialog => ({
    kind: 'command',
    text: command,
    labels: [
      'Yes, proceed (y)',
      `Yes, and don't ask again for commands that start with \`${command.split(' ')[0]}\` (p)`,
      'No, and tell Codex what to do differently (esc)',
    ],
    lines: [
      `• Running ${command}`,
      '',
      '',
      '  Would you like to run the following command?',
      '',
      '  Environment: local',
      '',
      `  Reason: ${why}`,
      '',
      `  $ ${command}`,
      '',
      '',
      '› 1. Yes, proceed (y)',
      `  2. Yes, and don't ask again for commands that start with \`${command.split(' ')[0]}\` (p)`,
      '  3. No, and tell Codex what to do differently (esc)',
      '',
      '  Press enter to confirm or esc to cancel',
    ],
    answers: { ...granting('12yp\r'), ...refusing(`3${escapeKey}`) },
  }),
  geminiCommand: (command: string): Dialog => {
    const line = (text: string): string => `│ ${text.padEnd(76)} │`;
    return {
      kind: 'command',
      text: command,
      labels: ['Allow once', 'Allow for this session', 'No, suggest changes (esc)'],
      lines: [
        '✦ Comparing the two listings.',
        '',
        `╭${'─'.repeat(78)}╮`,
        line(`? Shell  ${command}`),
        line(`╭${'─'.repeat(74)}╮`),
        line(`│ ${command.padEnd(72)} │`),
        line(`╰${'─'.repeat(74)}╯`),
        line('Allow execution of [Shell]?'),
        line(''),
        line('● 1. Allow once'),
        line('  2. Allow for this session'),
        line('  3. No, suggest changes (esc)'),
        `╰${'─'.repeat(78)}╯`,
      ],
      answers: { ...granting('12\r'), ...refusing(`3${escapeKey}`) },
    };
  },
};

const asking = ({ kind, text, labels, lines, answers }: Dialog, seconds: number): Scene => {
  const options = labels.map((label, place) => ({ id: String(place + 1), label }));
  return { cue: { kind: 'dialog', ask: { kind, text, options }, answers }, lines, seconds };
};

const failed = (reason: ReasonCode, detail: string, seconds: number, untilMs?: number): Scene => ({
  cue: { kind: 'state', state: 'error', reason, detail, ...(untilMs === undefined ? {} : { untilMs }) },
  lines: [detail, '', '> '],
  seconds,
});

const role = (
  name: string,
  place: `${string}:${string}`,
  agent: keyof typeof programs,
  title: string,
  scenes: readonly Scene[],
): Role => {
  const [session = '', window = ''] = place.split(':');
  return { name, session, window, agent, title, program: programs[agent], scenes };
};

const minute = 60_000;

export const roles: readonly Role[] = [
  role('checkout', 'shop:api', 'claude', 'fix the checkout total', [
    asking(dialogs.claudeCommand('Install a package for decimal numbers', 'npm install --save decimal.js'), 6),
    working('tool_running', 'installing decimal.js', 4),
    working('tool_running', 'running 214 tests', 7),
    settled('completed', 'turn_completed', 'The total is right now; 214 tests pass.', 9),
    working('turn_running', 'looking for other sums in cents', 6),
  ]),
  role('search', 'shop:web', 'codex', 'search as you type', [
    { ...working('tool_running', 'editing search.tsx', 4), background: { shells: 2, agents: 1 } },
    {
      ...asking(dialogs.codexCommand('Do you want to run the tests in a browser?', 'npx playwright test search'), 8),
      background: { shells: 2, agents: 0 },
    },
    { ...working('compacting', 'making room in its context', 4), background: { shells: 1, agents: 0 } },
    {
      ...settled('completed', 'turn_completed', 'Results come while you type.', 8),
      background: { shells: 1, agents: 0 },
    },
  ]),
  role('guide', 'docs:guide', 'claude', 'rewrite the first page', [
    asking(dialogs.claudeQuestion('Readers', 'Who reads this page first?', ['A newcomer', 'An operator', 'Both']), 9),
    working('turn_running', 'writing for both', 8),
    settled('completed', 'turn_completed', 'The first page is shorter by half.', 6),
    settled('idle', 'prompt_ready', 'Ready.', 7),
    working('turn_running', 'checking the links', 5),
  ]),
  role('spelling', 'docs:spelling', 'codex', 'spelling of the handbook', [
    settled('completed', 'turn_completed', '31 words corrected.', 5),
    settled('idle', 'prompt_ready', 'Ready.', 9),
    working('turn_running', 'reading chapter 4', 8),
  ]),
  role('deploy', 'infra:deploy', 'claude', 'move the queue to the new host', [
    failed('usage_limit', 'The usage limit is reached.', 16, 42 * minute),
    working('retrying', 'asking again', 4),
    working('tool_running', 'reading queue.yaml', 9),
    failed('api_error', 'The model did not answer.', 7),
    settled('idle', 'interrupted', 'Stopped by Esc.', 6),
  ]),
  role('backup', 'infra:backup', 'gemini', 'nightly backup', [
    settled('idle', 'prompt_ready', 'Ready.', 7),
    working('tool_running', 'comparing two listings', 8),
    asking(dialogs.geminiCommand('rsync --archive --delete data/ backup/'), 7),
  ]),
  role('upgrade', 'infra:upgrade', 'opencode', 'upgrade of the compiler', [
    {
      cue: { kind: 'state', state: 'unknown', reason: 'unsupported_signal' },
      lines: ['~~ a screen that no rule knows ~~'],
      seconds: 5,
    },
    working('tool_running', 'building', 4),
    { cue: { kind: 'killed' }, lines: ['Working: building'], seconds: 7 },
    settled('idle', 'prompt_ready', 'Ready.', 8),
  ]),
];
