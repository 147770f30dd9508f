import { join } from 'node:path';
import { recordingsSuite } from '../recordings.contract.ts';
import screen from './screen.json' with { type: 'json' };

recordingsSuite('opencode', screen, join(import.meta.dirname, 'fixtures'), { right: 0.98 });
