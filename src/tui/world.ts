// What the TUI knows of the daemon: the feed's events folded into one value that every screen reads. Pure.

import type { FeedEvent } from '../api/client-types.ts';
import type { FeedValue, PaneItem, TargetItem } from '../api/schemas.ts';
import type { ShellItem } from '../api/schemas-shells.ts';
import type { World } from './contract.ts';

/** As many as a conversation shows of them. */
const shellEventsMax = 50;

export const emptyWorld = (start: Pick<World, 'nowMs' | 'offsetMinutes' | 'self' | 'size'>): World => ({
  ...start,
  link: { is: 'connecting' },
  rows: new Map(),
  targets: [],
  shells: [],
  shellEvents: [],
});

const isPane = (value: FeedValue): value is PaneItem => 'identity' in value;
const isShell = (value: FeedValue): value is ShellItem => 'shell_id' in value;

interface Change {
  readonly key: string;
  readonly value: FeedValue | null;
}

/** Several at once cost little more than one: what is copied is copied once. */
export function worldAfter(world: World, events: readonly FeedEvent[]): World {
  const begin = events.findLastIndex(({ type }) => type === 'snapshot');
  const before =
    begin < 0 ? world : { ...world, link: { is: 'up' } as const, rows: new Map(), targets: [], shells: [] };
  const told = events.flatMap((event) =>
    event.type === 'snapshot' || event.type === 'changes' ? event.data.events : [],
  );
  const changes = events.slice(Math.max(0, begin)).flatMap(changesOf);
  return changes.length === 0 ? withEvents(before, told) : withChanges(withEvents(before, told), changes);
}

function changesOf(event: FeedEvent): readonly Change[] {
  switch (event.type) {
    case 'snapshot':
      return event.data.items;
    case 'changes':
      return event.data.changes;
    case 'connected':
    case 'list':
    case 'lost':
      return [];
  }
}

function withEvents(world: World, events: World['shellEvents']): World {
  if (events.length === 0) return world;
  return { ...world, shellEvents: [...world.shellEvents, ...events].slice(-shellEventsMax) };
}

function withChanges(world: World, changes: readonly Change[]): World {
  const rows = new Map(world.rows);
  const targets = new Map(world.targets.map((target) => [target.target, target]));
  const shells = new Map<string, ShellItem>(world.shells.map((shell) => [shell.shell_id, shell]));
  for (const { key, value } of changes) {
    const [kind, ...rest] = key.split(':');
    const name = rest.join(':');
    if (kind === 'row') put(rows, key, value !== null && isPane(value) ? value : null);
    if (kind === 'target') put(targets, name, value !== null && isTarget(value) ? value : null);
    if (kind === 'shell') put(shells, name, value !== null && isShell(value) ? value : null);
  }
  return {
    ...world,
    rows,
    targets: [...targets.values()].toSorted((one, other) => (one.target < other.target ? -1 : 1)),
    shells: [...shells.values()],
  };
}

const isTarget = (value: FeedValue): value is TargetItem => !isPane(value) && !isShell(value);

function put<Value>(into: Map<string, Value>, key: string, value: Value | null): void {
  if (value === null) into.delete(key);
  else into.set(key, value);
}
