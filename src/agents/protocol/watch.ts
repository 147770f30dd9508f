// What time alone tells of a turn, for every adapter: silence that lasts too long, an idle agent that never said how the
// turn ended, and work behind an answer that has ended without another one (SES6).

import { limits } from '../../model/limits.ts';
import type { MachineEvent, MachineEventKind } from '../../model/sessions.ts';
import type { Delivery, UserAction } from './adapter.ts';
import { type Draft, tell } from './draft.ts';

interface Watch {
  /** A prompt was said, or a turn began by itself, and its end was not heard since. */
  readonly isTurnOpen: boolean;
  /** We asked for the end of it. */
  readonly isCancelling: boolean;
  readonly heardAt: number;
  /** Why the next look at the clock is due, and when. */
  readonly due: { readonly why: 'silence' | 'idle' | 'behind'; readonly at: number } | null;
  /** The end of a turn that counts when the work behind it has ended. */
  readonly held: MachineEvent | null;
  /** How far a person's last words have come. */
  readonly words: Exclude<Delivery, 'dropped'>;
}

export interface Watched {
  readonly watch: Watch;
}

export const freshWatch = (at: number): Watch => ({
  isTurnOpen: false,
  isCancelling: false,
  heardAt: at,
  due: null,
  held: null,
  words: 'taken',
});

/** `isHeld`: the adapter still has words to say. */
export const deliveryOf = ({ words }: Watch, isHeld: boolean): Delivery =>
  isHeld ? 'held' : words === 'held' ? 'dropped' : words;

/** The agent has shown that it got what it was told. */
export function hearTaken<Memory extends Watched>(draft: Draft<Memory>): void {
  if (draft.memory.watch.words === 'said') setWatch(draft, { words: 'taken' });
}

/** An answer was given; `isHeld`: it is told together with those to the next questions. */
export function noteAnswer<Memory extends Watched>(draft: Draft<Memory>, deed: UserAction, isHeld: boolean): void {
  if (deed.kind === 'write' || deed.kind === 'choose') setWatch(draft, { words: isHeld ? 'held' : 'said' });
}

export function setWatch<Memory extends Watched>(draft: Draft<Memory>, change: Partial<Watch>): void {
  draft.memory = { ...draft.memory, watch: { ...draft.memory.watch, ...change } };
}

function watchFor<Memory extends Watched>(
  draft: Draft<Memory>,
  why: NonNullable<Watch['due']>['why'],
  afterMs: number,
): void {
  setWatch(draft, { due: { why, at: draft.at + afterMs } });
  draft.wakeMs = afterMs;
}

function watchNothing<Memory extends Watched>(draft: Draft<Memory>): void {
  setWatch(draft, { due: null });
  draft.wakeMs = null;
}

export function beginTurn<Memory extends Watched>(draft: Draft<Memory>): void {
  setWatch(draft, { isTurnOpen: true, heardAt: draft.at, held: null });
  watchFor(draft, 'silence', limits.sessionSilenceMs);
}

/** It was told something: an answer may come after days, and the silence that counts begins with it. */
export function spokenTo<Memory extends Watched>(draft: Draft<Memory>): void {
  setWatch(draft, { heardAt: Math.max(draft.at, draft.memory.watch.heardAt) });
}

/** The end of a turn. */
export function endTurn<Memory extends Watched>(draft: Draft<Memory>, ending: MachineEvent): void {
  setWatch(draft, { isTurnOpen: false, isCancelling: false, held: null });
  watchNothing(draft);
  draft.events.push(ending);
}

/** The end of a turn behind which work goes on: told when that has ended, if no other turn begins. */
export function holdTurn<Memory extends Watched>(draft: Draft<Memory>, ending: MachineEvent): void {
  setWatch(draft, { held: ending });
  watchFor(draft, 'silence', limits.sessionSilenceMs);
}

/** The agent says that it is idle. How the turn ended is told at the same time, or never. */
export function hearIdle<Memory extends Watched>(draft: Draft<Memory>): void {
  const { isTurnOpen, held } = draft.memory.watch;
  if (isTurnOpen && held === null) watchFor(draft, 'idle', limits.sessionIdleGraceMs);
}

/** The work behind a held end is over. */
export function hearNothingBehind<Memory extends Watched>(draft: Draft<Memory>): void {
  if (draft.memory.watch.held !== null) watchFor(draft, 'behind', limits.sessionBehindGraceMs);
}

/** What the machine may take for a sign of work. */
const signs: readonly MachineEventKind[] = [
  ...(['api_req_started', 'api_retried', 'command_output', 'user_feedback', 'ask:tool', 'ask:command'] as const),
  ...(['ask:use_mcp_server', 'ask:followup'] as const),
];

/**
 * Lines may come late or in another order: whoever is told of work is watched, also when its turn was over, and one that
 * was given up is watched again as soon as it is heard.
 */
export function watchSigns<Memory extends Watched>(draft: Draft<Memory>): void {
  const { isTurnOpen, due } = draft.memory.watch;
  const isSign = draft.events.some(({ kind }) => signs.includes(kind));
  if (isSign && !isTurnOpen) beginTurn(draft);
  else if (isTurnOpen && due === null) watchFor(draft, 'silence', limits.sessionSilenceMs);
}

/** The process or connection is gone, and with it the work behind a held end. */
export function hearGone<Memory extends Watched>(draft: Draft<Memory>): void {
  const { held } = draft.memory.watch;
  setWatch(draft, { isTurnOpen: false, isCancelling: false, held: null });
  watchNothing(draft);
  if (held !== null) draft.events.push({ ...held, at: draft.at });
}

/** Why an agent that says nothing need not be lost: a question may stand for days, a tool may run for an hour. */
export type Excuse = 'ask' | 'tool' | null;

/**
 * A timer went off. An ask that nobody is shown excuses nothing: it came when the session took none, as after a stop, and
 * nobody will ever answer it.
 */
export function hearClock<Memory extends Watched>(draft: Draft<Memory>, open: Excuse, isAsked = true): void {
  const excuse = open === 'ask' && !isAsked ? null : open;
  const { due, held, heardAt, isTurnOpen } = draft.memory.watch;
  if (due === null || !isTurnOpen) return;
  if (due.at > draft.at) {
    draft.wakeMs = due.at - draft.at;
    return;
  }
  switch (due.why) {
    case 'idle':
      endTurn(draft, idleEnding(draft));
      return;
    case 'behind':
      endTurn(draft, { ...(held ?? idleEnding(draft)), at: draft.at });
      return;
    case 'silence':
      hearSilence(draft, heardAt, excuse);
      return;
  }
}

function idleEnding<Memory extends Watched>({ memory, at }: Draft<Memory>): MachineEvent {
  if (memory.watch.isCancelling) return { kind: 'turn_cancelled', at };
  const words = 'the agent is idle and did not report how the turn ended';
  return { kind: 'say:completion_result', at, outcome: 'unverified', words };
}

/** Lines come without a look at the clock; only when it goes off is it found out how long there were none. */
function hearSilence<Memory extends Watched>(draft: Draft<Memory>, heardAt: number, excuse: Excuse): void {
  const silenceMs = excuse === null ? limits.sessionSilenceMs : limits.sessionToolSilenceMs;
  const leftMs = heardAt + silenceMs - draft.at;
  if (leftMs > 0 || excuse === 'ask') {
    watchFor(draft, 'silence', leftMs > 0 ? Math.min(leftMs, limits.sessionSilenceMs) : limits.sessionSilenceMs);
    return;
  }
  watchNothing(draft);
  const minutes = Math.round(silenceMs / 60_000);
  tell(draft, 'heartbeat_lost', { words: `the agent did not respond for ${minutes} minutes` });
}
