// Approve, reject and answer: the request names its ask, or says that it means whatever is open. It is answered once at most,
// and only while exactly this ask is on the screen (ASK3). The agent's own channel comes first; keys are what remains (ACT4).

import type { SeenAsk } from '../agents/contract.ts';
import { fitsScreen } from '../agents/screen/fitting.ts';
import { mayAnswer } from '../auth/policy.ts';
import { isSame } from '../engine/canonical.ts';
import { redact } from '../engine/redact.ts';
import type { ActionRequest } from '../model/actions.ts';
import type { Ask } from '../model/asks.ts';
import { type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import type { AskId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import { type ActionContext, type Attempt, type Ending, ended, refused, refusedFor } from './action-context.ts';
import { type Intent, planFor, refusedAsHidden } from './intents.ts';
import { checkMessage } from './message-text.ts';
import { type AnsweredAsks, answerKey, notVisible, pressAnswer } from './pressing.ts';

type Answer = Extract<ActionRequest, { action: 'approve' | 'reject' | 'answer' }>;

export async function answerRequest(
  context: ActionContext,
  attempt: Attempt,
  answered: AnsweredAsks,
  request: Answer,
): Promise<Ending> {
  const unnamed = unnamedAsk(request, context.ground.stateOf(attempt.identity.runtime_id));
  if (unnamed !== null) return refused(unnamed);
  const reply = (intent: Intent): Promise<Ending> =>
    answerAsk(context, attempt, answered, request, intent, request.ask_id);
  switch (request.action) {
    case 'approve':
      return reply({ kind: 'approve' });
    case 'reject': {
      const because = request.because === undefined ? ok(null) : checkMessage(request.because, { strip: false });
      return because.ok ? reply({ kind: 'reject', because: because.value }) : refused(because.failure);
    }
    case 'answer': {
      const { option, text } = request;
      if ((option === undefined) === (text === undefined)) {
        return refusedFor('E_INPUT', 'an answer needs either an option or a text', 'give one of the two');
      }
      const checked = checkMessage(option ?? text ?? '', { strip: false });
      if (!checked.ok) return refused(checked.failure);
      return reply(
        option === undefined ? { kind: 'write', text: checked.value } : { kind: 'choose', option: checked.value },
      );
    }
  }
}

/** Null: it says so. Otherwise it may have been made when something else was asked, or nothing. */
function unnamedAsk({ ask_id, any_ask }: Answer, state: Pick<StateRecord, 'asks_open'> | null): Failure | null {
  if (ask_id !== undefined || any_ask === true) return null;
  const open = state?.asks_open ?? 0;
  if (open === 0) return failure('E_STATE_CHANGED', 'there is no pending request');
  const words = open === 1 ? 'there is a pending request now' : `there are ${open} pending requests`;
  return failure(
    open === 1 ? 'E_STATE_CHANGED' : 'E_REF_AMBIGUOUS',
    `the answer names no request, and ${words}`,
    'run `agtmux explain`, then name the request',
  );
}

const answeredAlready = failure('E_STATE_CHANGED', 'it was answered already', 'check the pane if it still waits');

/** The ask that is answered; not whole where something in it is hidden and no longer known. */
interface Meant extends Ask {
  readonly isWhole: boolean;
}

/** The ask that is meant, or why there is none. */
export function askMeant(attempt: Attempt, named: AskId | undefined, now: Ask | null, open: number): Result<Ask> {
  if (now === null) return fail('E_STATE_CHANGED', 'there is no pending request now');
  if (named === undefined && open > 1) {
    return fail('E_REF_AMBIGUOUS', `there are ${open} pending requests`, `name one of them: --ask ${now.ask_id}`);
  }
  if (named !== undefined && named !== now.ask_id) {
    return fail('E_STATE_CHANGED', 'the pending request is another one now, or this one was settled');
  }
  if (attempt.state.ask?.ask_id !== now.ask_id)
    return fail('E_STATE_CHANGED', 'the pending request is another one now');
  return ok(now);
}

export async function answerAsk(
  context: ActionContext,
  attempt: Attempt,
  answered: AnsweredAsks,
  request: ActionRequest,
  intent: Intent,
  named: AskId | undefined,
): Promise<Ending> {
  const runtime = attempt.identity.runtime_id;
  const record = context.ground.stateOf(runtime);
  const meant = askMeant(attempt, named, record?.ask ?? null, record?.asks_open ?? 0);
  if (!meant.ok) return refused(meant.failure);
  const told = meant.value;
  const detail = { ask_id: told.ask_id, ask_kind: told.kind, intent: intent.kind };
  const known = context.ground.wholeAskOf(runtime);
  const whole = known?.ask_id === told.ask_id ? known : null;
  const hidden = refusedAsHidden(intent, told, whole);
  if (hidden !== null) return { ...refused(hidden), detail };
  const ask: Meant = { ...(whole ?? told), isWhole: whole !== null };
  const ending = await answerThis(context, attempt, answered, request, intent, ask);
  return { ...ending, detail: { ...detail, ...ending.detail } };
}

async function answerThis(
  context: ActionContext,
  attempt: Attempt,
  answered: AnsweredAsks,
  request: ActionRequest,
  intent: Intent,
  ask: Meant,
): Promise<Ending> {
  const { ground } = context;
  const { identity, caller } = attempt;
  const channel = ground.channels.find((one) => one.can(request, identity));
  const noKeys = channel === undefined ? context.noKeys(attempt) : null;
  if (noKeys !== null) return refused(noKeys);
  if (answered.has(identity.runtime_id, ask.ask_id)) return refused(answeredAlready);
  const notAllowed = mayAnswer(caller, ground.policy(), [ask.kind]);
  if (notAllowed !== null) return refused(notAllowed);
  if (channel !== undefined) {
    await answered.add(identity.runtime_id, ask.ask_id);
    // Whatever was open is this one now: what is asked after it was not looked at.
    const named = request.action === 'send' ? request : { ...request, ask_id: ask.ask_id };
    const end = await context.over(channel, named, attempt);
    if (end.kind !== 'refused') return ended(end.kind, { way: channel.name, words: end.words });
    await answered.remove(identity.runtime_id, ask.ask_id);
    return refused(end.failure);
  }
  const keys = ground.keysOf(identity.agent);
  if (keys === null) return refusedFor('E_UNSUPPORTED', `the keys of ${identity.agent} are not known`);
  const seen = await steadyDialog(context, attempt, ask);
  if (!seen.ok) return refused(seen.failure);
  const seenToo = mayAnswer(caller, ground.policy(), [seen.value.kind]);
  if (seenToo !== null) return refused(seenToo);
  if (answered.has(identity.runtime_id, answerKey(ask, seen.value))) return refused(answeredAlready);
  const plan = planFor(keys, intent, ask, seen.value);
  return plan.ok
    ? pressAnswer(context, attempt, answered, { ask, seen: seen.value, intent, plan: plan.value, keys })
    : refused(plan.failure);
}

/** The dialog as it stands on the screen, if it is this ask and has stood still for long enough to take keys. */
async function steadyDialog(context: ActionContext, attempt: Attempt, ask: Meant): Promise<Result<SeenAsk>> {
  const isOnly = (): boolean => (context.ground.stateOf(attempt.identity.runtime_id)?.asks_open ?? 0) <= 1;
  const first = await context.look(attempt);
  const problem = unfit(ask, first?.ask ?? null, isOnly());
  if (problem !== null || first === null) return { ok: false, failure: problem ?? notVisible };
  await context.wait(limits.dialogSteadyMs);
  const second = await context.look(attempt);
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
    : failure('E_STATE_CHANGED', 'the dialog on its screen is not the one of this request');
}
