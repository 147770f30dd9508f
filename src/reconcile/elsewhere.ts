// Whether an agent that is seen in a pane has a row of its own already: shown there by a tmux client or over ssh from a
// server that is watched itself, or watched through two targets at once. One agent is one row. Pure.

import { type AgentName, type ProcessIdentity, processKey, type RuntimeId, type TargetId } from '../model/ids.ts';
import type { InsideCommand } from '../sources/process/foreground.ts';
import { carrierOf } from '../sources/process/foreground.ts';
import type { ProcessEntry, ProcessTable } from '../sources/process/table.ts';
import type { Topology } from '../terminals/tmux/view.ts';

/** An agent that lives and has a row. */
export interface KnownAgent {
  readonly runtime_id: RuntimeId;
  readonly target: TargetId;
  readonly agent: AgentName;
  readonly pane: string | null;
  readonly process: ProcessIdentity | null;
}

/** A tmux server under watch, as it was last seen. */
export interface WatchedServer {
  readonly target: TargetId;
  readonly kind: 'local' | 'ssh';
  /** What ssh is told to get to its machine. */
  readonly connectionRef: string;
  /** Which machine it is on; one word for this one, however its targets are called. */
  readonly machine: string;
  readonly topology: Topology | null;
}

/** What is in the foreground of a pane and shows something else. */
export interface ClientPane {
  readonly machine: string;
  readonly pane: string;
  readonly inside: InsideCommand;
  readonly door: ProcessEntry;
  readonly table: ProcessTable;
}

export interface Surroundings {
  readonly servers: readonly WatchedServer[];
  readonly agents: readonly KnownAgent[];
  /** Who an agent's interface comes from; itself, unless it is a fork. */
  readonly originOf: (agent: AgentName) => AgentName;
}

/** Whether what the door shows, an interface of this agent, is an agent that has a row of its own. */
export function isSeenElsewhere(client: ClientPane, agent: AgentName, around: Surroundings): boolean {
  const { inside, door, machine } = client;
  switch (inside) {
    case 'tmux':
      // Whichever socket it was told: the server itself says which terminals look at it.
      return around.servers.some((one) => one.machine === machine && isViewedAt(one.topology, door.tty));
    case 'ssh': {
      const destination = sshDestination(door.argv);
      if (destination === null) return false;
      const there = around.servers.filter((one) => isAt(one, destination));
      return there.some((one) => showsAgent(one, agent, client, around));
    }
    case 'screen':
    case 'zellij':
      return around.agents.some((one) => isCarriedBy(inside, one, agent, client, around));
    case 'mosh':
    case 'et':
    case 'docker':
    case 'nerdctl':
    case 'podman':
    case 'kubectl':
    case 'lxc':
    case 'incus':
    case 'machinectl':
      return false;
  }
}

function isViewedAt(topology: Topology | null, tty: string | null): boolean {
  if (topology === null || tty === null) return false;
  return [...topology.panes.values()].some(({ viewers = '' }) => viewers.split(',').includes(tty));
}

/** Somebody looks at this agent there at this moment: as far as a screen over ssh tells, it is that one. */
function showsAgent(
  { target, topology }: WatchedServer,
  agent: AgentName,
  { pane, machine }: ClientPane,
  { agents, originOf, servers }: Surroundings,
): boolean {
  return agents.some((one) => {
    if (one.target !== target || originOf(one.agent) !== originOf(agent) || one.pane === null) return false;
    const isItself =
      one.pane === pane && servers.some((server) => server.target === target && server.machine === machine);
    return !isItself && [...(topology?.panes.values() ?? [])].some((known) => known.pane === one.pane && known.visible);
  });
}

/** It runs below a server of the same multiplexer, and is listed in another pane of this machine. */
function isCarriedBy(
  inside: InsideCommand,
  known: KnownAgent,
  agent: AgentName,
  { machine, pane, table }: ClientPane,
  { originOf, servers }: Surroundings,
): boolean {
  const isHere = servers.some((one) => one.target === known.target && one.machine === machine);
  if (!isHere || known.process === null || known.pane === pane) return false;
  if (originOf(known.agent) !== originOf(agent)) return false;
  const seen = new Set<number>();
  for (let at = table.processes.get(known.process.pid); at !== undefined && !seen.has(at.pid); ) {
    if (at.pid !== known.process.pid && carrierOf(at) === inside) return true;
    seen.add(at.pid);
    at = table.processes.get(at.ppid);
  }
  return false;
}

/** Options of ssh whose value is the next word, unless it is written together. */
const valued = new Set([...'BbcDEeFIiJLlmOoPpQRSWw']);
const loopback = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/;

/** Where ssh was told to go, without the user and the port; null when that cannot be told. */
export function sshDestination(argv: readonly string[]): string | null {
  for (let at = 1; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '--') return hostOf(argv[at + 1] ?? '');
    if (!word.startsWith('-') || word === '-') return hostOf(word);
    // `-tp 22`, `-p22`, `-t`: the first letter with a value takes the rest of the word, or the next word.
    const letters = [...word.slice(1)];
    const first = letters.findIndex((letter) => valued.has(letter));
    if (first >= 0 && first === letters.length - 1) at += 1;
  }
  return null;
}

function hostOf(word: string): string | null {
  const named = word.replace(/^ssh:\/\//, '');
  const host = named.slice(named.lastIndexOf('@') + 1);
  const bare = word.startsWith('ssh://') ? host.replace(/:\d+\/?$/, '') : host;
  return bare === '' ? null : bare;
}

function isAt({ kind, connectionRef }: WatchedServer, destination: string): boolean {
  if (kind === 'local') return loopback.test(destination);
  return hostOf(connectionRef) === destination;
}

/** Of targets that see the same process the one that comes first has the row: this machine before others, then by name. */
function comesBefore(one: TargetId, other: TargetId, isLocal: (target: TargetId) => boolean): boolean {
  if (isLocal(one) !== isLocal(other)) return isLocal(one);
  const isHost = (target: TargetId): boolean => target === 'host';
  if (isHost(one) !== isHost(other)) return isHost(one);
  return one < other;
}

/** Processes that have their row at another target: one machine may be reached in two ways, one socket named twice. */
export function rowedElsewhere(
  target: TargetId,
  { servers, agents }: Pick<Surroundings, 'servers' | 'agents'>,
): ReadonlySet<string> {
  const local = new Set(servers.filter(({ kind }) => kind === 'local').map((one) => one.target));
  const keys = new Set<string>();
  for (const { target: other, process, pane } of agents) {
    // Who is in no pane has no place that another one could be mistaken for.
    if (process === null || pane === null || other === target || !servers.some((one) => one.target === other)) continue;
    if (comesBefore(other, target, (one) => local.has(one))) keys.add(processKey(process));
  }
  return keys;
}
