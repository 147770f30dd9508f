// A fold as one event: retention replaces the old events of a living runtime by the join of what they said. Because a
// fold is a join, base and remaining events together give the very same fold again.

import type { AdmittedEvent, OrderKey } from '../model/events.ts';
import type { SourceName } from '../model/sources.ts';
import { boundMemory } from './asks.ts';
import { canonical } from './canonical.ts';
import {
  betterAsk,
  betterEnd,
  earlier,
  emptyFold,
  type Fold,
  joinEvent,
  later,
  laterClaim,
  type Marks,
  mark,
} from './fold.ts';

/** Adds one event of any kind, bases included. Returns the same object when it says nothing new. */
export function join(fold: Fold, event: AdmittedEvent): Fold {
  const { fact } = event;
  const joined = fact.kind === 'runtime.base' ? joinFolds(fold, readFold(fact.fold)) : joinEvent(fold, event);
  return joined === fold ? fold : boundMemory(joined);
}

export function writeFold(fold: Fold): string {
  return canonical({
    ...fold,
    asked: [...fold.asked.keys()].sort().map((id) => [id, fold.asked.get(id)]),
    settled: [...fold.settled].sort(),
    sessions: [...fold.sessions].sort(),
  });
}

/** Reads what writeFold wrote. The text comes from our own checksummed log, so its shape is not checked again. */
export function readFold(text: string): Fold {
  const plain = JSON.parse(text);
  return {
    ...emptyFold,
    ...plain,
    asked: new Map(plain.asked),
    settled: new Set(plain.settled),
    sessions: new Set(plain.sessions),
  };
}

export function joinFolds(one: Fold, other: Fold): Fold {
  return {
    identity: other.identity === null ? one.identity : earlier(one.identity, other.identity),
    claims: joinRegisters(one.claims, other.claims, laterClaim),
    background: joinRegisters(one.background, other.background, later),
    suspended: other.suspended === null ? one.suspended : later(one.suspended, other.suspended),
    asked: joinAsked(one, other),
    settled: new Set([...one.settled, ...other.settled]),
    turnEnds: joinMarks(one.turnEnds, other.turnEnds),
    noDialog: joinMarks(one.noDialog, other.noDialog),
    activeAt: joinMarks(one.activeAt, other.activeAt),
    sessions: new Set([...one.sessions, ...other.sessions]),
    goodbye: one.goodbye || other.goodbye,
    end: other.end === null ? one.end : betterEnd(one.end, other.end),
    activatedAt: Math.max(one.activatedAt, other.activatedAt),
  };
}

function joinRegisters<One extends { readonly key: OrderKey }>(
  one: Readonly<Partial<Record<SourceName, One>>>,
  other: Readonly<Partial<Record<SourceName, One>>>,
  choose: (one: One | undefined, other: One) => One,
): Readonly<Partial<Record<SourceName, One>>> {
  const joined: Partial<Record<SourceName, One>> = { ...one };
  for (const [source, register] of Object.entries(other) as [SourceName, One][]) {
    joined[source] = choose(joined[source], register);
  }
  return joined;
}

function joinMarks(one: Marks, other: Marks): Marks {
  let joined = one;
  for (const [name, time] of Object.entries(other)) joined = mark(joined, name, time);
  return joined;
}

function joinAsked(one: Fold, other: Fold): Fold['asked'] {
  const joined = new Map(one.asked);
  for (const [id, entry] of other.asked) joined.set(id, betterAsk(joined.get(id), entry));
  for (const id of [...one.settled, ...other.settled]) joined.delete(id);
  return joined;
}
