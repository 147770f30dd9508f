// Who asks for something about a shell, and what they may do: agents start shells and act on their own, people act on all
// of them and start none (SHL7). Told from the process that asks, as for every action (ACT6).

import { authenticate } from '../auth/authenticate.ts';
import { mayAlso, type Policy } from '../auth/policy.ts';
import type { CallerFacts, Principal } from '../auth/principal.ts';
import type { OperatorRight } from '../auth/program-names.ts';
import { type Failure, failure } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import type { ShellAsker, ShellClaim, ShellControl, ShellOwner } from '../model/shells.ts';

export interface ShellCallerParts {
  /** What the system says of a process; null when there is no such process. */
  readonly factsOf: (pid: number) => Promise<CallerFacts | null>;
  /** When a process began, as the system counts; null when it is gone. */
  readonly startOf: (pid: number) => string | null;
  /** The agent that has this conversation now. */
  readonly runtimeOfSession: (session: string) => RuntimeId | null;
  readonly policy: () => Policy;
}

export interface ShellCaller extends ShellAsker {
  readonly caller: Principal;
}

export async function shellCallerOf(claim: ShellClaim, parts: ShellCallerParts): Promise<ShellCaller> {
  const facts = claim.pid === null ? null : await parts.factsOf(claim.pid);
  const { pid, web, editor } = claim;
  const known = { ...(web === undefined ? {} : { web }), ...(editor === undefined ? {} : { editor }) };
  const sources = { factsOf: async () => facts, policy: parts.policy };
  const caller = await authenticate(sources, { pid, hops: 0, ...known });
  const keys = keysOf(claim, facts, caller, parts);
  const owner: ShellOwner = {
    key: keys[0] ?? nobody,
    runtime_id: runtimeOf(claim, facts, caller, parts),
    client: claim.client,
    thread: claim.thread,
  };
  return { caller, owner, keys };
}

/** Those without a process to look at have no shells of their own. */
const nobody = 'nobody';

/**
 * The best key first: the runtime, the client's own thread, the agent's process, the process that asks. An agent that asks
 * before the daemon has noticed it is kept under its process, and found under it again when it is known.
 */
function keysOf(
  claim: ShellClaim,
  facts: CallerFacts | null,
  caller: Principal,
  parts: ShellCallerParts,
): readonly string[] {
  const runtime = runtimeOf(claim, facts, caller, parts);
  const agents = facts?.ancestors.filter(isAgent).map(({ pid }) => pid) ?? [];
  // A name that anyone can say is worth something only from within an agent.
  const thread = claim.thread !== null && agents.length > 0 ? [`thread:${claim.thread}`] : [];
  const own = agents.length === 0 && facts !== null ? [facts.pid] : [];
  return [
    ...(runtime === null ? [] : [`runtime:${runtime}`]),
    ...thread,
    ...[...agents, ...own].flatMap((pid) => {
      const start = parts.startOf(pid);
      return start === null ? [] : [`process:${pid}/${start}`];
    }),
  ];
}

const isAgent = ({ is_agent, runtime_id }: CallerFacts['ancestors'][number]): boolean =>
  is_agent || runtime_id !== null;

/** The nearest agent above it that is known; else, for one behind a shared server, the one that has its thread. */
function runtimeOf(
  { thread }: ShellClaim,
  facts: CallerFacts | null,
  caller: Principal,
  { runtimeOfSession }: ShellCallerParts,
): RuntimeId | null {
  const [nearest] = caller.above;
  if (nearest !== undefined) return nearest;
  return thread !== null && facts?.ancestors.some(isAgent) === true ? runtimeOfSession(thread) : null;
}

/** Null: it may. */
export function mayRun({ caller }: ShellCaller): Failure | null {
  if (caller.role !== 'human' && caller.role !== 'editor') return null;
  return failure(
    'E_ROLE',
    `only agents start shells, and this is ${caller.name}`,
    'run it in your own terminal; `agtmux shell resume` runs a finished one again',
  );
}

/** What it takes to do it to a shell of somebody else. */
const rightOf: Readonly<Record<ShellControl, OperatorRight | null>> = {
  kill: 'kill',
  background: null,
  resume: null,
  seen: 'seen',
};

/** For whom it is done, or why it is not. */
export function partyFor(
  control: ShellControl,
  { caller, keys }: ShellCaller,
  owner: ShellOwner,
): { readonly by: 'agent' | 'user' } | { readonly refused: Failure } {
  // What the key of an editor is for says whether it may end or move what runs.
  const needed = rightOf[control] ?? (caller.role === 'editor' ? 'kill' : null);
  const denied = needed === null ? null : mayAlso(caller, needed);
  const isPerson = caller.role !== 'observer' && denied === null;
  const isOwn = keys.includes(owner.key) || (owner.runtime_id !== null && caller.above.includes(owner.runtime_id));
  if (control === 'seen' && !isPerson) {
    return { refused: failure('E_ROLE', `only people mark a shell as seen: ${caller.why}`) };
  }
  if (isOwn) return { by: 'agent' };
  if (isPerson) return { by: 'user' };
  if (caller.role === 'operator' && denied !== null) return { refused: denied };
  return {
    refused: failure(
      'E_ROLE',
      `the caller counts as an agent (${caller.why}), and this shell belongs to another`,
      'an agent may act on its own shells only; a person may act on all',
    ),
  };
}
