// From a look at panes and processes to facts: which agents began, which are suspended, which are gone. Pure: the same
// look gives the same facts, and a look that shows nothing new gives none.

import { canonical, hashText } from '../engine/canonical.ts';
import type { RuntimeIdentity } from '../model/events.ts';
import {
  type PaneId,
  type ProcessIdentity,
  processKey,
  type RuntimeId,
  runtimeId,
  type ServerKey,
  type TargetId,
} from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { AgentRun, PaneAgents } from '../sources/process/foreground.ts';
import type { ProcessTable } from '../sources/process/table.ts';
import { isBelow } from '../sources/process/tree.ts';
import type { TmuxPane, TmuxServer } from '../terminals/tmux/view.ts';
import { serverKeyOf } from '../terminals/tmux/view.ts';

/** A runtime that the ledger believes to be running. */
export interface LiveRuntime {
  readonly identity: RuntimeIdentity;
  readonly suspended: boolean;
}

export interface Look {
  readonly target: TargetId;
  readonly server: ServerKey;
  readonly panes: readonly TmuxPane[];
  readonly table: ProcessTable;
  readonly agentsIn: (pane: TmuxPane) => PaneAgents;
  readonly live: readonly LiveRuntime[];
  /** The greatest epoch that any runtime of this pane ever had, -1 when there was none (IDN4, IDN5). */
  readonly epochOf: (pane: PaneId) => number;
  /** Whether the ledger knows this runtime, running or ended. */
  readonly isKnown: (runtime: RuntimeId) => boolean;
  /** From the target's clock to the daemon's timeline. */
  readonly toTimeline: (wallMs: number) => number;
  readonly now: number;
}

export interface RawEvent {
  readonly evidence: { readonly target: TargetId; readonly runtime_id?: RuntimeId };
  readonly source: 'process';
  readonly kind: 'runtime.started' | 'runtime.goodbye' | 'runtime.ended' | 'process.observed' | 'server.seen';
  readonly event_time: number;
  readonly dedupe_key?: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export function serverSeenOf(
  target: TargetId,
  server: TmuxServer,
  toTimeline: Look['toTimeline'],
  now: number,
): RawEvent {
  const key = serverKeyOf(target, server);
  const startedAt = Math.min(toTimeline(server.startTime * 1000), now);
  return {
    evidence: { target },
    source: 'process',
    kind: 'server.seen',
    event_time: startedAt,
    dedupe_key: `server:${key}`.slice(0, limits.idCharsMax),
    payload: { server: key, server_started_at: startedAt },
  };
}

/** Never reused and the same after a restart of the daemon: made of who the agent is and where (IDN5). */
export function runtimeIdOf(server: ServerKey, pane: PaneId, process: ProcessIdentity, epoch = 0): RuntimeId {
  return runtimeId(`r${hashText(canonical([server, pane, processKey(process), epoch])).slice(-14)}`);
}

export function factsOf(look: Look): readonly RawEvent[] {
  const facts: RawEvent[] = [];
  const live = new Map(look.live.map((one) => [one.identity.runtime_id, one]));
  for (const pane of look.panes) {
    const found = look.agentsIn(pane);
    if (found.agent === null || found.process === null) continue;
    const owner = { agent: found.agent, process: found.process, suspended: found.suspended };
    const id = idOfOwner(look, pane.pane, owner.process.identity);
    facts.push(...startOf(look, owner, id, pane.pane, null), ...suspensionOf(look, owner, id, live.get(id)));
    for (const child of found.children) {
      facts.push(...startOf(look, child, runtimeIdOf(look.server, pane.pane, child.process.identity), pane.pane, id));
    }
  }
  for (const { identity } of look.live) if (isGone(look.table, identity)) facts.push(endOf(look, identity, look.now));
  return facts;
}

/**
 * The runtime that this process is by now. One that was followed by another agent in its pane and has come back to the
 * foreground (Ctrl-Z, another agent, fg) is a new run of the pane: its old runtime is over for good (IDN4).
 */
export function idOfOwner(
  look: Pick<Look, 'server' | 'live' | 'isKnown' | 'epochOf'>,
  pane: PaneId,
  process: ProcessIdentity,
): RuntimeId {
  const isSame = ({ identity }: LiveRuntime): boolean =>
    identity.pane === pane && identity.process !== null && processKey(identity.process) === processKey(process);
  const living = look.live.find(isSame);
  if (living !== undefined) return living.identity.runtime_id;
  const first = runtimeIdOf(look.server, pane, process);
  return look.isKnown(first) ? runtimeIdOf(look.server, pane, process, look.epochOf(pane) + 1) : first;
}

function startOf(look: Look, run: AgentRun, id: RuntimeId, pane: PaneId, parent: RuntimeId | null): RawEvent[] {
  if (look.isKnown(id)) return [];
  const startedAt = Math.min(look.toTimeline(run.process.startedAtMs), look.now);
  const runtime: RuntimeIdentity = {
    runtime_id: id,
    target: look.target,
    agent: run.agent.agent,
    // A child has no pane of its own: it is shown where its parent is (IDN6).
    server: parent === null ? look.server : null,
    pane: parent === null ? pane : null,
    pane_epoch: parent === null ? look.epochOf(pane) + 1 : 0,
    process: run.process.identity,
    parent,
    started_at: startedAt,
  };
  return [
    {
      evidence: { target: look.target },
      source: 'process',
      kind: 'runtime.started',
      event_time: startedAt,
      dedupe_key: `start:${id}`,
      payload: { runtime },
    },
  ];
}

function suspensionOf(look: Look, run: AgentRun, id: RuntimeId, known: LiveRuntime | undefined): RawEvent[] {
  if (run.suspended === (known?.suspended ?? false)) return [];
  return [
    {
      evidence: { target: look.target, runtime_id: id },
      source: 'process',
      kind: 'process.observed',
      event_time: look.now,
      payload: { suspended: run.suspended },
    },
  ];
}

/**
 * Agents behind a door whose interface is not seen any more while the door is still open: they left, and how is not ours to
 * know (IDN7).
 */
export function partings(look: Look, found: ReadonlyMap<TmuxPane, PaneAgents>): readonly RawEvent[] {
  const gone: RawEvent[] = [];
  for (const [pane, { agent, door }] of found) {
    if (agent !== null || door === null) continue;
    for (const { identity } of look.live) {
      const isGuest = identity.process !== null && processKey(identity.process) === processKey(door.identity);
      if (isGuest && identity.pane === pane.pane)
        gone.push(goodbyeOf(identity, look.now), endOf(look, identity, look.now));
    }
  }
  return gone;
}

/**
 * Agents that live on outside of the pane they were found in: neither below its process nor on its terminal, as after an
 * inner screen was detached. What the pane shows now is not theirs.
 */
export function leftPane({ live, panes, table }: Pick<Look, 'live' | 'panes' | 'table'>): ReadonlySet<RuntimeId> {
  const left = new Set<RuntimeId>();
  for (const { identity } of live) {
    const { process, parent } = identity;
    const pane = panes.find((one) => one.pane === identity.pane);
    const root = pane === undefined ? undefined : table.processes.get(pane.panePid);
    if (process === null || parent !== null || root === undefined || isGone(table, identity)) continue;
    const entry = table.processes.get(process.pid);
    if (entry !== undefined && entry.tty !== root.tty && !isBelow(table, entry, root.pid))
      left.add(identity.runtime_id);
  }
  return left;
}

/** A table that is read while processes move may be torn: who left its pane is believed when the next look agrees. */
export class LeftPanes {
  #seen: ReadonlySet<RuntimeId> = new Set();
  #believed: ReadonlySet<RuntimeId> = new Set();

  has(runtime: RuntimeId): boolean {
    return this.#believed.has(runtime);
  }

  note(left: ReadonlySet<RuntimeId>): { readonly isNew: boolean; readonly isChanged: boolean } {
    const before = this.#believed;
    const believed = new Set([...left].filter((runtime) => this.#seen.has(runtime)));
    const isNew = [...left].some((runtime) => !this.#seen.has(runtime));
    const isChanged = believed.size !== before.size || [...believed].some((runtime) => !before.has(runtime));
    this.#seen = left;
    this.#believed = believed;
    return { isNew, isChanged };
  }
}

/** What is in a pane, without those that have their row at another target. */
export function withoutTwins(agents: PaneAgents, twins: ReadonlySet<string>): PaneAgents {
  if (twins.size === 0) return agents;
  const isTwin = ({ process }: Pick<AgentRun, 'process'>): boolean => twins.has(processKey(process.identity));
  const children = agents.children.filter((child) => !isTwin(child));
  const { process } = agents;
  if (process === null || !isTwin({ process })) return { ...agents, children };
  return { ...agents, agent: null, process: null, suspended: false, children: [], inside: null, door: null };
}

/** Of an agent that was given two rows the later one leaves quietly. */
export function doubles(look: Look, twins: ReadonlySet<string>): readonly RawEvent[] {
  return look.live.flatMap(({ identity }) =>
    identity.process !== null && twins.has(processKey(identity.process))
      ? [goodbyeOf(identity, look.now), endOf(look, identity, look.now)]
      : [],
  );
}

/** Gone means that this very process is no longer there; a pid that came back is another one (IDN3, RSV8). */
function isGone(table: ProcessTable, { process }: RuntimeIdentity): boolean {
  if (process === null) return false;
  const entry = table.processes.get(process.pid);
  // Who is missing from a table that was cut may well run.
  if (entry === undefined) return table.isCut !== true;
  return processKey(entry.identity) !== processKey(process) || entry.state === 'Z';
}

/** It leaves in good order: not because it said so, but because it is not ours to watch any more. */
export function goodbyeOf(identity: RuntimeIdentity, at: number): RawEvent {
  return {
    evidence: { target: identity.target, runtime_id: identity.runtime_id },
    source: 'process',
    kind: 'runtime.goodbye',
    event_time: at,
    payload: {},
  };
}

export function endOf(look: Pick<Look, 'target'>, identity: RuntimeIdentity, at: number): RawEvent {
  return {
    evidence: { target: look.target, runtime_id: identity.runtime_id },
    source: 'process',
    kind: 'runtime.ended',
    event_time: at,
    dedupe_key: `end:${identity.runtime_id}`,
    payload: { cause: 'vanished' },
  };
}
