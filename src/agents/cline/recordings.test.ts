// Cline is a definition alone: its rules against recorded screens of the real program, in the sizes they were recorded in and
// in others.

import { builtIn } from '../definition/built-in.ts';
import { screenOf } from '../definition/read.ts';
import { recordingsSuite, reshapedSuite } from '../recordings.contract.ts';

const fixtures = new URL('./fixtures/', import.meta.url).pathname;
const rules = screenOf(builtIn('cline'));

recordingsSuite('cline', rules, fixtures, { right: 0.97 });
recordingsSuite('cline in other sizes', rules, `${fixtures}sizes`, { right: 0.97 });
// It draws its conversation from the top: in a cut one the mark of what was said last is often out of sight.
reshapedSuite('cline', rules, fixtures, { right: 0.85 });
reshapedSuite('cline, of other sizes', rules, `${fixtures}sizes`, { right: 0.88 });
