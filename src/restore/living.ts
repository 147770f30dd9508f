// Which conversations live on this machine at this moment: by the agents under watch, and by every process whose arguments
// name one. Whoever is found here is never resumed (RST3). Pure but for what it is told.

import type { Identify } from '../agents/contract.ts';
import { canonicalRef } from '../engine/refer.ts';
import type { AgentName, ProcessIdentity, RuntimeId } from '../model/ids.ts';

export interface SeenProcess {
  readonly identity: ProcessIdentity;
  readonly ppid: number;
  readonly executable: string | null;
  readonly argv: readonly string[];
  /** Null where it cannot be known. */
  readonly cwd: string | null;
}

/** An agent that lives and is listed. */
export interface LivingAgent {
  readonly runtime_id: RuntimeId;
  readonly agent: AgentName;
  /** Null where it has none on this machine. */
  readonly process: ProcessIdentity | null;
  readonly sessions: readonly string[];
}

export interface LivingFacts {
  readonly agents: readonly LivingAgent[];
  readonly processes: readonly SeenProcess[];
  readonly identify: Identify;
}

export interface WantedConversation {
  readonly agent: AgentName;
  readonly agent_session: string;
  readonly process: ProcessIdentity | null;
  readonly cwd: string;
}

/** Why this conversation must not be resumed now, in a few words; null when nothing speaks against it. */
export function livesAs(wanted: WantedConversation, facts: LivingFacts): string | null {
  // One whose process is gone has ended, whether that is known already or not.
  const isThere = ({ process }: LivingAgent): boolean =>
    process === null || facts.processes.some(({ identity }) => isSameProcess(identity, process));
  const listed = facts.agents.find((one) => one.sessions.includes(wanted.agent_session) && isThere(one));
  if (listed !== undefined) return `its conversation is open in ${canonicalRef(listed.runtime_id)}`;
  const old = facts.processes.find(({ identity }) => isSameProcess(identity, wanted.process));
  if (old !== undefined) return `it still runs as process ${old.identity.pid}, without its tmux server`;
  const naming = facts.processes.find(({ argv }) => argv.some((word) => names(word, wanted.agent_session)));
  if (naming !== undefined) return `process ${naming.identity.pid} names its conversation`;
  const nameless = facts.processes.find((one) => isNameless(one, wanted, facts));
  return nameless === undefined
    ? null
    : `process ${nameless.identity.pid} is a ${wanted.agent} in the same directory, and its conversation is not known`;
}

const isSameProcess = (one: ProcessIdentity, other: ProcessIdentity | null): boolean =>
  other !== null && one.boot === other.boot && one.pid === other.pid && one.start === other.start;

/** As a word of its own: an id may be the beginning of another. */
function names(word: string, session: string): boolean {
  for (let at = word.indexOf(session); at >= 0; at = word.indexOf(session, at + 1)) {
    const around = `${word[at - 1] ?? ' '}${word[at + session.length] ?? ' '}`;
    if (!/[\w-]/.test(around)) return true;
  }
  return false;
}

/** The same agent in the same directory, of which nobody knows the conversation: it may be this one. */
function isNameless(process: SeenProcess, wanted: WantedConversation, facts: LivingFacts): boolean {
  if (process.cwd !== wanted.cwd || facts.identify(process)?.agent !== wanted.agent) return false;
  const byPid = new Map(facts.processes.map((one) => [one.identity.pid, one] as const));
  const seen = new Set<number>();
  for (let at: SeenProcess | undefined = process; at !== undefined && !seen.has(at.identity.pid); ) {
    seen.add(at.identity.pid);
    const { identity, argv } = at;
    const known = facts.agents.find((agent) => isSameProcess(identity, agent.process));
    // What its own arguments resume is another conversation: this one would have been found by name.
    if ((known?.sessions.length ?? 0) > 0 || argv.some((word) => isResuming.test(word))) return false;
    at = byPid.get(at.ppid);
  }
  return true;
}

const isResuming = /^(?:resume|--resume|--session|--conversation)(?:=|$)/;
