// Sending a message: when it may be typed at all (ACT3), and typing it in two guarded steps (ACT2). Nothing is ever typed
// into an open dialog, where a line of text and Enter may mean yes.

import { type Failure, failure } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
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
import { typeAndSubmit } from './guarded-hands.ts';

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
  const typed = await typeAndSubmit(grip.value.hands, grip.value.place, text, {
    enter,
    collapsed: keys?.collapsed ?? null,
    enterPauseMs: keys?.enterPauseMs ?? limits.enterPauseMs,
    recheck,
    sign: () => sign,
    clock: bench.ground.clock,
  });
  if (typed === 'submitted' && (await isTaken(bench, attempt, grip.value, keys?.emptyPrompt))) {
    return ended('delivered', { way: 'keys' });
  }
  if (typed === 'submitted' || typed === 'pasted' || typed.kind !== 'refused') bench.unsure.add(runtime);
  if (typed === 'submitted') {
    const words = 'Enter went out and its prompt still holds text; look at the pane';
    return ended('unconfirmed', { way: 'keys', words });
  }
  if (typed === 'pasted') return ended('unconfirmed', { way: 'keys', words: 'pasted, not submitted' });
  switch (typed.kind) {
    case 'done':
      return ended('delivered', { way: 'keys', words: 'left in the prompt' });
    case 'lost':
      return ended('unconfirmed', { way: 'keys', words: typed.words });
    case 'refused':
      return typed.why === 'other_process' ? refusedRecheck(bench, attempt, why) : refusedTouch(typed.why);
  }
}

/** For agents that may take Enter for a line of the text: their prompt is empty, or they ask something already. */
async function isTaken(
  bench: Bench,
  attempt: Attempt,
  { place, hands }: Grip,
  emptyPrompt: string | undefined,
): Promise<boolean> {
  if (emptyPrompt === undefined) return true;
  const pattern = new RegExp(emptyPrompt, 'u');
  return bench.comesTrue(async () => {
    if ((await hands.look(place)).some((line) => pattern.test(line))) return true;
    const look = await bench.look(attempt);
    return look !== null && showsDialog(look);
  });
}

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
