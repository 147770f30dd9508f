// What a tmux server may claim by the panes it lists. A hostile one lists many panes over one process, panes over processes
// of others, or new ones without end: one process is one agent, an agent whose pane is no longer listed leaves, and a
// machine behind ssh has a bounded share of agents. Pure but for what the two keepers remember.

import { processKey, type RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { PaneAgents } from '../sources/process/foreground.ts';
import type { ProcessTable } from '../sources/process/table.ts';
import type { TmuxPane } from '../terminals/tmux/view.ts';
import { endOf, goodbyeOf, type LiveRuntime, type Look, type RawEvent } from './sightings.ts';

export interface Claims {
  readonly agents: ReadonlyMap<TmuxPane, PaneAgents>;
  /** Some panes were left out because there are more agents than allowed. */
  readonly isCut: boolean;
}

/**
 * Each process, agent or door, to the one pane that has it: to the pane that had it before, else to the first listed. No
 * process is judged twice, however many panes name it.
 */
export function claimsOf(
  panes: readonly TmuxPane[],
  live: readonly LiveRuntime[],
  agentsIn: (pane: TmuxPane) => PaneAgents,
  agentsMax: number,
): Claims {
  const held = new Set<string>(live.flatMap(({ identity }) => (identity.pane === null ? [] : [identity.pane])));
  // The pid of a dead pane may be that of somebody else by now.
  const rankOf = ({ pane, dead }: TmuxPane): number => (dead ? 2 : held.has(pane) ? 0 : 1);
  const ordered = [...panes].sort((one, other) => rankOf(one) - rankOf(other));
  const roots = new Set<number>();
  const claimed = new Set<string>();
  const agents = new Map<TmuxPane, PaneAgents>();
  let isCut = false;
  for (const pane of ordered) {
    // Two panes never have one process. The one that is not believed shows nobody.
    if (roots.has(pane.panePid)) continue;
    roots.add(pane.panePid);
    if (claimed.size >= agentsMax) {
      isCut = true;
      break;
    }
    const found = agentsIn(pane);
    const own = found.process ?? found.door;
    const isTaken = own !== null && claimed.has(processKey(own.identity));
    if (isTaken) continue;
    if (own !== null) claimed.add(processKey(own.identity));
    const children = found.children.filter(({ process }) => !claimed.has(processKey(process.identity)));
    for (const { process } of children) claimed.add(processKey(process.identity));
    agents.set(pane, { ...found, children: children.slice(0, agentsMax) });
  }
  // In the order of the list, which others rely on.
  return { agents: new Map(panes.map((pane) => [pane, agents.get(pane) ?? nobody])), isCut };
}

const nobody: PaneAgents = {
  agent: null,
  process: null,
  suspended: false,
  children: [],
  foregroundCommand: null,
  inside: null,
  door: null,
};

/** Of runtimes over one process those leave whose pane does not have it while another pane has. */
export function outclaimed(look: Look, agents: ReadonlyMap<TmuxPane, PaneAgents>): readonly RawEvent[] {
  const paneOf = new Map<string, string>();
  for (const [pane, { process }] of agents) if (process !== null) paneOf.set(processKey(process.identity), pane.pane);
  return look.live.flatMap(({ identity }) => {
    if (identity.process === null || identity.pane === null) return [];
    const pane = paneOf.get(processKey(identity.process));
    return pane === undefined || pane === identity.pane
      ? []
      : [goodbyeOf(identity, look.now), endOf(look, identity, look.now)];
  });
}

/**
 * Between two looks at the processes of a machine behind ssh. The longer its table the longer the rest: reading it costs
 * everyone who is watched, and a hostile one may tell of as many as it likes, as often as it is asked.
 */
export const lookRestMs = (table: Pick<ProcessTable, 'processes'> | null): number =>
  table === null ? 0 : table.processes.size * limits.lookRestPerProcessMs;

/** Agents of a machine behind ssh whose panes its tmux does not list any more: they leave after a while. */
export class UnlistedPanes {
  #since: ReadonlyMap<RuntimeId, number> = new Map();

  due(look: Pick<Look, 'live' | 'panes' | 'server'>, nowMs: number): readonly LiveRuntime[] {
    const listed = new Set<string>(look.panes.map(({ pane }) => pane));
    const since = new Map<RuntimeId, number>();
    for (const { identity } of look.live) {
      const isUnlisted = identity.pane !== null && identity.server === look.server && !listed.has(identity.pane);
      if (isUnlisted) since.set(identity.runtime_id, this.#since.get(identity.runtime_id) ?? nowMs);
    }
    this.#since = since;
    return look.live.filter(
      ({ identity }) => nowMs - (since.get(identity.runtime_id) ?? nowMs) >= limits.farPaneUnlistedMs,
    );
  }
}

/** How many agents a machine behind ssh may begin: its share at once, then one a second. */
export class StartBudget {
  #left: number = limits.farAgentsMax;
  #filledMs: number | null = null;

  /** The facts without the beginnings that are too many now; those come again with the next look. */
  within(facts: readonly RawEvent[], nowMs: number): readonly RawEvent[] {
    const refill = ((nowMs - (this.#filledMs ?? nowMs)) / 1_000) * limits.farStartsPerSecondMax;
    this.#left = Math.min(this.#left + refill, limits.farAgentsMax);
    this.#filledMs = nowMs;
    return facts.filter((fact) => {
      if (fact.kind !== 'runtime.started') return true;
      if (this.#left < 1) return false;
      this.#left -= 1;
      return true;
    });
  }
}
