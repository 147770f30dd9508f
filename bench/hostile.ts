// What a screen that was made to be dear costs each agent's rules: long runs of the characters that patterns look for, on
// the largest screen that is looked at. A hostile machine must not be able to hold up the others with it.

import { agents } from '../src/agents/registry.ts';
import { classify } from '../src/agents/screen/classify.ts';
import { readRuleFile } from '../src/agents/screen/rule-file.ts';
import { limits } from '../src/model/limits.ts';
import type { BenchRow } from './row.ts';

const heads = ['', '  ', '│ ', '⠋ ', '● ', '❯ ', '› ', '✦ ', '┃ ', '> '];
const fillers = [
  ' ',
  '─',
  '│',
  '┃',
  '⠋',
  '0',
  'a ',
  '- ',
  '· ',
  '_',
  '? ',
  'Enter to select · ',
  'enter/',
  '(Use Enter ',
];
const tails = ['x', '│', ')', '? x', 'esc', '…'];
const feet = [
  [],
  ['────────────────────', '❯ ', '────────────────────'],
  ['❯ 1. Yes', '  2. No', 'Esc to cancel'],
  [`╰${'─'.repeat(60)}╯`],
];

/** Twice each: a first run compiles patterns, which a daemon does once. */
function costMs(rules: ReturnType<typeof readRuleFile>, lines: readonly string[]): number {
  let best = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 2; turn += 1) {
    const began = performance.now();
    classify(rules, { lines, title: '', command: null }, null);
    best = Math.min(best, performance.now() - began);
  }
  return best;
}

export function run(): readonly BenchRow[] {
  return agents.map(({ name, screen }): BenchRow => {
    const rules = readRuleFile(screen);
    let worst = { ms: 0, words: '' };
    for (const head of heads) {
      for (const filler of fillers) {
        for (const tail of tails) {
          const room = limits.screenColumnsMax - head.length - tail.length;
          const line = head + filler.repeat(room).slice(0, room) + tail;
          for (const [place, foot] of feet.entries()) {
            const ms = costMs(rules, [...new Array<string>(40).fill(line), ...foot]);
            if (ms > worst.ms) worst = { ms, words: JSON.stringify([head, filler, tail, place]) };
          }
        }
      }
    }
    return {
      name: `dearest screen, ${name}`,
      value: worst.ms,
      unit: 'ms',
      goal: { atMost: 50 },
      note: `40 rows of ${limits.screenColumnsMax} columns, ${worst.words}`,
    };
  });
}
