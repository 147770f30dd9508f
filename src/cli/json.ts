// JSON that the command line makes itself, safe to look at in a terminal.

import { withoutEffects } from './output.ts';

/** Characters that do something in a terminal are escaped, which means the same to every reader of JSON (SEC3). */
export const escapeEffects = (value: unknown): string => withoutEffects(JSON.stringify(value));
