// Rows for every screen: where tmux says a pane is, joined with what the ledger knows of the agent in it. Recomputed as a
// whole and compared, so that nothing a screen shows can be forgotten when something changes (FED1).

import type { PaneRow } from '../api/panes.ts';
import type { TargetRow } from '../api/targets.ts';
import { isSame } from '../engine/canonical.ts';
import { heardByHooksAlone, tellsItself, underHealth, withoutPane } from '../engine/decay.ts';
import { redact } from '../engine/redact.ts';
import { formatRef } from '../engine/refs.ts';
import type { Route } from '../engine/route.ts';
import type { EventProcessor } from '../ingest/event-processor.ts';
import { taskText } from '../ingest/task-text.ts';
import type { Ask } from '../model/asks.ts';
import { isManaged, isPaneless, type RuntimeIdentity } from '../model/events.ts';
import type { GitFacts } from '../model/git.ts';
import { type PaneId, paneId, type RuntimeId, type TargetId } from '../model/ids.ts';
import type { EndRecord, Health, StateRecord } from '../model/records.ts';
import type { SessionSummary } from '../model/sessions.ts';
import type { Outside } from '../observe/paneless-agents.ts';
import { machineNameOf } from '../targets/names.ts';
import { serverKeyOf, type TmuxPane, type Topology } from '../terminals/tmux/view.ts';
import type { FeedChange, FeedItem } from './feed.ts';
import type { LastPlaces, Place } from './last-places.ts';

export interface RowSources {
  readonly ledger: EventProcessor;
  readonly topology: (target: TargetId) => Topology | null;
  /** The target answered, and no tmux server runs there. */
  readonly hasNoServer: (target: TargetId) => boolean;
  /** Its process runs on outside of the pane it was found in: that is open, but shows something else. */
  readonly hasLeftPane: (target: TargetId, runtime: RuntimeId) => boolean;
  /** Where an agent without a pane is; null where that is not known. */
  readonly outsideOf: (runtime: RuntimeId) => Outside | null;
  /** Where each runtime was last seen: an ended one keeps its place, also over a restart. */
  readonly places: LastPlaces;
  /** The daemon's timeline, ms. */
  readonly now: () => number;
  /** How long a bad end stays in the default lists (RSV12; configurable). */
  readonly endedShownMs: () => number;
  readonly topologies: () => Iterable<readonly [TargetId, Topology]>;
  readonly healthOf: (target: TargetId) => Health;
  readonly targets: () => readonly TargetRow[];
  /** What a person has last asked it for, as far as it was heard; has passed `taskText`. */
  readonly taskOf: (identity: RuntimeIdentity) => string | null;
  /** What git says of a folder of this target; null where nobody knows. */
  readonly gitOf: (target: TargetId, cwd: string) => GitFacts | null;
  /** What the dialog on a runtime's screen asks, as far as it can be read. */
  readonly seenAskOf: (target: TargetId, runtime: RuntimeId) => Pick<Ask, 'options'> | null;
  /** What people marked agents with; null as long as nobody knows. */
  readonly marks: () => Marks | null;
  /** For runtimes that are sessions of our own; null as long as nobody knows. */
  readonly sessionOf: (runtime: RuntimeId) => { readonly glance: SessionSummary; readonly cwd: string } | null;
}

interface Marks {
  nickOf(runtime: RuntimeId): string | null;
  seenAt(runtime: RuntimeId): number | null;
}

const nowhere: Place = {
  sessionId: '',
  sessionName: '',
  windowId: '',
  windowName: '',
  windowIndex: 0,
  paneIndex: 0,
  title: '',
  cwd: '',
  currentCommand: '',
};

/** tmux allows no colon in a name, so no tmux session is called like this. */
const sessionPlace = ({ id, title, driver }: SessionSummary, cwd: string): Place => ({
  ...nowhere,
  sessionName: `session:${id}`,
  windowName: title,
  title,
  cwd,
  currentCommand: driver,
});

/** Its session is called as it is named; its window as the terminal that it runs in. */
const outsidePlace = ({ pid, terminal, cwd, command }: Outside): Place => ({
  ...nowhere,
  sessionName: `${outsideMark}${pid}`,
  windowName: terminal,
  cwd,
  currentCommand: command,
});

const outsideMark = 'proc:';

type Value = PaneRow | TargetRow;
export type RowChange = FeedChange<Value>;

/** The row of an agent that has ended, and what it was made of: it is made anew when one of these is another one. */
interface EndedRow {
  readonly row: PaneRow;
  readonly state: StateRecord;
  readonly place: Place;
  readonly route: Route;
  readonly nick: string | null;
  readonly seenAt: number | null;
  readonly task: string | null;
  readonly shownMs: number;
}

/** How often it is looked whether what was last known of an ended agent's place, route and task is still the same. */
const endedCheckMs = 1_000;

const keyOf = (row: PaneRow): string => `row:${row.runtime_id ?? row.ref}`;

export class RowProjection {
  readonly #sources: RowSources;
  /** Most of what ever ran has ended, and nothing of it changes: only what lives is worked out at every change. */
  readonly #ended = new Map<RuntimeId, EndedRow>();
  #endedCheckedAt = Number.NEGATIVE_INFINITY;
  /** A pane is in one topology only. */
  readonly #bare = new WeakMap<TmuxPane, PaneRow>();
  readonly #published = new Map<string, Value>();
  /** What is published, apart: keys of what may change at any moment, and rows of what has ended. */
  #liveKeys: ReadonlySet<string> = new Set();
  #endedRows: readonly PaneRow[] = [];
  #shown: readonly PaneRow[] | null = null;

  constructor(sources: RowSources) {
    this.#sources = sources;
  }

  /** Every row as it is now. */
  rows(): readonly PaneRow[] {
    const { live, ended } = this.#look();
    return [...ended, ...live];
  }

  #look(): { readonly live: readonly PaneRow[]; readonly ended: readonly PaneRow[] } {
    const { ledger, topologies, now, endedShownMs } = this.#sources;
    const routes = ledger.world.routes((identity) => this.#isOutOfReach(identity));
    const rows: PaneRow[] = [];
    const ended: PaneRow[] = [];
    const taken = new Set<string>();
    const isRemoved = this.#removed();
    const at = now();
    const isDue = Math.abs(at - this.#endedCheckedAt) >= endedCheckMs;
    if (isDue) this.#endedCheckedAt = at;
    const shownMs = endedShownMs();
    for (const state of ledger.states()) {
      const identity = ledger.identityOf(state.runtime_id);
      if (identity === undefined) continue;
      if (state.ended !== null && isRemoved(identity.target)) continue;
      const route = routes.get(state.runtime_id) ?? 'NONE';
      if (state.ended !== null) {
        ended.push(this.#endedRow(identity, state, route, shownMs, isDue));
        continue;
      }
      const isHomeless = this.#isHomeless(identity);
      if (identity.parent === null && !isHomeless) taken.add(`${identity.target}\n${identity.pane}`);
      const seen = this.#stateNow(identity, state, isHomeless);
      rows.push(this.#agentRow(identity, seen, route, isHomeless));
    }
    this.#sources.places.keepOnly(ledger.world.entries);
    for (const runtime of this.#ended.keys()) {
      if (this.#ended.size <= ended.length) break;
      if (!ledger.world.entries.has(runtime)) this.#ended.delete(runtime);
    }
    for (const [target, topology] of topologies()) {
      for (const pane of topology.panes.values()) {
        if (!taken.has(`${target}\n${pane.pane}`)) rows.push(this.#bareRow(target, pane));
      }
    }
    return { live: rows, ended };
  }

  /** A pane with nobody in it is made a row once: a machine may tell of a thousand of them, and others change all the time. */
  #bareRow(target: TargetId, pane: TmuxPane): PaneRow {
    const known = this.#bare.get(pane);
    if (known !== undefined) return known;
    const row = paneRow(target, pane.pane, pane);
    this.#bare.set(pane, row);
    return row;
  }

  /** Whether a person has removed the machine of a target: what ended there is nobody's any more. */
  #removed(): (target: TargetId) => boolean {
    const machines = new Set(this.#sources.targets().map(({ target }) => machineNameOf(target)));
    const known = new Map<TargetId, boolean>();
    return (target) => {
      const isKnown = known.get(target);
      if (isKnown !== undefined) return isKnown;
      // Before the first look at the machines none is known.
      const isRemoved = machines.size > 0 && !machines.has(machineNameOf(target));
      known.set(target, isRemoved);
      return isRemoved;
    };
  }

  /** It runs without a pane, or on without the one that it had: nothing can be seen on its screen or typed at it. */
  isPaneless(runtime: RuntimeId): boolean {
    const entry = this.#sources.ledger.world.entries.get(runtime);
    if (entry === undefined || entry.record?.ended !== null) return false;
    return this.#isOutside(entry.identity) || this.#isHomeless(entry.identity);
  }

  /** It lost its pane, and nothing but its screen told what it does. */
  #isOutOfReach(identity: RuntimeIdentity): boolean {
    const record = this.#sources.ledger.world.entries.get(identity.runtime_id)?.record ?? null;
    return this.#isHomeless(identity) && (record === null || !tellsItself(record));
  }

  /** What changed since the last call, to be published at once. */
  changes(): readonly RowChange[] {
    const { live, ended } = this.#look();
    const changes: RowChange[] = [];
    const take = (key: string, value: Value): string => {
      const before = this.#published.get(key);
      // The very same row stays where nothing changed: whoever follows the rows can tell at a glance.
      if (before !== undefined && isSame(before, value)) return key;
      this.#published.set(key, value);
      changes.push({ key, value });
      return key;
    };
    const liveKeys = new Set(live.map((row) => take(keyOf(row), row)));
    for (const target of this.#sources.targets()) liveKeys.add(take(`target:${target.target}`, target));
    const before = this.#endedRows;
    const isEndedSame = ended.length === before.length && ended.every((row, place) => row === before[place]);
    const endedKeys = new Set(isEndedSame ? [] : ended.map((row) => take(keyOf(row), row)));
    for (const key of [...this.#liveKeys, ...(isEndedSame ? [] : before.map(keyOf))]) {
      if (liveKeys.has(key) || endedKeys.has(key) || !this.#published.delete(key)) continue;
      changes.push({ key, value: null });
    }
    this.#liveKeys = liveKeys;
    this.#endedRows = ended;
    if (changes.length > 0) this.#shown = null;
    return changes;
  }

  /** The rows as they were published last. */
  shown(): readonly PaneRow[] {
    this.#shown ??= [...this.#published.values()].filter((value): value is PaneRow => 'identity' in value);
    return this.#shown;
  }

  /** What a client that starts from nothing is given: exactly what was published. */
  snapshot(): readonly FeedItem<Value>[] {
    return [...this.#published].map(([key, value]) => ({ key, value }));
  }

  /** Some agents tell what they ask but not what can be answered; the dialog on the screen shows it. */
  #withOptions({ target, runtime_id }: RuntimeIdentity, state: StateRecord): StateRecord {
    if (state.ask === null || state.ask.options.length > 0) return state;
    const options = this.#sources.seenAskOf(target, runtime_id)?.options ?? [];
    if (options.length === 0) return state;
    const shown = options.map(({ id, label }) => ({ id, label: redact(label) }));
    return { ...state, ask: { ...state.ask, options: shown } };
  }

  /** What is published of a state: as far as its surroundings allow it. */
  #stateNow(identity: RuntimeIdentity, state: StateRecord, isHomeless: boolean): StateRecord {
    // A session needs no tmux server.
    if (isManaged(identity)) return state;
    // Nor does an agent that is in no pane.
    if (this.#isOutside(identity)) return heardByHooksAlone(state);
    const { healthOf, places, now } = this.#sources;
    if (isHomeless) {
      const was = places.of(identity.parent ?? identity.runtime_id);
      const words = was === undefined ? null : `was in ${was.sessionName}:${was.windowIndex}.${was.paneIndex}`;
      return withoutPane(state, places.lose(identity.runtime_id, now()), words);
    }
    return this.#withOptions(identity, underHealth(state, healthOf(identity.target)));
  }

  /** It was found without a pane, or inside of one that was. */
  #isOutside(identity: RuntimeIdentity): boolean {
    const { parent } = identity;
    const root = parent === null ? identity : this.#sources.ledger.world.entries.get(parent)?.identity;
    return root !== undefined && isPaneless(root);
  }

  /** Its pane was closed and it did not mind. Where nobody knows the panes it may still have one (RTE7). */
  #isHomeless({ runtime_id, target, server, pane, parent }: RuntimeIdentity): boolean {
    const { ledger, topology: topologyOf, hasNoServer, hasLeftPane } = this.#sources;
    // A child is where its parent is (IDN6).
    const above = parent === null ? undefined : ledger.world.entries.get(parent)?.identity;
    if (above !== undefined) return above.parent === null && this.#isHomeless(above);
    if (pane === null) return false;
    const topology = topologyOf(target);
    if (topology === null) return hasNoServer(target);
    // Another server has begun since: whoever was in the one before has ended (IDN2).
    if (server !== serverKeyOf(target, topology.server)) return false;
    return !topology.panes.has(pane) || hasLeftPane(target, runtime_id);
  }

  #endedRow(identity: RuntimeIdentity, state: StateRecord, route: Route, shownMs: number, isDue: boolean): PaneRow {
    const { places, marks, sessionOf } = this.#sources;
    const { runtime_id, parent } = identity;
    const nick = marks()?.nickOf(runtime_id) ?? null;
    const seenAt = marks()?.seenAt(runtime_id) ?? null;
    const before = this.#ended.get(runtime_id);
    const isMarkedSo =
      before !== undefined &&
      before.state === state &&
      before.nick === nick &&
      before.seenAt === seenAt &&
      before.shownMs === shownMs;
    if (isMarkedSo && !isDue) return before.row;
    const place = places.of(parent ?? runtime_id);
    const task = this.#taskOf(identity);
    const isSameOne = isMarkedSo && before.place === place && before.route === route && before.task === task;
    const row = isSameOne ? before.row : this.#agentRow(identity, this.#stateNow(identity, state, false), route);
    // What has no known place is shown in its pane, and a session as it is led: both can change without the rest.
    if (place === undefined || sessionOf(runtime_id) !== null) this.#ended.delete(runtime_id);
    else if (!isSameOne) this.#ended.set(runtime_id, { row, state, place, route, nick, seenAt, task, shownMs });
    return row;
  }

  #agentRow(identity: RuntimeIdentity, state: StateRecord, route: Route, isHomeless = false): PaneRow {
    const { topology: topologyOf, places, sessionOf, outsideOf } = this.#sources;
    const isLost = state.reason === 'no_pane';
    const outside = isLost ? null : outsideOf(identity.parent ?? identity.runtime_id);
    if (outside !== null && isPaneless(identity)) places.see(identity.runtime_id, outsidePlace(outside));
    const topology = topologyOf(identity.target);
    const isHere = topology !== null && identity.server === serverKeyOf(identity.target, topology.server);
    const pane = isHere && identity.pane !== null ? topology.panes.get(identity.pane) : undefined;
    if (pane !== undefined && state.ended === null && !isHomeless) places.see(identity.runtime_id, pane);
    const session = sessionOf(identity.runtime_id);
    if (session !== null) places.see(identity.runtime_id, sessionPlace(session.glance, session.cwd));
    // A child has no pane of its own: it is shown where its parent is (IDN6).
    const known = places.of(identity.parent ?? identity.runtime_id) ?? pane ?? nowhere;
    // One that lost its pane is where its process is; where it was comes back should the pane do so.
    const place = isHomeless && outside !== null ? { ...outsidePlace(outside), title: known.title } : known;
    // Its last place tells people where it was; nobody may find it there by the pane any more.
    const own = isHomeless ? null : identity.pane;
    const git = state.ended === null ? this.#sources.gitOf(identity.target, place.cwd) : null;
    const row = { ...paneRow(identity.target, own, place), ...this.#agentFields(identity, state), git, route };
    if (session !== null) {
      const ref = formatRef({ kind: 'session', session_id: session.glance.id });
      return { ...row, ref, session: { ...session.glance } };
    }
    if (own !== null) return row;
    const ref = formatRef({ kind: 'runtime', runtime_id: identity.runtime_id });
    const isOutside = this.#isOutside(identity) || (isHomeless && outside !== null);
    if (identity.process === null || !isOutside) return { ...row, ref };
    const { pid } = identity.process;
    return {
      ...row,
      terminal: place.windowName,
      ref: formatRef({ kind: 'process', target: identity.target, pid }),
    };
  }

  /** A session has a title; of everyone else it is what they were last heard to be asked for. */
  #taskOf(identity: RuntimeIdentity): string | null {
    const title = this.#sources.sessionOf(identity.runtime_id)?.glance.title;
    return title === undefined ? this.#sources.taskOf(identity) : taskText(title);
  }

  #agentFields(identity: RuntimeIdentity, { reason, ended, ask, ...state }: StateRecord) {
    const { marks, endedShownMs } = this.#sources;
    const seenAt = marks()?.seenAt(identity.runtime_id) ?? null;
    return {
      ...state,
      reason_code: reason,
      agent: identity.agent,
      nick: marks()?.nickOf(identity.runtime_id) ?? null,
      // What it finished after the mark was not seen yet.
      seen: state.state === 'completed' ? seenAt !== null && seenAt >= state.since : null,
      parent: identity.parent,
      pid: identity.process?.pid ?? null,
      started_at: identity.started_at,
      task: this.#taskOf(identity),
      ask: ask === null ? null : { ...ask, options: [...ask.options] },
      ended: ended === null ? null : endOf(ended, state.state === 'error' ? endedShownMs() : null),
    };
  }
}

/** RSV12: whoever left in good order is gone from the lists at once, a bad end stays for a while. */
const endOf = ({ time, ...end }: EndRecord, shownMs: number | null): PaneRow['ended'] => ({
  ...end,
  at: time,
  listed_until: shownMs === null ? null : time + shownMs,
});

/** A pane with nobody in it. What is found out about an agent there stands in place of the nulls. */
export function paneRow(target: TargetId, pane: PaneId | null, place: Place): PaneRow {
  const { sessionName, windowId } = place;
  return {
    identity: { target, session_name: sessionName, window_id: windowId || null, pane_id: pane },
    ref: formatRef({ kind: 'pane', target, session: sessionName, window: windowId, pane: pane ?? paneId('') }),
    runtime_id: null,
    agent: null,
    nick: null,
    seen: null,
    parent: null,
    state: null,
    reason_code: null,
    confidence: null,
    detail: null,
    task: null,
    git: null,
    until: null,
    since: null,
    last_seen_at: null,
    started_at: null,
    state_version: null,
    decided_by: null,
    route: null,
    ask: null,
    asks_open: 0,
    background: { shells: 0, agents: 0 },
    suspended: false,
    ended: null,
    title: place.title,
    cwd: place.cwd,
    current_command: place.currentCommand,
    window_name: place.windowName,
    window_index: place.windowIndex,
    pane_index: place.paneIndex,
    session: null,
    terminal: null,
    pid: null,
    session_id: place.sessionId,
    other_sessions: place.otherSessions ?? [],
    competing: [],
  };
}
