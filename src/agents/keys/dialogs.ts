// How a dialog is answered when its options are known by their words: the shape that agents share, each with words of its
// own. A dialog that is not recognised as a whole gets no stroke at all.

import { type AskOption, stateOfAsk } from '../../model/asks.ts';
import type { AnswerableAsk, KeyStep, Keys } from '../contract.ts';
import { escapeKey, fill, isFieldText } from './key-steps.ts';
import { isLasting, onlyOption, optionOf, saysOneOf, type Words } from './options.ts';

export interface DialogWords {
  /** Yes to this and to nothing else. */
  readonly once: Words;
  readonly no: Words;
  /** Options of an approval that open a field for what to do instead. */
  readonly instead: Words;
  /** The option of a question that opens a field for an answer in one's own words. */
  readonly own: Words;
  /** Menus, each known by all of its options in order. */
  readonly menus: readonly Words[];
}

export interface DialogKeys {
  /** Null: there is no key that chooses it and nothing else. */
  choose(ask: AnswerableAsk, option: AskOption): readonly KeyStep[] | null;
  refuse(ask: AnswerableAsk, no: AskOption): readonly KeyStep[] | null;
  /** Whether these words are harmless should the field not have opened. */
  isHarmless(text: string): boolean;
}

type Answers = Pick<Keys, 'approve' | 'reject' | 'choose' | 'write'>;

export function answersTo(words: DialogWords, hands: DialogKeys): Answers {
  const noOf = (ask: AnswerableAsk): AskOption | null => (isApproval(ask) ? onlyOption(ask, words.no) : null);
  const ownOf = (ask: AnswerableAsk): AskOption | null => (isApproval(ask) ? null : onlyOption(ask, words.own));
  const filled = (ask: AnswerableAsk, field: AskOption | null, text: string): readonly KeyStep[] | null => {
    if (field === null || !isFieldText(text) || !hands.isHarmless(text)) return null;
    const open = hands.choose(ask, field);
    return open === null ? null : fill(open, text);
  };
  return {
    approve: (ask) => {
      const yes = onlyOption(ask, words.once);
      if (yes === null || isLasting(yes) || noOf(ask) === null) return null;
      return hands.choose(ask, yes);
    },
    reject: (ask, because) => {
      const no = noOf(ask);
      if (because !== null) return no === null ? null : filled(ask, onlyOption(ask, words.instead), because);
      if (no !== null) return hands.refuse(ask, no);
      // Every one of them lets go of a question with Escape.
      return ask.kind === 'question' && ownOf(ask) !== null ? escapeKey : null;
    },
    choose: (ask, optionId) => {
      const option = optionOf(ask, optionId);
      if (option === null) return null;
      const no = noOf(ask);
      if (no !== null) return option === no ? hands.refuse(ask, no) : hands.choose(ask, option);
      const own = ownOf(ask);
      if (own === option || (own === null && !isMenu(ask, words.menus))) return null;
      return hands.choose(ask, option);
    },
    write: (ask, text) => filled(ask, ownOf(ask), text),
  };
}

const isApproval = ({ kind }: AnswerableAsk): boolean => stateOfAsk(kind) === 'waiting_approval';

const isMenu = ({ kind, options }: AnswerableAsk, menus: readonly Words[]): boolean =>
  kind === 'dialog' &&
  menus.some(
    (labels) =>
      labels.length === options.length && options.every((one, at) => saysOneOf(labels.slice(at, at + 1), one)),
  );
