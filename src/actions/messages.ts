// Sending a message: when it may be typed at all (ACT3), and typing it in two guarded steps (ACT2). Nothing is ever typed
// into an open dialog, where a line of text and Enter may mean yes.

import { type FreshLook, type Keys, showsDialog } from '../agents/contract.ts';
import { type Failure, failure } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import { rankOf } from '../model/sources.ts';
import type { SeenRows } from '../terminals/tmux/pane-writer.ts';
import {
  type ActionContext,
  type Attempt,
  checkedWay,
  type Ending,
  ended,
  type PaneHandle,
  refused,
  refusedWrite,
  unreadable,
} from './action-context.ts';
import { isTakenFrom } from './message-text.ts';
import { screenOf, type TypingOptions, typeAndSubmit, withoutMarks } from './submitting.ts';

/** type: as a message. answer: what is asked takes it as its answer. Otherwise why not. */
export type MessageRule = 'type' | 'answer' | Failure;

const unsentText = failure(
  'E_STATE_CHANGED',
  'its prompt contains unfinished text, which would be sent too',
  'finish or clear it there (`agtmux attach`), or queue the message: --when-ready',
);

const unsureText = failure(
  'E_STATE_CHANGED',
  'its prompt may still contain an earlier message, which would be sent too',
  'check it with `agtmux attach`, then send it again',
);

const openDialog = (words: string): Failure => failure('E_DIALOG', words);

const noPrompt = failure(
  'E_STATE_CHANGED',
  'its screen does not show its prompt',
  'check it (`agtmux attach`); a larger window may show more',
);

/** Where the marks of a paste are no marks, a line end is Enter and a tab a key. */
export function lineProblem(keys: Pick<Keys, 'paste'> | null, text: string): Failure | null {
  if (keys?.paste !== 'plain' || !/[\n\t]/.test(text)) return null;
  const what = text.includes('\n') ? `has ${text.split('\n').length} lines` : 'contains a tab';
  return failure(
    'E_UNSUPPORTED',
    `the message ${what}, and this agent does not know the marks of a paste: it would take each line end and tab as a key`,
    'send it as one line without tabs; the rest may stand in a file that this line names',
  );
}

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
    if (ask !== null) return failure('E_STATE_CHANGED', 'its pending request is not what is on its screen');
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
            'its screen does not show an empty prompt',
            'check it (`agtmux attach`); a larger window may show more',
          )
        : 'type';
    case 'unknown':
      return isForced
        ? 'type'
        : failure(
            'E_STATE_CHANGED',
            'its state is unknown',
            'check it, then use --force-stale if the message is still right',
          );
  }
}

/** A draft of somebody's, or what was typed earlier and not submitted. */
const hasUnsent = ({ prompt }: FreshLook): boolean => prompt != null && prompt.unsent !== '';

/** Types it now. The caller has checked the text and the role. */
export async function typeMessage(
  context: ActionContext,
  attempt: Attempt,
  text: string,
  enter: boolean,
): Promise<Ending> {
  const keys = context.ground.keysOf(attempt.identity.agent);
  const unfit = lineProblem(keys, text);
  if (unfit !== null) return refused(unfit);
  const handle = await context.handle(attempt);
  if (!handle.ok) return refused(handle.failure);
  const late = context.check(attempt);
  if (late !== null) return refused(late);
  const runtime = attempt.identity.runtime_id;
  const way = context.ground.isPaneless(runtime) ? checkedWay : 'keys';
  const isPlain = keys?.paste === 'plain';
  let why: Failure | null = null;
  let sign: string | null = null;
  const recheck = async (isTyped: boolean): Promise<boolean> => {
    if (!(await context.holds(attempt, handle.value))) return false;
    const look = await context.look(attempt);
    sign = look?.prompt?.sign ?? null;
    // Before the text everything must be as it was decided on; after it the agent may have begun to work.
    why =
      notNow(look) ??
      (isPlain && look?.prompt == null ? noPrompt : null) ??
      (isTyped ? null : (leftThere(context, runtime, look) ?? context.check(attempt)));
    return why === null;
  };
  const before = context.ground.stateOf(runtime);
  let became: 'taken' | keyof typeof notTaken | null = null;
  const options: TypingOptions = {
    enter,
    collapsed: keys?.collapsed ?? null,
    enterPauseMs: keys?.enterPauseMs ?? limits.enterPauseMs,
    ...(keys?.prompt === undefined ? {} : { prompt: keys.prompt }),
    isPlain,
    recheck,
    sign: () => sign,
    onEnter: async (on) => {
      became = await whatBecame(context, attempt, handle.value, { text, on, before, options });
    },
    clock: context.ground.clock,
  };
  const writer = isPlain ? withoutMarks(handle.value.writer) : handle.value.writer;
  const typed = await typeAndSubmit(writer, handle.value.place, text, options);
  // Set inside of what is called back, which the compiler does not see.
  const end = became as 'taken' | keyof typeof notTaken | null;
  if (typed === 'submitted' && end !== null) {
    if (end === 'taken') return ended('delivered', { way });
    context.unsure.add(runtime);
    return ended('unconfirmed', { way, words: notTaken[end] });
  }
  if (typeof typed === 'string' || typed.kind !== 'refused') context.unsure.add(runtime);
  if (typeof typed === 'string') return ended('unconfirmed', { way, words: notSubmitted[typed] });
  switch (typed.kind) {
    case 'done':
      return ended('delivered', { way, words: 'left in the prompt' });
    case 'lost':
      return ended('unconfirmed', { way, words: typed.words });
    case 'refused':
      return typed.why === 'other_process' ? refusedRecheck(context, attempt, why) : refusedWrite(typed.why);
  }
}

const notSubmitted = {
  submitted: 'Enter was sent, but it is not known to what; check the pane (`agtmux attach`)',
  pasted: 'pasted, not submitted: it did not appear in the prompt in time; check the pane (`agtmux attach`)',
  mixed:
    'pasted, not submitted: the prompt contains other text beside the message, perhaps someone is typing there; ' +
    'check the pane (`agtmux attach`) and submit or clear it there',
} as const;

const notTaken = {
  held: 'Enter was sent, but the agent was not seen to take the message; check the pane (`agtmux attach`)',
  replaced:
    'Enter was sent, but the agent ended or another program came to the foreground before it was seen to take the message',
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
  context: ActionContext,
  attempt: Attempt,
  handle: PaneHandle,
  { text, on, before, options }: Submitted,
): Promise<'taken' | keyof typeof notTaken> {
  const collapsed = options.collapsed === null ? null : new RegExp(options.collapsed, 'gu');
  let end: 'taken' | keyof typeof notTaken = 'held';
  await context.comesTrue(
    async () => {
      const isTaken =
        isTakenFrom(on, text, collapsed, await screenOf(handle.writer, handle.place, options)) ||
        isToldAtWork(context, attempt, before) ||
        hasDialog(await context.look(attempt));
      // Whoever is there after the look was there at the look.
      if (!(await context.holds(attempt, handle))) end = 'replaced';
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
function isToldAtWork({ ground }: ActionContext, { identity }: Attempt, before: StateRecord | null): boolean {
  const now = ground.stateOf(identity.runtime_id);
  if (now === null || now.decided_by === null || before === null || before.state === 'running') return false;
  return now.state_version !== before.state_version && now.state === 'running' && rankOf(now.decided_by) > screenRank;
}
const screenRank = rankOf('screen');

/** The second look said no: told is what it saw. */
function refusedRecheck(context: ActionContext, attempt: Attempt, why: Failure | null): Ending {
  const problem = why ?? context.check(attempt);
  return problem === null ? refusedWrite('other_process') : refused(problem);
}

/** A dialog may have come up since, and what is typed would answer it. Where nobody can look, there may be one. */
function notNow(look: FreshLook | null): Failure | null {
  if (look === null) return unreadable;
  return showsDialog(look) ? openDialog('a dialog appeared on its screen') : null;
}

/** Enter would send it along with the message. After an unconfirmed one the prompt must have been seen empty. */
function leftThere({ unsure }: ActionContext, runtime: RuntimeId, look: FreshLook | null): Failure | null {
  if (look !== null && hasUnsent(look)) return unsentText;
  if (look?.prompt != null) unsure.delete(runtime);
  return unsure.has(runtime) ? unsureText : null;
}
