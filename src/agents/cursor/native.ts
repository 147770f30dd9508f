// Cursor has no file or socket of its own that tells its state, as far as is known.

import type { NativeSource } from '../contract.ts';

export const natives: readonly NativeSource[] = [];
