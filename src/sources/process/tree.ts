// Who started whom, from a process table. Pure, and safe on a table that a hostile machine made up: every walk ends.

import type { ProcessEntry, ProcessTable } from './table.ts';

const trees = new WeakMap<ProcessTable, ReadonlyMap<number, readonly ProcessEntry[]>>();

/** Children of every pid, oldest pid first. Made once a table: all panes of a machine ask for the same one. */
export function childrenIndex(table: ProcessTable): ReadonlyMap<number, readonly ProcessEntry[]> {
  const known = trees.get(table);
  if (known !== undefined) return known;
  const index = new Map<number, ProcessEntry[]>();
  for (const entry of table.processes.values()) {
    if (entry.ppid === entry.pid) continue;
    const siblings = index.get(entry.ppid);
    if (siblings === undefined) index.set(entry.ppid, [entry]);
    else siblings.push(entry);
  }
  for (const siblings of index.values()) siblings.sort((left, right) => left.pid - right.pid);
  trees.set(table, index);
  return index;
}

export interface TreeNode {
  readonly entry: ProcessEntry;
  readonly depth: number;
  readonly parent: TreeNode | null;
}

/** The process and everything below it, parents before children, nearer before farther. */
export function treeOf(table: ProcessTable, rootPid: number): readonly TreeNode[] {
  const root = table.processes.get(rootPid);
  if (root === undefined) return [];
  const index = childrenIndex(table);
  const nodes: TreeNode[] = [{ entry: root, depth: 0, parent: null }];
  const seen = new Set([rootPid]);
  for (let at = 0; at < nodes.length; at += 1) {
    const node = nodes[at];
    if (node === undefined) break;
    for (const entry of index.get(node.entry.pid) ?? []) {
      if (seen.has(entry.pid)) continue;
      seen.add(entry.pid);
      nodes.push({ entry, depth: node.depth + 1, parent: node });
    }
  }
  return nodes;
}

/** Whether this process was started by that one, or by one that it started. A loop in the table ends the walk. */
export function isBelow(table: ProcessTable, entry: ProcessEntry, above: number): boolean {
  const seen = new Set<number>();
  for (let at: ProcessEntry | undefined = entry; at !== undefined && !seen.has(at.pid); ) {
    if (at.pid === above) return true;
    seen.add(at.pid);
    at = table.processes.get(at.ppid);
  }
  return false;
}
