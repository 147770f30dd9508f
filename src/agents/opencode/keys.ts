// How OpenCode is worked at the keyboard, and Kilo, which draws the same interface. Its permissions lie side by side, with
// nothing but a colour on the one that is marked. No key chooses one by name, arrows go round, and a mouse that passes over
// one marks it: Enter is pressed only where the mark stands on the first, as far as somebody has looked.

import { type AskOption, stateOfAsk } from '../../model/asks.ts';
import type { AnswerableAsk, KeyStep, Keys } from '../contract.ts';
import { answersTo } from '../keys/dialogs.ts';
import { atPath } from '../keys/file-ref.ts';
import { digit, escapeKey, fill, isFieldText, press } from '../keys/key-steps.ts';
import { isNumbered, optionOf, saysOneOf, type Words } from '../keys/options.ts';
import { barPrompt } from '../keys/prompts.ts';
import { resumeBy } from '../keys/resume.ts';
import { modelOption } from '../keys/start-options.ts';
import { styledText } from '../keys/styled-text.ts';

/** The last label of a wide screen runs into the foot beside it. */
const permission: Words = [/^Allow once$/, /^Allow always$/, /^Reject(?: • .*)?$/];
/** Asked after "Allow always". */
const confirmation: Words = [/^Confirm$/, /^Cancel(?: • .*)?$/];
/** Versions 1.0 name the key before what it does. */
const inline: Words = [/^enter accept$/, /^a accept always$/, /^d deny$/];

const isRow = ({ kind, options }: AnswerableAsk, labels: Words): boolean =>
  stateOfAsk(kind) === 'waiting_approval' &&
  options.length === labels.length &&
  options.every((option, at) => saysOneOf(labels.slice(at, at + 1), option));

/** Asks for a reason after a refusal, in subagents and in Kilo: until Enter, nothing is refused. */
const isReason = ({ kind, text, options }: AnswerableAsk): boolean =>
  kind === 'tool' && text === 'Reject permission' && options.length === 0;

/** Enter takes what is marked, and after a key that was lost it would take another one: so it is never moved from here. */
const startsAtFirst = ({ options, marked }: AnswerableAsk): boolean =>
  marked === undefined || (marked !== null && marked === options[0]?.label);

function along(ask: AnswerableAsk, option: AskOption): readonly KeyStep[] | null {
  if (!startsAtFirst(ask)) return null;
  const moves = Array.from({ length: ask.options.indexOf(option) }, () => 'Right');
  return [...(moves.length === 0 ? [] : [press(...moves)]), press('Enter')];
}

const inlineKeys = ['Enter', 'a', 'd'] as const;

function chooseInRow(ask: AnswerableAsk, optionId: string): readonly KeyStep[] | null {
  const option = optionOf(ask, optionId);
  if (option === null) return null;
  const place = ask.options.indexOf(option);
  if (isRow(ask, inline)) return [press(inlineKeys[place] ?? 'Escape')];
  if (!isRow(ask, permission) && !isRow(ask, confirmation)) return null;
  return place === ask.options.length - 1 ? escapeKey : along(ask, option);
}

/** In versions 1.0 nothing is marked: Enter is the key of the first. */
function approve(ask: AnswerableAsk): readonly KeyStep[] | null {
  if (isRow(ask, inline)) return [press('Enter')];
  return isRow(ask, permission) && startsAtFirst(ask) ? [press('Enter')] : null;
}

function reject(ask: AnswerableAsk, because: string | null): readonly KeyStep[] | null {
  if (isReason(ask)) {
    if (because === null) return [press('Enter')];
    return isFieldText(because) ? fill([], because) : null;
  }
  if (because !== null) return null;
  if (isRow(ask, inline)) return [press('d')];
  // From the confirmation it leads back to the permission, which is then asked for again.
  return isRow(ask, permission) || isRow(ask, confirmation) ? escapeKey : null;
}

/**
 * The one permission that is dressed otherwise than the two others, out of lines with their colours. Null without such a
 * row, without colours, and wherever it is not exactly one.
 */
export function markedIn(lines: readonly string[]): string | null {
  const row = styledText(lines).findLast((pieces) => pieces.some(({ text }) => text.trim() === 'Allow once'));
  const labels = ['Allow once', 'Allow always', 'Reject'];
  const dresses = labels.map((label) => (row ?? []).filter(({ text }) => text.trim() === label));
  if (dresses.some((found) => found.length !== 1)) return null;
  const all = dresses.map(([only]) => only?.dress ?? '');
  const alone = labels.filter((_, at) => all.filter((dress) => dress === all[at]).length === 1);
  return alone.length === 1 ? (alone[0] ?? null) : null;
}

/** Questions are numbered lists; with boxes to tick, a digit ticks and does not answer. */
const questions = answersTo(
  { once: [], no: [], instead: [], own: [/^Type your own answer$/], menus: [] },
  {
    choose: (ask, option) =>
      isNumbered(ask) && !ask.options.some(({ label }) => /^\[.?\] /.test(label)) ? digit(option) : null,
    refuse: () => null,
    isHarmless: () => true,
  },
);

/** For the program of this name, and as people call it. */
export const keysOf = (program: string, title: string): Keys => ({
  // The first only says so, for some seconds; two that come too close are one to it.
  interrupt: [press('Escape'), { ...press('Escape'), after: 'esc again to interrupt' }],
  afterInterruptSignal: `INT ends ${title} as a whole; \`agtmux interrupt\` stops the turn alone`,
  collapsed: String.raw`\[Pasted ~\d+ lines\]`,
  enterPauseMs: 0,
  approve,
  marked: markedIn,
  prompt: barPrompt,
  reject: (ask, because) => reject(ask, because) ?? questions.reject(ask, because),
  asksOn: (ask) => (isReason(ask) ? 'reason' : isRow(ask, confirmation) ? 'sure' : null),
  choose: (ask, optionId) => chooseInRow(ask, optionId) ?? questions.choose(ask, optionId),
  write: questions.write,
  fileRef: atPath,
  resume: resumeBy(program, (session) => ['--session', session], ['--continue']),
  start: [program],
  startOptions: [modelOption, { names: ['--agent'], hasValue: true }],
});

export const keys = keysOf('opencode', 'OpenCode');
