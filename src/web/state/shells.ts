// Shells as the panel of every other screen shows them: the same rows, tabs, times and badges, from the items of the API.
// Pure.

import type { ShellItem } from '../../api/schemas-shells.ts';
import type { RuntimeId } from '../../model/ids.ts';
import type { ShellRow } from '../../model/shells.ts';

/** With times as numbers, as the views want them. */
export function rowOfShell(item: ShellItem): ShellRow {
  return {
    ...item,
    owner: { ...item.owner, runtime_id: item.owner.runtime_id as RuntimeId | null },
    process: item.process as ShellRow['process'],
    started_at: Date.parse(item.started_at),
    ended_at: item.ended_at === null ? null : Date.parse(item.ended_at),
  };
}
