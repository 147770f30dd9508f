// What the rules say of screens that were recorded from real runs, against what was going on: in terminals of the usual
// size, in very narrow and very tall ones, with an early 1.0 among the versions, and in windows too low for their dialog.

import { join } from 'node:path';
import { recordingsSuite } from '../recordings.contract.ts';
import rules from './screen.json' with { type: 'json' };

const folder = join(import.meta.dirname, 'fixtures');

recordingsSuite('claude', rules, folder, { right: 0.99 });
recordingsSuite('claude in other sizes', rules, join(folder, 'narrow'), { right: 0.99 });
recordingsSuite('claude in low windows', rules, join(folder, 'low'), { right: 0.99 });
