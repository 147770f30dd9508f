// Cursor's hooks, after its documentation and others' measurements: it was never run here, so nothing is told with high
// confidence. There is no hook for a pending approval, and the ones before a tool fire whether anybody is asked or not:
// they say nothing about waiting and are left alone.

import { agentSessionId, mainScope } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Finding, HookCall, HookReader } from '../contract.ts';
import { textOf } from '../fields.ts';

type Fact = Finding['fact'];

export const hooks: HookReader = {
  events: ['beforeSubmitPrompt', 'stop', 'sessionEnd'],
  stored: [],
  session({ payload }) {
    const id = payload?.conversation_id ?? payload?.session_id;
    const isId = typeof id === 'string' && id.length <= limits.idCharsMax && /^[\w.:-]+$/.test(id);
    return isId ? agentSessionId(id) : null;
  },
  prompt({ event, payload }) {
    return event === 'beforeSubmitPrompt' ? textOf(payload?.prompt) : null;
  },
  read(call) {
    return factsOf(call).map((fact) => ({ fact, time: call.time }));
  },
};

function factsOf({ event, payload }: HookCall): readonly Fact[] {
  switch (event) {
    case 'beforeSubmitPrompt':
      return [{ kind: 'state.observed', state: 'running', reason: 'turn_running', confidence: 'medium' }];
    case 'stop':
      return [{ kind: 'turn.ended', scope: mainScope }, ...outcome(payload?.status)];
    case 'sessionEnd':
      return isGoodbye(payload?.reason) ? [{ kind: 'runtime.goodbye' }] : [];
    default:
      return [];
  }
}

function outcome(status: unknown): readonly Fact[] {
  switch (status) {
    case 'completed':
      return [{ kind: 'state.observed', state: 'completed', reason: 'turn_completed', confidence: 'medium' }];
    case 'aborted':
      return [{ kind: 'state.observed', state: 'idle', reason: 'interrupted', confidence: 'medium' }];
    case 'error':
      return [{ kind: 'state.observed', state: 'error', reason: 'turn_failed', confidence: 'medium' }];
    // A version that says it in another way: the turn is over, how it went is not known.
    default:
      return [{ kind: 'state.observed', state: 'idle', reason: 'prompt_ready', confidence: 'low' }];
  }
}

/** A conversation also ends when another one is begun in the same program; only these two are a leave-taking. */
const isGoodbye = (reason: unknown): boolean => reason === 'user_close' || reason === 'window_close';
