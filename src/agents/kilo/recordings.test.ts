import { join } from 'node:path';
import { recordingsSuite } from '../recordings.contract.ts';
import { screen } from './screen.ts';

recordingsSuite('kilo', screen, join(import.meta.dirname, 'fixtures'), { right: 0.96 });
recordingsSuite('kilo, everyday', screen, join(import.meta.dirname, 'fixtures/everyday'), { right: 0.9 });
