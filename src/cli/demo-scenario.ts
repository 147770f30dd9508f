// What the look-alikes of `agtmux demo` play: one role a pane, each with scenes that come round again. At the start every
// state is on the stage at once. Data only.

import type { AskKind, AskOption } from '../model/asks.ts';
import type { ReasonCode } from '../model/reasons.ts';
import type { StateName } from '../model/states.ts';

export type Cue =
  | {
      readonly kind: 'state';
      readonly state: StateName;
      readonly reason: ReasonCode;
      readonly detail?: string;
      /** When a limit resets, from now. */
      readonly untilMs?: number;
    }
  | { readonly kind: 'ask'; readonly ask: AskKind; readonly text: string; readonly options: readonly AskOption[] }
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
  copilot: 'node_modules/@github/copilot/index.js',
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

const asking = (ask: AskKind, text: string, labels: readonly string[], seconds: number): Scene => ({
  cue: { kind: 'ask', ask, text, options: labels.map((label, place) => ({ id: String(place + 1), label })) },
  lines: [text, '', ...labels.map((label, place) => `  ${place + 1}. ${label}`)],
  seconds,
});

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
    asking('command', 'Bash: npm install --save decimal.js', ['Yes', 'Yes, and do not ask again', 'No'], 6),
    working('tool_running', 'installing decimal.js', 4),
    working('tool_running', 'running 214 tests', 7),
    settled('completed', 'turn_completed', 'The total is right now; 214 tests pass.', 9),
    working('turn_running', 'looking for other sums in cents', 6),
  ]),
  role('search', 'shop:web', 'codex', 'search as you type', [
    { ...working('tool_running', 'editing search.tsx', 4), background: { shells: 2, agents: 1 } },
    {
      ...asking('edit', 'Apply the change to search.tsx (+41 -8)?', ['Yes', 'No'], 8),
      background: { shells: 2, agents: 0 },
    },
    { ...working('compacting', 'making room in its context', 4), background: { shells: 1, agents: 0 } },
    {
      ...settled('completed', 'turn_completed', 'Results come while you type.', 8),
      background: { shells: 1, agents: 0 },
    },
  ]),
  role('guide', 'docs:guide', 'gemini', 'rewrite the first page', [
    asking('question', 'Who reads this page first?', ['A newcomer', 'An operator', 'Both'], 9),
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
  role('backup', 'infra:backup', 'copilot', 'nightly backup', [
    settled('idle', 'prompt_ready', 'Ready.', 7),
    working('tool_running', 'comparing two listings', 8),
    asking('trust', 'Trust the files in this folder?', ['Yes', 'No'], 7),
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
