// When a lower witness contradicts a higher one: look again, and if it still does, say so once as the reconciler (RSV2,
// RSV3). Hooks are silent when a person presses Esc or answers a dialog by hand; this is how such drift heals. A screen
// that has not drawn yet what was claimed contradicts nothing: how far it has got is the trail.

import type { StateFact } from '../model/events.ts';
import { mainScope } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import { rankOf, type SourceName } from '../model/sources.ts';
import { type Confidence, classOf, type StateClass, type StateName } from '../model/states.ts';
import { type Fold, scopeMark } from './fold.ts';
import { isSilentOn, type Resolved } from './resolve.ts';

/** What a level source shows at this moment. */
export interface Observation {
  readonly time: number;
  readonly fact: StateFact;
}

/** A contradiction seen once, waiting for the second look. */
export interface Doubt {
  readonly since: number;
  readonly against: StateClass;
  readonly shown: StateClass;
}

export interface Reconciliation {
  readonly doubt: Doubt | null;
  /** To be logged as an event of source `reconciler`, if any. */
  readonly correction: StateFact | null;
}

/** What is believed at the moment. */
export type Believed = Pick<Resolved, 'state' | 'ended'>;

export function contradicts(resolved: Believed, observation: Observation): boolean {
  const shown = classOf(observation.fact.state);
  if (resolved.ended !== null || shown === 'unclassified' || isSilentOn(observation.fact, resolved)) return false;
  return shown !== classOf(resolved.state);
}

/** Feed it every fresh look of a level source. `doubt` is what the previous call returned. */
export function reconcile(doubt: Doubt | null, resolved: Believed, observation: Observation): Reconciliation {
  if (!contradicts(resolved, observation)) return { doubt: null, correction: null };
  const shown = classOf(observation.fact.state);
  const against = classOf(resolved.state);
  if (doubt === null || doubt.shown !== shown || doubt.against !== against) {
    return { doubt: { since: observation.time, against, shown }, correction: null };
  }
  if (observation.time - doubt.since < limits.secondLookMs) return { doubt, correction: null };
  const waiting = shown === 'waiting_approval' || shown === 'waiting_input';
  const confidence: Confidence = observation.fact.confidence === 'high' ? 'medium' : observation.fact.confidence;
  return { doubt: null, correction: { ...observation.fact, confidence, dialog: waiting } };
}

/** What better witnesses say of a runtime at the moment of a look. */
export interface ClaimNow {
  readonly state: StateName;
  readonly since: number;
  readonly decided_by: SourceName | null;
  /** When one of them last said that it works, and that its turn ended; what is over within one commit shows only here. */
  readonly workedAt: number;
  readonly turnEndedAt: number;
}

interface Claimed {
  readonly shows: StateClass;
  readonly time: number;
  /** When it was noticed; the screen has its time from here on. */
  readonly at: number;
}

/**
 * The claims of the last seconds in their order, and which of them the screen has drawn. A screen draws them in the same
 * order, late, and leaves some out. Where a picture fits several, it is taken for the earliest: it may be that old.
 */
export interface Trail {
  readonly claims: readonly Claimed[];
  /** The place of the claim that the screen shows; -1 when it shows something from before. */
  readonly drawn: number;
  /** The picture of the last look, and whether a claim explained it when it first appeared. */
  readonly shown: string | null;
  readonly shows: StateClass | null;
  readonly isExplained: boolean;
  /** Pictures since the screen last kept up, and those of them that stood there before the last claim. */
  readonly recent: ReadonlySet<string>;
  readonly old: ReadonlySet<string>;
}

export const newTrail: Trail = {
  claims: [],
  drawn: -1,
  shown: null,
  shows: null,
  isExplained: false,
  recent: new Set(),
  old: new Set(),
};

const isCurrent = ({ claims, drawn }: Trail): boolean => drawn === claims.length - 1;

const keptUp = (trail: Trail): Trail => ({
  ...trail,
  drawn: trail.claims.length - 1,
  recent: new Set(trail.shown === null ? [] : [trail.shown]),
  old: new Set(),
});

/** What is published of a runtime, with what its better witnesses said last. */
export function claimOf({ state, since, decided_by }: StateRecord, { activeAt, turnEnds }: Fold): ClaimNow {
  let workedAt = 0;
  for (const [source, time] of Object.entries(activeAt) as [SourceName, number][])
    if (!isOfScreen(source)) workedAt = Math.max(workedAt, time);
  return { state, since, decided_by, workedAt, turnEndedAt: turnEnds[scopeMark(mainScope)] ?? 0 };
}

/** The reconciler only repeats what was seen. */
const isOfScreen = (source: SourceName): boolean => source === 'reconciler' || rankOf(source) <= rankOf('screen');

/** To be called at every look, before what it shows is followed. */
export function followClaim(before: Trail, claim: ClaimNow, at: number): Trail {
  const { workedAt, turnEndedAt, since } = claim;
  const shows = classOf(claim.state);
  const known = before.claims.at(-1);
  if (known === undefined) {
    const time = Math.max(since, workedAt, turnEndedAt);
    return { ...before, claims: [{ shows, time, at: Math.min(since, at) }] };
  }
  let trail = at - known.at < limits.screenLagMs ? before : settle(before, known);
  // A prompt that was submitted ends whatever turn there was before it: that is no end that anybody draws.
  const isBegun = shows === 'running' && turnEndedAt === workedAt;
  const missed = [
    { shows: 'running', time: workedAt } as const,
    { shows: 'settled', time: isBegun ? 0 : turnEndedAt } as const,
  ].filter(({ time }) => time > known.time);
  const latest = Math.max(since, ...missed.map(({ time }) => time), known.time);
  const heard = [...missed.sort((one, other) => one.time - other.time), { shows, time: latest }];
  for (const one of heard) {
    if (trail.claims.at(-1)?.shows === one.shows || one.shows === 'unclassified') continue;
    const claims = [...trail.claims, { ...one, at }].slice(-limits.screenClaimsMax);
    const lost = trail.claims.length + 1 - claims.length;
    trail = { ...trail, claims, drawn: Math.max(-1, trail.drawn - lost), old: agedBy(one.shows, trail) };
  }
  // Told by the screen itself: it shows what it said, or something newer.
  return claim.decided_by === null || isOfScreen(claim.decided_by) ? keptUp(trail) : trail;
}

/** The pictures that a claim makes old. An error that was drawn is no older for the end of its turn, only for new work. */
function agedBy(shows: StateClass, { recent, old }: Trail): ReadonlySet<string> {
  const isAged = (picture: string): boolean => shows !== 'settled' || !picture.startsWith('error ');
  return new Set([...old, ...[...recent].filter(isAged)]);
}

/**
 * Long enough: whatever the screen shows now, it shows for good. Where it has left out others before the last claim, it may
 * still show what came before those.
 */
function settle(trail: Trail, last: Claimed): Trail {
  const { claims, drawn, shows } = trail;
  const hasNext = shows === last.shows && claims.length > 1 && drawn === claims.length - 2;
  return { ...keptUp(trail), claims: [last], drawn: isCurrent(trail) || hasNext ? 0 : -1 };
}

/** What a look shows. The words tell two dialogs of the same class apart, or why a turn was cut short. */
export interface Picture {
  readonly shows: StateClass;
  readonly words: string;
}

export function followScreen(trail: Trail, { shows, words }: Picture): Trail {
  const picture = `${shows} ${words}`;
  if (shows === 'unclassified' || picture === trail.shown) return trail;
  const at = trail.claims.findIndex((one, place) => place > trail.drawn && one.shows === shows);
  const recent = new Set(trail.recent).add(picture);
  const followed: Trail = {
    ...trail,
    shown: picture,
    shows,
    recent,
    isExplained: at >= 0,
    drawn: at >= 0 ? at : trail.drawn,
  };
  return at >= 0 && isCurrent(followed) ? keptUp(followed) : followed;
}

/**
 * The screen has not drawn the last claim yet and still may: what it shows is no news, unless it is an error, a dialog or
 * the mark of a cut turn that was not there before (RSV2).
 */
export function isLate(trail: Trail, { shows, words }: Picture, at: number): boolean {
  const last = trail.claims.at(-1);
  if (last === undefined || isCurrent(trail) || at - last.at >= lagMsOf(last, shows)) return false;
  const isLoud = words !== '' || shows === 'error' || shows === 'waiting_approval' || shows === 'waiting_input';
  return !isLoud || trail.isExplained || trail.shown === null || trail.old.has(trail.shown);
}

/** A starved agent tells the end of its turn at once and goes on drawing the work before it: nothing else takes so long. */
const lagMsOf = (last: Claimed, shows: StateClass): number =>
  last.shows === 'settled' && shows === 'running' ? limits.screenWorkLagMs : limits.screenLagMs;

/** The screen never drew the last claim: what it shows may be a turn older than that. */
export const isUndrawn = (trail: Trail): boolean => trail.claims.length > 0 && !isCurrent(trail);
