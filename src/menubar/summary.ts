// The summary every bar shows: who needs a person, in the marks of all other screens, and the same in words. Pure.

import type { PaneItem } from '../api/schemas.ts';
import { type StateName, stateNames } from '../model/states.ts';
import { statesInOrder, wordsOf } from '../view/words.ts';

export interface Summary {
  /** `▲2 ?1 ✕1`, empty when nobody needs you. */
  readonly text: string;
  /** `2 approve, 1 answer, 6 running`. */
  readonly words: string;
  readonly counts: Readonly<Record<StateName, number>>;
  /** What the most urgent one needs; `calm` when nobody does. */
  readonly level: 'attention' | 'ask' | 'bad' | 'calm';
}

const urgent = [
  ['waiting_approval', 'attention'],
  ['waiting_input', 'ask'],
  ['error', 'bad'],
] as const;

export function summaryOf(agents: readonly Pick<PaneItem, 'state'>[]): Summary {
  const countOf = (state: StateName): number => agents.filter((one) => one.state === state).length;
  const counts = Object.fromEntries(stateNames.map((state) => [state, countOf(state)])) as Record<StateName, number>;
  const parts = statesInOrder
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${wordsOf(state).word}`);
  const needed = urgent.filter(([state]) => counts[state] > 0);
  return {
    text: needed.map(([state]) => `${wordsOf(state).mark}${counts[state]}`).join(' '),
    words: parts.length === 0 ? 'no agents' : parts.join(', '),
    counts,
    level: needed[0]?.[1] ?? 'calm',
  };
}
