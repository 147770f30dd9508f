// A screen that is kept beside its test. What stands on it comes in several pieces, so the whole of it is the condition that
// is waited for; what never becomes that is compared as it is then, and the difference told.

import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { until } from './live.ts';

/** So often in a row: what is only passed through is not what people see. */
const timesMin = 3;

export async function expectKept(file: string, look: () => string): Promise<void> {
  const wanted = existsSync(file) ? readFileSync(file, 'utf8').trimEnd() : null;
  let last = '';
  let same = 0;
  await until(
    () => {
      const now = look();
      same = now === last ? same + 1 : 1;
      last = now;
      return same >= timesMin && (wanted === null || now.trimEnd() === wanted);
    },
    20_000,
    40,
  ).catch(() => undefined);
  await expect(last).toMatchFileSnapshot(file);
}
