// Interrupting, killing, resuming and choosing an agent: what is done to it rather than said to it (ACT5).

import { type FreshLook, showsDialog } from '../agents/contract.ts';
import type { ActionRequest } from '../model/actions.ts';
import { type Failure, fail, failure, type Result } from '../model/errors.ts';
import type { EventEnvelope } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import {
  type ActionContext,
  type Attempt,
  type Ending,
  ended,
  refused,
  refusedFor,
  refusedWrite,
  unreadable,
} from './action-context.ts';
import { perform, rechecks } from './key-sequence.ts';
import { resumeEnded } from './resuming.ts';

/** The agent's own way, and only while it works: the same key at a prompt or in a dialog means something else. */
export async function interrupt(context: ActionContext, attempt: Attempt, request: ActionRequest): Promise<Ending> {
  const { identity, conditions } = attempt;
  const state = context.ground.stateOf(identity.runtime_id)?.state ?? 'unknown';
  const isForced = conditions.force_stale === true;
  if (state === 'waiting_approval')
    return refusedFor('E_DIALOG', 'it waits for an approval: an interrupt would reject it');
  if (state !== 'running' && !(state === 'unknown' && isForced)) {
    return refusedFor('E_STATE_CHANGED', `nothing to interrupt: it is ${state}`);
  }
  const done = await byChannel(context, attempt, request);
  if (done !== null) return done;
  const noKeys = context.noKeys(attempt);
  if (noKeys !== null) return refused(noKeys);
  const keys = context.ground.keysOf(identity.agent);
  if (keys === null || keys.interrupt.length === 0) {
    return refusedFor('E_UNSUPPORTED', `how to interrupt ${identity.agent} is not known`);
  }
  const notNow = notAtWork(await context.look(attempt));
  if (notNow !== null) return refused(notNow);
  const handle = await context.handle(attempt);
  if (!handle.ok) return refused(handle.failure);
  const problem = context.check(attempt);
  if (problem !== null) return refused(problem);
  // A dialog that came up meanwhile would be answered by the key, and at a prompt it means something else.
  const recheck = rechecks(context, attempt, handle.value, async () => notAtWork(await context.look(attempt)) === null);
  const isTwice = keys.interrupt.some((stroke) => 'keys' in stroke && stroke.after !== undefined);
  for (let tries = 1; ; tries += 1) {
    const { done, stop } = await perform(context, handle.value, keys.interrupt, { ...keys, shown: null, recheck });
    if (stop?.kind === 'refused' && done === 0 && tries === 1) {
      const why = stop.why === 'other_process' ? notAtWork(await context.look(attempt)) : null;
      return why === null ? refusedWrite(stop.why) : refused(why);
    }
    if (await context.comesTrue(() => isTurnOver(context, attempt))) return ended('delivered', { way: 'keys' });
    // On a busy machine the second key may come too late for the first. Then neither did anything.
    if (isTwice && stop === null && tries < limits.interruptTriesMax) continue;
    const words =
      stop === null ? 'the keys were sent and it is still working' : 'not every key was sent; check the pane';
    return ended('unconfirmed', { way: 'keys', words });
  }
}

/** Why the keys that interrupt must not be pressed at this screen; null when they may. */
function notAtWork(look: FreshLook | null): Failure | null {
  if (look === null) return unreadable;
  if (showsDialog(look)) return failure('E_DIALOG', 'a dialog is open: an interrupt would answer it');
  return look.state === 'idle' || look.state === 'completed'
    ? failure('E_STATE_CHANGED', 'nothing to interrupt: its prompt is ready')
    : null;
}

/** By what is published or by its screen. One that asks something now was not interrupted. */
async function isTurnOver(context: ActionContext, attempt: Attempt): Promise<boolean> {
  const record = context.ground.stateOf(attempt.identity.runtime_id);
  if (record === null || record.ended !== null) return true;
  const look = await context.look(attempt);
  if (look === null || showsDialog(look)) return false;
  return [record.state, look.state].some((state) => state === 'idle' || state === 'completed' || state === 'error');
}

/** By the agent's own way, if it has one for this. */
async function byChannel(context: ActionContext, attempt: Attempt, request: ActionRequest): Promise<Ending | null> {
  const channel = context.ground.channels.find((one) => one.can(request, attempt.identity));
  if (channel === undefined) return null;
  const end = await context.over(channel, request, attempt);
  return end.kind === 'refused' ? refused(end.failure) : ended(end.kind, { way: channel.name, words: end.words });
}

/** A signal to the process group that was verified to be the agent's (IDN3). */
export async function kill(
  context: ActionContext,
  attempt: Attempt,
  request: Extract<ActionRequest, { action: 'kill' }>,
): Promise<Ending> {
  const { identity } = attempt;
  const { signal } = request;
  const done = await byChannel(context, attempt, request);
  if (done !== null) return done;
  if (identity.process === null) return refusedFor('E_UNSUPPORTED', 'it has no process of its own');
  const sent = await context.ground.signal(identity.target, identity.process, signal);
  if (sent !== 'sent') return unsent(sent);
  // One that is suspended takes nothing but KILL before it goes on.
  if (signal !== 'KILL' && context.ground.stateOf(identity.runtime_id)?.suspended === true) {
    await context.ground.signal(identity.target, identity.process, 'CONT');
  }
  const isOver = await context.comesTrue(() => context.ground.stateOf(identity.runtime_id)?.ended !== null);
  const hazard = signal === 'INT' ? (context.ground.keysOf(identity.agent)?.afterInterruptSignal ?? null) : null;
  return isOver
    ? ended('delivered', { way: 'signal', words: hazard, detail: { signal } })
    : ended('unconfirmed', {
        way: 'signal',
        words: hazard ?? `${signal} was sent and it still runs`,
        detail: { signal },
      });
}

/** Refused only where it is certain that nothing happened. */
function unsent(sent: 'gone' | 'down' | 'unclear'): Ending {
  if (sent === 'gone') return refusedFor('E_RUNTIME_STALE', 'its process is gone');
  if (sent === 'down') return refusedFor('E_TARGET_DOWN', 'its machine does not answer');
  return ended('unconfirmed', { way: 'signal', words: 'it is not known whether the signal was sent; check the agent' });
}

/** Why there is no output to be seen. */
export const unseen = (state: StateRecord | null): Result<never> =>
  state?.ended == null
    ? fail('E_TARGET_DOWN', 'its output cannot be read now')
    : fail('E_ENDED', 'it has ended, and its pane is gone', "the agent's own transcript may have its output");

/** A suspended one goes on; one that has ended begins again where it was. */
export async function resume(context: ActionContext, attempt: Attempt, request: ActionRequest): Promise<Ending> {
  const { identity } = attempt;
  const done = await byChannel(context, attempt, request);
  if (done !== null) return done;
  const record = context.ground.stateOf(identity.runtime_id);
  if (record === null) return refusedFor('E_RUNTIME_STALE', 'it is no longer known');
  if (record.ended !== null) return resumeEnded(context, attempt);
  if (!record.suspended) return refusedFor('E_STATE_CHANGED', `it is not suspended: it is ${record.state}`);
  if (identity.process === null) return refusedFor('E_UNSUPPORTED', 'it has no process of its own');
  const sent = await context.ground.signal(identity.target, identity.process, 'CONT');
  if (sent !== 'sent') return unsent(sent);
  const goesOn = await context.comesTrue(() => context.ground.stateOf(identity.runtime_id)?.suspended === false);
  return goesOn
    ? ended('delivered', { way: 'signal', words: 'if its shell is still in the foreground, type `fg` there' })
    : ended('unconfirmed', { way: 'signal', words: 'its shell is in the foreground: type `fg` there' });
}

/** A person chooses who is CONNECTED (RTE4). The event carries the id of the audit row (ACT8). */
export async function activate(context: ActionContext, attempt: Attempt): Promise<Ending> {
  const { identity, audit_id } = attempt;
  if (identity.parent !== null)
    return refusedFor('E_UNSUPPORTED', 'it runs inside another agent and cannot be CONNECTED');
  const event: EventEnvelope & { readonly audit_id: string } = {
    evidence: { target: identity.target, runtime_id: identity.runtime_id },
    source: 'operator',
    kind: 'route.activated',
    event_time: context.ground.now(),
    payload: {},
    audit_id,
  };
  const [verdict] = await context.ground.take([event]);
  return verdict?.verdict === 'applied' || verdict?.verdict === 'refreshed'
    ? ended('delivered')
    : refusedFor('E_STATE_CHANGED', `the choice was not accepted: ${verdict?.reason ?? 'no answer'}`);
}
