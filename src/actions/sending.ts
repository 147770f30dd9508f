// Sending from the request to the keys: the text is checked and signed, then typed, taken as the answer to what is asked,
// or left to wait for its agent (ACT3, ACT6, ACT7).

import { mayAnswer, mayGoOn } from '../auth/policy.ts';
import type { ActionRequest, Caller, FileReference } from '../model/actions.ts';
import { failure, ok, type Result } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import { type ActionContext, type Attempt, type Ending, ended, refused, refusedFor } from './action-context.ts';
import type { StoredMessage } from './action-documents.ts';
import { answerAsk, answerRequest } from './answer-ask.ts';
import { compose, type HopCounter, type SendRequest, withOrigin } from './composing.ts';
import { isLimited, resumeTime, waitingOption } from './limit-resume.ts';
import { lineProblem, messageRule, typeMessage } from './messages.ts';
import type { AnsweredAsks } from './pressing.ts';
import type { MessageQueue } from './queue.ts';

export interface SendingParts {
  readonly context: ActionContext;
  readonly answered: AnsweredAsks;
  readonly hops: HopCounter;
  readonly queue: MessageQueue;
  readonly save: () => Promise<void>;
}

/** Refusals that another moment may lift; with --when-ready the message waits for it. */
const passing = new Set(['E_DIALOG', 'E_STATE_CHANGED', 'E_TMUX_REFUSED', 'E_SNAPSHOT_EXPIRED']);

export async function send(parts: SendingParts, attempt: Attempt, request: SendRequest): Promise<Ending> {
  const { context, hops, queue } = parts;
  const { ground } = context;
  const { identity, caller } = attempt;
  const files = await filesThere(context, identity.runtime_id, request);
  if (!files.ok) return refused(files.failure);
  const text = compose({ ...request, files: files.value }, ground.keysOf(identity.agent));
  if (!text.ok) return refused(text.failure);
  const from: Caller = { ...caller, hops: hops.next(caller, caller.above) };
  const detail = { bytes: Buffer.byteLength(text.value) };
  const tooFar = mayGoOn(from.hops);
  if (tooFar !== null) return refused(tooFar, detail);
  if (request.at_reset === true) return waitForReset(parts, attempt, request, from, text.value);
  const isKept = ground.channels.some((one) => one.keepsMessages === true && one.can(request, identity));
  const isFirst = !queue.heads().some(({ runtime_id }) => runtime_id === identity.runtime_id);
  const isWaiting = request.when_ready && !isKept && !(isFirst && isReady(context, attempt));
  if (!isWaiting) {
    const ending = await sendNow(parts, attempt, request, from, text.value);
    const mayWait = request.when_ready && !isKept && ending.failure !== null && passing.has(ending.failure.code);
    if (!mayWait) return { ...ending, detail: { ...detail, ...ending.detail } };
  }
  return enqueue(parts, attempt, request, from, text.value);
}

/** A menu about the limit is left by the one option that waits, by its words, and then it is a matter of time. */
async function waitForReset(
  parts: SendingParts,
  attempt: Attempt,
  request: SendRequest & ActionRequest,
  from: Caller,
  text: string,
): Promise<Ending> {
  const { context, answered } = parts;
  const { ground } = context;
  const stateNow = (): StateRecord => ground.stateOf(attempt.identity.runtime_id) ?? attempt.state;
  const state = stateNow();
  const option = waitingOption(state);
  if (option !== null && state.ask !== null) {
    const { ref, conditions } = request;
    const answer = { action: 'answer', ref, conditions, ask_id: state.ask.ask_id, option: option.id } as const;
    const ending = await answerRequest(context, attempt, answered, answer);
    if (ending.outcome !== 'delivered') return ending;
    // What stands behind the menu says when.
    await context.comesTrue(() => stateNow().until !== null);
  }
  const time = resumeTime(stateNow(), ground.random.hex(4));
  if (!time.ok) return refused(time.failure);
  return enqueue(parts, attempt, request, from, text, time.value);
}

/** The agent may be on another machine, where the files of this one have other paths, or are not (RTE6). */
async function filesThere(
  { ground }: ActionContext,
  runtime: RuntimeId,
  { files = [] }: SendRequest,
): Promise<Result<readonly FileReference[]>> {
  const there: FileReference[] = [];
  for (const file of files) {
    const path = await ground.fileAt(runtime, file.path);
    if (!path.ok) return path;
    there.push({ ...file, path: path.value });
  }
  return ok(there);
}

const isReady = ({ ground }: ActionContext, { identity }: Attempt): boolean => {
  const state = ground.stateOf(identity.runtime_id)?.state;
  return state === 'idle' || state === 'completed';
};

async function enqueue(
  { queue, context, save }: SendingParts,
  attempt: Attempt,
  { enter }: SendRequest,
  from: Caller,
  text: string,
  not_before: number | null = null,
): Promise<Ending> {
  const { audit_id } = attempt;
  const { runtime_id } = attempt.identity;
  const unfit = lineProblem(context.ground.keysOf(attempt.identity.agent), text);
  if (unfit !== null) return refused(unfit);
  const unkept = await context.keep(attempt);
  if (unkept !== null) return refused(unkept);
  const queued = queue.add({
    id: audit_id,
    runtime_id,
    text,
    enter,
    queued_at: context.ground.now(),
    from,
    not_before,
  });
  if (!queued.ok) return refused(queued.failure);
  try {
    await save();
  } catch (problem) {
    queue.remove(audit_id);
    throw problem;
  }
  const minutes = limits.queuedMs / 60_000;
  const words =
    not_before === null
      ? `queued as ${audit_id} until the agent can take it, for at most ${minutes} minutes`
      : `queued as ${audit_id} until its usage limit has reset; cancel it with \`agtmux limit cancel\``;
  return ended('queued', { words, detail: { queued: audit_id, bytes: Buffer.byteLength(text) } });
}

async function sendNow(
  { context, answered, hops }: SendingParts,
  attempt: Attempt,
  request: ActionRequest & SendRequest,
  from: Caller,
  text: string,
): Promise<Ending> {
  const { ground } = context;
  const { identity, conditions } = attempt;
  // As it will arrive: what a channel can do is decided on the very words that it is given.
  const said = { ...request, text: withOrigin(text, from), files: [], is_plain: !mayBeAnswer(context, attempt) };
  const channel = ground.channels.find((one) => one.can(said, identity));
  if (channel !== undefined) {
    const end = await context.over(channel, said, attempt);
    if (end.kind === 'refused') return refused(end.failure);
    hops.delivered(identity.runtime_id, from);
    return ended(end.kind, { way: channel.name, words: end.words });
  }
  const noKeys = context.noKeys(attempt);
  if (noKeys !== null) return refused(noKeys);
  // No look at the screen can make it right to type while an approval is open.
  const isAsking = ground.stateOf(identity.runtime_id)?.state === 'waiting_approval';
  if (isAsking) return refusedFor('E_DIALOG', 'it waits for an approval');
  const look = await context.look(attempt);
  const state = ground.stateOf(identity.runtime_id);
  if (state === null) return refusedFor('E_RUNTIME_STALE', 'it is no longer known');
  const rule = messageRule(state, look, conditions.force_stale === true);
  if (rule !== 'type' && rule !== 'answer') return refused(rule);
  if (rule === 'answer' && !request.enter) return refused(answerEnters);
  if (rule === 'answer' && ground.isPaneless(identity.runtime_id))
    return refusedFor('E_DIALOG', 'it has a pending request, which is answered in its own terminal only');
  const ending =
    rule === 'answer'
      ? await answerAsk(context, attempt, answered, request, { kind: 'write', text }, undefined)
      : await typeMessage(context, attempt, withOrigin(text, from, ground.keysOf(identity.agent)), request.enter);
  if (ending.outcome !== 'refused') hops.delivered(identity.runtime_id, from);
  return ending;
}

/** Words for whoever asks something are an answer, and whoever may not give one has none (ACT6). */
function mayBeAnswer({ ground }: ActionContext, { identity, caller }: Attempt): boolean {
  const ask = ground.stateOf(identity.runtime_id)?.ask ?? null;
  return ask !== null && mayAnswer(caller, ground.policy(), [ask.kind]) === null;
}

const answerEnters = failure(
  'E_DIALOG',
  'it has a pending request, and an answer is submitted at once',
  'omit --no-enter to answer it',
);

/** A message whose turn has come: typed at a prompt, never taken for an answer. */
export async function deliverQueued(
  { context, hops }: SendingParts,
  attempt: Attempt,
  from: Caller,
  message: Pick<StoredMessage, 'id' | 'text' | 'enter' | 'not_before'>,
): Promise<Ending> {
  const { ground } = context;
  const detail = { queued: message.id, bytes: Buffer.byteLength(message.text) };
  const look = await context.look(attempt);
  const state = ground.stateOf(attempt.identity.runtime_id);
  const rule = state === null ? null : messageRule(state, look, false);
  const isWaitedFor = message.not_before !== null && state !== null && isLimited(state);
  if (rule === null || rule === 'answer' || (!isReady(context, attempt) && !isWaitedFor)) {
    return refusedFor('E_STATE_CHANGED', 'it cannot take a message now');
  }
  if (rule !== 'type') return refused(rule);
  const line = withOrigin(message.text, from, ground.keysOf(attempt.identity.agent));
  const ending = await typeMessage(context, attempt, line, message.enter);
  if (ending.outcome !== 'refused') hops.delivered(attempt.identity.runtime_id, from);
  return { ...ending, detail };
}
