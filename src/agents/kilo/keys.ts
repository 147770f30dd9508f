// Kilo draws OpenCode's interface and takes the same keys.

import { keysOf } from '../opencode/keys.ts';

export const keys = keysOf('kilo', 'Kilo');
