// How Gemini CLI is worked at the keyboard. A digit in one of its lists acts at once, so it is only ever pressed for an
// option whose words were read.

import type { AskOption } from '../../model/asks.ts';
import { limits } from '../../model/limits.ts';
import type { AnswerableAsk, Keys, Stroke } from '../contract.ts';
import { answersTo, type DialogWords } from '../keys/dialogs.ts';
import { marked } from '../keys/file-ref.ts';
import { isNumbered } from '../keys/options.ts';
import { fieldPrompt } from '../keys/prompts.ts';
import { resumeBy } from '../keys/resume.ts';
import { digit, escapeKey, press } from '../keys/strokes.ts';

const words: DialogWords = {
  once: [/^(?:Yes, a|A)llow once$/, /^Trust folder \(/],
  no: [/^No, suggest changes/, /^Don't trust$/],
  instead: [],
  own: [/^Enter a custom value$/],
  menus: [],
};

/** With boxes to tick, a digit ticks and does not answer. */
const canTick = ({ options }: AnswerableAsk): boolean =>
  options.some(({ label }) => /^\[.?\] |^All of the above$|^Done$/.test(label));

const choose = (ask: AnswerableAsk, option: AskOption): readonly Stroke[] | null =>
  isNumbered(ask) && !canTick(ask) ? digit(option) : null;

export const keys: Keys = {
  interrupt: [press('Escape')],
  collapsed: String.raw`\[Pasted Text: \d+ (?:lines|chars)(?: #\d+)?\]`,
  enterPauseMs: limits.enterPauseMs,
  emptyPrompt: String.raw`^[\s│]*[>*!]\s+Type your `,
  prompt: fieldPrompt,
  ...answersTo(words, {
    choose,
    refuse: (ask, no) => (ask.kind === 'trust' ? choose(ask, no) : escapeKey),
    isHarmless: () => true,
  }),
  fileRef: (path, lines) => marked(`@${path.replace(/[\s()[\]{};|*?$`'"#&<>!~,\\]/g, '\\$&')}`, lines),
  resume: resumeBy('gemini', (session) => ['--resume', session], ['--resume', 'latest']),
  start: ['gemini'],
};
