// What is drafted from screens of an agent that was written for this test: Marvin has a box of ASCII, dots that move, options in a
// row, and an output that stays in sight. It is read on screens that the draft was not made of.

import { expect, it } from 'vitest';
import { classify } from '../screen/classify.ts';
import { linearPattern } from '../screen/pattern.ts';
import { readRuleFile } from '../screen/rule-file.ts';
import { draftDefinition, type SceneName, type SceneScreen } from './draft.ts';
import { keysOf } from './keys.ts';
import { readDefinition, screenOf } from './read.ts';

type Mode = 'prompt' | { readonly dots: number } | { readonly command: string } | { readonly question: string };

/** The bottom of what it has said, and below that what it shows in this mode. */
function marvin(said: readonly string[], mode: Mode, columns = 80): readonly string[] {
  const row = (text: string): string => `${`| ${text}`.padEnd(columns - 1)}|`;
  const border = `+${'-'.repeat(columns - 2)}+`;
  const prompt = ['='.repeat(columns), '» ', '='.repeat(columns)];
  const live = (): readonly string[] => {
    if (mode === 'prompt') return prompt;
    if ('dots' in mode)
      return [`* thinking very hard ${'.'.repeat(mode.dots)} (${mode.dots}s - ^X to stop)`, ...prompt];
    const [title, words, options] =
      'command' in mode
        ? ['Permission needed', `run: ${mode.command}`, '[y] go ahead   [a] go ahead for this session   [n] do not']
        : ['Question', mode.question, `[1] ${mode.question.length} planets   [2] None`];
    return [border, row(title), row(`  ${words}`), row(''), row(`  ${options}`), border];
  };
  return ['Marvin 2.1', '', ...said.slice(-9), '', ...live(), ' depressed-7b   41% context'];
}

const three = (scene: SceneName, lines: (look: number) => readonly string[]): readonly SceneScreen[] =>
  [1, 2, 3].map((look) => ({ scene, lines: lines(look) }));
const again = (scene: SceneName, list: readonly (readonly [readonly string[], Mode])[]): readonly SceneScreen[] =>
  list.flatMap(([said, mode]) =>
    three(scene, (look) => marvin(said, mode !== 'prompt' && 'dots' in mode ? { dots: look } : mode)),
  );

const stopped = ['you> think', '-- stopped by you --', 'you> run rm -rf x', 'marvin> not run'];
const failed = [...stopped, 'you> fail', '!! request failed: 500 upstream melted'];
const screens: readonly SceneScreen[] = [
  ...again('idle', [[[], 'prompt']]),
  ...again('running', [
    [['you> think about it'], { dots: 1 }],
    [['you> think about it', '-- stopped by you --', 'you> count to ten'], { dots: 1 }],
  ]),
  ...again('asks', [
    [stopped.slice(0, 3), { command: 'rm -rf x' }],
    [['you> push'], { command: 'git push' }],
  ]),
  ...again('answers', [
    [stopped, { question: 'Which planet?' }],
    [stopped, { question: 'How many more of them?' }],
  ]),
  ...again('error', [[failed, 'prompt']]),
  ...again('interrupt', [[[...failed, 'you> think', '-- stopped by you --'], 'prompt']]),
];
const program = { executable: '/usr/bin/node', argv: ['node', '/opt/marvin/marvin.js'] };
const { text } = draftDefinition({ name: 'marvin', program, version: '2.1', screens, interruptKey: 'C-x' });
const read = readDefinition(text, { path: 'marvin.toml', taken: new Set(), base: null });
if (!read.ok) throw new Error(read.failure.message);
const definition = read.value;
const rules = readRuleFile(screenOf(definition), null, linearPattern);
const reading = (said: readonly string[], mode: Mode, columns?: number) =>
  classify(rules, { lines: marvin(said, mode, columns), title: '', command: 'node', isAlive: true }, '2.1');

it.each([
  ['its prompt', ['you> hello', 'marvin> life'], 'prompt', 'idle', 'prompt_ready'],
  ['other work', ['you> compare all doors'], { dots: 2 }, 'running', 'turn_running'],
  ['another command', ['you> tidy up'], { command: 'make clean' }, 'waiting_approval', 'approval_asked'],
  ['another question', ['you> ask'], { question: 'Is it over?' }, 'waiting_input', 'question_asked'],
  ['another failure', ['you> go', '!! request failed: 429 upstream melted'], 'prompt', 'error', 'api_error'],
  ['another interruption', ['you> go', '-- stopped by you --'], 'prompt', 'idle', 'interrupted'],
  ['an older interruption', ['-- stopped by you --', 'you> go', 'marvin> went'], 'prompt', 'idle', 'prompt_ready'],
] as const)('DEF6 a draft reads %s, in other widths too', (_, said, mode, state, reason) => {
  for (const columns of [80, 64, 131]) {
    const found = reading(said, mode, columns);
    expect([columns, found.state, found.reason]).toEqual([columns, state, reason]);
  }
});

it('DEF6 options in a row are pressed by their own key, and none that lasts', () => {
  const { ask } = reading([], { command: 'make clean' });
  expect(ask?.options.map(({ label }) => label)).toEqual([
    '[y] go ahead',
    '[a] go ahead for this session',
    '[n] do not',
  ]);
  expect(ask?.text).toBe('Permission needed\nrun: make clean');
  const keys = keysOf(definition, linearPattern);
  if (ask === null) throw new Error('nothing is asked');
  expect([keys.approve(ask), keys.reject(ask, null)]).toEqual([[{ keys: ['y'] }], [{ keys: ['n'] }]]);
});
