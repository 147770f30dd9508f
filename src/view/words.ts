// The one language of all screens: mark, word, colour role and order of each state, and how ages are written. Pure; a
// screen may choose how to draw these, never what they are.

import { fail, ok, type Result } from '../model/errors.ts';
import type { StateRecord } from '../model/records.ts';
import { isStateName, type StateName, stateNames } from '../model/states.ts';

export { agentLabel } from '../model/rows.ts';

export type ColourRole = 'attention' | 'ask' | 'bad' | 'doubt' | 'good' | 'work' | 'quiet';

interface StateWords {
  readonly mark: string;
  readonly word: string;
  readonly colour: ColourRole;
  /** Order of rows: whoever needs a person comes first. Not the precedence of RSV2. */
  readonly order: number;
}

const stateWords: Readonly<Record<StateName, StateWords>> = {
  waiting_approval: { mark: '▲', word: 'approve', colour: 'attention', order: 1 },
  waiting_input: { mark: '?', word: 'answer', colour: 'ask', order: 2 },
  error: { mark: '✕', word: 'error', colour: 'bad', order: 3 },
  unknown: { mark: '◌', word: 'unknown', colour: 'doubt', order: 4 },
  completed: { mark: '✓', word: 'done', colour: 'good', order: 5 },
  running: { mark: '●', word: 'running', colour: 'work', order: 6 },
  idle: { mark: '○', word: 'idle', colour: 'quiet', order: 7 },
};

export function wordsOf(state: StateName): StateWords {
  return stateWords[state];
}

/** Whoever needs a person first. */
export const statesInOrder: readonly StateName[] = stateNames.toSorted(
  (one, other) => wordsOf(one).order - wordsOf(other).order,
);

/** A state as a person writes it: by its name, or by the word that every table prints. */
export function parseState(text: string): Result<StateName> {
  const said = text.trim().toLowerCase();
  const found = isStateName(said) ? said : statesInOrder.find((state) => wordsOf(state).word === said);
  if (found !== undefined) return ok(found);
  const known = statesInOrder.map((state) => {
    const { word } = wordsOf(state);
    return word === state ? word : `${word} (${state})`;
  });
  return fail('E_FILTER', `there is no state "${text}"; there are ${known.join(', ')}`);
}

/** What completes a state at a prompt: words and names. */
export const stateSuggestions: readonly string[] = [
  ...new Set([...statesInOrder.map((state) => wordsOf(state).word), ...stateNames]),
];

/** The colour goes with the label: a suspended agent is quiet, whatever it did before. */
export const colourOf = ({
  state,
  suspended,
}: {
  readonly state: StateName;
  readonly suspended?: boolean;
}): ColourRole => (suspended === true ? 'quiet' : stateWords[state].colour);

type Labelled = Pick<StateRecord, 'state' | 'confidence'> & Partial<Pick<StateRecord, 'suspended'>>;

/** `▲ approve`, `● ~running`: never colour alone, and a doubt is visible. Who was stopped with Ctrl-Z does nothing at all. */
export function stateLabel(record: Labelled): string {
  if (record.suspended === true) return '‖ suspended';
  const { mark, word } = stateWords[record.state];
  const doubt = record.confidence === 'high' || record.state === 'unknown' ? '' : '~';
  return `${mark} ${doubt}${word}`;
}

/** Behind `✓ done` until a person has seen it: ` •`; otherwise nothing. */
export const unseenMark = (seen: boolean | null): string => (seen === false ? ' •' : '');

/** Short and growing: 12s, 4m, 2h, 3d. */
export function ageLabel(ageMs: number): string {
  const seconds = Math.max(0, Math.floor(ageMs / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** `840`, `12.3k`, `4.5M`. */
export function tokenLabel(count: number): string {
  if (count < 1_000) return String(count);
  return count < 999_950 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** `+2 shells +1 agent`, empty when nothing runs in the background. */
export function backgroundLabel({ shells, agents }: StateRecord['background']): string {
  const part = (count: number, word: string): string =>
    count === 0 ? '' : `+${count} ${word}${count === 1 ? '' : 's'}`;
  return [part(shells, 'shell'), part(agents, 'agent')].filter((one) => one !== '').join(' ');
}
