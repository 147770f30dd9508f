// Which agent owns a pane, from the process table alone (IDN6, IDN7, IDN8). Pure. What counts as an agent is told by
// `identify`; titles, screens and working directories have no say here.

import type { Identified, Identify } from '../../agents/contract.ts';
import { isDeadState } from './stat.ts';
import type { ProcessEntry, ProcessTable } from './table.ts';
import { type TreeNode, treeOf } from './tree.ts';

/** Programs whose screen is another machine's or container's. */
const carriers = {
  ssh: 'ssh',
  autossh: 'ssh',
  mosh: 'mosh',
  'mosh-client': 'mosh',
  et: 'et',
  docker: 'docker',
  nerdctl: 'nerdctl',
  podman: 'podman',
  kubectl: 'kubectl',
  oc: 'kubectl',
  lxc: 'lxc',
  incus: 'incus',
  machinectl: 'machinectl',
  'systemd-nspawn': 'machinectl',
  tmux: 'tmux',
  screen: 'screen',
  zellij: 'zellij',
} as const;

export type InsideCommand = (typeof carriers)[keyof typeof carriers];

export interface AgentRun {
  readonly agent: Identified;
  /** The topmost process of the run: loaders and relaunches below it belong to it. */
  readonly process: ProcessEntry;
  /** Stopped, or not in the foreground of its terminal: it lives but takes no keys. */
  readonly suspended: boolean;
}

export interface PaneAgents {
  readonly agent: Identified | null;
  readonly process: ProcessEntry | null;
  readonly suspended: boolean;
  /** Other runs in this pane: below the owner, headless ones, further suspended ones. Shown, never routable. */
  readonly children: readonly AgentRun[];
  /** Name of the program in the foreground; foreign text. Null when the pane's terminal has none. */
  readonly foregroundCommand: string | null;
  /** The foreground shows another machine or container (no agent of this machine owns the pane then). */
  readonly inside: InsideCommand | null;
  /** The program that shows it. */
  readonly door: ProcessEntry | null;
}

/** The processes of the pane's foreground group, those without a parent among them first. */
export function foregroundOf(table: ProcessTable, panePid: number): readonly ProcessEntry[] {
  const group = table.processes.get(panePid)?.tpgid ?? -1;
  if (group <= 0) return [];
  const tty = table.processes.get(panePid)?.tty;
  const members = [...table.processes.values()].filter(
    (entry) => entry.pgid === group && entry.tty === tty && !isDeadState(entry.state),
  );
  const pids = new Set(members.map((entry) => entry.pid));
  const isTop = (entry: ProcessEntry): boolean => !pids.has(entry.ppid);
  return members.sort((left, right) => Number(isTop(right)) - Number(isTop(left)) || left.pid - right.pid);
}

export function agentIn(table: ProcessTable, panePid: number, identify: Identify): PaneAgents {
  const nodes = paneNodes(table, panePid);
  const runs = runsIn(nodes, identify);
  const owner = ownerOf(runs);
  const leader = leaderOf(nodes, table.processes.get(panePid));
  const owned = owner !== null && !owner.suspended;
  return {
    agent: owner?.agent ?? null,
    process: owner?.process ?? null,
    suspended: owner?.suspended ?? false,
    children: runs
      .filter((run) => run !== owner)
      .map(({ agent, process, suspended }) => ({ agent, process, suspended })),
    foregroundCommand: leader === null ? null : commandOf(leader),
    ...(owned ? { inside: null, door: null } : doorIn(nodes)),
  };
}

/** The pane's tree, and members of its foreground group whose parents are gone. */
function paneNodes(table: ProcessTable, panePid: number): readonly TreeNode[] {
  const nodes = [...treeOf(table, panePid)];
  const pane = nodes[0]?.entry;
  if (pane === undefined || pane.tpgid <= 0) return nodes;
  // An orphan in the foreground is rare: only looked for when the group's leader is not below the pane.
  if (nodes.some((node) => node.entry.pgid === pane.tpgid)) return nodes;
  return nodes.concat(foregroundOf(table, panePid).map((entry) => ({ entry, depth: 1, parent: null })));
}

/**
 * A run reaches the keyboard when it is in the foreground of its own terminal, and so is, on every terminal between it
 * and the pane (script, sudo, an inner multiplexer), the process that carries it. Processes without a terminal count as
 * their parent does.
 */
function isForeground(node: TreeNode): boolean {
  let tty: string | null = null;
  for (let at: TreeNode | null = node; at !== null; at = at.parent) {
    const { entry } = at;
    if (entry.tty === null || entry.tty === tty) continue;
    tty = entry.tty;
    if (entry.pgid !== entry.tpgid) return false;
  }
  return true;
}

interface Run extends AgentRun {
  readonly depth: number;
  /** Below another run. */
  readonly nested: boolean;
}

/** Loaders start the real program in their own group; whatever an agent runs as a tool gets a group or session of its own. */
function isSameRun(above: Run, found: Identified, entry: ProcessEntry): boolean {
  return above.agent.agent === found.agent && above.process.pgid === entry.pgid && above.process.tty === entry.tty;
}

function runsIn(nodes: readonly TreeNode[], identify: Identify): readonly Run[] {
  const runs = new Map<ProcessEntry, Run>();
  /** The run a process belongs to or stands below. */
  const within = new Map<TreeNode, Run>();
  for (const node of nodes) {
    const { entry } = node;
    const above = node.parent === null ? undefined : within.get(node.parent);
    const found = isDeadState(entry.state) ? null : identify(entry);
    let run = above === undefined ? undefined : (runs.get(above.process) ?? above);
    if (found !== null) {
      const same = run !== undefined && isSameRun(run, found, entry);
      run = same && run !== undefined ? joined(run, found) : newRun(node, found, run !== undefined);
      runs.set(run.process, run);
    }
    if (run !== undefined) within.set(node, run);
  }
  return [...runs.values()];
}

/**
 * All processes of the run whose topmost one this is: itself and what its loaders started, the topmost first. What another
 * agent below it runs is not among them.
 */
export function programsOfRun(table: ProcessTable, top: ProcessEntry, identify: Identify): readonly ProcessEntry[] {
  const [first, ...below] = treeOf(table, top.pid);
  const agent = identify(top);
  if (first === undefined || agent === null) return [top];
  const run: Run = { agent, process: top, suspended: false, depth: 0, nested: false };
  const within = new Set<TreeNode>([first]);
  const programs = [top];
  for (const node of below) {
    if (node.parent === null || !within.has(node.parent) || isDeadState(node.entry.state)) continue;
    const found = identify(node.entry);
    if (found === null) within.add(node);
    else if (isSameRun(run, found, node.entry)) {
      within.add(node);
      programs.push(node.entry);
    }
  }
  return programs;
}

function newRun(node: TreeNode, agent: Identified, nested: boolean): Run {
  const { entry } = node;
  const suspended = entry.state === 'T' || entry.state === 't' || !isForeground(node);
  return { agent, process: entry, suspended, depth: node.depth, nested };
}

/** The program below a loader often knows more: its version, and that it is no namesake. */
function joined(run: Run, below: Identified): Run {
  const surer = below.confidence === 'high' ? 'high' : run.agent.confidence;
  return { ...run, agent: { ...run.agent, version: run.agent.version ?? below.version, confidence: surer } };
}

/**
 * The topmost conversation in the foreground; without one, the last that was started and waits in the background. A
 * headless run reads no keys: what is typed at it reaches the shell, so it never owns a pane.
 */
function ownerOf(runs: readonly Run[]): Run | null {
  const possible = runs.filter((run) => run.agent.mode === 'interactive' && !run.nested);
  const rank = (left: Run, right: Run): number => {
    if (left.suspended !== right.suspended) return left.suspended ? 1 : -1;
    if (left.suspended)
      return right.process.startedAtMs - left.process.startedAtMs || right.process.pid - left.process.pid;
    return left.depth - right.depth || left.process.pid - right.process.pid;
  };
  return [...possible].sort(rank)[0] ?? null;
}

function leaderOf(nodes: readonly TreeNode[], pane: ProcessEntry | undefined): ProcessEntry | null {
  if (pane === undefined || pane.tpgid <= 0) return null;
  const members = nodes.map((node) => node.entry).filter((entry) => entry.pgid === pane.tpgid);
  return members.find((entry) => entry.pid === pane.tpgid) ?? members[0] ?? null;
}

function doorIn(nodes: readonly TreeNode[]): Pick<PaneAgents, 'inside' | 'door'> {
  for (const node of nodes) {
    const command = commandOf(node.entry);
    if (command !== null && isCarrier(command) && !isDeadState(node.entry.state) && isForeground(node)) {
      return { inside: carriers[command], door: node.entry };
    }
  }
  return { inside: null, door: null };
}

const isCarrier = (command: string): command is keyof typeof carriers => Object.hasOwn(carriers, command);

/** Which door a program is; null for one that is none. */
export function carrierOf(entry: ProcessEntry): InsideCommand | null {
  const command = commandOf(entry)?.toLowerCase() ?? null;
  return command !== null && isCarrier(command) ? carriers[command] : null;
}

/** A login shell has a dash in front; a renamed program may carry words behind its name (`tmux: client`). */
function commandOf(entry: ProcessEntry): string | null {
  const called = entry.executable ?? entry.argv[0];
  if (called === undefined) return null;
  return called
    .slice(called.lastIndexOf('/') + 1)
    .replace(/^-/, '')
    .replace(/:?( .*)?$/, '');
}
