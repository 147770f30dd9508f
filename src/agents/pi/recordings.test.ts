// Pi is a definition alone: its rules against recorded screens of the real program, in the sizes they were recorded in and
// in others.

import { builtIn } from '../definition/built-in.ts';
import { screenOf } from '../definition/read.ts';
import { recordingsSuite, reshapedSuite } from '../recordings.contract.ts';

const fixtures = new URL('./fixtures/', import.meta.url).pathname;
const rules = screenOf(builtIn('pi'));

recordingsSuite('pi', rules, fixtures, { right: 0.97 });
recordingsSuite('pi in other sizes', rules, `${fixtures}sizes`, { right: 0.97 });
reshapedSuite('pi', rules, fixtures, { right: 0.9 });
reshapedSuite('pi, of other sizes', rules, `${fixtures}sizes`, { right: 0.9 });
