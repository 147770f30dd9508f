// Interrupting, killing, resuming and choosing an agent: what is done to it rather than said to it (ACT5).

import type { ActionRequest } from '../model/actions.ts';
import { type Failure, fail, failure, type Result } from '../model/errors.ts';
import type { EventEnvelope } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import {
  type Attempt,
  type Bench,
  type Ending,
  ended,
  refused,
  refusedFor,
  refusedTouch,
  showsDialog,
  unreadable,
} from './bench.ts';
import type { FreshLook } from './ground.ts';
import { resumeEnded } from './resuming.ts';
import { perform, rechecks } from './strokes.ts';

/** What INT does to agents that do not take it for an interruption, as measured. */
const afterInterruptSignal: Readonly<Record<string, string>> = {
  codex: 'INT ends Codex and leaves its terminal dirty: type `reset` there; `agtmux interrupt` stops the turn alone',
  opencode: 'INT ends OpenCode as a whole; `agtmux interrupt` stops the turn alone',
  kilo: 'INT ends Kilo as a whole; `agtmux interrupt` stops the turn alone',
};

/** The agent's own way, and only while it works: the same key at a prompt or in a dialog means something else. */
export async function interrupt(bench: Bench, attempt: Attempt, request: ActionRequest): Promise<Ending> {
  const { identity, conditions } = attempt;
  const state = bench.ground.stateOf(identity.runtime_id)?.state ?? 'unknown';
  const isForced = conditions.force_stale === true;
  if (state === 'waiting_approval')
    return refusedFor('E_DIALOG', 'it waits for an approval: interrupting would refuse it');
  if (state !== 'running' && !(state === 'unknown' && isForced)) {
    return refusedFor('E_STATE_CHANGED', `there is nothing to interrupt: it is ${state}`);
  }
  const done = await byChannel(bench, attempt, request);
  if (done !== null) return done;
  const keys = bench.ground.keysOf(identity.agent);
  if (keys === null || keys.interrupt.length === 0) {
    return refusedFor('E_UNSUPPORTED', `nobody knows how ${identity.agent} is interrupted`);
  }
  const notNow = notAtWork(await bench.look(attempt));
  if (notNow !== null) return refused(notNow);
  const grip = await bench.grip(attempt);
  if (!grip.ok) return refused(grip.failure);
  const problem = bench.check(attempt);
  if (problem !== null) return refused(problem);
  // A dialog that came up meanwhile would be answered by the key, and at a prompt it means something else.
  const recheck = rechecks(bench, attempt, grip.value, async () => notAtWork(await bench.look(attempt)) === null);
  const isTwice = keys.interrupt.some((stroke) => 'keys' in stroke && stroke.after !== undefined);
  for (let tries = 1; ; tries += 1) {
    const { done, stop } = await perform(bench, grip.value, keys.interrupt, { ...keys, shown: null, recheck });
    if (stop?.kind === 'refused' && done === 0 && tries === 1) {
      const why = stop.why === 'other_process' ? notAtWork(await bench.look(attempt)) : null;
      return why === null ? refusedTouch(stop.why) : refused(why);
    }
    if (await bench.comesTrue(() => isTurnOver(bench, attempt))) return ended('delivered', { way: 'keys' });
    // On a busy machine the second key may come too late for the first. Then neither did anything.
    if (isTwice && stop === null && tries < limits.interruptTriesMax) continue;
    const words = stop === null ? 'the keys went out and it still works' : 'not every key went out; look at the pane';
    return ended('unconfirmed', { way: 'keys', words });
  }
}

/** Why the keys that interrupt must not be pressed at this screen; null when they may. */
function notAtWork(look: FreshLook | null): Failure | null {
  if (look === null) return unreadable;
  if (showsDialog(look)) return failure('E_DIALOG', 'a dialog is open: interrupting would answer it');
  return look.state === 'idle' || look.state === 'completed'
    ? failure('E_STATE_CHANGED', 'there is nothing to interrupt: its prompt is ready')
    : null;
}

/** By what is published or by its screen. One that asks something now was not interrupted. */
async function isTurnOver(bench: Bench, attempt: Attempt): Promise<boolean> {
  const record = bench.ground.stateOf(attempt.identity.runtime_id);
  if (record === null || record.ended !== null) return true;
  const look = await bench.look(attempt);
  if (look === null || showsDialog(look)) return false;
  return [record.state, look.state].some((state) => state === 'idle' || state === 'completed' || state === 'error');
}

/** By the agent's own way, if it has one for this. */
async function byChannel(bench: Bench, attempt: Attempt, request: ActionRequest): Promise<Ending | null> {
  const channel = bench.ground.channels.find((one) => one.can(request, attempt.identity));
  if (channel === undefined) return null;
  const end = await bench.over(channel, request, attempt);
  return end.kind === 'refused' ? refused(end.failure) : ended(end.kind, { way: channel.name, words: end.words });
}

/** A signal to the process group that was verified to be the agent's (IDN3). */
export async function kill(
  bench: Bench,
  attempt: Attempt,
  request: Extract<ActionRequest, { action: 'kill' }>,
): Promise<Ending> {
  const { identity } = attempt;
  const { signal } = request;
  const done = await byChannel(bench, attempt, request);
  if (done !== null) return done;
  if (identity.process === null) return refusedFor('E_UNSUPPORTED', 'it has no process of its own');
  const sent = await bench.ground.signal(identity.target, identity.process, signal);
  if (sent !== 'sent') return unsent(sent);
  // One that is suspended takes nothing but KILL before it goes on.
  if (signal !== 'KILL' && bench.ground.stateOf(identity.runtime_id)?.suspended === true) {
    await bench.ground.signal(identity.target, identity.process, 'CONT');
  }
  const isOver = await bench.comesTrue(() => bench.ground.stateOf(identity.runtime_id)?.ended !== null);
  const hazard = signal === 'INT' ? (afterInterruptSignal[identity.agent] ?? null) : null;
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
  return ended('unconfirmed', { way: 'signal', words: 'nobody knows whether the signal was sent; look at it' });
}

/** Why there is no output to be seen. */
export const unseen = (state: StateRecord | null): Result<never> =>
  state?.ended == null
    ? fail('E_TARGET_DOWN', 'its output cannot be read now')
    : fail('E_ENDED', 'it has ended, and its pane is gone', 'what it said may stand in its own record');

/** A suspended one goes on; one that has ended begins again where it was. */
export async function resume(bench: Bench, attempt: Attempt, request: ActionRequest): Promise<Ending> {
  const { identity } = attempt;
  const done = await byChannel(bench, attempt, request);
  if (done !== null) return done;
  const record = bench.ground.stateOf(identity.runtime_id);
  if (record === null) return refusedFor('E_RUNTIME_STALE', 'it is no longer known');
  if (record.ended !== null) return resumeEnded(bench, attempt);
  if (!record.suspended) return refusedFor('E_STATE_CHANGED', `it is not suspended: it is ${record.state}`);
  if (identity.process === null) return refusedFor('E_UNSUPPORTED', 'it has no process of its own');
  const sent = await bench.ground.signal(identity.target, identity.process, 'CONT');
  if (sent !== 'sent') return unsent(sent);
  const goesOn = await bench.comesTrue(() => bench.ground.stateOf(identity.runtime_id)?.suspended === false);
  return goesOn
    ? ended('delivered', { way: 'signal', words: 'if its shell still holds the terminal, type `fg` there' })
    : ended('unconfirmed', { way: 'signal', words: 'its shell holds the terminal: type `fg` there' });
}

/** A person chooses who is CONNECTED (RTE4). The event carries the id of the audit row (ACT8). */
export async function activate(bench: Bench, attempt: Attempt): Promise<Ending> {
  const { identity, audit_id } = attempt;
  if (identity.parent !== null)
    return refusedFor('E_UNSUPPORTED', 'it runs inside another agent and is never routed to');
  const event: EventEnvelope & { readonly audit_id: string } = {
    evidence: { target: identity.target, runtime_id: identity.runtime_id },
    source: 'operator',
    kind: 'route.activated',
    event_time: bench.ground.now(),
    payload: {},
    audit_id,
  };
  const [verdict] = await bench.ground.take([event]);
  return verdict?.verdict === 'applied' || verdict?.verdict === 'refreshed'
    ? ended('delivered')
    : refusedFor('E_STATE_CHANGED', `the choice was not taken: ${verdict?.reason ?? 'no answer'}`);
}
