// From a call in the spool to events: whose it is follows from the processes it came from, never from the pane it names
// (BND1). A call that claims a pane its processes do not stand in is refused; every call is counted.

import type { Agent, HookReader, Identify, ProgramView } from '../agents/contract.ts';
import type { EventEnvelope, RuntimeIdentity } from '../model/events.ts';
import type { SourceInfo } from '../model/explanations.ts';
import { type AgentName, agentName, type ProcessIdentity, type TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Verdict } from '../model/verdicts.ts';
import type { SpoolCall } from '../sources/spool/call.ts';
import type { CallOrigin } from '../sources/spool/origin.ts';
import { readWrap, type WrapWord } from '../sources/spool/wrap.ts';
import { envelopeOf } from './findings.ts';

export interface HookCallsParts {
  /** The target of the machine whose tmux server has this socket; the machine's own where none does. */
  readonly targetOf: (socket: string | null) => TargetId;
  /** Null while nobody knows which boot of the machine it is. */
  readonly boot: () => string | null;
  readonly agentOf: (name: AgentName) => Agent | null;
  readonly identify: Identify;
  /** The program of a process that is still this very one; null when it is gone. */
  readonly programOf: (process: ProcessIdentity) => ProgramView | null;
  /** Runtimes of this process on any target of the machine. */
  readonly runtimesOf: (process: ProcessIdentity) => readonly RuntimeIdentity[];
  /** The socket of the tmux server that a runtime lives in. */
  readonly socketOf: (runtime: RuntimeIdentity) => string | null;
  /** When a call was made, on the daemon's timeline. Each is asked for once, in the order of the spool. */
  readonly timeOf: (call: SpoolCall, runtime: RuntimeIdentity | null) => number;
  readonly take: (events: readonly EventEnvelope[]) => Promise<readonly Verdict[]>;
  /** An agent that is known but switched off. */
  readonly isOff: (name: AgentName) => boolean;
  /** The process of a session that agtmux leads: what it does is known better than its hooks tell. */
  readonly isManagedProcess: (process: ProcessIdentity) => boolean;
  /** What a person asked an agent for; empty when its conversation begins anew. */
  readonly onPrompt: (runtime: RuntimeIdentity | null, processes: readonly ProcessIdentity[], text: string) => void;
  /** Who the agent of this process is where that is in no pane; else why there is none. Null on other machines. */
  readonly meet: ((process: ProcessIdentity) => RuntimeIdentity | string) | null;
  /** Whether it can have come from the processes that it names. */
  readonly originOf: (call: SpoolCall) => CallOrigin;
  /** A call waits for its runtime: the processes are worth a look. */
  readonly onPending: () => void;
}

/** Where the fields of a call that may be stored stand in an event. */
export const hookField = 'hook';

type Refusal = 'unknown_agent' | 'other_pane' | 'forged' | 'other_user' | 'still_there' | 'unbound' | 'not_an_event';

interface Tally {
  count: number;
  lastAt: number | null;
  readonly refused: Map<Refusal, number>;
}

export class HookCalls {
  readonly #parts: HookCallsParts;
  readonly #tallies = new Map<AgentName, Tally>();
  /** Calls that were read and are not on disk yet, by file. */
  readonly #read = new Map<string, { readonly time: number; readonly events: readonly EventEnvelope[] }>();

  constructor(parts: HookCallsParts) {
    this.#parts = parts;
  }

  /** Done means that everything it said is on disk. Rejects when the inbox is full: the file stays and comes again. */
  async take(call: SpoolCall): Promise<'done' | 'refused'> {
    const wrapped = readWrap(call);
    if (wrapped !== null) return this.#takeWrap(call, wrapped);
    const name = call.agent;
    // Nobody looks at agents that are switched off, and what they wrote is not kept either.
    if (this.#parts.isOff(name)) return 'done';
    const hooks = this.#parts.agentOf(name)?.hooks ?? null;
    if (hooks === null) return this.#refuse(name, 'unknown_agent');
    const origin = this.#parts.originOf(call);
    if (origin !== 'possible') return this.#refuse(name, origin);
    if (this.#comesFromLed(call)) return 'done';
    const speaker = this.#speakerOf(call, name);
    const ancestry = this.#ancestryOf(call, speaker);
    const runtime = this.#runtimeOf(ancestry) ?? this.#meet(ancestry, speaker);
    if (runtime !== null && this.#isElsewhere(call, runtime)) return this.#refuse(name, 'other_pane');
    const { time, events } = this.#eventsOf({ ...call, agent: speaker }, hooks, ancestry, runtime);
    this.#noteTask({ ...call, agent: speaker }, hooks, ancestry, runtime);
    const tally = this.#tallyOf(name);
    if (events.length > 0) {
      const verdicts = await this.#parts.take(events);
      if (verdicts.some((one) => one.verdict === 'unbound')) this.#count(name, 'unbound');
      if (verdicts.some((one) => one.verdict === 'refused')) this.#count(name, 'not_an_event');
      // It came from an agent that was not seen yet.
      if (verdicts.some((one) => one.verdict === 'pending')) this.#parts.onPending();
    }
    this.#read.delete(call.file);
    tally.count += 1;
    tally.lastAt = time;
    return 'done';
  }

  /** Where the agent itself is gone already, nobody can say whose of those above it the prompt was. */
  #noteTask(
    { event, payload, time, agent }: SpoolCall,
    hooks: HookReader,
    ancestry: readonly ProcessIdentity[],
    runtime: RuntimeIdentity | null,
  ): void {
    const prompt = hooks.prompt?.({ event, payload, time }) ?? null;
    if (prompt === null) return;
    const own = ancestry.filter((process) => this.#isOf(process, agent));
    if (runtime !== null || own.length > 0) this.#parts.onPrompt(runtime, own, prompt);
  }

  /** Some agents run the hooks of others: whose word a call is follows from the nearest agent that it came from (DEF5). */
  #speakerOf({ ancestors }: SpoolCall, name: AgentName): AgentName {
    const boot = this.#parts.boot();
    if (boot === null) return name;
    for (const { pid, start } of ancestors.slice(0, limits.ancestryMax)) {
      const program = this.#parts.programOf({ boot, pid, start });
      const found = program === null ? null : this.#parts.identify(program);
      if (found === null) continue;
      const runsOurs = this.#parts.agentOf(found.agent)?.alsoRunsHooksOf?.includes(name) === true;
      return runsOurs ? found.agent : name;
    }
    return name;
  }

  #isOf(process: ProcessIdentity, name: AgentName): boolean {
    const program = this.#parts.programOf(process);
    return program !== null && this.#parts.identify(program)?.agent === name;
  }

  /** The same conversation may have been somebody else's before: it must not be taken for that one's word. */
  #comesFromLed({ ancestors }: SpoolCall): boolean {
    const boot = this.#parts.boot();
    return boot !== null && ancestors.some(({ pid, start }) => this.#parts.isManagedProcess({ boot, pid, start }));
  }

  /** Read once: what a reader remembers of earlier calls must not hear the same one twice. */
  #eventsOf(
    call: SpoolCall,
    hooks: HookReader,
    ancestry: readonly ProcessIdentity[],
    runtime: RuntimeIdentity | null,
  ): { readonly time: number; readonly events: readonly EventEnvelope[] } {
    const known = this.#read.get(call.file);
    if (known !== undefined) return known;
    const { event, payload, agent: name } = call;
    const time = this.#parts.timeOf(call, runtime);
    const said = { event, payload, time: call.time };
    const session = hooks.session(said);
    const evidence = {
      target: runtime?.target ?? this.#parts.targetOf(call.socket),
      agent: name,
      ...(ancestry.length === 0 ? {} : { ancestry }),
      ...(session === null ? {} : { agent_session: session }),
    };
    const hook = { event, ...kept(payload, hooks.stored) };
    const events = hooks.read(said).map((finding, place) => {
      const envelope = envelopeOf(finding, { evidence, source: 'hook', time, dedupe: idOf(call, place) });
      // In a field of its own, so that nothing the agent wrote can be read as part of the fact.
      return { ...envelope, payload: { ...envelope.payload, [hookField]: hook } };
    });
    this.#read.set(call.file, { time, events });
    return { time, events };
  }

  /** The exact end of an agent that was started under `agtmux wrap`. */
  async #takeWrap(call: SpoolCall, word: WrapWord): Promise<'done' | 'refused'> {
    const boot = this.#parts.boot();
    if (word.kind === 'started' || boot === null) return 'done';
    const process = { boot, ...word.process };
    // A wrapper tells it when its child is gone and collected; who is still there has not ended, whoever says so.
    if (this.#parts.programOf(process) !== null) return this.#refuse(call.agent, 'still_there');
    const runtime = this.#runtimeOf([process]);
    const target = runtime?.target ?? this.#parts.targetOf(call.socket);
    const time = this.#parts.timeOf(call, runtime);
    const events = word.facts.map((fact, place) =>
      envelopeOf(
        { fact, time: call.time },
        { evidence: { target, ancestry: [process] }, source: 'wrapper', time, dedupe: idOf(call, place) },
      ),
    );
    await this.#parts.take(events);
    return 'done';
  }

  infoOf(agent: AgentName): SourceInfo | null {
    const tally = this.#tallies.get(agent);
    if (tally === undefined) return null;
    const refused = [...tally.refused].map(([reason, count]) => `${count} ${refusalWords[reason]}`);
    return {
      source: 'hooks',
      health: 'ok',
      trouble: refused.length === 0 ? null : refused.join(', '),
      count: tally.count,
      last_at: tally.lastAt,
    };
  }

  /**
   * The agent nearest to the call and the loaders above it, as far as they are one run: what stands higher is another
   * agent's, which must not be spoken for. When all of them are gone already the whole chain is what is left.
   */
  #ancestryOf(call: SpoolCall, name: AgentName): readonly ProcessIdentity[] {
    const boot = this.#parts.boot();
    if (boot === null) return [];
    const chain = call.ancestors.slice(0, limits.ancestryMax).map(({ pid, start }) => ({ boot, pid, start }));
    const isAgent = (process: ProcessIdentity): boolean => this.#isOf(process, name);
    const first = chain.findIndex(isAgent);
    if (first < 0) return chain;
    let end = first + 1;
    while (end < chain.length && isAgent(chain[end] as ProcessIdentity)) end += 1;
    return chain.slice(first, end);
  }

  #runtimeOf(ancestry: readonly ProcessIdentity[]): RuntimeIdentity | null {
    for (const process of ancestry) {
      const runtime = this.#parts.runtimesOf(process).at(-1);
      if (runtime !== undefined) return runtime;
    }
    return null;
  }

  /** An agent that is in no pane is known from its first call on (IDN10). */
  #meet(ancestry: readonly ProcessIdentity[], name: AgentName): RuntimeIdentity | null {
    const own = ancestry.findLast((process) => this.#isOf(process, name));
    const met = own === undefined ? null : (this.#parts.meet?.(own) ?? null);
    return typeof met === 'string' ? null : met;
  }

  /** It names a pane of a server we know, and its processes belong to an agent in another pane of that server. */
  #isElsewhere({ pane, socket }: SpoolCall, runtime: RuntimeIdentity): boolean {
    if (pane === null || runtime.pane === null || runtime.pane === pane) return false;
    return socket === null || this.#parts.socketOf(runtime) === socket;
  }

  #refuse(agent: AgentName, reason: Refusal): 'refused' {
    this.#count(agent, reason);
    return 'refused';
  }

  #count(agent: AgentName, reason: Refusal): void {
    const { refused } = this.#tallyOf(agent);
    refused.set(reason, (refused.get(reason) ?? 0) + 1);
  }

  /** Names of agents that do not exist come from outside: they share one tally. */
  #tallyOf(agent: AgentName): Tally {
    const name = this.#parts.agentOf(agent) === null ? agentName('nobody') : agent;
    const known = this.#tallies.get(name) ?? { count: 0, lastAt: null, refused: new Map() };
    this.#tallies.set(name, known);
    return known;
  }
}

const refusalWords: Readonly<Record<Refusal, string>> = {
  unknown_agent: 'calls for an unknown agent',
  other_pane: 'calls refused: they named another pane than the one of their processes',
  forged: 'calls refused: the processes they named did not start each other',
  other_user: 'calls refused: they named a process of another user',
  still_there: 'ends refused: the named agent is still running',
  unbound: 'calls without a running agent',
  not_an_event: 'calls with impossible content',
};

/** Only what the adapter's list names is ever stored (ADM1), and of that no long texts. */
function kept(payload: SpoolCall['payload'], names: readonly string[]): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const name of names) {
    const value = payload !== null && Object.hasOwn(payload, name) ? payload[name] : undefined;
    if (typeof value === 'number' || typeof value === 'boolean') found[name] = value;
    else if (typeof value === 'string' && value.length <= limits.idCharsMax) found[name] = value;
  }
  return found;
}

/** Names of files come back after a restart of the machine; with the time they are unique. */
const idOf = ({ file, time }: SpoolCall, place: number): string => `${file}@${time}:${place}`;
