// What the feed has told so far, as one value: the same for the full-screen view, for the pages and for `agtmux watch`.
// Pure; when something was heard, and what to make of a loss, is left to whoever listens.

import type { FeedEvent } from '../api/client-types.ts';
import type { FeedChanges, FeedValue } from '../api/feed.ts';
import type { NoticeItem } from '../api/notices.ts';
import type { PaneItem } from '../api/panes.ts';
import type { ShellEventItem, ShellItem } from '../api/shells.ts';
import type { TargetItem } from '../api/targets.ts';
import { compareText } from './lists.ts';

export interface FeedState {
  /** By the feed's key. */
  readonly rows: ReadonlyMap<string, PaneItem>;
  /** By their names. */
  readonly targets: readonly TargetItem[];
  readonly shells: readonly ShellItem[];
  /** What wants a person, as the daemon decides it; by the feed's key. */
  readonly notices: ReadonlyMap<string, NoticeItem>;
  /** What happened to shells, oldest first; the last few. */
  readonly shellEvents: readonly ShellEventItem[];
  /** Whether a whole state was ever told. */
  readonly isFilled: boolean;
}

export const emptyFeed: FeedState = {
  rows: new Map(),
  targets: [],
  shells: [],
  notices: new Map(),
  shellEvents: [],
  isFilled: false,
};

/** As many as a conversation shows of them. */
const shellEventsMax = 50;

export type FeedChange = FeedChanges['changes'][number];

/** What an event changes, key by key; null means gone. A snapshot also takes away what it does not name. */
export function changesOf(state: FeedState, event: FeedEvent): readonly FeedChange[] {
  switch (event.type) {
    case 'snapshot': {
      const { version, items } = event.data;
      const here = new Set(items.map(({ key }) => key));
      const gone = keysOf(state).filter((key) => !here.has(key));
      return [...gone.map((key) => ({ version, key, value: null })), ...items.map((item) => ({ version, ...item }))];
    }
    case 'changes':
      return event.data.changes;
    case 'connected':
    case 'list':
    case 'lost':
      return [];
  }
}

const targetKey = ({ target }: TargetItem): string => `target:${target}`;
const shellKey = ({ shell_id }: ShellItem): string => `shell:${shell_id}`;

const keysOf = ({ rows, targets, shells, notices }: FeedState): readonly string[] => [
  ...rows.keys(),
  ...targets.map(targetKey),
  ...shells.map(shellKey),
  ...notices.keys(),
];

/** Several at once cost little more than one: what is copied is copied once. */
export function feedAfter<State extends FeedState>(state: State, events: readonly FeedEvent[]): State {
  if (!events.some(({ type }) => type === 'snapshot' || type === 'changes')) return state;
  const begin = Math.max(
    0,
    events.findLastIndex(({ type }) => type === 'snapshot'),
  );
  const changes = events.slice(begin).flatMap((event) => changesOf(state, event));
  return {
    ...state,
    ...changed(state, changes),
    shellEvents: withEvents(state.shellEvents, events),
    isFilled: state.isFilled || events.some(({ type }) => type === 'snapshot'),
  };
}

function changed(state: FeedState, changes: readonly FeedChange[]): Partial<FeedState> {
  const of = (kind: string): readonly FeedChange[] => changes.filter(({ key }) => key.startsWith(`${kind}:`));
  const [rows, targets, shells, notices] = [of('row'), of('target'), of('shell'), of('notice')];
  const targetsNow = (): readonly TargetItem[] =>
    [...put(byKey(state.targets, targetKey), targets, isTarget).values()].sort((one, other) =>
      compareText(one.target, other.target),
    );
  // What nothing was said of stays the same value: who draws it need not look.
  return {
    ...(rows.length === 0 ? {} : { rows: put(state.rows, rows, isPane) }),
    ...(targets.length === 0 ? {} : { targets: targetsNow() }),
    ...(shells.length === 0 ? {} : { shells: [...put(byKey(state.shells, shellKey), shells, isShell).values()] }),
    ...(notices.length === 0 ? {} : { notices: put(state.notices, notices, isNotice) }),
  };
}

const byKey = <Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, Item> =>
  new Map(items.map((item) => [keyOf(item), item]));

/** What a newer daemon tells under a key that we know is not taken for what we know. */
function put<Item extends FeedValue>(
  before: ReadonlyMap<string, Item>,
  changes: readonly FeedChange[],
  isItem: (value: FeedValue) => value is Item,
): ReadonlyMap<string, Item> {
  const items = new Map(before);
  for (const { key, value } of changes) {
    if (value !== null && isItem(value)) items.set(key, value);
    else items.delete(key);
  }
  return items;
}

export const isPane = (value: FeedValue): value is PaneItem => 'identity' in value;
export const isShell = (value: FeedValue): value is ShellItem => 'last_log' in value;
const isNotice = (value: FeedValue): value is NoticeItem => 'notice_id' in value;
const isTarget = (value: FeedValue): value is TargetItem => 'health' in value;

/** By their number each is kept once. */
function withEvents(known: FeedState['shellEvents'], events: readonly FeedEvent[]): FeedState['shellEvents'] {
  const told = events.flatMap((event) =>
    event.type === 'snapshot' || event.type === 'changes' ? (event.data.events ?? []) : [],
  );
  const last = known.at(-1)?.seq ?? -1;
  const fresh = told.filter(({ seq }) => seq > last);
  return fresh.length === 0 ? known : [...known, ...fresh].slice(-shellEventsMax);
}
