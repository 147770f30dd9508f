// How Copilot CLI is worked at the keyboard. A digit acts at once in its numbered lists, pasted ones perhaps too; lists
// without numbers begin at their first option.

import type { AskOption } from '../../model/asks.ts';
import type { AnswerableAsk, KeyStep, Keys } from '../contract.ts';
import { answersTo, type DialogWords } from '../keys/dialogs.ts';
import { atPath } from '../keys/file-ref.ts';
import { digit, escapeKey, press, walk } from '../keys/key-steps.ts';
import { isNumbered, isPlain } from '../keys/options.ts';
import { boxPrompt } from '../keys/prompts.ts';
import { resumeBy } from '../keys/resume.ts';
import { modelOption } from '../keys/start-options.ts';
import screen from './screen.json' with { type: 'json' };

const aside = new RegExp(screen.aside, 'u');
const instead = [/^No, and tell Copilot what to do/];
const own = [/^Other \(type your answer\)$/];

const words: DialogWords = {
  once: [/^Yes$/, /^Yes, proceed$/],
  no: [/^No \(Esc\)$/, /^No, exit \(Esc\)$/, ...instead],
  instead,
  own,
  menus: [],
};

function choose(ask: AnswerableAsk, option: AskOption): readonly KeyStep[] | null {
  if (isNumbered(ask)) return digit(option);
  if (!isPlain(ask)) return null;
  const downCount = ask.options.indexOf(option);
  // The field of the last option takes letters as soon as it is marked; Enter would send it empty.
  return own.some((one) => one.test(option.label)) ? walk([], downCount).slice(0, -1) : walk([], downCount);
}

export const keys: Keys = {
  // One of them does nothing but say so, for half a second.
  interrupt: [press('Escape'), { ...press('Escape'), after: 'esc again to interrupt' }],
  // What is long is kept in a file, of which its model is told.
  collapsed: String.raw`\[(?:Paste #\d+ - \d+ lines|Saved pasted content to workspace \([\d.]+ [KM]?B\)(?: id=\d+)?)\]`,
  enterPauseMs: 0,
  prompt: (lines) => boxPrompt(lines, aside),
  // Where the field did not open, a digit among the words might choose "don't ask again".
  ...answersTo(words, { choose, refuse: () => escapeKey, isHarmless: (text) => !/\d/.test(text) }),
  fileRef: atPath,
  resume: resumeBy('copilot', (session) => [`--resume=${session}`], ['--continue']),
  start: ['copilot'],
  startOptions: [
    modelOption,
    { names: ['--agent'], hasValue: true },
    { names: ['--add-dir'], hasValue: true },
    { names: ['--allow-tool'], hasValue: true, skipsPermissions: true },
    { names: ['--allow-all-tools'], skipsPermissions: true },
    { names: ['--allow-all-paths'], skipsPermissions: true },
    { names: ['--allow-all', '--yolo'], skipsPermissions: true },
  ],
};
