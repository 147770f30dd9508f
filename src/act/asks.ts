// Answering what an agent asks: by the id of the ask, once at most, and only while exactly this ask is on the screen
// (ASK3). The agent's own channel comes first; keys are what remains (ACT4).

import type { SeenAsk } from '../agents/contract.ts';
import { isSame } from '../engine/canonical.ts';
import { redact } from '../engine/redact.ts';
import type { ActionRequest } from '../model/actions.ts';
import type { Ask } from '../model/asks.ts';
import { type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import type { AskId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { type Attempt, type Bench, type Ending, ended, refused, refusedFor } from './bench.ts';
import { fitsScreen } from './fitting.ts';
import { mayAnswer } from './policy.ts';
import { type AnsweredAsks, answerKey, notVisible, pressAnswer } from './pressing.ts';
import { planFor, refusedAsHidden, type Wish } from './wishes.ts';

const answeredAlready = failure('E_STATE_CHANGED', 'it was answered already', 'look at the pane if it still waits');

/** The ask that is answered; not whole where something in it is hidden and no longer known. */
interface Meant extends Ask {
  readonly isWhole: boolean;
}

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
  const told = meant.value;
  const detail = { ask_id: told.ask_id, ask_kind: told.kind, wish: wish.kind };
  const known = bench.ground.wholeAskOf(runtime);
  const whole = known?.ask_id === told.ask_id ? known : null;
  const hidden = refusedAsHidden(wish, told, whole);
  if (hidden !== null) return { ...refused(hidden), detail };
  const ask: Meant = { ...(whole ?? told), isWhole: whole !== null };
  const ending = await answerThis(bench, attempt, answered, request, wish, ask);
  return { ...ending, detail: { ...detail, ...ending.detail } };
}

async function answerThis(
  bench: Bench,
  attempt: Attempt,
  answered: AnsweredAsks,
  request: ActionRequest,
  wish: Wish,
  ask: Meant,
): Promise<Ending> {
  const { ground } = bench;
  const { identity, caller } = attempt;
  if (answered.has(identity.runtime_id, ask.ask_id)) return refused(answeredAlready);
  const notAllowed = mayAnswer(caller, ground.policy(), [ask.kind]);
  if (notAllowed !== null) return refused(notAllowed);
  const channel = ground.channels.find((one) => one.can(request, identity));
  if (channel !== undefined) {
    await answered.add(identity.runtime_id, ask.ask_id);
    // Whatever was open is this one now: what is asked after it was not looked at.
    const named = request.action === 'send' ? request : { ...request, ask_id: ask.ask_id };
    const end = await bench.over(channel, named, attempt);
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
  const plan = planFor(keys, wish, ask, seen.value);
  return plan.ok
    ? pressAnswer(bench, attempt, answered, { ask, seen: seen.value, wish, plan: plan.value, keys })
    : refused(plan.failure);
}

/** The dialog as it stands on the screen, if it is this ask and has stood still for long enough to take keys. */
async function steadyDialog(bench: Bench, attempt: Attempt, ask: Meant): Promise<Result<SeenAsk>> {
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

/** What is hidden and no longer known is hidden on the screen too: enough for a no, which is all that gets this far. */
function unfit(ask: Meant, seen: SeenAsk | null, isOnly: boolean): Failure | null {
  if (seen === null) return notVisible;
  return fitsScreen(ask, ask.isWhole ? seen : { ...seen, text: redact(seen.text) }, isOnly)
    ? null
    : failure('E_STATE_CHANGED', 'the dialog on its screen is not the one that was asked about');
}
