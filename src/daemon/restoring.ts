// Restoring put together from the daemon's parts: what is recorded, what lives, and who may ask for it.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { heardFrom, lastSession } from '../actions/conversations.ts';
import type { Agent } from '../agents/contract.ts';
import { identifyAgent } from '../agents/registry.ts';
import type { Principal } from '../auth/principal.ts';
import type { OpenedLog } from '../ingest/open-log.ts';
import type { ActionService, CallerClaim } from '../model/actions.ts';
import type { AgentName, RuntimeId, TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Notices } from '../notify/open-notifications.ts';
import type { TargetController } from '../observe/target-controller.ts';
import type { Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import { createRealProcesses } from '../platform/processes.ts';
import { KeptServers } from '../restore/kept-servers.ts';
import { LayoutRecorder, type RecordedServer } from '../restore/layout-recorder.ts';
import type { LivingAgent } from '../restore/living.ts';
import { processesHere } from '../restore/processes-here.ts';
import { Restorer } from '../restore/restore-service.ts';
import { hostTarget, machineNameOf } from '../targets/names.ts';

export interface RestoringParts {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  readonly files: Files;
  readonly stateDir: string;
  readonly ground: OpenedLog;
  readonly machinery: TargetController;
  readonly agentOf: (agent: AgentName) => Agent | null;
  readonly ownerOf: (target: TargetId, pane: string) => RuntimeId | null;
  readonly announce: Notices['announce'];
  readonly acting: ActionService & { principalOf(claim: CallerClaim): Promise<Principal> };
}

export interface Restoring {
  readonly restorer: Restorer;
  readonly recorder: LayoutRecorder;
}

export async function openRestoring(parts: RestoringParts): Promise<Restoring> {
  const { clock, log, machinery, ground, agentOf, acting } = parts;
  const kept = new KeptServers(parts.files, join(parts.stateDir, 'layouts.json'));
  const trouble = await kept.load();
  if (trouble !== null) log.warn('the layouts of tmux could not be read', { problem: trouble });
  const { store } = ground.loaded;
  const now = (): number => ground.timeline.now();
  const sessionsOf = (runtime: RuntimeId) => [...(ground.ledger.world.entries.get(runtime)?.fold.sessions ?? [])];
  const heard = new Map<RuntimeId, string | null>();
  const sessionOf = async (runtime: RuntimeId): Promise<string | null> => {
    const named = sessionsOf(runtime);
    if (named.length > 0) return lastSession(store, runtime, named);
    // The whole of its log once; after that only what is new in it can name another one.
    const known = heard.get(runtime);
    const found = await heardFrom(store, runtime, known === undefined ? limits.sessionEventsMax : newEventsMax);
    const session = found ?? known ?? null;
    // Of those that are forgotten nobody asks again.
    if (heard.size > ground.ledger.world.entries.size) heard.clear();
    heard.set(runtime, session);
    return session;
  };
  const executor = () => machinery.executorAt(hostTarget);
  const recorder = new LayoutRecorder({
    clock,
    now,
    log,
    kept,
    servers: () => [...machinery.watches()].map(recordedServer),
    hasNoServer: (target) => machinery.hasNoServer(target),
    entries: () => ground.ledger.world.entries.values(),
    runs: () => machinery.runs(),
    agentOf,
    sessionOf,
    onLost: (server, agents) =>
      parts.announce({
        id: `restore-${server}`,
        title: `agtmux: ${agents === 1 ? '1 agent' : `${agents} agents`} of a lost tmux server can be restored`,
        body: 'run agtmux restore',
      }),
  });
  const processes = createRealProcesses();
  const restorer = new Restorer({
    clock,
    now,
    log,
    kept,
    recorder,
    executor,
    change: (target, work) => machinery.watch(target)?.reach.change(work) ?? work(),
    keysOf: (agent) => agentOf(agent)?.keys ?? null,
    identify: identifyAgent,
    living: () => livingAgents(ground, sessionOf),
    processes: () => processesHere(processes, executor()),
    isDirectory: async (path) => (await stat(path).catch(() => null))?.isDirectory() === true,
    ownerOf: parts.ownerOf,
    acting,
    callerOf: (claim) => acting.principalOf(claim),
  });
  return { restorer, recorder };
}

/** Of one agent between two looks. */
const newEventsMax = 50;

const recordedServer = (
  watch: ReturnType<TargetController['watches']> extends Iterable<infer One> ? One : never,
): RecordedServer => ({
  target: watch.target,
  kind: watch.kind,
  topology: watch.topology,
  ask: async (command) => {
    const [block] = await watch.reach.command(command).catch(() => []);
    return block === undefined || block.isError ? null : Buffer.from(block.body).toString();
  },
});

async function livingAgents(
  { ledger }: OpenedLog,
  sessionOf: (runtime: RuntimeId) => Promise<string | null>,
): Promise<readonly LivingAgent[]> {
  const living: LivingAgent[] = [];
  for (const { identity, record, fold } of ledger.world.entries.values()) {
    if (record === null || record.ended !== null) continue;
    const { runtime_id, agent, process, target } = identity;
    const heard = fold.sessions.size === 0 ? await sessionOf(runtime_id) : null;
    const own = machineNameOf(target) === hostTarget ? process : null;
    living.push({ runtime_id, agent, process: own, sessions: [...fold.sessions, ...(heard === null ? [] : [heard])] });
  }
  return living;
}
