// Claude Code outside of tmux, where no keys can (ACT10): its PermissionRequest hook waits for a while beside the dialog, and
// whoever answers first counts. Only for the very request that was shown, and only over the call of its own process.

import { isSame } from '../../engine/canonical.ts';
import type { ActionRequest } from '../../model/actions.ts';
import type { Ask } from '../../model/asks.ts';
import type { RuntimeIdentity } from '../../model/events.ts';
import { limits } from '../../model/limits.ts';
import { type Channel, type ChannelContext, type ChannelEnd, refusedWith, type WaitingCall } from '../contract.ts';
import { answeredInput, askOf } from './asks.ts';
import { callOf } from './hooks.ts';

export const claudeChannel = (context: ChannelContext): Channel => new HookChannel(context);

const notWaiting = refusedWith(
  'E_NO_PANE',
  'its hook does not wait for an answer to this; answer in its own terminal, or install the hooks again',
);

class HookChannel implements Channel {
  readonly name = 'claude-hook';
  readonly #context: ChannelContext;

  constructor(context: ChannelContext) {
    this.#context = context;
  }

  can(request: ActionRequest, runtime: RuntimeIdentity): boolean {
    const isOutside = runtime.agent === 'claude' && runtime.pane === null && runtime.parent === null;
    return isOutside && runtime.process !== null && this.#askFor(request, runtime) !== null;
  }

  async run(request: ActionRequest, runtime: RuntimeIdentity): Promise<ChannelEnd> {
    const ask = this.#askFor(request, runtime);
    if (ask === null) return refusedWith('E_STATE_CHANGED', 'the pending request is another one now');
    const calls = await this.#context.waitingCalls();
    const [call, ...others] = calls.filter((one) => isFrom(one, runtime) && isAbout(one, ask));
    if (call === undefined || others.length > 0) return notWaiting;
    const decision = decisionOf(request, ask, call);
    if (decision === null)
      return refusedWith('E_UNSUPPORTED', 'its hook does not take this answer: answer in its terminal');
    if (!this.#isOpen(runtime, ask)) return refusedWith('E_STATE_CHANGED', 'it was settled meanwhile');
    const output = { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
    if (!(await call.answer(`${JSON.stringify(output)}\n`))) return notWaiting;
    return this.#watch(runtime, ask, call);
  }

  /** Taken, and then its agent's own word; without the one it is taken back, without the other nobody knows. */
  async #watch(runtime: RuntimeIdentity, ask: Ask, call: WaitingCall): Promise<ChannelEnd> {
    let isTaken = false;
    for (let waitedMs = 0; waitedMs < limits.hookAnsweredMs; waitedMs += limits.effectLookMs) {
      await new Promise<void>((resolve) => this.#context.clock.after(limits.effectLookMs, resolve));
      isTaken ||= await call.isTaken();
      if (isTaken && !this.#isOpen(runtime, ask)) return { kind: 'delivered', words: null };
    }
    if (isTaken) return { kind: 'unconfirmed', words: 'its hook took the answer; what it did with it was not told' };
    await call.takeBack();
    return (await call.isTaken()) && !this.#isOpen(runtime, ask)
      ? refusedWith('E_STATE_CHANGED', 'it was answered in its own terminal')
      : refusedWith('E_NO_PANE', 'its hook did not take the answer, which was taken back; answer in its own terminal');
  }

  #isOpen({ runtime_id }: RuntimeIdentity, ask: Ask): boolean {
    const record = this.#context.stateOf(runtime_id);
    return record !== null && record.ended === null && record.ask?.ask_id === ask.ask_id;
  }

  #askFor(request: ActionRequest, { runtime_id }: RuntimeIdentity): Ask | null {
    if (request.action !== 'approve' && request.action !== 'reject' && request.action !== 'answer') return null;
    const ask = this.#context.wholeAskOf(runtime_id);
    return ask !== null && (request.ask_id === undefined || request.ask_id === ask.ask_id) ? ask : null;
  }
}

/** Its own process is among those above the call, with its start: a pid alone is nobody (IDN3). */
const isFrom = ({ ancestors }: WaitingCall, { process }: RuntimeIdentity): boolean =>
  process !== null && ancestors.some(({ pid, start }) => pid === process.pid && start === process.start);

/** What it asks is what was shown, to the letter. */
function isAbout({ agent, event, payload }: WaitingCall, ask: Ask): boolean {
  const call = agent === 'claude' && event === 'PermissionRequest' && payload !== null ? callOf(payload) : null;
  return call !== null && isSame(askOf(call, ask.ask_id), ask);
}

/** Null where the answer cannot be told this way. */
function decisionOf(request: ActionRequest, ask: Ask, { payload }: WaitingCall): object | null {
  const isQuestion = ask.kind === 'question';
  switch (request.action) {
    case 'approve':
      return isQuestion ? null : { behavior: 'allow' };
    case 'reject':
      return { behavior: 'deny', message: request.because ?? 'The user said no.' };
    case 'answer': {
      const option = ask.options.find(({ id }) => id === request.option)?.label ?? request.text;
      const input =
        isQuestion && option !== undefined && payload !== null ? answeredInput(payload.tool_input, option) : null;
      return input === null ? null : { behavior: 'allow', updatedInput: input };
    }
    default:
      return null;
  }
}
