// Sending a message: when it may be typed at all (ACT3), and typing it in two guarded steps (ACT2). Nothing is ever typed
// into an open dialog, where a line of text and Enter may mean yes.

import { type Failure, failure } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import { rankOf } from '../model/sources.ts';
import {
  type Attempt,
  type Bench,
  type Ending,
  ended,
  type Grip,
  refused,
  refusedTouch,
  showsDialog,
  unreadable,
} from './bench.ts';
import type { FreshLook } from './ground.ts';
import type { SeenRows } from './hands.ts';
import { isTakenFrom } from './message-text.ts';
import { screenOf, type TypingOptions, typeAndSubmit } from './submitting.ts';

/** type: as a message. answer: what is asked takes it as its answer. Otherwise why not. */
export type MessageRule = 'type' | 'answer' | Failure;

const unsentText = failure(
  'E_STATE_CHANGED',
  'unfinished text stands in its prompt and would be sent along',
  'finish or clear it there (`agtmux attach`), or let the message wait: --when-ready',
);

const unsureText = failure(
  'E_STATE_CHANGED',
  'an earlier message may still stand in its prompt and would be sent along',
  'look at it: `agtmux attach`, then send it again',
);

const openDialog = (words: string): Failure => failure('E_DIALOG', words);

/** The whole of ACT3 as one table; a dialog that is seen counts, whatever was published. */
export function messageRule(
  { state, ask }: Pick<StateRecord, 'state' | 'ask'>,
  look: FreshLook | null,
  isForced: boolean,
): MessageRule {
  if (look === null) return unreadable;
  if (state === 'waiting_approval') return openDialog('it waits for an approval');
  if (state === 'waiting_input') {
    if (ask !== null && look.ask !== null && look.state === 'waiting_input') return 'answer';
    if (ask !== null) return failure('E_STATE_CHANGED', 'what it asked is not what is on its screen');
  }
  if (showsDialog(look)) return openDialog('a dialog is open on its screen');
  if (hasUnsent(look)) return unsentText;
  switch (state) {
    case 'idle':
    case 'completed':
    case 'running':
    case 'waiting_input':
    case 'error':
      // An editor that the agent has opened is drawn over it and would get the keys.
      return look.state === 'unknown' && !isForced
        ? failure(
            'E_STATE_CHANGED',
            'its screen does not show that its prompt is free',
            'look at it (`agtmux attach`); a larger window may show more',
          )
        : 'type';
    case 'unknown':
      return isForced
        ? 'type'
        : failure(
            'E_STATE_CHANGED',
            'nobody knows what it is doing',
            'look at it, then use --force-stale if it is right',
          );
  }
}

/** A draft of somebody's, or what was typed earlier and not submitted. */
const hasUnsent = ({ prompt }: FreshLook): boolean => prompt != null && prompt.unsent !== '';

/** Types it now. The caller has checked the text and the role. */
export async function typeMessage(bench: Bench, attempt: Attempt, text: string, enter: boolean): Promise<Ending> {
  const grip = await bench.grip(attempt);
  if (!grip.ok) return refused(grip.failure);
  const late = bench.check(attempt);
  if (late !== null) return refused(late);
  const runtime = attempt.identity.runtime_id;
  const keys = bench.ground.keysOf(attempt.identity.agent);
  let why: Failure | null = null;
  let sign: string | null = null;
  const recheck = async (isTyped: boolean): Promise<boolean> => {
    if (!(await bench.holds(attempt, grip.value))) return false;
    const look = await bench.look(attempt);
    sign = look?.prompt?.sign ?? null;
    // Before the text everything must be as it was decided on; after it the agent may have begun to work.
    why = notNow(look) ?? (isTyped ? null : (leftThere(bench, runtime, look) ?? bench.check(attempt)));
    return why === null;
  };
  const before = bench.ground.stateOf(runtime);
  let became: 'taken' | keyof typeof notTaken | null = null;
  const options: TypingOptions = {
    enter,
    collapsed: keys?.collapsed ?? null,
    enterPauseMs: keys?.enterPauseMs ?? limits.enterPauseMs,
    ...(keys?.prompt === undefined ? {} : { prompt: keys.prompt }),
    recheck,
    sign: () => sign,
    onEnter: async (on) => {
      became = await whatBecame(bench, attempt, grip.value, { text, on, before, options });
    },
    clock: bench.ground.clock,
  };
  const typed = await typeAndSubmit(grip.value.hands, grip.value.place, text, options);
  // Set inside of what is called back, which the compiler does not see.
  const end = became as 'taken' | keyof typeof notTaken | null;
  if (typed === 'submitted' && end !== null) {
    if (end === 'taken') return ended('delivered', { way: 'keys' });
    bench.unsure.add(runtime);
    return ended('unconfirmed', { way: 'keys', words: notTaken[end] });
  }
  if (typeof typed === 'string' || typed.kind !== 'refused') bench.unsure.add(runtime);
  if (typeof typed === 'string') return ended('unconfirmed', { way: 'keys', words: notSubmitted[typed] });
  switch (typed.kind) {
    case 'done':
      return ended('delivered', { way: 'keys', words: 'left in the prompt' });
    case 'lost':
      return ended('unconfirmed', { way: 'keys', words: typed.words });
    case 'refused':
      return typed.why === 'other_process' ? refusedRecheck(bench, attempt, why) : refusedTouch(typed.why);
  }
}

const notSubmitted = {
  submitted: 'Enter went out, and nobody knows on what; look at the pane (`agtmux attach`)',
  pasted: 'pasted, not submitted: it was not seen in its prompt in time; look at the pane (`agtmux attach`)',
  mixed:
    'pasted, not submitted: something else stands in its prompt beside the message, perhaps somebody is typing there; ' +
    'look at the pane (`agtmux attach`), and submit or clear it there',
} as const;

const notTaken = {
  held: 'Enter went out and it was not seen to take the message; look at the pane (`agtmux attach`)',
  replaced: 'Enter went out, and it ended or another program came to the front before it was seen to take the message',
} as const;

interface Submitted {
  readonly text: string;
  /** What Enter was pressed on. */
  readonly on: SeenRows;
  /** Its state before the text. */
  readonly before: StateRecord | null;
  readonly options: TypingOptions;
}

/** Delivered is what the agent was seen to take, and while it was still this very agent (ACT4). */
async function whatBecame(
  bench: Bench,
  attempt: Attempt,
  grip: Grip,
  { text, on, before, options }: Submitted,
): Promise<'taken' | keyof typeof notTaken> {
  const collapsed = options.collapsed === null ? null : new RegExp(options.collapsed, 'gu');
  let end: 'taken' | keyof typeof notTaken = 'held';
  await bench.comesTrue(
    async () => {
      const isTaken =
        isTakenFrom(on, text, collapsed, await screenOf(grip.hands, grip.place, options)) ||
        isToldAtWork(bench, attempt, before) ||
        hasDialog(await bench.look(attempt));
      // Whoever is there after the look was there at the look.
      if (!(await bench.holds(attempt, grip))) end = 'replaced';
      else if (isTaken) end = 'taken';
      return end !== 'held';
    },
    limits.submitSeenMs,
    limits.submitLookMs,
  );
  return end;
}

const hasDialog = (look: FreshLook | null): boolean => look !== null && showsDialog(look);

/** By what it has told itself since: one that did not work does now. */
function isToldAtWork({ ground }: Bench, { identity }: Attempt, before: StateRecord | null): boolean {
  const now = ground.stateOf(identity.runtime_id);
  if (now === null || now.decided_by === null || before === null || before.state === 'running') return false;
  return now.state_version !== before.state_version && now.state === 'running' && rankOf(now.decided_by) > screenRank;
}
const screenRank = rankOf('screen');

/** The second look said no: told is what it saw. */
function refusedRecheck(bench: Bench, attempt: Attempt, why: Failure | null): Ending {
  const problem = why ?? bench.check(attempt);
  return problem === null ? refusedTouch('other_process') : refused(problem);
}

/** A dialog may have come up since, and what is typed would answer it. Where nobody can look, there may be one. */
function notNow(look: FreshLook | null): Failure | null {
  if (look === null) return unreadable;
  return showsDialog(look) ? openDialog('a dialog came up on its screen') : null;
}

/** Enter would send it along with the message. After an unconfirmed one the prompt must have been seen empty. */
function leftThere({ unsure }: Bench, runtime: RuntimeId, look: FreshLook | null): Failure | null {
  if (look !== null && hasUnsent(look)) return unsentText;
  if (look?.prompt != null) unsure.delete(runtime);
  return unsure.has(runtime) ? unsureText : null;
}
