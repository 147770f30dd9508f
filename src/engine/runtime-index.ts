// What binding, replacement and server restarts are looked up in: processes, sessions, panes and servers of all known
// runtimes. One committed index, and a small overlay on top of it while a batch is being judged.

import type { RuntimeIdentity } from '../model/events.ts';
import { type AgentSessionId, processKey, type RuntimeId, type ServerKey, type TargetId } from '../model/ids.ts';
import { type BindIndex, startsAfter } from './bind.ts';
import type { Surroundings } from './resolve.ts';

export interface ServerSeen {
  readonly server: ServerKey;
  readonly startedAt: number;
}

const processPlace = (one: RuntimeIdentity): string | null =>
  one.process === null ? null : `process\n${one.target}\n${processKey(one.process)}`;
/** Pane ids start again with the server, so a pane is named together with it (IDN2). */
const panePlace = (one: RuntimeIdentity): string | null =>
  one.pane === null ? null : `pane\n${one.target}\n${one.server}\n${one.pane}`;
const sessionPlace = (target: TargetId, session: AgentSessionId): string => `session\n${target}\n${session}`;

export class RuntimeIndex implements BindIndex {
  readonly #below: RuntimeIndex | null;
  readonly #runtimes = new Map<RuntimeId, RuntimeIdentity>();
  /** A set only where several share a place: nearly all have theirs to themselves, and all that ever ran are here. */
  readonly #places = new Map<string, RuntimeId | Set<RuntimeId>>();
  readonly #servers = new Map<TargetId, ServerSeen>();

  /** With an index below, this one is an overlay: it adds, and the one below stays as it is. */
  constructor(below: RuntimeIndex | null = null) {
    this.#below = below;
  }

  runtime = (id: RuntimeId): RuntimeIdentity | undefined => this.#runtimes.get(id) ?? this.#below?.runtime(id);

  ofProcess = (target: TargetId, process: string): readonly RuntimeIdentity[] => {
    const place = `process\n${target}\n${process}`;
    return this.#at(place).filter((one) => processPlace(one) === place);
  };

  ofSession = (target: TargetId, session: AgentSessionId): readonly RuntimeIdentity[] =>
    this.#at(sessionPlace(target, session));

  /** Everyone known to have run in the same pane of the same server, itself included. */
  inPaneOf(one: RuntimeIdentity): readonly RuntimeIdentity[] {
    const place = panePlace(one);
    return place === null ? [one] : this.#at(place).filter((other) => panePlace(other) === place);
  }

  server(target: TargetId): ServerSeen | undefined {
    return this.#servers.get(target) ?? this.#below?.server(target);
  }

  addRuntime(one: RuntimeIdentity): void {
    this.#runtimes.set(one.runtime_id, one);
    for (const place of [processPlace(one), panePlace(one)]) if (place !== null) this.#add(place, one.runtime_id);
  }

  addSession(one: RuntimeIdentity, session: AgentSessionId): void {
    this.#add(sessionPlace(one.target, session), one.runtime_id);
  }

  /** A runtime whose history was pruned binds nothing any more. */
  removeRuntime(id: RuntimeId): void {
    this.#runtimes.delete(id);
    for (const [place, ids] of this.#places) {
      if (ids === id || (typeof ids !== 'string' && ids.delete(id) && ids.size === 0)) this.#places.delete(place);
    }
  }

  /** True when this server is news: the later start wins, whichever was heard of first. */
  addServer(target: TargetId, seen: ServerSeen): boolean {
    const known = this.server(target);
    const news =
      known === undefined ||
      seen.startedAt > known.startedAt ||
      (seen.startedAt === known.startedAt && seen.server > known.server);
    if (news) this.#servers.set(target, seen);
    return news;
  }

  /** Takes over what an overlay added. */
  absorb(overlay: RuntimeIndex): void {
    for (const [id, one] of overlay.#runtimes) this.#runtimes.set(id, one);
    for (const place of overlay.#places.keys()) for (const id of overlay.ids(place)) this.#add(place, id);
    for (const [target, seen] of overlay.#servers) this.#servers.set(target, seen);
  }

  /** What others tell about this runtime: who took its pane, which server followed its own. */
  surroundings(one: RuntimeIdentity): Omit<Surroundings, 'rebuilt'> {
    let successor: RuntimeIdentity | null = null;
    for (const other of this.inPaneOf(one)) {
      if (follows(other, one) && (successor === null || follows(successor, other))) successor = other;
    }
    const server = this.server(one.target);
    // A server that began after this agent did cannot be the one it runs in.
    const gone = server !== undefined && one.server !== null && server.server !== one.server;
    return {
      startedAt: one.started_at,
      replacedAt: successor === null ? null : successor.started_at,
      serverGoneAt: gone && server.startedAt > one.started_at ? server.startedAt : null,
    };
  }

  /** Identities as they are known now: one that was corrected since no longer counts under its old place. */
  #at(place: string): RuntimeIdentity[] {
    const ids = new Set([...(this.#below?.ids(place) ?? []), ...this.ids(place)]);
    return [...ids].map(this.runtime).filter((one) => one !== undefined);
  }

  ids(place: string): Iterable<RuntimeId> {
    const ids = this.#places.get(place);
    return typeof ids === 'string' ? [ids] : (ids ?? []);
  }

  #add(place: string, id: RuntimeId): void {
    const ids = this.#places.get(place);
    if (ids === undefined) this.#places.set(place, id);
    else if (typeof ids !== 'string') ids.add(id);
    else if (ids !== id) this.#places.set(place, new Set([ids, id]));
  }
}

/** Later in the same pane: a greater epoch. Two that claim one epoch cannot both be there; the later start is (IDN5). */
function follows(other: RuntimeIdentity, one: RuntimeIdentity): boolean {
  return other.pane_epoch === one.pane_epoch ? startsAfter(other, one) : other.pane_epoch > one.pane_epoch;
}
