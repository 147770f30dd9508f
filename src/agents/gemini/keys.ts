// How Gemini CLI is worked at the keyboard. A digit in one of its lists acts at once, so it is only ever pressed for an
// option whose words were read.

import type { AskOption } from '../../model/asks.ts';
import { limits } from '../../model/limits.ts';
import type { AnswerableAsk, KeyStep, Keys } from '../contract.ts';
import { answersTo, type DialogWords } from '../keys/dialogs.ts';
import { marked } from '../keys/file-ref.ts';
import { digit, escapeKey, press } from '../keys/key-steps.ts';
import { isNumbered, optionOf } from '../keys/options.ts';
import { fieldPrompt } from '../keys/prompts.ts';
import { resumeBy } from '../keys/resume.ts';
import { modelOption } from '../keys/start-options.ts';

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

const choose = (ask: AnswerableAsk, option: AskOption): readonly KeyStep[] | null =>
  isNumbered(ask) && !canTick(ask) ? digit(option) : null;

const answers = answersTo(words, {
  choose,
  refuse: (ask, no) => (ask.kind === 'trust' ? choose(ask, no) : escapeKey),
  isHarmless: () => true,
});

/**
 * Its questions show three options at a time however large the window is, between arrows; the one for own words is the
 * last and out of sight. What is in sight begins at the first, and its digit chooses it. Of several questions in one
 * dialog an answer would be the first only.
 */
const isScrolled = ({ kind, text }: AnswerableAsk): boolean =>
  kind === 'question' && /^Answer Questions\n(?!←)[\s\S]+\n▲$/.test(text);

export const keys: Keys = {
  interrupt: [press('Escape')],
  collapsed: String.raw`\[Pasted Text: \d+ (?:lines|chars)(?: #\d+)?\]`,
  enterPauseMs: limits.enterPauseMs,
  prompt: fieldPrompt,
  ...answers,
  reject: (ask, because) => answers.reject(ask, because) ?? (isScrolled(ask) && because === null ? escapeKey : null),
  choose: (ask, optionId) => {
    const option = isScrolled(ask) ? optionOf(ask, optionId) : null;
    return answers.choose(ask, optionId) ?? (option === null ? null : choose(ask, option));
  },
  fileRef: (path, lines) => marked(`@${path.replace(/[\s()[\]{};|*?$`'"#&<>!~,\\]/g, '\\$&')}`, lines),
  resume: resumeBy('gemini', (session) => ['--resume', session], ['--resume', 'latest']),
  start: ['gemini'],
  startOptions: [
    modelOption,
    { names: ['--sandbox', '-s'] },
    { names: ['--include-directories'], hasValue: true },
    { names: ['--approval-mode'], hasValue: true, skipsPermissions: ['yolo', 'auto_edit'] },
    { names: ['--yolo', '-y'], skipsPermissions: true },
  ],
};
