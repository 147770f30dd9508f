// Finding an option by its words. Nothing here knows an option's place: numbers differ from dialog to dialog, and a text
// that an agent was talked into showing may look like an option.

import type { AskOption } from '../../model/asks.ts';
import type { AnswerableAsk } from '../contract.ts';
import type { Pattern } from '../screen/pattern.ts';

/** Each from the first letter on: words in the middle of a line may be a stranger's. */
export type Words = readonly Pick<Pattern, 'test'>[];

export const saysOneOf = (words: Words, { label }: AskOption): boolean => words.some((one) => one.test(label));

/** The one option that says so. Where two do, one of them is not what it seems, and neither is taken. */
export function onlyOption({ options }: AnswerableAsk, words: Words): AskOption | null {
  const [found, other] = options.filter((option) => saysOneOf(words, option));
  return found === undefined || other !== undefined ? null : found;
}

export function optionOf({ options }: AnswerableAsk, id: string): AskOption | null {
  const [found, other] = options.filter((option) => option.id === id);
  return found === undefined || other !== undefined ? null : found;
}

/** Options with the digits 1, 2, 3 before them, each once and in order: the digit that is shown chooses. */
export const isNumbered = ({ options }: AnswerableAsk): boolean =>
  options.length > 0 && options.length < 10 && options.every(({ id }, place) => id === String(place + 1));

/** Options that show no digit: the screen knows them by their words alone. */
export const isPlain = ({ options }: AnswerableAsk): boolean =>
  options.length > 0 && options.every(({ id, label }) => id === label);

const lasting =
  /\b(?:always|again|all|any|auto|automatically|session|conversation|never|permanently|remember|future|every|forever|parent|prefix)\b/i;

/** Whether it grants more than what is asked now. What stands in brackets is a name or a hint. */
export const isLasting = ({ label }: AskOption): boolean => lasting.test(label.replace(/\([^)]*\)/g, ''));
