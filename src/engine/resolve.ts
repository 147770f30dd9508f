// Step "resolve": from everything known of a runtime to the one state that is published (RSV1, RSV2, RSV4). Pure and
// without memory: the same fold at the same moment always gives the same answer.

import { type Ask, stateOfAsk } from '../model/asks.ts';
import { limits } from '../model/limits.ts';
import { isCut, type ReasonCode } from '../model/reasons.ts';
import type { EndRecord, Evidence } from '../model/records.ts';
import { rankOf, type SourceName } from '../model/sources.ts';
import { type Confidence, classOf, precedenceOf, type StateName } from '../model/states.ts';
import { openAsks } from './asks.ts';
import type { Background, Claim, Fold } from './fold.ts';

/** One voice on what the state is. */
interface Candidate {
  readonly source: SourceName;
  readonly state: StateName;
  readonly reason: ReasonCode;
  readonly confidence: Confidence;
  readonly time: number;
  readonly received: number;
  readonly detail: string | null;
  readonly until: number | null;
  readonly ask: Ask | null;
}

/** What is known from outside the runtime's own facts. */
export interface Surroundings {
  /** When its process began. */
  readonly startedAt: number;
  /** When another agent took over the same pane: this one is over, whether its end was seen or not. */
  readonly replacedAt: number | null;
  /** When its tmux server was followed by another one (IDN2). */
  readonly serverGoneAt: number | null;
  /** The log was damaged and this runtime is all that was saved of it. */
  readonly rebuilt: boolean;
}

export interface Resolved {
  readonly state: StateName;
  readonly reason: ReasonCode;
  readonly confidence: Confidence;
  readonly detail: string | null;
  readonly until: number | null;
  /** When the evidence for this state arose. */
  readonly time: number;
  /** When the newest of it reached us; ages count from here. */
  readonly received: number;
  readonly decided_by: SourceName | null;
  readonly competing: readonly Evidence[];
  readonly ask: Ask | null;
  readonly asks_open: number;
  readonly background: Background;
  readonly suspended: boolean;
  readonly ended: EndRecord | null;
}

export function resolve(fold: Fold, around: Surroundings): Resolved {
  const ended = endOf(fold, around);
  if (ended !== null) return resolveEnded(fold, ended);
  const asks = openAsks(fold);
  const candidates = [...claimCandidates(fold), ...asks.map(askCandidate)];
  const standing = candidates.filter((one) => !isSuperseded(one, candidates, fold));
  const heard = standing.filter((one) => !isOutranked(one, standing));
  const first = heard.reduce<Candidate | null>((best, one) => (best === null || beats(one, best) ? one : best), null);
  if (first === null) return resolveUnknown(fold, around);
  const decided = cutShort(first, heard, fold) ?? first;
  const agreeing = heard.filter((one) => classOf(one.state) === classOf(decided.state));
  const contradicted = agreeing.length < standing.length;
  return {
    ...rest(fold),
    state: decided.state,
    reason: reasonAmong(decided, agreeing),
    confidence: contradicted && decided.confidence === 'high' ? 'medium' : decided.confidence,
    detail: decided.detail,
    until: decided.until,
    time: Math.max(...agreeing.map((one) => one.time)),
    received: decided.received,
    decided_by: decided.source,
    competing: candidates.filter((one) => one !== decided).map(asEvidence),
    ask: decided.ask,
    asks_open: asks.length,
    ended: null,
  };
}

/**
 * Screens lag: work that is still drawn when a better witness has said that it is over is not heard but looked at again
 * (RSV2). A dialog is heard at once, since no hook may tell of it.
 */
function isOutranked(one: Candidate, standing: readonly Candidate[]): boolean {
  const isBetter = (other: Candidate): boolean => rankOf(other.source) > rankOf(one.source);
  return one.state === 'running' && standing.some((other) => isBetter(other) && other.state !== 'running');
}

/**
 * Who saw that the turn was cut short is heard before who only believes that it was finished: at that moment, and a better
 * witness for as long as the other has seen no work since (RSV13).
 */
function cutShort(decided: Candidate, standing: readonly Candidate[], fold: Fold): Candidate | null {
  if (decided.state !== 'completed') return null;
  // The reconciler repeats what the screen shows.
  const seenBy = (source: SourceName): SourceName => (source === 'reconciler' ? 'screen' : source);
  const rank = rankOf(seenBy(decided.source));
  const workedAt = fold.activeAt[seenBy(decided.source)] ?? 0;
  const isBetter = (one: Candidate): boolean =>
    rankOf(seenBy(one.source)) > rank && workedAt <= one.time + limits.sameMomentMs;
  const isSameMoment = (one: Candidate): boolean =>
    decided.confidence !== 'high' && one.time >= decided.time - limits.sameMomentMs;
  const cuts = standing.filter((one) => one.state === 'idle' && one.confidence === 'high' && isCut(one.reason));
  // The best of them, not the first: in which order they came must not matter (CNV1).
  return cuts
    .filter((one) => isBetter(one) || isSameMoment(one))
    .reduce<Candidate | null>((best, one) => (best === null || beats(one, best) ? one : best), null);
}

/** Reasons that say no more than the state itself. */
const vague: readonly ReasonCode[] = ['prompt_ready', 'turn_running'];

/** Whoever agrees at that moment and knows more (interrupted, refused, retrying, a tool) is heard on the reason. */
function reasonAmong(decided: Candidate, agreeing: readonly Candidate[]): ReasonCode {
  if (!vague.includes(decided.reason)) return decided.reason;
  let best = decided;
  for (const one of agreeing) {
    const isWhy = one.state === decided.state && !vague.includes(one.reason);
    if (isWhy && one.time >= decided.time - limits.sameMomentMs && (best === decided || beats(one, best))) best = one;
  }
  return best.reason;
}

const rest = (fold: Fold): { background: Background; suspended: boolean } => ({
  background: countBackground(fold),
  suspended: fold.suspended?.value ?? false,
});

function claimCandidates(fold: Fold): readonly Candidate[] {
  const found: Candidate[] = [];
  for (const [source, claim] of byName(fold.claims)) {
    const { state, reason, confidence, detail = null, until = null } = claim.fact;
    // What no rule knows says nothing: it neither competes nor supersedes (RSV2).
    if (state === 'unknown') continue;
    found.push({
      source,
      state,
      reason,
      confidence,
      time: claim.time,
      received: claim.received,
      detail,
      until,
      ask: null,
    });
  }
  return found;
}

function askCandidate({ ask, source, time }: ReturnType<typeof openAsks>[number]): Candidate {
  const state = stateOfAsk(ask.kind);
  const reason = reasonOfAsk(ask.kind);
  return { source, state, reason, confidence: 'high', time, received: time, detail: ask.text, until: null, ask };
}

function reasonOfAsk(kind: Ask['kind']): ReasonCode {
  if (kind === 'trust') return 'trust_asked';
  if (kind === 'dialog') return 'dialog_open';
  return kind === 'question' ? 'question_asked' : 'approval_asked';
}

/** A later observation of equal or higher rank supersedes; asks leave only by being settled (ASK4). */
function isSuperseded(one: Candidate, all: readonly Candidate[], fold: Fold): boolean {
  if (one.ask !== null) return false;
  const rank = rankOf(one.source);
  if (one.state !== 'running') {
    // It has worked since: what was finished, asked or wrong before that is history (RSV7). A source's own words are
    // already in order.
    for (const [source, time] of Object.entries(fold.activeAt) as [SourceName, number][]) {
      if (source !== one.source && rankOf(source) >= rank && time > one.time) return true;
    }
  }
  return all.some(
    (other) =>
      other.time > one.time &&
      rankOf(other.source) >= rank &&
      classOf(other.state) !== classOf(one.state) &&
      !isSilentOn(other, one),
  );
}

/** A prompt is ready after an error as well: whoever only sees the prompt does not deny the error (RSV7). */
export function isSilentOn(said: { readonly state: StateName }, claim: { readonly state: StateName }): boolean {
  return said.state === 'idle' && claim.state === 'error';
}

/** Precedence first (RSV2), then asks, then the better witness, the later word, and the name, so that there is one. */
function beats(one: Candidate, other: Candidate): boolean {
  const byState = precedenceOf(one.state) - precedenceOf(other.state);
  if (byState !== 0) return byState < 0;
  // A voice that can tell what is asked beats one that only knows that something is; of several asks the first in the
  // queue is the one on the screen.
  if (one.ask !== null || other.ask !== null) return other.ask === null;
  const byRank = rankOf(one.source) - rankOf(other.source);
  if (byRank !== 0) return byRank > 0;
  if (one.time !== other.time) return one.time > other.time;
  return one.source < other.source;
}

const asEvidence = (one: Candidate): Evidence => ({
  source: one.source,
  state: one.state,
  reason: one.reason,
  confidence: one.confidence,
  time: one.time,
});

/** The count of the best witness; its latest, and by name where even that is equal. */
function countBackground(fold: Fold): Background {
  let best: Background = { shells: 0, agents: 0 };
  let bestRank = 0;
  let bestMajor = 0;
  for (const [source, { key, value }] of byName(fold.background)) {
    const order = rankOf(source) - bestRank || key.major - bestMajor;
    if (order > 0) [best, bestRank, bestMajor] = [value, rankOf(source), key.major];
  }
  return best;
}

/** What sources said, in the order of their names: ties never depend on who spoke first. */
function byName<Said>(said: Readonly<Partial<Record<SourceName, Said>>>): readonly (readonly [SourceName, Said])[] {
  const entries = Object.entries(said) as [SourceName, Said][];
  return entries.sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Unsure means unknown with a reason, never idle (RSV4). */
function resolveUnknown(fold: Fold, around: Surroundings): Resolved {
  let last: Claim | null = null;
  for (const [, claim] of byName(fold.claims)) if (last === null || claim.time > last.time) last = claim;
  const reason = last !== null ? last.fact.reason : around.rebuilt ? 'rebuilt' : 'not_observed_yet';
  return {
    ...rest(fold),
    state: 'unknown',
    reason,
    confidence: 'low',
    detail: last?.fact.detail ?? null,
    until: null,
    time: last?.time ?? around.startedAt,
    received: last?.received ?? around.startedAt,
    decided_by: null,
    competing: [],
    ask: null,
    asks_open: 0,
    ended: null,
  };
}

/** How it ended, if it did: by its process, by another agent in its pane, or with its server (IDN2, IDN4, RSV8). */
export function endOf(fold: Fold, around: Surroundings): EndRecord | null {
  if (fold.end !== null) {
    const { cause, status, signal, time } = fold.end;
    // Its own goodbye or status 0 make a clean leave; a signal never does (RSV12).
    const clean =
      cause === 'exit' ? status === 0 || (status === null && fold.goodbye) : cause === 'vanished' && fold.goodbye;
    return { cause, status, signal, clean, time };
  }
  if (around.replacedAt !== null) return endedFromOutside('replaced', around.replacedAt);
  if (around.serverGoneAt !== null) return endedFromOutside('server_gone', around.serverGoneAt);
  return null;
}

const endedFromOutside = (cause: 'replaced' | 'server_gone', time: number): EndRecord => ({
  cause,
  status: null,
  signal: null,
  clean: true,
  time,
});

function resolveEnded(fold: Fold, ended: EndRecord): Resolved {
  const reason = reasonOfEnd(ended);
  return {
    ...rest(fold),
    suspended: false,
    state: ended.clean ? 'unknown' : 'error',
    reason,
    confidence: 'high',
    detail: null,
    until: null,
    time: ended.time,
    received: ended.time,
    decided_by: 'process',
    competing: [],
    ask: null,
    asks_open: 0,
    ended,
  };
}

function reasonOfEnd(ended: EndRecord): ReasonCode {
  switch (ended.cause) {
    case 'replaced':
      return 'replaced';
    case 'server_gone':
      return 'target_restarted';
    case 'exit':
      return ended.clean ? 'exited' : 'ended_with_status';
    case 'signal':
      return 'ended_by_signal';
    case 'vanished':
      return ended.clean ? 'exited' : 'ended_without_goodbye';
  }
}
