// Sending from the request to the keys: the text is checked and signed, then typed, taken as the answer to what is asked,
// or left to wait for its agent (ACT3, ACT6, ACT7).

import type { ActionRequest, Caller } from '../model/actions.ts';
import { failure } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { answerAsk } from './asks.ts';
import { type Attempt, type Bench, type Ending, ended, refused, refusedFor } from './bench.ts';
import { compose, type HopBook, type SendRequest, withOrigin } from './composing.ts';
import { messageRule, typeMessage } from './messages.ts';
import { mayAnswer, mayGoOn } from './policy.ts';
import type { AnsweredAsks } from './pressing.ts';
import type { MessageQueue } from './queue.ts';

export interface SendingParts {
  readonly bench: Bench;
  readonly answered: AnsweredAsks;
  readonly hops: HopBook;
  readonly queue: MessageQueue;
  readonly save: () => Promise<void>;
}

/** Refusals that another moment may lift; with --when-ready the message waits for it. */
const passing = new Set(['E_DIALOG', 'E_STATE_CHANGED', 'E_TMUX_REFUSED', 'E_SNAPSHOT_EXPIRED']);

export async function send(parts: SendingParts, attempt: Attempt, request: SendRequest): Promise<Ending> {
  const { bench, hops, queue } = parts;
  const { ground } = bench;
  const { identity, caller } = attempt;
  const text = compose(request, ground.keysOf(identity.agent));
  if (!text.ok) return refused(text.failure);
  const from: Caller = { ...caller, hops: hops.next(caller, caller.above) };
  const detail = { bytes: Buffer.byteLength(text.value) };
  const tooFar = mayGoOn(from.hops);
  if (tooFar !== null) return refused(tooFar, detail);
  const isKept = ground.channels.some((one) => one.keepsMessages === true && one.can(request, identity));
  const isFirst = !queue.heads().some(({ runtime_id }) => runtime_id === identity.runtime_id);
  const isWaiting = request.when_ready && !isKept && !(isFirst && isReady(bench, attempt));
  if (!isWaiting) {
    const ending = await sendNow(parts, attempt, request, from, text.value);
    const mayWait = request.when_ready && !isKept && ending.failure !== null && passing.has(ending.failure.code);
    if (!mayWait) return { ...ending, detail: { ...detail, ...ending.detail } };
  }
  return enqueue(parts, attempt, request, from, text.value);
}

const isReady = ({ ground }: Bench, { identity }: Attempt): boolean => {
  const state = ground.stateOf(identity.runtime_id)?.state;
  return state === 'idle' || state === 'completed';
};

async function enqueue(
  { queue, bench, save }: SendingParts,
  attempt: Attempt,
  { enter }: SendRequest,
  from: Caller,
  text: string,
): Promise<Ending> {
  const { audit_id } = attempt;
  const { runtime_id } = attempt.identity;
  const unkept = await bench.keep(attempt);
  if (unkept !== null) return refused(unkept);
  const queued = queue.add({ id: audit_id, runtime_id, text, enter, queued_at: bench.ground.now(), from });
  if (!queued.ok) return refused(queued.failure);
  try {
    await save();
  } catch (problem) {
    queue.remove(audit_id);
    throw problem;
  }
  const minutes = limits.queuedMs / 60_000;
  const words = `waits as ${audit_id} until the agent can take it, ${minutes} minutes at most`;
  return ended('queued', { words, detail: { queued: audit_id, bytes: Buffer.byteLength(text) } });
}

async function sendNow(
  { bench, answered, hops }: SendingParts,
  attempt: Attempt,
  request: ActionRequest & SendRequest,
  from: Caller,
  text: string,
): Promise<Ending> {
  const { ground } = bench;
  const { identity, conditions } = attempt;
  // As it will arrive: what a channel can do is decided on the very words that it is given.
  const said = { ...request, text: withOrigin(text, from), files: [], is_plain: !mayBeAnswer(bench, attempt) };
  const channel = ground.channels.find((one) => one.can(said, identity));
  if (channel !== undefined) {
    const end = await bench.over(channel, said, attempt);
    if (end.kind === 'refused') return refused(end.failure);
    hops.delivered(identity.runtime_id, from);
    return ended(end.kind, { way: channel.name, words: end.words });
  }
  // No look at the screen can make it right to type while an approval is open.
  const isAsking = ground.stateOf(identity.runtime_id)?.state === 'waiting_approval';
  if (isAsking) return refusedFor('E_DIALOG', 'it waits for an approval');
  const look = await bench.look(attempt);
  const state = ground.stateOf(identity.runtime_id);
  if (state === null) return refusedFor('E_RUNTIME_STALE', 'it is no longer known');
  const rule = messageRule(state, look, conditions.force_stale === true);
  if (rule !== 'type' && rule !== 'answer') return refused(rule);
  if (rule === 'answer' && !request.enter) return refused(answerEnters);
  const ending =
    rule === 'answer'
      ? await answerAsk(bench, attempt, answered, request, { kind: 'write', text }, undefined)
      : await typeMessage(bench, attempt, withOrigin(text, from), request.enter);
  if (ending.outcome !== 'refused') hops.delivered(identity.runtime_id, from);
  return ending;
}

/** Words for whoever asks something are an answer, and whoever may not give one has none (ACT6). */
function mayBeAnswer({ ground }: Bench, { identity, caller }: Attempt): boolean {
  const ask = ground.stateOf(identity.runtime_id)?.ask ?? null;
  return ask !== null && mayAnswer(caller, ground.policy(), [ask.kind]) === null;
}

const answerEnters = failure(
  'E_DIALOG',
  'it asks something, and an answer is submitted at once',
  'leave --no-enter out to answer it',
);

/** A message whose turn has come: typed at a prompt, never taken for an answer. */
export async function deliverQueued(
  { bench, hops }: SendingParts,
  attempt: Attempt,
  from: Caller,
  message: { readonly id: string; readonly text: string; readonly enter: boolean },
): Promise<Ending> {
  const { ground } = bench;
  const detail = { queued: message.id, bytes: Buffer.byteLength(message.text) };
  const look = await bench.look(attempt);
  const state = ground.stateOf(attempt.identity.runtime_id);
  const rule = state === null ? null : messageRule(state, look, false);
  if (rule === null || rule === 'answer' || !isReady(bench, attempt)) {
    return refusedFor('E_STATE_CHANGED', 'it cannot take a message now');
  }
  if (rule !== 'type') return refused(rule);
  const ending = await typeMessage(bench, attempt, withOrigin(message.text, from), message.enter);
  if (ending.outcome !== 'refused') hops.delivered(attempt.identity.runtime_id, from);
  return { ...ending, detail };
}
