// Answering what an agent asks: by the id of the ask, once at most, and only while exactly this ask is on the screen
// (ASK3). The agent's own channel comes first; keys are what remains (ACT4).

import type { Keys, SeenAsk, Stroke } from '../agents/contract.ts';
import { hashText, isSame } from '../engine/canonical.ts';
import type { ActionRequest } from '../model/actions.ts';
import { type Ask, type AskOption, stateOfAsk } from '../model/asks.ts';
import { type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import type { AskId, RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { type Attempt, type Bench, type Ending, ended, refused, refusedFor, refusedTouch } from './bench.ts';
import { fitsScreen } from './fitting.ts';
import { mayAnswer } from './policy.ts';
import { perform, rechecks, type Stroked, squeezed, wordsOnScreen } from './strokes.ts';

export type Wish =
  | { readonly kind: 'approve' }
  | { readonly kind: 'reject'; readonly because: string | null }
  | { readonly kind: 'choose'; readonly option: string }
  | { readonly kind: 'write'; readonly text: string };

export interface AnsweredAsks {
  has(runtime: RuntimeId, key: string): boolean;
  /** Resolves when it is on disk: a daemon that falls over right after must not answer again. */
  add(runtime: RuntimeId, key: string): Promise<void>;
  /** Nothing was typed after all. */
  remove(runtime: RuntimeId, key: string): Promise<void>;
}

/** By what an answer is remembered. One ask may hold several questions, which are shown one after the other. */
const answerKey = ({ ask_id, kind }: Ask, seen: SeenAsk | null): string =>
  seen === null || stateOfAsk(kind) === 'waiting_approval' ? ask_id : `${ask_id} ${hashText(squeezed(seen.text))}`;

const answeredAlready = failure('E_STATE_CHANGED', 'it was answered already', 'look at the pane if it still waits');

/** The ask that is meant, or why there is none. */
export function askMeant(attempt: Attempt, named: AskId | undefined, now: Ask | null, open: number): Result<Ask> {
  if (now === null) return fail('E_STATE_CHANGED', 'it asks nothing now');
  if (named === undefined && open > 1) {
    return fail('E_REF_AMBIGUOUS', `it asks ${open} things`, `name one of them: --ask ${now.ask_id}`);
  }
  if (named !== undefined && named !== now.ask_id) {
    return fail('E_STATE_CHANGED', 'it asks something else now, or that was settled meanwhile');
  }
  if (attempt.state.ask?.ask_id !== now.ask_id) return fail('E_STATE_CHANGED', 'it asks something else now');
  return ok(now);
}

/** The strokes that carry out the wish at this dialog, with what has to be said about them. */
function strokesFor(keys: Keys, wish: Wish, ask: Ask, seen: SeenAsk): Result<Plan> {
  const cannot = fail('E_UNSUPPORTED', 'this dialog cannot be answered from here: its options were not recognised');
  const plan = (strokes: readonly Stroke[] | null, words: string | null = null): Result<Plan> =>
    strokes === null || strokes.length === 0 ? cannot : ok({ strokes, words });
  switch (wish.kind) {
    case 'approve':
      return plan(keys.approve(seen));
    case 'reject': {
      const strokes = keys.reject(seen, wish.because);
      if (strokes !== null || wish.because === null) return plan(strokes);
      return plan(keys.reject(seen, null), 'its dialog takes no words: they were not passed on');
    }
    case 'choose': {
      const option = optionMeant(wish.option, ask, seen);
      return option.ok ? plan(keys.choose(seen, option.value.id)) : option;
    }
    case 'write':
      return plan(keys.write(seen, wish.text));
  }
}

interface Plan {
  readonly strokes: readonly Stroke[];
  readonly words: string | null;
}

/** By its id on the screen or by its words; an id that a hook gave is turned into words first. */
export function optionMeant(text: string, ask: Ask, seen: SeenAsk): Result<AskOption> {
  const told = isSame(ask.options, seen.options) ? undefined : ask.options.find(({ id }) => id === text);
  const words = squeezed(told?.label ?? text);
  const byWords = seen.options.filter(({ label }) => words !== '' && squeezed(label) === words);
  const byId = told === undefined ? seen.options.filter(({ id }) => id === text) : [];
  const found = byId.length > 0 ? byId : byWords;
  const [option] = found;
  if (option !== undefined && found.length === 1) return ok(option);
  const names = seen.options.map(({ id, label }) => (id === label ? label : `${id} (${label})`));
  return fail(
    'E_INPUT',
    `there is no option ${text}`,
    names.length === 0 ? 'it offers none' : `it offers ${names.join(', ')}`,
  );
}

export async function answerAsk(
  bench: Bench,
  attempt: Attempt,
  answered: AnsweredAsks,
  request: ActionRequest,
  wish: Wish,
  named: AskId | undefined,
): Promise<Ending> {
  const runtime = attempt.identity.runtime_id;
  const record = bench.ground.stateOf(runtime);
  const meant = askMeant(attempt, named, record?.ask ?? null, record?.asks_open ?? 0);
  if (!meant.ok) return refused(meant.failure);
  const ask = meant.value;
  const detail = { ask_id: ask.ask_id, ask_kind: ask.kind, wish: wish.kind };
  const ending = await answerThis(bench, attempt, answered, request, wish, ask);
  return { ...ending, detail: { ...detail, ...ending.detail } };
}

async function answerThis(
  bench: Bench,
  attempt: Attempt,
  answered: AnsweredAsks,
  request: ActionRequest,
  wish: Wish,
  ask: Ask,
): Promise<Ending> {
  const { ground } = bench;
  const { identity, caller } = attempt;
  if (answered.has(identity.runtime_id, ask.ask_id)) return refused(answeredAlready);
  const notAllowed = mayAnswer(caller, ground.policy(), [ask.kind]);
  if (notAllowed !== null) return refused(notAllowed);
  const channel = ground.channels.find((one) => one.can(request, identity));
  if (channel !== undefined) {
    await answered.add(identity.runtime_id, ask.ask_id);
    const end = await channel.run(request, identity);
    if (end.kind !== 'refused') return ended(end.kind, { way: channel.name, words: end.words });
    await answered.remove(identity.runtime_id, ask.ask_id);
    return refused(end.failure);
  }
  const keys = ground.keysOf(identity.agent);
  if (keys === null) return refusedFor('E_UNSUPPORTED', `nobody knows the keys of ${identity.agent}`);
  const seen = await steadyDialog(bench, attempt, ask);
  if (!seen.ok) return refused(seen.failure);
  const seenToo = mayAnswer(caller, ground.policy(), [seen.value.kind]);
  if (seenToo !== null) return refused(seenToo);
  if (answered.has(identity.runtime_id, answerKey(ask, seen.value))) return refused(answeredAlready);
  const plan = strokesFor(keys, wish, ask, seen.value);
  return plan.ok ? press(bench, attempt, answered, ask, seen.value, plan.value, keys) : refused(plan.failure);
}

/** The dialog as it stands on the screen, if it is this ask and has stood still for long enough to take keys. */
async function steadyDialog(bench: Bench, attempt: Attempt, ask: Ask): Promise<Result<SeenAsk>> {
  const isOnly = (): boolean => (bench.ground.stateOf(attempt.identity.runtime_id)?.asks_open ?? 0) <= 1;
  const first = await bench.look(attempt);
  const problem = unfit(ask, first?.ask ?? null, isOnly());
  if (problem !== null || first === null) return { ok: false, failure: problem ?? notVisible };
  await bench.wait(limits.dialogSteadyMs);
  const second = await bench.look(attempt);
  const still = unfit(ask, second?.ask ?? null, isOnly());
  if (still !== null || second?.ask == null) return { ok: false, failure: still ?? notVisible };
  return isSame(first.ask, second.ask)
    ? ok(second.ask)
    : fail('E_STATE_CHANGED', 'the dialog on its screen is changing', 'try again in a moment');
}

const notVisible = failure('E_STATE_CHANGED', 'what it asks is not on its screen');

function unfit(ask: Ask, seen: SeenAsk | null, isOnly: boolean): Failure | null {
  if (seen === null) return notVisible;
  return fitsScreen(ask, seen, isOnly)
    ? null
    : failure('E_STATE_CHANGED', 'the dialog on its screen is not the one that was asked about');
}

async function press(
  bench: Bench,
  attempt: Attempt,
  answered: AnsweredAsks,
  ask: Ask,
  seen: SeenAsk,
  plan: Plan,
  keys: Keys,
): Promise<Ending> {
  const runtime = attempt.identity.runtime_id;
  const key = answerKey(ask, seen);
  const grip = await bench.grip(attempt);
  if (!grip.ok) return refused(grip.failure);
  const lines = await grip.value.hands.look(grip.value.place);
  const shown = wordsOnScreen(ask, lines) ?? wordsOnScreen(seen, lines);
  if (shown === null) return refused(notVisible);
  await answered.add(runtime, key);
  let isFirst = true;
  let isReplaced = false;
  const asBefore = async (): Promise<boolean> => {
    const now = (await bench.look(attempt))?.ask ?? null;
    // The first key only if nothing has changed since it was decided on, the very dialog included: its words may stand
    // above another one by now. Later keys, which change it themselves, only if no other dialog has come up meanwhile.
    if (!isFirst) return !isOther(ask, seen, now);
    isFirst = false;
    isReplaced = !isSame(now, seen);
    return !isReplaced && bench.check(attempt) === null;
  };
  const recheck = rechecks(bench, attempt, grip.value, asBefore);
  const stroked = await perform(bench, grip.value, plan.strokes, { shown, collapsed: keys.collapsed, recheck });
  if (stroked.done === 0 && stroked.stop?.kind === 'refused') {
    await answered.remove(runtime, key);
    return isReplaced ? refused(notVisible) : refusedBefore(bench, attempt, stroked);
  }
  if (stroked.stop !== null) {
    const why = stroked.stop.kind === 'lost' ? stroked.stop.words : 'the dialog changed under the keys';
    return ended('unconfirmed', { way: 'keys', words: `${why}; look at the pane` });
  }
  const isGone = await bench.comesTrue(async () => isSettled(bench, attempt, seen));
  return isGone
    ? ended('delivered', { way: 'keys', words: plan.words })
    : ended('unconfirmed', { way: 'keys', words: 'the keys went out and the dialog is still there; look at the pane' });
}

function isOther(ask: Ask, seen: SeenAsk, now: SeenAsk | null): boolean {
  if (now === null || fitsScreen(ask, now)) return false;
  const [before, after] = [squeezed(seen.text), squeezed(now.text)];
  return !before.includes(after) && !after.includes(before);
}

function refusedBefore(bench: Bench, attempt: Attempt, { stop }: Stroked): Ending {
  const problem = bench.check(attempt);
  if (problem !== null) return refused(problem);
  return stop?.kind === 'refused' ? refusedTouch(stop.why) : refusedTouch('other_process');
}

/** Gone, or another one in its place. A screen that is half drawn proves nothing. */
async function isSettled(bench: Bench, attempt: Attempt, seen: SeenAsk): Promise<boolean> {
  const record = bench.ground.stateOf(attempt.identity.runtime_id);
  if (record === null || record.ended !== null) return true;
  const look = await bench.look(attempt);
  if (look === null || look.state === 'unknown') return false;
  return look.ask === null || squeezed(look.ask.text) !== squeezed(seen.text);
}
