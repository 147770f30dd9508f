// What the rules say of screens recorded from Codex 0.80, 0.128 and 0.166.

import { join } from 'node:path';
import { recordingsSuite } from '../recordings.contract.ts';
import rules from './screen.json' with { type: 'json' };

recordingsSuite('codex', rules, join(import.meta.dirname, 'fixtures'), { right: 0.99 });
