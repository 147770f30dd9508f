// Agents behind a door: the foreground of a pane is ssh, docker or an inner multiplexer, so no process of this machine
// tells what runs there, but the screen may show an agent's live interface (IDN7). Seen this way it is listed with low
// confidence, never taken for sure.

import type { Identified } from '../agents/contract.ts';
import { classify } from '../agents/screen/classify.ts';
import type { RuleFile } from '../agents/screen/rule-file.ts';
import { type AgentName, agentName, type PaneId, processKey } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { PaneAgents } from '../sources/process/foreground.ts';
import type { TmuxPane } from '../terminals/tmux/view.ts';

export interface NestedAgentsParts {
  readonly rules: () => Iterable<readonly [AgentName, RuleFile]>;
  /** Who an agent's interface comes from; itself, unless it is a fork. */
  readonly originOf: (agent: AgentName) => AgentName;
  /** What this door shows, an interface of this agent, has a row of its own. */
  readonly isSeenElsewhere: (pane: PaneId, agents: PaneAgents, agent: AgentName) => boolean;
  /** A guest came or went: the processes are worth another look. */
  readonly onChange: () => void;
}

interface DaemonConnection {
  readonly process: string;
  /** Until then it shows nobody new: its server may be about to be found, or its agent about to leave. */
  heldUntil: number;
  /** The agent that is believed to be there; null while none is. */
  agent: AgentName | null;
  /** What the screen looks like at the moment, and since when. */
  shown: AgentName | null;
  since: number;
}

export class NestedAgents {
  readonly #parts: NestedAgentsParts;
  readonly #doors = new Map<PaneId, DaemonConnection>();

  constructor(parts: NestedAgentsParts) {
    this.#parts = parts;
  }

  /** What shows behind a door is as good as an agent that was seen, only less sure. */
  withGuests(found: ReadonlyMap<TmuxPane, PaneAgents>, at: number): ReadonlyMap<TmuxPane, PaneAgents> {
    const all = new Map(found);
    const doors = [...found].filter(([, { agent, inside }]) => agent === null && inside !== null);
    this.#follow(new Map(doors.map(([{ pane }, agents]) => [pane, agents])), at);
    for (const [pane, agents] of doors) {
      const guest = this.#in(pane.pane);
      if (guest === null || this.#isHeldBack(pane.pane, agents, guest.agent, at)) continue;
      all.set(pane, { ...agents, agent: guest, process: agents.door });
    }
    return all;
  }

  /** Whom a door showed from elsewhere leaves there first: what is left on the screen meanwhile is no other agent. */
  #isHeldBack(pane: PaneId, agents: PaneAgents, agent: AgentName, at: number): boolean {
    const door = this.#doors.get(pane);
    const isElsewhere = this.#parts.isSeenElsewhere(pane, agents, agent);
    // A tmux client stays with its server for life; behind an ssh another agent may be started.
    if (isElsewhere && door !== undefined)
      door.heldUntil = agents.inside === 'tmux' ? Number.POSITIVE_INFINITY : at + limits.guestElsewhereMs;
    return isElsewhere || at < (door?.heldUntil ?? at);
  }

  #follow(panes: ReadonlyMap<PaneId, PaneAgents>, at: number): void {
    for (const pane of this.#doors.keys()) if (!panes.has(pane)) this.#doors.delete(pane);
    for (const [pane, { door, inside }] of panes) {
      const process = door === null ? '' : processKey(door.identity);
      if (this.#doors.get(pane)?.process === process) continue;
      // A server that was started just now is found a moment later.
      const heldUntil = inside === 'tmux' ? at + limits.guestInTmuxMs : at;
      this.#doors.set(pane, { process, heldUntil, agent: null, shown: null, since: at });
    }
  }

  get panes(): readonly PaneId[] {
    return [...this.#doors.keys()];
  }

  onScreen(pane: PaneId, lines: readonly string[], title: string, at: number): void {
    const door = this.#doors.get(pane);
    if (door === undefined) return;
    const shown = this.#isStill(door.agent, lines, title) ? door.agent : this.#shownOn(lines, title);
    if (shown !== door.shown) [door.shown, door.since] = [shown, at];
  }

  /** An interface that stays is believed, one that stays away is gone: a pager or a dialog hides it for a moment. */
  onRefresh(at: number): void {
    let isChanged = false;
    for (const door of this.#doors.values()) {
      const waitMs = door.shown === null ? limits.guestGoneMs : limits.guestSeenMs;
      if (door.shown === door.agent || at - door.since < waitMs) continue;
      door.agent = door.shown;
      isChanged = true;
    }
    if (isChanged) this.#parts.onChange();
  }

  /** Nobody is about to be believed or forgotten. */
  get isSettled(): boolean {
    return [...this.#doors.values()].every((door) => door.shown === door.agent);
  }

  #in(pane: PaneId): Identified | null {
    const agent = this.#doors.get(pane)?.agent ?? null;
    return agent === null ? null : { agent: agentName(agent), mode: 'interactive', version: null, confidence: 'low' };
  }

  /** Who was let in stays as long as its own rules can read the screen: dialogs of different agents look alike. */
  #isStill(agent: AgentName | null, lines: readonly string[], title: string): boolean {
    const rules = [...this.#parts.rules()].find(([name]) => name === agent)?.[1];
    return rules !== undefined && classify(rules, { lines, title, command: null }, null).state !== 'unknown';
  }

  /** Two agents that both fit prove neither (RSV4), unless one is a fork of the other: then it is the one they come from. */
  #shownOn(lines: readonly string[], title: string): AgentName | null {
    const found: AgentName[] = [];
    for (const [agent, rules] of this.#parts.rules()) {
      const { state, confidence } = classify(rules, { lines, title, command: null }, null);
      if (state !== 'unknown' && confidence === 'high') found.push(agent);
    }
    const origins = new Set(found.map((agent) => this.#parts.originOf(agent)));
    return origins.size === 1 ? ([...origins][0] ?? null) : null;
  }
}
