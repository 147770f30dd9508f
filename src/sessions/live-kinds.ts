// States, events and refusals in the groups that leading a session asks for.

import type { ErrorCode } from '../model/errors.ts';
import type { MachineEventKind, MachineState } from '../model/sessions.ts';

export const activeStates: readonly MachineState[] = ['creating', 'streaming', 'waiting_approval', 'waiting_input'];

export const turnEnds: readonly MachineEventKind[] = [
  'turn_cancelled',
  'say:completion_result',
  'ask:completion_result',
  'ask:api_req_failed',
];

/** Another moment may lift them: a message that waits goes on waiting. */
export const passingRefusals: readonly ErrorCode[] = ['E_STATE_CHANGED', 'E_DIALOG', 'E_STORE_IO'];
