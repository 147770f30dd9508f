// How Codex is worked at the keyboard. Its lists take the digit that is shown, and those that ask for approval a letter
// that stands behind the words.

import type { AskOption } from '../../model/asks.ts';
import type { AnswerableAsk, KeyStep, Keys } from '../contract.ts';
import { answersTo, type DialogWords } from '../keys/dialogs.ts';
import { plainPath } from '../keys/file-ref.ts';
import { digit, escapeKey, press } from '../keys/key-steps.ts';
import { isNumbered, saysOneOf, type Words } from '../keys/options.ts';
import { lastPrompt } from '../keys/prompts.ts';
import { resumeBy } from '../keys/resume.ts';
import { modelOption } from '../keys/start-options.ts';

const once: Words = [/^Yes, proceed(?: \([a-z]\))?$/, /^Yes, just this once(?: \([a-z]\))?$/, /^Allow$/];

/** In these alone a digit moves the mark and Enter takes it. */
const hookReview: Words = [/^Review hooks$/, /^Trust all and continue$/, /^Continue without trusting/];
const folderTrust: Words = [/^Trust and continue$/, /^(?:Quit|Back to Agent Command Center)$/];

const words: DialogWords = {
  once,
  no: [/^No, and tell Codex what to do differently/, /^Cancel$/],
  // What to do instead is typed at the prompt, after the dialog has gone.
  instead: [],
  own: [/^None of the above$/],
  menus: [hookReview, folderTrust, [/^Yes, continue$/, /^No, quit$/], [/^Try new model$/, /^Use existing model$/]],
};

function choose(ask: AnswerableAsk, option: AskOption): readonly KeyStep[] | null {
  if (!isNumbered(ask)) return null;
  // Only behind words that are known to the last letter: elsewhere a command of a stranger stands before the bracket.
  const letter = saysOneOf(once, option) ? /\(([a-z])\)$/.exec(option.label)?.[1] : undefined;
  if (letter !== undefined) return [press(letter)];
  return saysOneOf([...hookReview, ...folderTrust], option) ? [...digit(option), press('Enter')] : digit(option);
}

export const keys: Keys = {
  interrupt: [press('Escape')],
  afterInterruptSignal:
    'INT ends Codex and leaves its terminal dirty: type `reset` there; `agtmux interrupt` stops the turn alone',
  collapsed: String.raw`\[Pasted Content \d+ chars\]`,
  enterPauseMs: 0,
  prompt: lastPrompt,
  ...answersTo(words, { choose, refuse: () => escapeKey, isHarmless: () => true }),
  // The digit of "None of the above" answers at once, and the field for notes opens for whichever option is marked.
  write: () => null,
  // It has no mark of its own: choosing a file after an @ leaves the bare path in the message.
  fileRef: plainPath,
  resume: resumeBy('codex', (session) => ['resume', session], ['resume', '--last']),
  start: ['codex'],
  startOptions: [
    modelOption,
    { names: ['--profile', '-p'], hasValue: true },
    { names: ['--search'] },
    { names: ['--oss'] },
    { names: ['--add-dir'], hasValue: true },
    { names: ['--sandbox', '-s'], hasValue: true, skipsPermissions: ['danger-full-access'] },
    { names: ['--ask-for-approval', '-a'], hasValue: true, skipsPermissions: ['never'] },
    { names: ['--full-auto'], skipsPermissions: true },
    { names: ['--dangerously-bypass-approvals-and-sandbox', '--yolo'], skipsPermissions: true },
  ],
};
