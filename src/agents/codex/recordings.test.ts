// What the rules say of screens recorded from Codex 0.80, 0.128 and 0.166, also in windows too low for their dialog.

import { join } from 'node:path';
import { recordingsSuite } from '../recordings.contract.ts';
import rules from './screen.json' with { type: 'json' };

const folder = join(import.meta.dirname, 'fixtures');

recordingsSuite('codex', rules, folder, { right: 0.99 });
recordingsSuite('codex in low windows', rules, join(folder, 'low'), { right: 0.99 });
