// Screens whose talk, tool output or draft shows the interface of this and of other agents. Whatever is quoted, and wherever,
// the screen is read as what it is (RSV10).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { classOf } from '../../model/states.ts';
import { screen as kiloScreen } from '../kilo/screen.ts';
import { classify } from '../screen/classify.ts';
import { readRuleFile } from '../screen/rule-file.ts';
import screen from './screen.json' with { type: 'json' };

const folder = join(import.meta.dirname, 'fixtures');
const quotes = JSON.parse(readFileSync(join(folder, 'traps/quotes.json'), 'utf8')) as {
  name: string;
  lines: string[];
  /** Nobody can tell it from the interface: it may be unknown, and nothing else. */
  doubt?: boolean;
}[];
const opencode = readRuleFile(screen);
const kilo = readRuleFile(kiloScreen);

const linesOf = (agent: string, file: string): string[] =>
  readFileSync(join(folder, `../../${agent}/fixtures/screens/${file}`), 'utf8').split('\n');

/** What was read, with a doubt that is allowed taken for what it should be. */
const readAs = (quote: (typeof quotes)[number], found: string, expected: string): string =>
  quote.doubt === true && found === 'unclassified' ? expected : found;

type Place = (quoted: readonly string[]) => readonly string[];

/** Above the line that closes the turn, the way each of them is drawn. */
const places: Readonly<Record<string, Place>> = {
  'the answer': (quoted) => [...quoted.map((line) => `     ${line}`), ''],
  'what the person said': (quoted) => [...boxed(quoted), '', '     I see.', ''],
  'the output of a tool': (quoted) => [...boxed(['# Shows a file', '', ...quoted]), '', '     Here it is.', ''],
};

const boxed = (lines: readonly string[]): readonly string[] => [
  '  ┃',
  ...lines.map((line) => (line === '' ? '  ┃' : `  ┃  ${line}`)),
  '  ┃',
];

/** Put in above the last closing mark; as many lines as came in leave at the top, like on a real screen. */
function withTalk(lines: readonly string[], talk: readonly string[]): readonly string[] {
  const at = lines.findLastIndex((line) => /^ {5}▣ /.test(line));
  return [...lines.slice(0, at), ...talk, ...lines.slice(at)].slice(-Math.max(lines.length, 40));
}

/** The line of the prompt that a person types into, replaced by a draft. */
function withDraft(lines: readonly string[], quoted: readonly string[]): readonly string[] {
  const edge = lines.findLastIndex((line) => /^ *╹▀/.test(line));
  const draft = quoted.map((line) => (line === '' ? '  ┃' : `  ┃  ${line}`));
  return [...lines.slice(0, edge - 3), ...draft, ...lines.slice(edge - 2)];
}

const bases = [
  ['opencode', '1.18.33-lab_completed.80x24.txt', 'settled'],
  ['opencode', '1.18.33-lab_completed.200x60.txt', 'settled'],
  ['opencode', '1.18.33-lab_interrupted.50x22.txt', 'settled'],
  ['opencode', '1.18.33-lab_running_text.80x24.txt', 'running'],
  ['opencode', '1.18.33-lab_running_text.40x20.txt', 'running'],
  ['opencode', '1.18.33-lab_approval_bash.80x24.txt', 'waiting_approval'],
  ['opencode', '1.18.33-lab_question.80x24.txt', 'waiting_input'],
  ['kilo', '7.7.7-lab_completed.80x24.txt', 'settled'],
  ['kilo', '7.7.7-lab_running_text.50x22.txt', 'running'],
  ['kilo', '7.7.7-lab_approval_bash.50x22.txt', 'waiting_approval'],
] as const;

const read = (agent: string, lines: readonly string[]): string => {
  const title = 'OC | △ Permission required, esc to interrupt';
  const reading = classify(agent === 'kilo' ? kilo : opencode, { lines, title, command: agent }, null);
  return classOf(reading.state);
};

describe('RSV10 quoted interfaces change nothing', () => {
  for (const [agent, file, expected] of bases) {
    for (const [place, draw] of Object.entries(places)) {
      it(`${file}: in ${place}`, () => {
        const lines = linesOf(agent, file);
        const found = quotes.map((quote) => {
          const seen = read(agent, withTalk(lines, draw(quote.lines)));
          return [quote.name, readAs(quote, seen, expected)];
        });
        expect(found).toEqual(quotes.map(({ name }) => [name, expected]));
      });
    }
  }

  for (const [agent, file, expected] of bases.filter(([, , state]) => state === 'settled' || state === 'running')) {
    it(`${file}: in a draft`, () => {
      const lines = linesOf(agent, file);
      const found = quotes.map(({ name, lines: quoted }) => [name, read(agent, withDraft(lines, quoted))]);
      expect(found).toEqual(quotes.map(({ name }) => [name, expected]));
    });
  }

  it('RSV4 a table whose last column says esc could be the heading of a dialog: unknown, never the dialog', () => {
    const quoted = ['Action                   Key', 'Close the dialog         esc', 'Open the list            ctrl+p'];
    for (const [agent, file, expected] of bases) {
      for (const draw of Object.values(places)) {
        expect([expected, 'unclassified']).toContain(read(agent, withTalk(linesOf(agent, file), draw(quoted))));
      }
    }
  });

  it('RSV4 a heading that could be a dialog or an answer about one is unknown', () => {
    const lines = linesOf('opencode', '1.18.33-lab_completed.80x24.txt');
    const talk = ['     Commands                                  esc', '', '     Search', '', '     Suggested', ''];
    expect(read('opencode', withTalk(lines, talk))).toBe('unclassified');
  });

  it('RSV4 the view of a subagent shows no sign of life', () => {
    const lines = ['     Step 3: still working.', '', '     ▣  General · Mock Model', ''];
    const panel = ['  ┃', '  ┃  General (1 of 1)             Parent up  Prev left  Next right', '  ┃'];
    expect(read('opencode', [...lines, ...panel])).toBe('unclassified');
  });
});

describe('an option that was just chosen', () => {
  it.each([opencode, kilo])('ASK2 carries a tick for a moment: the question is still the same one', (rules) => {
    const lines = linesOf('opencode', '1.18.33-lab_question.80x24.txt');
    const ticked = lines.map((line) => line.replace(/1\. Red$/, '1. Red ✓'));
    expect(ticked).not.toEqual(lines);
    const askOf = (shown: readonly string[]) =>
      classify(rules, { lines: shown, title: '', command: null, isAlive: true }, '1.18.33').ask;
    expect(askOf(lines)?.options.map(({ label }) => label)).toEqual(['Red', 'Blue', 'Type your own answer']);
    expect(askOf(ticked)).toEqual(askOf(lines));
  });
});
