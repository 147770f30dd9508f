// Step "fold": all that is known of one runtime, as a join. Every field only ever grows (greatest key, earliest stamp,
// union), so the same facts give the same fold in whatever order, however often and in whatever batches they come (CNV1).

import type { Ask } from '../model/asks.ts';
import type { AdmittedEvent, EndCause, OrderKey, RuntimeIdentity, StateFact } from '../model/events.ts';
import type { AgentSessionId, AskId, ScopeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { rankOf, type SourceName, sources } from '../model/sources.ts';
import { compareKeys } from './order.ts';

/** What one source last said about the state: a register that holds the greatest order key. */
export interface Claim {
  readonly key: OrderKey;
  readonly time: number;
  readonly received: number;
  readonly fact: StateFact;
}

export interface AskEntry {
  readonly key: OrderKey;
  readonly time: number;
  readonly source: SourceName;
  readonly ask: Ask;
}

export interface EndEntry {
  readonly key: OrderKey;
  readonly time: number;
  readonly cause: EndCause;
  readonly status: number | null;
  readonly signal: string | null;
}

interface Register<Value> {
  readonly key: OrderKey;
  readonly value: Value;
}

export interface Background {
  readonly shells: number;
  readonly agents: number;
}

/** A time per name; joined by the greatest. */
export type Marks = Readonly<Record<string, number>>;

export interface Fold {
  readonly identity: Register<RuntimeIdentity> | null;
  readonly claims: Readonly<Partial<Record<SourceName, Claim>>>;
  readonly background: Readonly<Partial<Record<SourceName, Register<Background>>>>;
  readonly suspended: Register<boolean> | null;
  readonly asked: ReadonlyMap<AskId, AskEntry>;
  readonly settled: ReadonlySet<AskId>;
  /** Last turn end per scope (ASK4). */
  readonly turnEnds: Marks;
  /** Last time a level source of this rank saw that no dialog was open (ASK4). */
  readonly noDialog: Marks;
  /** Last time each source saw it running: what others saw finished or failed before that is history. */
  readonly activeAt: Marks;
  readonly sessions: ReadonlySet<AgentSessionId>;
  readonly goodbye: boolean;
  readonly end: EndEntry | null;
  readonly activatedAt: number;
}

export const emptyFold: Fold = {
  identity: null,
  claims: {},
  background: {},
  suspended: null,
  asked: new Map(),
  settled: new Set(),
  turnEnds: {},
  noDialog: {},
  activeAt: {},
  sessions: new Set(),
  goodbye: false,
  end: null,
  activatedAt: -1,
};

/** The later of two registers; the one that is there when they are the same. */
export function later<One extends { readonly key: OrderKey }>(one: One | null | undefined, other: One): One {
  return one === null || one === undefined || compareKeys(other.key, one.key) > 0 ? other : one;
}

/** The same word taken in twice counts from the first time: a resend makes nothing fresh. */
export function laterClaim(one: Claim | undefined, other: Claim): Claim {
  const isSame = one !== undefined && compareKeys(one.key, other.key) === 0;
  return isSame && other.received < one.received ? other : later(one, other);
}

export function earlier<One extends { readonly key: OrderKey }>(one: One | null, other: One): One {
  return one === null || compareKeys(other.key, one.key) < 0 ? other : one;
}

export function mark(marks: Marks, name: string | number, time: number): Marks {
  const known = marks[name];
  return known !== undefined && known >= time ? marks : { ...marks, [name]: time };
}

export function withMember<Member>(set: ReadonlySet<Member>, member: Member): ReadonlySet<Member> {
  return set.has(member) ? set : new Set(set).add(member);
}

/** The word of a better witness stays; among equals the earlier stamp, whose fact it is. */
export function betterAsk(one: AskEntry | undefined, other: AskEntry): AskEntry {
  if (one === undefined) return other;
  const byRank = rankOf(other.source) - rankOf(one.source);
  return byRank > 0 || (byRank === 0 && compareKeys(other.key, one.key) < 0) ? other : one;
}

/** Whoever knows how it ended beats whoever only saw it gone; among equals the earlier stamp. */
export function betterEnd(one: EndEntry | null, other: EndEntry): EndEntry {
  if (one === null) return other;
  const byDetail = Number(other.cause !== 'vanished') - Number(one.cause !== 'vanished');
  return byDetail > 0 || (byDetail === 0 && compareKeys(other.key, one.key) < 0) ? other : one;
}

/** Adds one event. Returns the same object when the event says nothing new. */
export function joinEvent(fold: Fold, event: AdmittedEvent): Fold {
  const { fact, key, time, source } = event;
  switch (fact.kind) {
    case 'runtime.started': {
      const identity = earlier(fold.identity, { key, value: fact.runtime });
      return identity === fold.identity ? fold : { ...fold, identity };
    }
    case 'runtime.session': {
      if (fold.sessions.size >= limits.sessionsPerRuntimeMax) return fold;
      const sessions = withMember(fold.sessions, fact.agent_session);
      return sessions === fold.sessions ? fold : { ...fold, sessions };
    }
    case 'runtime.goodbye':
      return fold.goodbye ? fold : { ...fold, goodbye: true };
    case 'runtime.ended': {
      const { cause, status = null, signal = null } = fact;
      const end = betterEnd(fold.end, { key, time, cause, status, signal });
      return end === fold.end ? fold : { ...fold, end };
    }
    case 'state.observed':
      return joinState(fold, { key, time, received: event.ingested_at, fact }, source);
    case 'ask.opened': {
      const { ask_id } = fact.ask;
      // Settled is settled, and needs no content any more.
      if (fold.settled.has(ask_id)) return fold;
      const entry = betterAsk(fold.asked.get(ask_id), { key, time, source, ask: fact.ask });
      return entry === fold.asked.get(ask_id) ? fold : { ...fold, asked: new Map(fold.asked).set(ask_id, entry) };
    }
    case 'ask.settled': {
      if (fold.settled.has(fact.ask_id)) return fold;
      const settled = withMember(fold.settled, fact.ask_id);
      if (!fold.asked.has(fact.ask_id)) return { ...fold, settled };
      const asked = new Map(fold.asked);
      asked.delete(fact.ask_id);
      return { ...fold, asked, settled };
    }
    case 'turn.ended': {
      const turnEnds = mark(fold.turnEnds, scopeMark(fact.scope), time);
      return turnEnds === fold.turnEnds ? fold : { ...fold, turnEnds };
    }
    case 'background.counted': {
      const value = { shells: fact.shells, agents: fact.agents };
      const register = later(fold.background[source], { key, value });
      return register.value === value ? { ...fold, background: { ...fold.background, [source]: register } } : fold;
    }
    case 'process.observed': {
      const suspended = later(fold.suspended, { key, value: fact.suspended });
      return suspended === fold.suspended ? fold : { ...fold, suspended };
    }
    case 'route.activated':
      return fold.activatedAt >= time ? fold : { ...fold, activatedAt: time };
    case 'server.seen':
    case 'state.repeated':
    case 'runtime.base':
      return fold;
  }
}

/** Scopes are the agents' own ids; the prefix keeps them apart from names every object has. */
export function scopeMark(scope: ScopeId): string {
  return `scope:${scope}`;
}

function joinState(fold: Fold, claim: Claim, source: SourceName): Fold {
  const rank = rankOf(source);
  const kept = laterClaim(fold.claims[source], claim);
  const claims = kept === claim ? { ...fold.claims, [source]: claim } : fold.claims;
  // Only who sees what is there now can see that no dialog is; an edge tells what happened.
  const seesNone = claim.fact.dialog === false && sources[source].style === 'level';
  const noDialog = seesNone ? mark(fold.noDialog, rank, claim.time) : fold.noDialog;
  const activeAt = claim.fact.state === 'running' ? mark(fold.activeAt, source, claim.time) : fold.activeAt;
  if (claims === fold.claims && noDialog === fold.noDialog && activeAt === fold.activeAt) return fold;
  return { ...fold, claims, noDialog, activeAt };
}
