// Which buttons and warnings a session shows: one table that every screen uses (SES7).

import type { MachineState, SessionRecord, SessionView } from '../model/sessions.ts';

/** The states in which each of them is shown. Dismiss is what cancel is elsewhere: it stops for good. The warning stands
 * only where the agent approves for itself. */
export const shownIn = {
  showSpinner: ['creating', 'streaming'],
  showCancelButton: ['creating', 'streaming', 'waiting_approval', 'waiting_input'],
  showResumeButton: ['completed', 'paused', 'stopped'],
  showAutoModeWarning: ['creating', 'streaming'],
  inputEnabled: ['waiting_input', 'completed', 'paused', 'stopped'],
  isActive: ['creating', 'streaming', 'waiting_approval', 'waiting_input'],
  showRetryButton: ['error'],
  showDismissButton: ['paused', 'error'],
} as const satisfies Record<keyof SessionView, readonly MachineState[]>;

export function viewOf({ state, auto_approve }: Pick<SessionRecord, 'state' | 'auto_approve'>): SessionView {
  const isShown = (name: keyof SessionView): boolean => (shownIn[name] as readonly MachineState[]).includes(state);
  return {
    showSpinner: isShown('showSpinner'),
    showCancelButton: isShown('showCancelButton'),
    showResumeButton: isShown('showResumeButton'),
    showAutoModeWarning: auto_approve && isShown('showAutoModeWarning'),
    inputEnabled: isShown('inputEnabled'),
    isActive: isShown('isActive'),
    showRetryButton: isShown('showRetryButton'),
    showDismissButton: isShown('showDismissButton'),
  };
}
