// Rows for every screen: where tmux says a pane is, joined with what the ledger knows of the agent in it. Recomputed as a
// whole and compared, so that nothing a screen shows can be forgotten when something changes (FED1).

import { isSame } from '../engine/canonical.ts';
import { underHealth, withoutPane } from '../engine/decay.ts';
import { redact } from '../engine/redact.ts';
import { formatRef } from '../engine/refs.ts';
import type { Route } from '../engine/route.ts';
import type { Ask } from '../model/asks.ts';
import { isManaged, type RuntimeIdentity } from '../model/events.ts';
import { type RuntimeId, type ServerKey, serverKey, type TargetId } from '../model/ids.ts';
import type { Health, StateRecord } from '../model/records.ts';
import type { AgentRow, PaneRow, TargetRow } from '../model/rows.ts';
import type { SessionGlance } from '../model/sessions.ts';
import type { TmuxServer, Topology } from '../observe/tmux/view.ts';
import { machineNameOf } from '../targets/names.ts';
import type { Ledger } from './ledger.ts';
import type { Place, PlaceBook } from './places.ts';

/** One string for one life of one tmux server (IDN2). */
export function serverKeyOf(target: TargetId, server: Pick<TmuxServer, 'socketPath' | 'pid' | 'startTime'>): ServerKey {
  return serverKey(`${target}|${server.socketPath}|${server.pid}|${server.startTime}`);
}

export interface RowSources {
  readonly ledger: Ledger;
  readonly topology: (target: TargetId) => Topology | null;
  /** The target answered, and no tmux server runs there. */
  readonly hasNoServer: (target: TargetId) => boolean;
  /** Its process runs on outside of the pane it was found in: that is open, but shows something else. */
  readonly hasLeftPane: (target: TargetId, runtime: RuntimeId) => boolean;
  /** Where each runtime was last seen: an ended one keeps its place, also over a restart. */
  readonly places: PlaceBook;
  /** The daemon's timeline, ms. */
  readonly now: () => number;
  readonly topologies: () => Iterable<readonly [TargetId, Topology]>;
  readonly healthOf: (target: TargetId) => Health;
  readonly targets: () => readonly TargetRow[];
  /** What the dialog on a runtime's screen asks, as far as it can be read. */
  readonly seenAskOf: (target: TargetId, runtime: RuntimeId) => Pick<Ask, 'options'> | null;
  /** What people marked agents with; null as long as nobody knows. */
  readonly marks: () => Marks | null;
  /** For runtimes that are sessions of our own; null as long as nobody knows. */
  readonly sessionOf: (runtime: RuntimeId) => { readonly glance: SessionGlance; readonly cwd: string } | null;
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
const sessionPlace = ({ id, title, driver }: SessionGlance, cwd: string): Place => ({
  ...nowhere,
  sessionName: `session:${id}`,
  windowName: title,
  title,
  cwd,
  currentCommand: driver,
});

export interface RowChange {
  readonly key: string;
  readonly value: PaneRow | TargetRow | null;
}

export class RowBook {
  readonly #sources: RowSources;
  #published = new Map<string, PaneRow | TargetRow>();

  constructor(sources: RowSources) {
    this.#sources = sources;
  }

  /** Every row as it is now. */
  rows(): readonly PaneRow[] {
    const { ledger, topologies } = this.#sources;
    const routes = ledger.world.routes((identity) => this.#isHomeless(identity));
    const rows: PaneRow[] = [];
    const taken = new Set<string>();
    const isRemoved = this.#removed();
    for (const state of ledger.states()) {
      const identity = ledger.identityOf(state.runtime_id);
      if (identity === undefined) continue;
      if (state.ended !== null && isRemoved(identity.target)) continue;
      const isHomeless = state.ended === null && this.#isHomeless(identity);
      if (state.ended === null && identity.parent === null && !isHomeless)
        taken.add(`${identity.target}\n${identity.pane}`);
      const seen = this.#stateNow(identity, state, isHomeless);
      rows.push(this.#agentRow(identity, seen, routes.get(state.runtime_id) ?? 'NONE'));
    }
    this.#sources.places.keepOnly(ledger.world.entries);
    for (const [target, topology] of topologies()) {
      for (const pane of topology.panes.values()) {
        if (!taken.has(`${target}\n${pane.pane}`)) rows.push(rowOf(target, pane.pane, pane, null));
      }
    }
    return rows;
  }

  /** Whether a person has removed the machine of a target: what ended there is nobody's any more. */
  #removed(): (target: TargetId) => boolean {
    const machines = new Set(this.#sources.targets().map(({ target }) => machineNameOf(target)));
    // Before the first look at the machines none is known.
    return (target) => machines.size > 0 && !machines.has(machineNameOf(target));
  }

  /** It runs on without its pane: nothing can be seen of it or said to it. */
  isPaneless(runtime: RuntimeId): boolean {
    const entry = this.#sources.ledger.world.entries.get(runtime);
    return entry !== undefined && entry.record?.ended === null && this.#isHomeless(entry.identity);
  }

  /** What changed since the last call, to be published at once. */
  changes(): readonly RowChange[] {
    const current = new Map<string, PaneRow | TargetRow>();
    for (const row of this.rows()) current.set(`row:${row.agent?.runtime_id ?? row.ref}`, row);
    for (const target of this.#sources.targets()) current.set(`target:${target.target}`, target);
    const changes: RowChange[] = [];
    for (const [key, value] of current) if (!isSame(this.#published.get(key), value)) changes.push({ key, value });
    for (const key of this.#published.keys()) if (!current.has(key)) changes.push({ key, value: null });
    this.#published = current;
    return changes;
  }

  /** The rows as they were published last. */
  shown(): readonly PaneRow[] {
    return [...this.#published.values()].filter((value): value is PaneRow => 'identity' in value);
  }

  /** What a client that starts from nothing is given: exactly what was published. */
  snapshot(): readonly { readonly key: string; readonly value: PaneRow | TargetRow }[] {
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
    const { healthOf, places, now } = this.#sources;
    if (isHomeless) {
      const was = places.of(identity.parent ?? identity.runtime_id);
      const words = was === undefined ? null : `was in ${was.sessionName}:${was.windowIndex}.${was.paneIndex}`;
      return withoutPane(state, places.lose(identity.runtime_id, now()), words);
    }
    return this.#withOptions(identity, underHealth(state, healthOf(identity.target)));
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

  #agentRow(identity: RuntimeIdentity, state: StateRecord, route: Route): PaneRow {
    const { topology: topologyOf, places, sessionOf, marks } = this.#sources;
    const topology = topologyOf(identity.target);
    const isHere = topology !== null && identity.server === serverKeyOf(identity.target, topology.server);
    const pane = isHere && identity.pane !== null ? topology.panes.get(identity.pane) : undefined;
    const isPaneless = state.reason === 'no_pane';
    if (pane !== undefined && state.ended === null && !isPaneless) places.see(identity.runtime_id, pane);
    const session = sessionOf(identity.runtime_id);
    if (session !== null) places.see(identity.runtime_id, sessionPlace(session.glance, session.cwd));
    // A child has no pane of its own: it is shown where its parent is (IDN6).
    const place = places.of(identity.parent ?? identity.runtime_id) ?? pane ?? nowhere;
    // Its last place tells people where it was; nobody may find it there by the pane any more.
    const own = isPaneless ? null : identity.pane;
    const row = rowOf(identity.target, own, place, agentRow(identity, state, route, marks()));
    if (session === null) return row;
    const ref = formatRef({ kind: 'session', session_id: session.glance.id });
    return { ...row, ref, session: session.glance };
  }
}

function rowOf(target: TargetId, pane: RuntimeIdentity['pane'], place: Place, agent: AgentRow | null): PaneRow {
  const { sessionName, windowId } = place;
  const identity = { target, session_name: sessionName, window_id: windowId, pane_id: pane ?? ('' as never) };
  const ref =
    pane === null && agent !== null
      ? formatRef({ kind: 'runtime', runtime_id: agent.runtime_id })
      : formatRef({ kind: 'pane', target, session: sessionName, window: windowId, pane: identity.pane_id });
  return {
    identity,
    ref,
    session_id: place.sessionId,
    ...(place.otherSessions === undefined ? {} : { other_sessions: place.otherSessions }),
    window_name: place.windowName,
    window_index: place.windowIndex,
    pane_index: place.paneIndex,
    title: place.title,
    cwd: place.cwd,
    current_command: place.currentCommand,
    agent,
  };
}

function agentRow(identity: RuntimeIdentity, state: StateRecord, route: Route, marks: Marks | null): AgentRow {
  const { reason, ...rest } = state;
  const seenAt = marks?.seenAt(identity.runtime_id) ?? null;
  return {
    ...rest,
    reason_code: reason,
    agent: identity.agent,
    nick: marks?.nickOf(identity.runtime_id) ?? null,
    // What it finished after the mark was not seen yet.
    seen: state.state === 'completed' ? seenAt !== null && seenAt >= state.since : null,
    parent: identity.parent,
    started_at: identity.started_at,
    route,
  };
}
