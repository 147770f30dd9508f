// What a person sees of an agent's output: its pane, or its own record where the pane keeps no history of it.

import type { Agent } from '../agents/contract.ts';
import type { RuntimeIdentity } from '../model/events.ts';
import type { AgentName } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { TargetController } from '../observe/target-controller.ts';
import { createRealFileWatch } from '../platform/file-watch.ts';
import { textsFrom } from '../store/foreign-database.ts';
import type { Store } from '../store/store.ts';
import { serverKeyOf } from '../terminals/tmux/view.ts';
import { heardFrom } from './conversations.ts';
import type { ActionDependencies } from './dependencies.ts';
import { type TranscriptPorts, transcriptLines } from './transcripts.ts';

export interface ViewingParts extends Pick<ActionDependencies, 'identityOf' | 'ownerOf' | 'sessionsOf' | 'isPaneless'> {
  readonly machines: Pick<TargetController, 'watch' | 'runs'>;
  readonly agentOf: (name: AgentName) => Agent | null;
  readonly store: Pick<Store, 'eventsOf'>;
}

export function outputsOf(parts: ViewingParts): ActionDependencies['outputOf'] {
  const ports: TranscriptPorts = { files: createRealFileWatch(), textsFrom };
  return async (runtime, linesMax, isScreen = false, hasColours = false) => {
    const identity = parts.identityOf(runtime);
    const watch = identity === null ? undefined : parts.machines.watch(identity.target);
    if (identity !== null && (identity.pane === null || parts.isPaneless(runtime))) {
      const spoken = isScreen ? null : await spokenBy(parts, ports, identity, linesMax);
      return spoken === null
        ? null
        : { lines: spoken, from: 'transcript', words: 'from its transcript: it has no pane' };
    }
    if (identity === null || identity.pane === null || watch === undefined || watch.topology === null) return null;
    // Another life of the server has other panes by the same names (IDN2).
    if (identity.server !== serverKeyOf(identity.target, watch.topology.server)) return null;
    // Another agent's pane is not shown under this one's name.
    const owner = parts.ownerOf(identity.target, identity.pane);
    if (owner !== null && owner !== runtime) return null;
    const seen = await watch.reach.view(identity.pane, linesMax, hasColours).catch(() => null);
    if (seen === null) return null;
    const screen = { lines: printed(seen.lines).slice(-linesMax), from: 'screen' } as const;
    if (!seen.isAlternate || isScreen) return screen;
    const words = (why: string): string => `its screen keeps no history, and ${why}`;
    if (watch.kind === 'ssh') return { ...screen, words: words('its transcript is on another machine') };
    const lines = await spokenBy(parts, ports, identity, linesMax);
    if (lines === null) return { ...screen, words: words('no transcript of it is known') };
    return { lines, from: 'transcript', words: 'from its transcript; --screen shows what is on its screen' };
  };
}

/** The conversation alone, whatever its screen shows. */
export function transcriptsOf(parts: ViewingParts): ActionDependencies['transcriptOf'] {
  const ports: TranscriptPorts = { files: createRealFileWatch(), textsFrom };
  return async (runtime, linesMax) => {
    const identity = parts.identityOf(runtime);
    if (identity === null || parts.machines.watch(identity.target)?.kind === 'ssh') return null;
    return spokenBy(parts, ports, identity, linesMax);
  };
}

/** Without the rows below the last one that holds something: nobody printed them. Colours alone are nothing. */
function printed(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line.replaceAll(/\u001b\[[\d;:]*m/g, '').trim() !== '');
  return lines.slice(0, last + 1);
}

async function spokenBy(
  { machines, agentOf, sessionsOf, store }: ViewingParts,
  ports: TranscriptPorts,
  { runtime_id, agent }: RuntimeIdentity,
  linesMax: number,
): Promise<readonly string[] | null> {
  const transcript = agentOf(agent)?.transcript;
  const run = machines.runs().find((one) => one.run.runtime_id === runtime_id)?.run;
  if (transcript === undefined || run === undefined) return null;
  const told = sessionsOf(runtime_id);
  const sessions = told.length > 0 ? told : await heard(store, runtime_id);
  const lines = await transcriptLines(ports, transcript, run, sessions, linesMax);
  return lines === null || lines.length === 0 ? null : lines;
}

async function heard(store: Pick<Store, 'eventsOf'>, runtime: RuntimeIdentity['runtime_id']): Promise<string[]> {
  const session = await heardFrom(store, runtime, limits.transcriptEventsMax);
  return session === null ? [] : [session];
}
