// The rows of one tenant in memory, and the windows of them that people look at: filtered, ordered, counted. A daemon that is
// silent is applied when reading (RSV6): its rows are told as unknown, what was known of them stays.

import type { WireItem } from '../api/hub-wire.ts';
import { limits } from '../model/limits.ts';
import { projectOf } from '../model/rows.ts';
import { type StateName, stateNames } from '../model/states.ts';
import { isListed, needsAction } from '../view/lists.ts';
import { wordsOf } from '../view/words.ts';
import type { AgentRecord, DaemonRecord, TableChange } from './table.ts';

export type Machine = Pick<
  DaemonRecord,
  'daemon' | 'label' | 'owner' | 'kind' | 'share' | 'allows' | 'agtmux' | 'seen_at' | 'left_at' | 'revoked_at'
>;

export interface HubRow {
  readonly daemon: string;
  readonly key: string;
  readonly version: number;
  readonly item: WireItem;
  readonly state: StateName;
  readonly needs: boolean;
  readonly order: number;
  readonly since: number;
  readonly repo: string;
}

export interface WindowQuery {
  readonly state?: readonly string[] | undefined;
  readonly agent?: readonly string[] | undefined;
  readonly target?: readonly string[] | undefined;
  readonly session?: readonly string[] | undefined;
  readonly machine?: readonly string[] | undefined;
  readonly owner?: readonly string[] | undefined;
  readonly repo?: readonly string[] | undefined;
  readonly needs_action?: boolean | undefined;
  readonly ended?: boolean | undefined;
  readonly sort?: 'needs' | 'age' | 'agent' | 'machine' | 'state' | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** What a person may see; empty lists narrow nothing. */
export interface Scope {
  readonly owners: readonly string[];
  readonly repos: readonly string[];
}

export const wholeScope: Scope = { owners: [], repos: [] };

export interface WindowRow {
  readonly id: string;
  readonly daemon: string;
  readonly machine: string;
  readonly owner: string;
  readonly repo: string;
  readonly reachable: boolean;
  readonly seen_at: string | null;
  /** As shown: unknown while the machine is silent. */
  readonly state: StateName;
  readonly needs: boolean;
  readonly version: number;
  readonly item: WireItem;
}

export interface ListWindow {
  readonly total: number;
  readonly needs_action: number;
  readonly offset: number;
  readonly by_state: Readonly<Record<string, number>>;
  readonly by_agent: Readonly<Record<string, number>>;
  readonly by_machine: Readonly<Record<string, number>>;
  readonly by_owner: Readonly<Record<string, number>>;
  readonly by_repo: Readonly<Record<string, number>>;
  readonly items: readonly WindowRow[];
  readonly missing: readonly string[];
}

/** Agents that need a person, of one owner. */
export interface Waiting {
  readonly owner: string;
  readonly agents: number;
  /** Of the one that waits longest. */
  readonly since: number;
  readonly repos: Readonly<Record<string, number>>;
}

const isState = (said: string): said is StateName => (stateNames as readonly string[]).includes(said);

const rowOf = ({ daemon, key, version, item }: AgentRecord): HubRow => {
  // A state of a later version is not known here.
  const state = isState(item.state) ? item.state : 'unknown';
  const reason = typeof item.reason_code === 'string' ? item.reason_code : null;
  return {
    daemon,
    key,
    version,
    item,
    state,
    needs: item.ended === null && needsAction({ state, reason_code: reason as never }),
    order: wordsOf(state).order,
    since: item.since === null ? Number.MAX_SAFE_INTEGER : Date.parse(item.since),
    repo: projectOf(item.cwd),
  };
};

export class Roster {
  readonly #rows = new Map<string, HubRow>();
  readonly #machines = new Map<string, Machine>();
  #change = 0;

  /** The newest change of the table that is here. */
  get change(): number {
    return this.#change;
  }

  get size(): number {
    return this.#rows.size;
  }

  get machines(): readonly Machine[] {
    return [...this.#machines.values()];
  }

  machine(daemon: string): Machine | null {
    return this.#machines.get(daemon) ?? null;
  }

  /** The very first time, and when too much was missed. */
  fill(all: TableChange, machines: readonly Machine[]): void {
    this.#rows.clear();
    this.#machines.clear();
    for (const one of machines) this.putMachine(one);
    this.#change = all.change;
    this.#put(all);
  }

  putMachine(machine: Machine): void {
    if (machine.revoked_at === null) this.#machines.set(machine.daemon, machine);
    else this.#machines.delete(machine.daemon);
  }

  /** A sign of life as the table has it; an older one than is known here changes nothing. */
  seen(machine: Machine): void {
    const known = this.#machines.get(machine.daemon);
    if (known === undefined || (machine.seen_at ?? 0) >= (known.seen_at ?? 0)) this.putMachine(machine);
  }

  removeMachine(daemon: string): void {
    this.#machines.delete(daemon);
  }

  /** A change that this process has written. False: others came between, and have to be read. */
  apply(done: TableChange): boolean {
    this.#put(done);
    const isNext = done.change === this.#change + 1;
    if (isNext) this.#change = done.change;
    return isNext || done.change <= this.#change;
  }

  /** Everything up to a change, as the table told it. What was read before a newer change came in is worth nothing. */
  follow(news: TableChange): void {
    if (news.change < this.#change) return;
    this.#change = news.change;
    this.#put(news);
  }

  #put({ rows, removed }: Pick<TableChange, 'rows' | 'removed'>): void {
    for (const record of rows) {
      const name = idOf(record);
      const known = this.#rows.get(name);
      if (known === undefined || known.version < record.version) this.#rows.set(name, rowOf(record));
    }
    for (const one of removed) this.#rows.delete(idOf(one));
  }

  row(id: string): HubRow | null {
    return this.#rows.get(id) ?? null;
  }

  /** Everything, for whoever compares. */
  all(): readonly HubRow[] {
    return [...this.#rows.values()];
  }

  isReachable(daemon: string, now: number): boolean {
    const machine = this.#machines.get(daemon);
    return machine !== undefined && machine.left_at === null && now - (machine.seen_at ?? 0) <= limits.hubSilentMs;
  }

  isVisible(row: HubRow, { owners, repos }: Scope): boolean {
    const owner = this.#machines.get(row.daemon)?.owner ?? '';
    return (owners.length === 0 || owners.includes(owner)) && (repos.length === 0 || repos.includes(row.repo));
  }

  window(query: WindowQuery, scope: Scope, now: number): ListWindow {
    const silent = new Set(this.machines.map(({ daemon }) => daemon).filter((one) => !this.isReachable(one, now)));
    const counts = { by_state: {}, by_agent: {}, by_machine: {}, by_owner: {}, by_repo: {} } satisfies Record<
      string,
      Record<string, number>
    >;
    const wanted: HubRow[] = [];
    let needing = 0;
    for (const row of this.#rows.values()) {
      const machine = this.#machines.get(row.daemon);
      if (machine === undefined || !this.isVisible(row, scope)) continue;
      const state = silent.has(row.daemon) ? 'unknown' : row.state;
      if (!isWanted(row, machine, state, query, now)) continue;
      wanted.push(row);
      if (row.needs && state !== 'unknown') needing += 1;
      add(counts.by_state, state);
      add(counts.by_agent, row.item.agent);
      add(counts.by_machine, machine.label);
      add(counts.by_owner, machine.owner);
      add(counts.by_repo, row.repo);
    }
    const offset = query.offset ?? 0;
    const size = Math.min(query.limit ?? limits.hubWindowRowsDefault, limits.hubWindowRowsMax);
    const shown = firstOf(wanted, this.#compare(query.sort ?? 'needs', silent), offset + size).slice(offset);
    const missing = this.machines.filter(({ daemon, left_at }) => silent.has(daemon) && left_at === null);
    return {
      total: wanted.length,
      needs_action: needing,
      offset,
      ...counts,
      items: shown.map((row) => this.#shown(row, silent.has(row.daemon))),
      missing: missing.map(({ label }) => label),
    };
  }

  /** Who is waited for: by owner, whoever waits longest first. Machines that are silent claim nothing. */
  waiting(scope: Scope, now: number): readonly Waiting[] {
    const found = new Map<string, Waiting>();
    for (const row of this.#rows.values()) {
      const machine = this.#machines.get(row.daemon);
      if (machine === undefined || !row.needs || !this.isVisible(row, scope) || !this.isReachable(row.daemon, now))
        continue;
      const since = Math.min(row.since, now);
      const known = found.get(machine.owner) ?? { owner: machine.owner, agents: 0, since, repos: {} };
      const repos = { ...known.repos, [row.repo]: (known.repos[row.repo] ?? 0) + 1 };
      found.set(machine.owner, { ...known, agents: known.agents + 1, since: Math.min(known.since, since), repos });
    }
    return [...found.values()].sort((one, other) => one.since - other.since);
  }

  #shown(row: HubRow, isSilent: boolean): WindowRow {
    const machine = this.#machines.get(row.daemon);
    const seen = machine?.seen_at ?? null;
    const item = isSilent ? { ...row.item, state: 'unknown', reason_code: 'target_unreachable' } : row.item;
    return {
      id: idOf(row),
      daemon: row.daemon,
      machine: machine?.label ?? row.daemon,
      owner: machine?.owner ?? '',
      repo: row.repo,
      reachable: !isSilent,
      seen_at: seen === null ? null : new Date(seen).toISOString(),
      state: isSilent ? 'unknown' : row.state,
      needs: row.needs && !isSilent,
      version: row.version,
      item,
    };
  }

  #compare(
    sort: NonNullable<WindowQuery['sort']>,
    silent: ReadonlySet<string>,
  ): (one: HubRow, other: HubRow) => number {
    const orderOf = (row: HubRow): number => (silent.has(row.daemon) ? wordsOf('unknown').order : row.order);
    const label = (row: HubRow): string => this.#machines.get(row.daemon)?.label ?? '';
    const text = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
    const tie = (one: HubRow, other: HubRow): number => text(one.daemon, other.daemon) || text(one.key, other.key);
    const byNeed = (one: HubRow, other: HubRow): number => orderOf(one) - orderOf(other) || one.since - other.since;
    switch (sort) {
      case 'needs':
      case 'state':
        return (one, other) => byNeed(one, other) || tie(one, other);
      case 'age':
        return (one, other) => one.since - other.since || tie(one, other);
      case 'agent':
        return (one, other) => text(one.item.agent, other.item.agent) || byNeed(one, other) || tie(one, other);
      case 'machine':
        return (one, other) => text(label(one), label(other)) || byNeed(one, other) || tie(one, other);
    }
  }
}

export const idOf = ({ daemon, key }: { readonly daemon: string; readonly key: string }): string => `${daemon}/${key}`;

function add(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

const allows = (values: readonly string[] | undefined, value: string): boolean =>
  values === undefined || values.length === 0 || values.includes(value);

function isWanted(
  { item, needs, repo }: HubRow,
  machine: Machine,
  state: StateName,
  query: WindowQuery,
  now: number,
): boolean {
  const { target, session_name } = item.identity;
  return (
    allows(query.state, state) &&
    allows(query.agent, item.agent) &&
    allows(query.machine, machine.label) &&
    allows(query.owner, machine.owner) &&
    allows(query.repo, repo) &&
    allows(query.target, target) &&
    allows(query.session, session_name) &&
    (query.needs_action !== true || (needs && state !== 'unknown')) &&
    (query.ended === true || isListed({ ended: endOf(item) }, now))
  );
}

type End = Parameters<typeof isListed>[0]['ended'];
const endOf = ({ ended }: WireItem): End =>
  typeof ended === 'object' && ended !== null && 'listed_until' in ended ? (ended as End) : null;

/** The first of them in order. Beyond a few windows' worth a whole sort is cheaper. */
function firstOf(rows: HubRow[], compare: (one: HubRow, other: HubRow) => number, count: number): HubRow[] {
  if (rows.length <= count * 4 || count > 1_000) return rows.sort(compare).slice(0, count);
  const best: HubRow[] = [];
  for (const row of rows) {
    const last = best.at(-1);
    if (best.length === count && last !== undefined && compare(row, last) >= 0) continue;
    let low = 0;
    let high = best.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = best[middle];
      if (found !== undefined && compare(found, row) <= 0) low = middle + 1;
      else high = middle;
    }
    best.splice(low, 0, row);
    if (best.length > count) best.pop();
  }
  return best;
}
