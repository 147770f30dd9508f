// The seven states, their precedence, and how sure we are (RSV1, RSV2). Nothing here decides; engine/resolve does.

export const stateNames = [
  'error',
  'waiting_approval',
  'waiting_input',
  'running',
  'completed',
  'idle',
  'unknown',
] as const;

export type StateName = (typeof stateNames)[number];

export const confidences = ['high', 'medium', 'low'] as const;
export type Confidence = (typeof confidences)[number];

/** Smaller wins. The order of `stateNames` is the precedence of RSV2, in one place. */
export function precedenceOf(state: StateName): number {
  return stateNames.indexOf(state);
}

/** Words for whoever is in another one would be taken for an answer. */
export const statesThatAskNothing = stateNames.filter(
  (name) => name !== 'waiting_approval' && name !== 'waiting_input',
);

export function isStateName(text: string): text is StateName {
  return (stateNames as readonly string[]).includes(text);
}

/** On a screen idle and completed look the same: one class, "settled" (RSV2). */
export type StateClass = 'error' | 'waiting_approval' | 'waiting_input' | 'running' | 'settled' | 'unclassified';

export function classOf(state: StateName): StateClass {
  switch (state) {
    case 'completed':
    case 'idle':
      return 'settled';
    case 'unknown':
      return 'unclassified';
    case 'error':
    case 'waiting_approval':
    case 'waiting_input':
    case 'running':
      return state;
  }
}
