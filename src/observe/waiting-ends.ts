// Ends that wait for a moment: the process of an agent is gone, that of its pane as well, and tmux has not said yet what is
// there now. Whoever came instead is told first, so that a restart promotes nobody else in between (RTE3).

import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { LiveRuntime, Look } from './sightings.ts';

export class WaitingEnds {
  #since: ReadonlyMap<RuntimeId, number> = new Map();

  /** Those of the ended that are told now; the others are asked about again with the next look. */
  due(
    ended: readonly LiveRuntime[],
    { panes, table }: Pick<Look, 'panes' | 'table'>,
    nowMs: number,
  ): readonly LiveRuntime[] {
    const since = new Map<RuntimeId, number>();
    const due: LiveRuntime[] = [];
    for (const one of ended) {
      const { runtime_id, pane: id } = one.identity;
      const goneMs = this.#since.get(runtime_id) ?? nowMs;
      const pane = panes.find(({ pane }) => pane === id);
      const root = pane === undefined ? undefined : table.processes.get(pane.panePid);
      const isStale = pane !== undefined && !pane.dead && (root === undefined || root.state === 'Z');
      if (isStale && nowMs - goneMs < limits.paneRenewedMs) since.set(runtime_id, goneMs);
      else due.push(one);
    }
    this.#since = since;
    return due;
  }
}
