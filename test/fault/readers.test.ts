// Fuzzed screens through every reader of screens: rules, prompts and marks of all agents. Nothing may throw, and nothing may take
// long, or a pane could hold up the others. COUNT screens, SEED says where chance begins; a failure names seed and screen.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mutate } from '../../corpus/mutate.ts';
import { agents } from '../../src/agents/registry.ts';
import { classify } from '../../src/agents/screen/classify.ts';
import { readRuleFile } from '../../src/agents/screen/rule-file.ts';
import { limits } from '../../src/model/limits.ts';
import { stateNames } from '../../src/model/states.ts';
import { seeded } from '../../src/store/samples.contract.ts';
import { repetitions } from './children.ts';

const root = join(import.meta.dirname, '../..');
const seed = Number(process.env.SEED ?? 1);
const count = repetitions(2_000);
const longMs = 50;

interface Recorded {
  readonly screen: string;
  readonly title: string;
  readonly columns: number | null;
}
const recorded = readFileSync(join(root, 'corpus/index.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Recorded);

const readers = agents.map(({ name, screen, keys }) => ({
  name,
  rules: screen === null ? null : readRuleFile(screen),
  prompt: keys?.prompt?.bind(keys),
  marked: keys?.marked?.bind(keys),
}));

type Random = () => number;
type Lines = readonly string[];

/** Characters that rules look for, that terminals draw oddly, and that no terminal should hold. */
const signs = [...'❯›>│┃╭╰─━●⠋⠙✻✦?)]1.0 aé漢👩‍👧\u0301\u200d\u202e\t\u0000\u001b\ud800$^(*+\\'];
const colours = ['\u001b[31m', '\u001b[7m', '\u001b[0m', '\u001b[38;2;1;2;3m', '\u001b[', '\u001b]0;x'];

const drawn = <Item>(random: Random, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item;
const run = (random: Random): string =>
  drawn(random, signs).repeat(1 + Math.floor(random() * (random() < 0.1 ? limits.screenColumnsMax : 30)));

/** One thing that happens to a screen. */
const harms: readonly ((lines: Lines, random: Random) => Lines)[] = [
  (lines, random) => lines.filter(() => random() < 0.9),
  (lines, random) => lines.flatMap((line) => (random() < 0.05 ? [line, line] : [line])),
  (lines, random) => lines.map((line) => (random() < 0.1 ? line.slice(Math.floor(random() * line.length)) : line)),
  (lines, random) => lines.map((line) => (random() < 0.1 ? line + run(random) : line)),
  (lines, random) => lines.map((line) => (random() < 0.1 ? run(random) + line : line)),
  (lines, random) =>
    lines.map((line) => [...line].map((char) => (random() < 0.02 ? drawn(random, signs) : char)).join('')),
  (lines, random) => lines.map((line) => (random() < 0.2 ? drawn(random, colours) + line : line)),
  (lines, random) => [...lines].sort(() => random() - 0.5),
  (lines, random) => [...lines, ...Array.from({ length: 60 }, () => run(random))],
  (lines) => lines.map((line) => line.repeat(8)),
];

/** As the daemon hands a screen over: so many rows of so many columns at most. */
const bounded = (lines: Lines): Lines =>
  lines.slice(-limits.screenRowsMax).map((line) => line.slice(0, limits.screenColumnsMax));

function screenOf(number: number): { readonly lines: Lines; readonly title: string } {
  const random = seeded(number);
  const base = drawn(random, recorded);
  const text = readFileSync(join(root, base.screen), 'utf8').split('\n');
  const mutated = random() < 0.5 ? drawn(random, mutate(text, base.columns, number)).lines : text;
  const other = readFileSync(join(root, drawn(random, recorded).screen), 'utf8').split('\n');
  let lines: Lines = random() < 0.2 ? [...mutated.slice(0, 12), ...other.slice(-12)] : mutated;
  for (let harm = Math.floor(random() * 4); harm > 0; harm -= 1) lines = drawn(random, harms)(lines, random);
  return { lines: bounded(lines), title: random() < 0.1 ? run(random) : base.title };
}

/** Time on a processor: what others do on the machine does not count. */
const spentMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** What a reader said wrong of a screen, and how long the dearest took. What seems dear is read again: a pattern is compiled once. */
function readAll(lines: Lines, title: string): { readonly wrong: readonly string[]; readonly ms: number } {
  const wrong: string[] = [];
  let dearestMs = 0;
  const timed = (name: string, read: () => boolean): void => {
    let bestMs = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < 4 && bestMs > longMs; turn += 1) {
      const began = spentMs();
      try {
        if (!read()) wrong.push(`${name} said something that is no state`);
      } catch (error) {
        wrong.push(`${name} threw ${error instanceof Error ? error.message : String(error)}`);
      }
      bestMs = Math.min(bestMs, spentMs() - began);
    }
    if (bestMs > longMs) wrong.push(`${name} took ${bestMs.toFixed(1)} ms`);
    dearestMs = Math.max(dearestMs, bestMs);
  };
  for (const { name, rules, prompt, marked } of readers) {
    if (rules !== null) {
      timed(`rules of ${name}`, () =>
        stateNames.includes(classify(rules, { lines, title, command: null }, null).state),
      );
    }
    if (prompt !== undefined) timed(`prompt of ${name}`, () => prompt(lines) !== undefined);
    if (marked !== undefined) timed(`mark of ${name}`, () => marked(lines) !== undefined);
  }
  return { wrong, ms: dearestMs };
}

it(
  `RSV10 ${count} fuzzed screens: no reader throws, none takes more than ${longMs} ms`,
  () => {
    const wrong: string[] = [];
    let dearest = { ms: 0, number: 0 };
    for (let number = seed; number < seed + count && wrong.length < 5; number += 1) {
      const { lines, title } = screenOf(number);
      const { wrong: said, ms } = readAll(lines, title);
      wrong.push(...said.map((words) => `SEED=${number} COUNT=1: ${words}`));
      if (ms > dearest.ms) dearest = { ms, number };
    }
    console.log(`fuzzed screens: dearest ${dearest.ms.toFixed(1)} ms, SEED=${dearest.number}`);
    expect(wrong).toEqual([]);
  },
  120_000 + count * 20,
);
