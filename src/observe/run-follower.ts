// From one look at the processes to who is followed: agents whose screens are read, and runs whose own files and streams
// are listened to.

import type { Agent } from '../agents/contract.ts';
import type { AgentName, PaneId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { ScreenRun } from '../reconcile/screen-memory.ts';
import type { RunFacts, RunViews } from '../sources/native/run-view.ts';
import type { NativeRun } from '../sources/native/sources.ts';
import type { PaneAgents } from '../sources/process/foreground.ts';
import type { ProcessTable } from '../sources/process/table.ts';
import type { TmuxPane } from '../terminals/tmux/view.ts';
import { idOfOwner, type Look } from './sightings.ts';

export interface RunFollowerParts {
  readonly clock: Clock;
  readonly views: RunViews;
  readonly agentOf: (name: AgentName) => Agent | null;
  readonly onScreenRuns: (runs: readonly ScreenRun[]) => void;
  readonly onRuns: (runs: readonly NativeRun[]) => void;
}

interface Known {
  readonly facts: RunFacts;
  readonly pane: PaneId;
}

export class RunFollower {
  readonly #parts: RunFollowerParts;
  #known: readonly Known[] = [];
  #table: ProcessTable | null = null;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(parts: RunFollowerParts) {
    this.#parts = parts;
  }

  follow(look: Look, found: ReadonlyMap<TmuxPane, PaneAgents>): void {
    const screens: ScreenRun[] = [];
    const known: Known[] = [];
    for (const [pane, { agent, process, suspended, inside, door }] of found) {
      if (agent === null || process === null) continue;
      const runtime_id = idOfOwner(look, pane.pane, process.identity);
      // Behind Ctrl-Z a shell draws.
      const isGuest = inside !== null && process === door;
      const through = isGuest ? (`inside_${inside}` as const) : null;
      const { agent: name, version } = agent;
      if (!suspended) screens.push({ runtime_id, pane: pane.pane, agent: name, version, inside: through });
      const adapter = this.#parts.agentOf(name);
      // Its own files are on the other side of the door.
      if (adapter === null || isGuest) continue;
      const facts = {
        runtime_id,
        agent: adapter,
        version: agent.version,
        process,
        title: pane.title,
        paneCwd: pane.cwd,
      };
      known.push({ facts, pane: pane.pane });
    }
    this.#known = known;
    this.#table = look.table;
    this.#parts.onScreenRuns(screens);
    this.#tell();
  }

  /** Nobody is there any more. */
  clear(): void {
    if (this.#known.length === 0) return;
    this.#known = [];
    this.#parts.onScreenRuns([]);
    this.#tell();
  }

  /** Titles may tell which conversation an agent has. They also turn ten times a second: once is enough. */
  onTitles(titleOf: (pane: PaneId) => string): void {
    if (this.#parts.clock.monotonicMs() - this.#toldAt < limits.runTitlesMs) return;
    const changed = this.#known.some(({ facts, pane }) => facts.title !== titleOf(pane));
    if (!changed) return;
    this.#known = this.#known.map(({ facts, pane }) => ({ facts: { ...facts, title: titleOf(pane) }, pane }));
    this.#tell();
  }

  #tell(): void {
    const table = this.#table;
    if (table === null) return;
    const { views, onRuns, clock } = this.#parts;
    this.#toldAt = clock.monotonicMs();
    views.keepOnly(new Set(this.#known.map(({ facts }) => facts.runtime_id)));
    onRuns(this.#known.map(({ facts }) => ({ agent: facts.agent, run: views.view(facts, table) })));
  }
}
