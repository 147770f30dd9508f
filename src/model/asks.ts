// What an agent wants from a person (ASK1, ASK2).

import type { AskId, ScopeId } from './ids.ts';
import type { StateName } from './states.ts';

export const askKinds = ['command', 'edit', 'tool', 'plan', 'question', 'trust', 'dialog'] as const;
export type AskKind = (typeof askKinds)[number];

export interface AskOption {
  /** The key or id that chooses it, as the agent knows it. */
  readonly id: string;
  /** The words the agent shows. */
  readonly label: string;
}

export interface Ask {
  readonly ask_id: AskId;
  readonly kind: AskKind;
  readonly scope: ScopeId;
  readonly text: string;
  readonly options: readonly AskOption[];
}

export const settleKinds = ['answered', 'denied', 'result', 'withdrawn'] as const;
export type SettleKind = (typeof settleKinds)[number];

/** A question or a menu wants a choice, everything else wants a yes or a no. */
export function stateOfAsk(kind: AskKind): Extract<StateName, 'waiting_approval' | 'waiting_input'> {
  switch (kind) {
    case 'question':
    case 'dialog':
      return 'waiting_input';
    case 'command':
    case 'edit':
    case 'tool':
    case 'plan':
    case 'trust':
      return 'waiting_approval';
  }
}
