// How the end of a shell is named in a few letters; the same on cards, in lists and in answers.

import type { ShellRecord } from './shells.ts';

/** `running`, `completed`, `failed (code 3)`, `failed (SIGTERM)`. */
export function shellStatusText({
  status,
  exit_code,
  signal,
}: Pick<ShellRecord, 'status' | 'exit_code' | 'signal'>): string {
  if (status !== 'failed') return status;
  if (exit_code !== null) return `failed (code ${exit_code})`;
  return signal === null ? 'failed' : `failed (${signal})`;
}
