// Continue is a definition alone: its rules against recorded screens of the real program, in the sizes they were recorded in and
// in others.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { drawnTo } from '../../../corpus/mutate.ts';
import { builtIn } from '../definition/built-in.ts';
import { screenOf } from '../definition/read.ts';
import { recordingsSuite, reshapedSuite } from '../recordings.contract.ts';
import { classify } from '../screen/classify.ts';
import { readRuleFile } from '../screen/rule-file.ts';

const fixtures = new URL('./fixtures/', import.meta.url).pathname;
const rules = screenOf(builtIn('continue'));

recordingsSuite('continue', rules, fixtures, { right: 0.97 });
recordingsSuite('continue in other sizes', rules, `${fixtures}sizes`, { right: 0.97 });
reshapedSuite('continue', rules, fixtures, { right: 0.9 });
reshapedSuite('continue, of other sizes', rules, `${fixtures}sizes`, { right: 0.9 });

it('tells an approval whose last option takes two rows, and grants nothing from there', () => {
  const wide = readFileSync(`${fixtures}screens/1.5.47-approval-shell.80x24.txt`, 'utf8').trimEnd().split('\n');
  const { state, ask } = classify(
    readRuleFile(rules),
    { lines: drawnTo(wide, 80, 50), title: '', command: 'node' },
    '1.5.47',
  );
  expect([state, ask?.cut]).toEqual(['waiting_approval', true]);
});
