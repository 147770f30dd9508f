// Kilo keeps its conversations as OpenCode does, from which it was forked, in a database of its own name.

import { transcriptOf } from '../opencode/transcript.ts';

export const transcript = transcriptOf('kilo');
