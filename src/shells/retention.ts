// Which finished shells are forgotten: those that ended too long ago, and of the rest the oldest while there are too many
// or their logs are too large together. Pure.

import type { ShellId, ShellRecord } from '../model/shells.ts';

export interface RetentionBounds {
  readonly keptMax: number;
  readonly keptMs: number;
  readonly keptBytesMax: number;
}

export function forgettable(
  records: readonly ShellRecord[],
  now: number,
  { keptMax, keptMs, keptBytesMax }: RetentionBounds,
): readonly ShellId[] {
  const finished = records
    .filter(({ status }) => status !== 'running')
    .map(({ shell_id, ended_at, started_at, log }) => ({
      shell_id,
      endedAt: ended_at ?? started_at,
      bytes: log.bytes - log.first_offset,
    }))
    .sort((one, other) => other.endedAt - one.endedAt);
  let bytes = 0;
  return finished
    .filter((one, place) => {
      bytes += one.bytes;
      // The newest stays, however large: somebody is about to read it.
      return now - one.endedAt > keptMs || place >= keptMax || (place > 0 && bytes > keptBytesMax);
    })
    .map(({ shell_id }) => shell_id);
}
