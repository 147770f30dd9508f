// What would be done about each agent of the tmux servers that are gone: resumed, a shell in its place, or left. Doubt
// makes it less, never more (RST3, RST4). Pure.

import type { Keys } from '../agents/contract.ts';
import type { AgentName, RuntimeId } from '../model/ids.ts';
import type { RestoreChoice, RestoreItem } from '../model/restore.ts';
import type { KeptAgent, KeptServer, KeptWindow } from './kept-servers.ts';

export interface PlanFacts {
  readonly keysOf: (agent: AgentName) => Keys | null;
  /** Why this conversation must not be resumed; null when nothing speaks against it. */
  readonly livesAs: (agent: KeptAgent & { readonly agent_session: string }) => string | null;
  /** The pane in which an earlier restore has resumed it. */
  readonly resumedIn: (runtime: RuntimeId) => string | null;
  readonly hasDirectory: (path: string) => boolean;
}

export interface PlannedAgent {
  readonly server: KeptServer;
  readonly window: KeptWindow;
  /** Its place among the panes of the window. */
  readonly position: number;
  readonly agent: KeptAgent;
  readonly item: RestoreItem;
  /** The command without its options; null where there is none. */
  readonly resume: readonly string[] | null;
  /** It is decided about, without anybody's doing. */
  readonly isSettled: boolean;
}

/** The newest server first: of two agents with one conversation the one that had it last gets it. */
export function planRestore(lost: readonly KeptServer[], facts: PlanFacts): readonly PlannedAgent[] {
  const taken = new Map<string, string>();
  const planned: PlannedAgent[] = [];
  for (const server of lost.toSorted((one, other) => other.seen_at - one.seen_at)) {
    for (const window of server.windows) {
      for (const [position, { agent, pane_index }] of window.panes.entries()) {
        if (agent === null || server.settled.includes(agent.runtime_id)) continue;
        const place = `${window.session_name}:${window.window_index}.${pane_index}`;
        const resume = facts.keysOf(agent.agent)?.resume(agent.agent_session) ?? null;
        const decided = decide(agent, agent.agent_session === null ? null : resume, taken, facts);
        if (decided.choice === 'resume' && agent.agent_session !== null) {
          taken.set(`${agent.agent} ${agent.agent_session}`, place);
        }
        const isResumed = decided.choice === 'resume' && resume !== null;
        const plain = agent.options.filter((option) => !option.skips_permissions).flatMap(({ words }) => words);
        const item: RestoreItem = {
          runtime_id: agent.runtime_id,
          target: server.target,
          server: server.server,
          agent: agent.agent,
          place,
          cwd: agent.cwd,
          agent_session: agent.agent_session,
          lost_at: server.lost_at ?? server.seen_at,
          choice: decided.choice,
          why: decided.why,
          command: isResumed ? [...resume, ...plain].join(' ') : null,
          skipping: isResumed ? skippingOf(agent).map((words) => words.join(' ')) : [],
        };
        planned.push({ server, window, position, agent, item, resume, isSettled: decided.isSettled });
      }
    }
  }
  return planned;
}

export const skippingOf = ({ options }: KeptAgent): readonly (readonly string[])[] =>
  options.filter(({ skips_permissions }) => skips_permissions).map(({ words }) => words);

interface Decided {
  readonly choice: RestoreChoice;
  readonly why: string | null;
  readonly isSettled: boolean;
}

const decided = (choice: RestoreChoice, why: string | null, isSettled = false): Decided => ({ choice, why, isSettled });

function decide(
  agent: KeptAgent,
  resume: readonly string[] | null,
  taken: ReadonlyMap<string, string>,
  facts: PlanFacts,
): Decided {
  const { runtime_id, agent_session, cwd } = agent;
  const before = facts.resumedIn(runtime_id);
  if (before !== null) return decided('leave', `it was resumed in ${before} already`, true);
  if (!facts.hasDirectory(cwd)) return decided('leave', 'its directory is gone');
  // A plain start in the place of a lost conversation looks like it and is not.
  if (agent_session === null) return decided('shell', 'its conversation is not known');
  if (resume === null) return decided('shell', `how to resume this ${agent.agent} is not known`);
  const life = facts.livesAs({ ...agent, agent_session });
  if (life !== null) return decided('leave', life);
  const other = taken.get(`${agent.agent} ${agent_session}`);
  return other === undefined ? decided('resume', null) : decided('shell', `its conversation is resumed in ${other}`);
}

const less: Readonly<Record<RestoreChoice, readonly RestoreChoice[]>> = {
  resume: ['resume', 'shell', 'leave'],
  shell: ['shell', 'leave'],
  leave: ['leave'],
};

/** What a person asked for, where it is less than what was planned. */
export const chosen = (planned: RestoreChoice, wanted: RestoreChoice | undefined): RestoreChoice =>
  wanted !== undefined && less[planned].includes(wanted) ? wanted : planned;
