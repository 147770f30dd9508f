// The colour of each state of a session, as its list and its page show it.

import type { ManagedItem } from '../../api/schemas-sessions.ts';

export const machineRoles: Readonly<Record<ManagedItem['state'], string>> = {
  waiting_approval: 'attention',
  waiting_input: 'ask',
  error: 'bad',
  completed: 'good',
  creating: 'work',
  streaming: 'work',
  paused: 'quiet',
  stopped: 'quiet',
  idle: 'quiet',
};
