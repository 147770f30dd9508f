// What Kilo's database tells of its tokens: the same as that of the program it comes from.

import { usageOf } from '../opencode/usage.ts';

export const usage = usageOf('kilo');
