// How a turn of Codex ended. A failed turn is completed as well, in the server's words: its status and its error tell
// (SES6).

import { type Fields, fieldsIn, fieldsOf, idOf, textOf } from '../../agents/fields.ts';
import { askId, mainScope } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { MachineEvent, MachineEventKind } from '../../model/sessions.ts';
import type { CodexMemory } from './memory.ts';

type Ending = Omit<MachineEvent, 'at'>;

/** Null for a turn that is not at its end. */
export function endingOf(turn: Fields, memory: CodexMemory): Ending | null {
  const error = fieldsOf(turn.error);
  const failure = error === null ? memory.failure : failureIn(error);
  switch (turn.status) {
    case 'interrupted':
      return { kind: 'turn_cancelled' };
    case 'completed':
      if (failure === null && memory.hasOutput) return { kind: 'say:completion_result', outcome: 'verified' };
      if (failure === null)
        return { kind: 'say:completion_result', outcome: 'unverified', words: 'the turn ended without a word' };
      return failed(failure, `failed-${idOf(turn.id)}`);
    case 'failed': {
      const words = 'the turn failed without a word';
      return failed(failure ?? { info: null, words }, `failed-${idOf(turn.id)}`);
    }
    case 'inProgress':
      return null;
    default:
      return {
        kind: 'say:completion_result',
        outcome: 'unverified',
        words: `the turn ended as "${textOf(turn.status) ?? 'nothing'}"`,
      };
  }
}

export const failureIn = (error: Fields): NonNullable<CodexMemory['failure']> => ({
  info: error.codexErrorInfo,
  words: textOf(error.message) ?? 'a request failed without a word',
});

export function failed({ info, words }: NonNullable<CodexMemory['failure']>, id: string): Ending {
  const kind = kindOf(info);
  const isLogin = info === 'unauthorized' || statusIn(info) === 401;
  const text = `${words}${isLogin ? ' (log in with `codex login`)' : ''}`.slice(0, limits.detailCharsMax);
  const ask = { ask_id: askId(id), kind: 'dialog', scope: mainScope, text, options: [], accepts: ['retry'] } as const;
  return { kind, words: text, ask };
}

function kindOf(info: unknown): MachineEventKind {
  const status = statusIn(info);
  if (info === 'usageLimitExceeded' || info === 'sessionBudgetExceeded' || status === 402) {
    return 'ask:payment_required_prompt';
  }
  if (info === 'modelNotFound' || status === 404) return 'ask:invalid_model';
  return info === 'tooManyDenials' ? 'ask:mistake_limit_reached' : 'ask:api_req_failed';
}

/** The status of the request that failed, wherever it stands. */
export function statusIn(info: unknown): number | null {
  for (const one of Object.values(fieldsIn(info))) {
    const status = fieldsIn(one).httpStatusCode;
    if (typeof status === 'number') return status;
  }
  return null;
}
