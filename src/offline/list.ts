// One look at tmux and the processes without a daemon: which panes there are and which agents run in them. Nobody has
// watched them, so every state is unknown. What `agtmux list --no-daemon` shows.

import type { ProgramView } from '../agents/contract.ts';
import { agents, identifyAgent } from '../agents/registry.ts';
import { classify, type Reading, type Trial } from '../agents/screen/classify.ts';
import { readRuleFile } from '../agents/screen/rule-file.ts';
import { readUserRules } from '../agents/screen/user-file.ts';
import type { PaneRow } from '../api/panes.ts';
import type { TargetRow } from '../api/targets.ts';
import { paneRow } from '../feed/row-projection.ts';
import { AgtmuxError, type Failure, fail, ok, type Result } from '../model/errors.ts';
import type { PaneId } from '../model/ids.ts';
import { runtimeIdOf } from '../observe/sightings.ts';
import { createRealChannels } from '../platform/channel.ts';
import type { Clock } from '../platform/clock.ts';
import { createRealExec } from '../platform/exec.ts';
import { createRealFiles } from '../platform/files.ts';
import { createRealProcesses } from '../platform/processes.ts';
import { createRealRandom, toHex } from '../platform/random.ts';
import { agentIn, foregroundOf, type PaneAgents } from '../sources/process/foreground.ts';
import { openProc } from '../sources/process/proc.ts';
import { parsePsReport, psScript } from '../sources/process/ps.ts';
import type { ProcessTable } from '../sources/process/table.ts';
import type { Executor } from '../targets/executor.ts';
import { createLocalExecutor } from '../targets/local.ts';
import { hostTarget } from '../targets/names.ts';
import { chooseSockets, findSockets, type TargetSocket, unwatchedWords } from '../targets/sockets.ts';
import { probeServer } from '../terminals/tmux/probe.ts';
import { spawnLook } from '../terminals/tmux/spawn-sweep.ts';
import { topologyOf } from '../terminals/tmux/topology.ts';
import { serverKeyOf, type TmuxPane, type Topology } from '../terminals/tmux/view.ts';

// What a saved screen says about its agent, by the same rules as the daemon uses, without one. Behind `agtmux explain
// --screen`.

export interface SavedScreen {
  readonly agent: string;
  /** As captured, with or without colours. Foreign text. */
  readonly text: string;
  readonly title: string;
  readonly command: string | null;
  readonly version: string | null;
  /** The user's rules for this agent, if there are any. */
  readonly userRules: { readonly path: string; readonly text: string } | null;
}

export interface ScreenReport {
  readonly reading: Reading;
  readonly tried: readonly Trial[];
  /** What is wrong with the user's rules; the built-in ones were used then. */
  readonly trouble: Failure | null;
}

/** Colours, cursor movements, titles, and the single characters that would do something instead of showing something. */
const effects =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]|[\u0000-\u0008\u000b-\u001f\u007f]/gu;

const agentNames = (): readonly string[] => agents.map(({ name }) => name);

/** Those that sessions can be started with. */
export const managedAgentNames = (): readonly string[] =>
  agents.filter(({ sessions }) => sessions !== undefined).map(({ name }) => name);

export function readScreen({ agent, text, title, command, version, userRules }: SavedScreen): Result<ScreenReport> {
  const adapter = agents.find(({ name }) => name === agent);
  if (adapter === undefined) {
    return fail('E_USAGE', `there is no agent ${agent}`, `use one of: ${agentNames().join(', ')}`);
  }
  const builtIn = readRuleFile(adapter.screen);
  const own = userRules === null ? null : readUserRules(userRules.text, userRules.path, builtIn);
  const tried: Trial[] = [];
  const lines = text.replace(effects, '').split('\n');
  const reading = classify(own?.ok === true ? own.value : builtIn, { lines, title, command }, version, tried);
  return ok({ reading, tried, trouble: own?.ok === false ? own.failure : null });
}

export interface OfflineOptions {
  readonly clock: Clock;
  readonly uid: number;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Instead of every socket of the user. */
  readonly sockets: readonly string[];
}

/** Times are wall time. */
export interface OfflineLook {
  readonly rows: readonly PaneRow[];
  readonly targets: readonly TargetRow[];
}

/** Throws E_TMUX_MISSING or E_TMUX_OLD when tmux can tell nothing at all. */
export async function lookOnce({ clock, uid, variables, sockets }: OfflineOptions): Promise<OfflineLook> {
  const { executor, chosen } = await openSockets({ clock, uid, variables, sockets });
  const looks = await Promise.all(chosen.sockets.map((socket) => lookAt(executor, socket)));
  const panePids = looks.flatMap(({ topology }) => [...(topology?.panes.values() ?? [])].map((pane) => pane.panePid));
  const table = panePids.length === 0 ? null : await readProcesses(executor, panePids);
  const now = clock.wallMs();
  return {
    rows: looks.flatMap((look) => rowsOf(look, table, now)),
    targets: [...looks, ...chosen.unwatched.map(unlooked)].map((look) => targetRow(look, now)),
  };
}

async function openSockets({ clock, uid, variables, sockets }: OfflineOptions) {
  const executor = createLocalExecutor({
    target: hostTarget,
    exec: createRealExec(clock),
    channels: createRealChannels(clock),
    variables,
  });
  const explicit = sockets.length === 0 ? {} : { explicit: sockets };
  const files = createRealFiles();
  const found = await findSockets({ machine: hostTarget, files, clock, uid, variables, ...explicit });
  return { executor, chosen: chooseSockets(found, []) };
}

/** A pane as it is at this moment, and the program in its foreground. Text and title are foreign. */
export interface PaneLook {
  readonly pane: PaneId;
  readonly lines: readonly string[];
  readonly title: string;
  readonly command: string;
  /** Null where nothing but a shell runs there. */
  readonly program: ProgramView | null;
  /** The agent that it is known to be. */
  readonly agent: string | null;
}

/** Every pane of these servers. Screens are taken of `wanted` alone. */
export async function lookAtPanes(options: OfflineOptions, wanted: PaneId | null): Promise<readonly PaneLook[]> {
  const { executor, chosen } = await openSockets(options);
  const found: PaneLook[] = [];
  for (const { path } of chosen.sockets.filter(({ alive }) => alive)) {
    const address = { executor, socket: { kind: 'path', path } } as const;
    const look = await spawnLook(address, wanted === null ? [] : [wanted], toHex(createRealRandom().bytes(8)));
    const panes = look === null ? [] : [...topologyOf(look.server, look.rows).panes.values()];
    if (look === null || panes.length === 0) continue;
    const table = await readProcesses(
      executor,
      panes.map(({ panePid }) => panePid),
    );
    for (const pane of panes) found.push(paneLook(pane, look.captures.get(pane.pane) ?? null, table));
  }
  return found;
}

const shells = /^-?(?:ba|da|z|k|fi|tc|c|a)?sh$/;

function paneLook(pane: TmuxPane, capture: Uint8Array | null, table: ProcessTable | null): PaneLook {
  const [leader] = table === null ? [] : foregroundOf(table, pane.panePid);
  const found = table === null ? null : agentIn(table, pane.panePid, identifyAgent);
  return {
    pane: pane.pane,
    lines: capture === null ? [] : Buffer.from(capture).toString().split('\n'),
    title: pane.title,
    command: pane.currentCommand,
    program: leader === undefined || shells.test(pane.currentCommand) ? null : leader,
    agent: found?.agent?.agent ?? null,
  };
}

const unlooked = (socket: TargetSocket): Look => ({ socket, topology: null, trouble: unwatchedWords(0) });

interface Look {
  readonly socket: TargetSocket;
  readonly topology: Topology | null;
  readonly trouble: string | null;
}

async function lookAt(executor: Executor, socket: TargetSocket): Promise<Look> {
  const address = { executor, socket: { kind: 'path', path: socket.path } } as const;
  const seen = socket.alive ? await spawnLook(address, [], toHex(createRealRandom().bytes(8))) : null;
  if (seen !== null) return { socket, topology: topologyOf(seen.server, seen.rows), trouble: null };
  const probe = await probeServer(address);
  // One server of another version says nothing about the others.
  if (probe.kind === 'trouble' && probe.isLasting && probe.code !== 'E_TMUX_MISMATCH')
    throw new AgtmuxError(probe.code, probe.words);
  const trouble = probe.kind === 'trouble' ? probe.words : socket.alive ? 'tmux did not answer' : null;
  return { socket, topology: null, trouble };
}

async function readProcesses(executor: Executor, panePids: readonly number[]): Promise<ProcessTable | null> {
  const proc = openProc(createRealProcesses());
  if (proc.ok) return proc.value.read(panePids);
  const told = await executor.run(['sh', '-c', psScript], { deadlineMs: 5_000, outputBytesMax: 8_388_608 });
  const table = parsePsReport(Buffer.from(told.stdout).toString());
  return table.ok ? table.value : null;
}

function targetRow({ socket, topology, trouble }: Look, now: number): TargetRow {
  return {
    target: socket.target,
    kind: 'local',
    health: trouble === null ? 'ok' : 'down',
    trouble,
    tmux_version: topology?.server.version ?? null,
    last_seen_at: topology === null ? null : now,
    panes: topology?.panes.size ?? 0,
  };
}

function rowsOf({ socket, topology }: Look, table: ProcessTable | null, now: number): readonly PaneRow[] {
  if (topology === null) return [];
  return [...topology.panes.values()].map((pane): PaneRow => {
    const row = paneRow(socket.target, pane.pane, pane);
    const found = table === null ? null : agentIn(table, pane.panePid, identifyAgent);
    return found === null ? row : { ...row, ...agentFields(socket, topology, pane, found, now) };
  });
}

/** The id is the one a daemon would give, so that a reference taken here is good there. */
function agentFields(
  socket: TargetSocket,
  { server }: Topology,
  pane: TmuxPane,
  { agent, process, suspended }: PaneAgents,
  now: number,
): Partial<PaneRow> {
  if (agent === null || process === null) return {};
  return {
    runtime_id: runtimeIdOf(serverKeyOf(socket.target, server), pane.pane, process.identity),
    agent: agent.agent,
    state: 'unknown',
    reason_code: 'not_observed_yet',
    confidence: 'low',
    since: process.startedAtMs,
    last_seen_at: now,
    started_at: process.startedAtMs,
    state_version: 0,
    decided_by: 'process',
    route: 'NONE',
    suspended,
  };
}
