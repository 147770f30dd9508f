// Every agent agtmux knows, and the one question asked of all of them. Which folders there are stands in folders.ts.

import { type Failure, failure } from '../model/errors.ts';
import type { AgentName } from '../model/ids.ts';
import { type Confidence, confidences } from '../model/states.ts';
import { type Agent, contractVersion, type Identified, type Identify, type ProgramView } from './contract.ts';
import { builtInDefinitions } from './definition/built-in.ts';
import { agentOf } from './definition/load.ts';
import { folders } from './folders.ts';

/** Folders with code of their own, and those that hold a definition alone. */
export const agents: readonly Agent[] = [
  ...folders,
  ...builtInDefinitions.filter(({ agent }) => folders.every(({ name }) => name !== agent)).map((one) => agentOf(one)),
].sort((one, other) => (one.name < other.name ? -1 : 1));

interface Remembered {
  readonly executable: string | null;
  readonly answer: Identified | null;
}

/** One question asked of all of these agents. */
export function identifierOf(list: readonly Agent[]): Identify {
  /** By the list of arguments itself: the process table hands out the same one while a process runs the same program. */
  const remembered = new WeakMap<readonly string[], Remembered>();
  return (program: ProgramView): Identified | null => {
    const { executable, argv } = program;
    const known = remembered.get(argv);
    if (known !== undefined && known.executable === executable) return known.answer;
    const answer = askAll(list, program);
    remembered.set(argv, { executable, answer });
    return answer;
  };
}

export const identifyAgent: Identify = identifierOf(agents);

/** Names of programs that are known as an agent: no definition of a user's may take one. */
export const takenNames = (): ReadonlySet<string> =>
  new Set([
    ...agents.map(({ name }) => String(name)),
    ...builtInDefinitions.flatMap(({ identify }) => [...(identify?.commands ?? []), ...(identify?.argv0 ?? [])]),
  ]);

/** The surest answer; between equals there is none, because two agents that both claim a process prove neither (RSV4). */
function askAll(list: readonly Agent[], program: ProgramView): Identified | null {
  let best: Identified | null = null;
  let shared = false;
  for (const agent of list) {
    const found = agent.identify(program);
    if (found === null) continue;
    const order = best === null ? -1 : rank(found.confidence) - rank(best.confidence);
    if (order < 0) {
      best = found;
      shared = false;
    } else if (order === 0) {
      shared = true;
    }
  }
  return shared ? null : best;
}

const rank = (confidence: Confidence): number => confidences.indexOf(confidence);

export interface RefusedAgent {
  readonly name: AgentName;
  readonly contract: string;
  readonly failure: Failure;
}

/** An adapter of another major of the contract is refused as a whole: half of it would be wrong in silence. */
export function usableAgents(list: readonly Agent[]): {
  readonly usable: readonly Agent[];
  readonly refused: readonly RefusedAgent[];
} {
  const majorOf = (version: string): string => version.split('.', 1)[0] ?? '';
  const fits = ({ contract }: Agent): boolean => majorOf(contract) === majorOf(contractVersion);
  const refused = list
    .filter((agent) => !fits(agent))
    .map(({ name, contract }) => ({
      name,
      contract,
      failure: failure('E_CONTRACT', `the ${name} adapter uses contract ${contract}, this agtmux ${contractVersion}`),
    }));
  return { usable: list.filter(fits), refused };
}
