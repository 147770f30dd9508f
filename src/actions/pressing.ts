// Giving an answer at the keyboard, and seeing what became of it: delivered only when the dialog is gone or the agent's own
// word says so (ACT4). A dialog that asks on before the answer counts is answered too, where that is part of the wish.

import { type Keys, type SeenAsk, showsDialog } from '../agents/contract.ts';
import { fitsScreen, squeezed } from '../agents/screen/fitting.ts';
import { hashText, isSame } from '../engine/canonical.ts';
import { type Ask, stateOfAsk } from '../model/asks.ts';
import { failure } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { SeenRows } from '../terminals/tmux/pane-writer.ts';
import { type ActionContext, type Attempt, type Ending, ended, refused, refusedWrite } from './action-context.ts';
import { type Intent, type Plan, planOn } from './intents.ts';
import { asksSame, dialogOn, type KeySequenceResult, perform, rechecks } from './key-sequence.ts';

export interface AnsweredAsks {
  has(runtime: RuntimeId, key: string): boolean;
  /** Resolves when it is on disk: a daemon that falls over right after must not answer again. */
  add(runtime: RuntimeId, key: string): Promise<void>;
  /** Nothing was typed after all. */
  remove(runtime: RuntimeId, key: string): Promise<void>;
}

/** By what an answer is remembered. One ask may hold several questions, which are shown one after the other. */
export const answerKey = ({ ask_id, kind }: Ask, seen: SeenAsk | null): string =>
  seen === null || stateOfAsk(kind) === 'waiting_approval' ? ask_id : `${ask_id} ${hashText(squeezed(seen.text))}`;

export const notVisible = failure('E_STATE_CHANGED', 'its request is not on its screen');

export interface Answer {
  readonly ask: Ask;
  /** The dialog as it stands on the screen. */
  readonly seen: SeenAsk;
  readonly intent: Intent;
  readonly plan: Plan;
  readonly keys: Keys;
}

export async function pressAnswer(
  context: ActionContext,
  attempt: Attempt,
  answered: AnsweredAsks,
  answer: Answer,
): Promise<Ending> {
  const runtime = attempt.identity.runtime_id;
  const key = answerKey(answer.ask, answer.seen);
  const first = await press(context, attempt, answer, true, () => answered.add(runtime, key));
  if (first.kind === 'not_begun') {
    if (first.isNoted) await answered.remove(runtime, key);
    return first.ending;
  }
  return finished(context, attempt, answer, first);
}

/** What became of one dialog. */
type Pressed =
  | { readonly kind: 'not_begun'; readonly ending: Ending; readonly isNoted: boolean }
  | { readonly kind: 'stopped'; readonly words: string }
  | Left;

/** What is there after the keys. gone: that dialog is not. over: the agent is not. unread: nobody can tell. more: it asks on. */
type Left = { readonly kind: 'gone' | 'over' | 'still' | 'unread' } | { readonly kind: 'more'; readonly seen: SeenAsk };

const unconfirmed = (words: string): Ending => ended('unconfirmed', { way: 'keys', words });

async function finished(context: ActionContext, attempt: Attempt, answer: Answer, first: Pressed): Promise<Ending> {
  const { keys, intent, ask, seen } = answer;
  let { plan } = answer;
  let pressed = first;
  for (let steps = 0; pressed.kind === 'more'; steps += 1) {
    const next = planOn(keys, intent, answer.plan, ask, seen, pressed.seen);
    if (next === null || steps === limits.answerStepsMax) {
      return unconfirmed('it asks for confirmation; check the pane');
    }
    plan = next;
    // What has only just come up loses keys.
    await context.wait(limits.dialogSteadyMs);
    pressed = await press(context, attempt, { ...answer, seen: pressed.seen, plan }, false);
  }
  switch (pressed.kind) {
    case 'gone':
      return ended('delivered', { way: 'keys', words: plan.words });
    case 'over':
      // To leave is what some of these options mean; elsewhere nobody saw it take the answer.
      return ask.kind === 'trust' && intent.kind !== 'approve'
        ? ended('delivered', { way: 'keys', words: plan.words })
        : unconfirmed('the keys were sent and it ended; it is not known whether it took them');
    case 'still':
      return unconfirmed('the keys were sent and the dialog is still open; check the pane');
    case 'unread':
      return unconfirmed('the keys were sent and its screen cannot be read yet; check the pane');
    case 'stopped':
      return unconfirmed(`${pressed.words}; check the pane`);
    case 'not_begun':
      return unconfirmed('it asks for confirmation, which was not answered; check the pane');
  }
}

/** The keys for one dialog. `note` is done once it is certain that they will be pressed. */
async function press(
  context: ActionContext,
  attempt: Attempt,
  answer: Answer,
  isFirstDialog: boolean,
  note: () => Promise<void> = async () => undefined,
): Promise<Pressed> {
  const { ask, seen, plan, keys } = answer;
  const handle = await context.handle(attempt);
  if (!handle.ok) return { kind: 'not_begun', ending: refused(handle.failure), isNoted: false };
  const { place, writer } = handle.value;
  if (dialogOn(seen, await writer.look(place)) === null)
    return { kind: 'not_begun', ending: refused(notVisible), isNoted: false };
  await note();
  let isFirst = true;
  let isReplaced = false;
  let lines: readonly string[] = [];
  let dialog: SeenRows | null = null;
  const asBefore = async (): Promise<boolean> => {
    const look = await context.look(attempt);
    const now = look?.ask ?? null;
    lines = look?.lines ?? [];
    // The first key only if nothing has changed since it was decided on, the very dialog included: its words may stand
    // above another one by now. Later keys, which change it themselves, only if no other dialog has come up meanwhile.
    if (!isFirst) return now === null || fitsScreen(ask, now) || !areApart(seen, now);
    isFirst = false;
    isReplaced = !isSame(now, seen);
    return !isReplaced && (!isFirstDialog || context.check(attempt) === null);
  };
  const recheck = rechecks(context, attempt, handle.value, asBefore);
  // Out of the very look that was read as this dialog. Keys of its own may have moved the mark in it since.
  const shown = async (): Promise<SeenRows | null> => {
    const now = dialogOn(seen, lines);
    if (now === null || (dialog !== null && !asksSame(seen, dialog, now))) return null;
    dialog = now;
    return now;
  };
  const stroked = await perform(context, handle.value, plan.strokes, { ...keys, shown, recheck });
  if (stroked.done === 0 && stroked.stop?.kind === 'refused') {
    const ending = isReplaced ? refused(notVisible) : refusedBefore(context, attempt, stroked);
    return { kind: 'not_begun', ending, isNoted: true };
  }
  if (stroked.stop !== null) {
    return {
      kind: 'stopped',
      words: stroked.stop.kind === 'lost' ? stroked.stop.words : 'the dialog changed while the keys were sent',
    };
  }
  return leftAfter(context, attempt, answer);
}

function refusedBefore(context: ActionContext, attempt: Attempt, { stop }: KeySequenceResult): Ending {
  const problem = context.check(attempt);
  if (problem !== null) return refused(problem);
  return stop?.kind === 'refused' ? refusedWrite(stop.why) : refusedWrite('other_process');
}

/** Two texts of which neither is a part of the other. */
function areApart(one: SeenAsk, other: SeenAsk): boolean {
  const [before, after] = [squeezed(one.text), squeezed(other.text)];
  return !before.includes(after) && !after.includes(before);
}

/** Seen twice where nobody but the screen tells it: between two pictures of a dialog there may be none of it. */
async function leftAfter(context: ActionContext, attempt: Attempt, answer: Answer): Promise<Left> {
  let left: Left = { kind: 'still' };
  const patienceMs = answer.ask.kind === 'trust' ? limits.restartSeenMs : limits.effectSeenMs;
  await context.comesTrue(async () => {
    const before = left.kind;
    if (isToldSettled(context, attempt, answer.ask)) {
      left = { kind: 'gone' };
      return true;
    }
    left = await leftNow(context, attempt, answer);
    if (left.kind === 'gone') return before === 'gone';
    return left.kind !== 'still' && left.kind !== 'unread';
  }, patienceMs);
  return left;
}

/** By the agent's own word, not by what its screen was read as. */
function isToldSettled({ ground }: ActionContext, { identity }: Attempt, { ask_id }: Ask): boolean {
  const record = ground.stateOf(identity.runtime_id);
  return !ask_id.startsWith('screen:') && record !== null && record.ended === null && record.asks_open === 0;
}

/** A screen that is half drawn proves nothing. */
async function leftNow(context: ActionContext, attempt: Attempt, { ask, seen, intent, keys }: Answer): Promise<Left> {
  const record = context.ground.stateOf(attempt.identity.runtime_id);
  if (record === null || record.ended !== null) return { kind: 'over' };
  const look = await context.look(attempt);
  if (look === null || look.state === 'unknown') return { kind: 'unread' };
  if (look.ask === null) return { kind: showsDialog(look) ? 'still' : 'gone' };
  if (!areApart(seen, look.ask)) return { kind: 'still' };
  // Whoever refuses to confirm is asked the first question again.
  const isBack = intent.kind === 'reject' && keys.asksOn?.(seen) === 'sure';
  if (isBack || (keys.asksOn?.(look.ask) ?? null) !== null) return { kind: 'more', seen: look.ask };
  // Of several questions in one ask the next one fits it too.
  const isNext = stateOfAsk(ask.kind) === 'waiting_input' || !fitsScreen(ask, look.ask);
  return { kind: isNext ? 'gone' : 'still' };
}
