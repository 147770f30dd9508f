// The rules for OpenCode's screen against recordings of the real program: the common ones, and those of everyday menus and of
// turns that were refused, dismissed or broken off.

import { join } from 'node:path';
import { recordingsSuite } from '../recordings.contract.ts';
import screen from './screen.json' with { type: 'json' };

const fixtures = join(import.meta.dirname, 'fixtures');

recordingsSuite('opencode', screen, fixtures, { right: 0.98 });
recordingsSuite('opencode, everyday', screen, join(fixtures, 'everyday'), { right: 0.9 });
