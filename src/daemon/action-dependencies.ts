// The daemon as acting stands on it: the ledger, the watches and the machines, put together for src/act. Nothing is decided
// here.

import { lastSession } from '../actions/conversations.ts';
import type { ActionDependencies } from '../actions/dependencies.ts';
import { sendSignal } from '../actions/signals.ts';
import { startAgent } from '../actions/start-agent.ts';
import { outputsOf, transcriptsOf } from '../actions/view-output.ts';
import type { Agent, FreshLook } from '../agents/contract.ts';
import { isAgentProgram } from '../agents/programs.ts';
import { agents } from '../agents/registry.ts';
import type { PaneRow } from '../api/panes.ts';
import { type CallerFacts, isSharedAncestor } from '../auth/principal.ts';
import { callerFacts } from '../auth/process-facts.ts';
import { callerFactsByPs } from '../auth/process-facts-ps.ts';
import type { Config } from '../config/config.ts';
import { canonicalRef } from '../engine/refer.ts';
import type { Entry } from '../engine/world.ts';
import type { EventProcessor } from '../ingest/event-processor.ts';
import type { Inbox } from '../ingest/inbox.ts';
import type { NewAgent, ViewedOutput } from '../model/actions.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { RuntimeIdentity } from '../model/events.ts';
import type { AgentName, PaneId, RuntimeId, TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import type { TargetController } from '../observe/target-controller.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Processes } from '../platform/processes.ts';
import type { RandomSource } from '../platform/random.ts';
import type { PromptReading } from '../reconcile/screen-reconciler.ts';
import { createSessionChannel } from '../sessions/action-channel.ts';
import type { SessionManager } from '../sessions/manager.ts';
import type { ShellManager } from '../shells/shell-service.ts';
import type { HookAnswers } from '../sources/spool/answers.ts';
import type { Store } from '../store/store.ts';
import type { Executor } from '../targets/executor.ts';
import { hostTarget } from '../targets/names.ts';
import type { PaneContent } from '../terminals/tmux/pane-writer.ts';
import { serverKeyOf } from '../terminals/tmux/view.ts';
import { createChannels, localServers } from './channels.ts';
import { fileThere } from './far-file.ts';

export interface ActingParts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Pick<Log, 'warn'>;
  readonly ledger: EventProcessor;
  readonly store: Pick<Store, 'audit' | 'eventsOf' | 'putSnapshot'>;
  readonly inbox: Inbox;
  readonly machines: TargetController;
  readonly processes: Processes;
  readonly agentOf: (name: AgentName) => Agent | null;
  readonly rows: () => readonly PaneRow[];
  readonly isPaneless: ActionDependencies['isPaneless'];
  readonly now: () => number;
  readonly policy: ActionDependencies['policy'];
  readonly isQuiet: ActionDependencies['isQuiet'];
  readonly settings: { readonly current: Pick<Config, 'terminals'> };
  /** bin/agtmux-wrap of this machine. */
  readonly wrapperPath: string;
  /** Null until they are there. */
  readonly sessions: () => SessionManager | null;
  readonly shells: () => Pick<ShellManager, 'shellOf'> | null;
  readonly hookAnswers: Pick<HookAnswers, 'waiting'>;
  /** Our own process. */
  readonly pid: number;
}

export function actionDependencies(parts: ActingParts): ActionDependencies {
  const starters = startersOf(parts);
  const { ledger, machines, now, agentOf } = parts;
  const entryOf = (runtime: RuntimeId): Entry | undefined => ledger.world.entries.get(runtime);
  const identityOf = (runtime: RuntimeId) => entryOf(runtime)?.identity ?? null;
  const stateOf = (runtime: RuntimeId) => stateIn(machines, entryOf(runtime));
  const sessionsOf = (runtime: RuntimeId) => [...(entryOf(runtime)?.fold.sessions ?? [])];
  const freshLook = (runtime: RuntimeId): Promise<FreshLook | null> => lookAt(parts, identityOf(runtime));
  const ownerOf = (target: TargetId, pane: string): RuntimeId | null => ownerIn(ledger, target, pane);
  const viewing = { ...parts, identityOf, ownerOf, sessionsOf };
  const outputOf = outputsOf(viewing);
  const transcriptOf = transcriptsOf(viewing);
  return {
    ...asGiven(parts),
    now,
    stateOf,
    wholeAskOf: (runtime) => ledger.wholeAskOf(runtime),
    identityOf,
    sessionsOf,
    ownerOf,
    terminals: terminalsIn(parts, identityOf),
    healthOf: (target) => machines.healthOf(target),
    lastSessionOf: (runtime) => lastSession(parts.store, runtime, sessionsOf(runtime)),
    keysOf: (agent) => agentOf(agent)?.keys ?? null,
    channels: [
      createSessionChannel(parts.sessions, parts.clock),
      ...createChannels(agents, {
        clock: parts.clock,
        stateOf,
        wholeAskOf: (runtime) => ledger.wholeAskOf(runtime),
        sessionsOf,
        freshLook,
        runs: () => machines.runs(),
        linesOf: (runtime, source) => machines.linesOf(runtime, source),
        titleOf: (runtime) => titleIn(machines, identityOf(runtime)),
        waitingCalls: () => parts.hookAnswers.waiting(),
        servers: localServers({ clock: parts.clock, processes: parts.processes }),
      }),
    ],
    placeOf: (runtime) => placeIn(parts, identityOf(runtime)),
    fileAt: (runtime, path) => fileIn(parts, runtime, path),
    handsOf: (target) => machines.watch(target)?.reach.writer ?? null,
    restOf: (runtime) => restIn(parts, identityOf(runtime)),
    wrapped: (target, command) =>
      machines.watch(target)?.kind === 'local' ? ['sh', parts.wrapperPath, '--', ...command] : command,
    freshLook,
    signal: async (target, process, signal) => {
      const executor = machines.executorAt(target);
      return executor === null ? 'down' : sendSignal(executor, process, signal);
    },
    factsOf: (pid) => factsIn(parts, starters, pid),
    reachOf: (target) => machines.reachOf(target),
    settled: async (target) => machines.watch(target)?.reach.change(async () => undefined),
    outputOf: async (runtime, ...how) => (await spokenIn(parts, runtime, how[0])) ?? outputOf(runtime, ...how),
    transcriptOf: async (runtime, linesMax) =>
      (await spokenIn(parts, runtime, linesMax))?.lines ?? transcriptOf(runtime, linesMax),
    start: (wanted) => startIn(parts, wanted),
    take: (events) => Promise.all(events.map((event) => parts.inbox.offer(event))),
    keepAudit: async (record) => {
      await parts.inbox.between(() => ledger.take([], [record]));
    },
    audit: (countMax) => parts.store.audit(countMax),
    keepSnapshot: (snapshot) => parts.store.putSnapshot(snapshot),
    warn: (words, fields) => parts.log.warn(words, fields),
  };
}

const asGiven = ({ clock, random, rows, isPaneless, policy, isQuiet }: ActingParts) => ({
  clock,
  random,
  rows,
  isPaneless,
  policy,
  isQuiet,
});

async function lookAt({ machines, isPaneless }: ActingParts, identity: RuntimeIdentity | null) {
  if (identity === null) return null;
  if (isPaneless(identity.runtime_id)) return (await machines.terminals?.look(identity)) ?? null;
  const reading = await machines.watch(identity.target)?.screens.look(identity.runtime_id);
  return reading == null ? null : freshLookOf(reading);
}

async function placeIn({ machines, isPaneless }: ActingParts, identity: RuntimeIdentity | null) {
  if (identity === null) return null;
  if (isPaneless(identity.runtime_id)) return (await machines.terminals?.handleOf(identity))?.place ?? null;
  return (await machines.watch(identity.target)?.reach.placeOf(identity)) ?? null;
}

/** Other terminals than tmux; only those of this machine are known. */
function terminalsIn(
  { machines, isPaneless, settings }: ActingParts,
  identityOf: (runtime: RuntimeId) => RuntimeIdentity | null,
): ActionDependencies['terminals'] {
  const { terminals } = machines;
  return {
    canType: (runtime) => {
      const identity = identityOf(runtime);
      const isOn = settings.current.terminals.checked_sends && isPaneless(runtime);
      return isOn && identity !== null && terminals?.isTypable(identity) === true;
    },
    handleOf: async (runtime) => {
      const identity = identityOf(runtime);
      return identity === null ? null : ((await terminals?.handleOf(identity)) ?? null);
    },
    windowOf: async (runtime) => {
      const identity = identityOf(runtime);
      return identity === null ? null : ((await terminals?.placeOf(identity)) ?? null);
    },
  };
}

/** A sweep that finds its pane as it was is evidence too, though nothing is logged for it (ACT8). */
function stateIn(machines: TargetController, entry: Entry | undefined): StateRecord | null {
  const { record = null, identity } = entry ?? {};
  if (record === null || record.ended !== null || identity === undefined) return record;
  const seenAt = machines.paneSeenAt(identity.target, identity.pane) ?? 0;
  return seenAt > record.last_seen_at ? { ...record, last_seen_at: seenAt } : record;
}

async function fileIn({ rows, machines }: ActingParts, runtime: RuntimeId, path: string): Promise<Result<string>> {
  const row = rows().find(({ runtime_id }) => runtime_id === runtime);
  const executor = row === undefined ? null : machines.executorAt(row.identity.target);
  const here = machines.executorOf(hostTarget);
  if (row === undefined || executor === null || here === null) {
    return fail('E_TARGET_DOWN', 'its machine does not answer');
  }
  return executor.kind === 'local' ? ok(path) : fileThere(path, here, { executor, cwd: row.cwd });
}

/** Whoever started the daemon waits until it answers, and is there to be seen. */
function startersOf(parts: ActingParts): Set<string> {
  const starters = new Set<string>();
  void factsIn(parts, starters, parts.pid).then((facts) => {
    for (const one of startersIn(facts)) starters.add(one);
  });
  return starters;
}

async function factsIn(
  { processes, machines, ledger, sessions, shells, pid: ownPid }: ActingParts,
  starters: ReadonlySet<string>,
  pid: number,
): Promise<CallerFacts | null> {
  const runtimeOf = (one: number, start: string): RuntimeId | null =>
    runtimeOfProcess(ledger, one, start) ?? sessions()?.runtimeOfProcess(one, start) ?? null;
  const isManagedProcess = (one: number, start: string): boolean => sessions()?.runtimeOfProcess(one, start) != null;
  const shellOf = (one: number, start: string) => shells()?.shellOf(one, start) ?? null;
  const isStarter = (one: number, start: string): boolean => starters.has(`${one}/${start}`);
  const parts = { isAgent: isAgentProgram, runtimeOf, isManagedProcess, shellOf, ownPid, isStarter };
  if (processes.list() !== null) return callerFacts(pid, { ...parts, processes });
  const executor = machines.executorAt(hostTarget);
  return executor === null ? null : callerFactsByPs(pid, { ...parts, executor });
}

/** By pid and start: what was above the daemon, up to where it would be anyone's, as a shell that a person types in. */
function startersIn(facts: CallerFacts | null): readonly string[] {
  const ancestors = facts?.ancestors ?? [];
  const end = ancestors.findIndex(isSharedAncestor);
  return (end < 0 ? ancestors : ancestors.slice(0, end)).map(({ pid, start }) => `${pid}/${start}`);
}

const freshLookOf = ({ state, ask, lines, prompt }: PromptReading): FreshLook => ({
  state,
  ask,
  lines,
  ...(prompt === undefined ? {} : { prompt }),
});

/** The conversation of a session that agtmux leads; null for everyone else. */
async function spokenIn(
  { sessions }: ActingParts,
  runtime: RuntimeId,
  linesMax: number,
): Promise<Omit<ViewedOutput, 'ref'> | null> {
  const lines = await sessions()?.entryOf(runtime)?.lines(linesMax);
  return lines === undefined ? null : { lines, from: 'transcript' };
}

/** What is in the pane of one that has ended. */
async function restIn({ machines, ledger }: ActingParts, identity: RuntimeIdentity | null): Promise<PaneContent> {
  const watch = identity === null ? undefined : machines.watch(identity.target);
  if (identity?.pane == null || watch === undefined || watch.topology === null) return { kind: 'unclear' };
  // Another life of the server has other panes by the same names (IDN2).
  if (identity.server !== serverKeyOf(identity.target, watch.topology.server)) return { kind: 'gone' };
  const owner = ownerIn(ledger, identity.target, identity.pane);
  if (owner !== null) return { kind: 'other', command: canonicalRef(owner) };
  return watch.reach.restOf(identity.pane);
}

async function startIn(parts: ActingParts, wanted: NewAgent): Promise<Result<RuntimeId | null>> {
  const { machines, ledger, clock, wrapperPath } = parts;
  const target = wanted.target ?? hostTarget;
  const watch = machines.watch(target);
  const agent = parts.agentOf(wanted.agent as AgentName);
  if (agent === null) {
    return fail('E_REF_NOT_FOUND', `there is no agent ${wanted.agent}`, 'run `agtmux agents` to see them');
  }
  // What was seen of a machine stays known while it is down (RSV6); nothing can be started there.
  const isDown = machines.healthOf(target) === 'down';
  if (watch === undefined || watch.topology === null || isDown) return noServer(machines, target);
  const wrapper = watch.kind === 'local' ? wrapperPath : null;
  const ownerOf = (pane: PaneId): RuntimeId | null => ownerIn(ledger, target, pane);
  const isDirectory = (path: string): Promise<boolean | null> => directoryAt(machines.executorAt(target), path);
  const beside = besideIn(parts, wanted, target);
  if (!beside.ok) return beside;
  return startAgent(wanted, { clock, reach: watch.reach, agent, wrapper, ownerOf, isDirectory, beside: beside.value });
}

/** Its pane, if the agent is still the one in it. */
function besideIn({ ledger }: ActingParts, { beside }: NewAgent, target: TargetId): Result<PaneId | null> {
  if (beside === undefined) return ok(null);
  const identity = [...ledger.world.entries.values()].find(
    (one) => one.identity.runtime_id === beside.runtime,
  )?.identity;
  const pane = identity?.target === target ? identity.pane : null;
  if (pane == null || ownerIn(ledger, target, pane) !== identity?.runtime_id) {
    return fail('E_REF_NOT_FOUND', `the agent to stand beside is not in a pane of ${target}`);
  }
  return ok(pane);
}

/** Three things that look alike and want another step each: no such target, no tmux server there, no answer from there. */
function noServer(machines: TargetController, target: TargetId): Result<never> {
  const rows = machines.rows();
  const row = rows.find((one) => one.target === target);
  if (row === undefined) return fail('E_REF_NOT_FOUND', `there is no target ${target}`, 'see `agtmux target list`');
  if (row.health !== 'ok') return fail('E_TARGET_DOWN', `${target} does not respond: ${row.trouble ?? row.health}`);
  const others = rows.filter(({ tmux_version }) => tmux_version !== null).map((one) => one.target);
  const elsewhere = others.length === 0 ? '' : `, or use --target ${others.join(' or ')}`;
  return fail(
    'E_TARGET_DOWN',
    `no tmux server is running on ${target}`,
    `start one with \`tmux new -s work\`${elsewhere}`,
  );
}

async function directoryAt(executor: Executor | null, path: string): Promise<boolean | null> {
  if (executor === null) return null;
  const limitsOfIt = { deadlineMs: limits.tmuxRequestMs, outputBytesMax: 1_024 };
  const { failure, status } = await executor.run(['test', '-d', path], limitsOfIt);
  if (failure !== undefined || (status !== 0 && status !== 1)) return null;
  return status === 0;
}

/** As tmux told it last. */
function titleIn(machines: TargetController, identity: RuntimeIdentity | null): string | null {
  if (identity === null || identity.pane === null) return null;
  return machines.watch(identity.target)?.topology?.panes.get(identity.pane)?.title ?? null;
}

/** Who has the pane now: of those that live there, the one that came last (IDN4, IDN5). */
function ownerIn(ledger: EventProcessor, target: TargetId, pane: string): RuntimeId | null {
  let best: Entry['identity'] | null = null;
  for (const { identity, record } of ledger.world.entries.values()) {
    if (identity.target !== target || identity.pane !== pane || record === null || record.ended !== null) continue;
    if (best === null || identity.pane_epoch > best.pane_epoch) best = identity;
  }
  return best?.runtime_id ?? null;
}

function runtimeOfProcess(ledger: EventProcessor, pid: number, start: string): RuntimeId | null {
  for (const { identity, record } of ledger.world.entries.values()) {
    const { process } = identity;
    if (process?.pid === pid && process.start === start && record?.ended === null) return identity.runtime_id;
  }
  return null;
}
