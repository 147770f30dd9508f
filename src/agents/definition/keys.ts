// Keys out of a definition: the same dialogs and strokes as the built-in agents have, with the words of its file. Nothing is
// pressed that the file does not name, and no option is taken but by its words.

import { type AskOption, stateOfAsk } from '../../model/asks.ts';
import { limits } from '../../model/limits.ts';
import type { AnswerableAsk, KeyStep, Keys } from '../contract.ts';
import { answersTo, type DialogWords } from '../keys/dialogs.ts';
import { atPath, plainPath } from '../keys/file-ref.ts';
import { digit, escapeKey, press, walk } from '../keys/key-steps.ts';
import { isNumbered, isPlain, type Words } from '../keys/options.ts';
import { markedPrompt } from '../keys/prompts.ts';
import { isSessionWord } from '../keys/resume.ts';
import { styledText } from '../keys/styled-text.ts';
import type { CompilePattern, Pattern } from '../screen/pattern.ts';
import type { Definition, KeyWords, RunWords } from './schema.ts';

type Answer = KeyWords['answer'][number];
type Answers = Pick<Keys, 'approve' | 'reject' | 'choose' | 'write'>;

export function keysOf({ agent, keys, run, measured }: Definition, compile: CompilePattern): Keys {
  const words = measured.length === 0 ? undefined : keys;
  const marks = words?.answer.find((table) => table.marked_rows !== undefined)?.marked_rows;
  return {
    interrupt: words?.interrupt === undefined ? [] : [press(...words.interrupt)],
    collapsed: words?.collapsed_paste ?? null,
    ...(words?.paste === 'plain' ? { paste: words.paste } : {}),
    // Where it is not known, the longest that any agent needs.
    enterPauseMs: words?.enter_pause_ms ?? limits.enterPauseMs,
    ...(words?.prompt === undefined ? {} : { prompt: promptOf(words.prompt, compile) }),
    ...(marks === undefined ? {} : { marked: markedBy(compile(marks)) }),
    ...answersOf(words, compile),
    fileRef: words?.file_ref === 'at' ? atPath : plainPath,
    resume: resumeOf(run),
    start: run?.start ?? [agent],
  };
}

function promptOf(words: NonNullable<KeyWords['prompt']>, compile: CompilePattern): NonNullable<Keys['prompt']> {
  const some = (source: string | undefined) => (source === undefined ? null : compile(source));
  const parts = {
    mark: compile(words.mark),
    end: some(words.end),
    empty: some(words.empty),
    suggestion: some(words.suggestion),
    sign: some(words.sign),
  };
  return (lines) => markedPrompt(lines, parts);
}

function resumeOf(run: RunWords | undefined): Keys['resume'] {
  return (session) => {
    if (run === undefined) return null;
    if (session === null) return run.resume_last ?? null;
    if (run.resume === undefined || !isSessionWord(session)) return null;
    return run.resume.map((word) => word.replaceAll('{session}', session));
  };
}

/** The first table that is about this kind of request answers it; where there is none, nobody does. */
function answersOf(words: KeyWords | undefined, compile: CompilePattern): Answers {
  const tables = (words?.answer ?? []).map((table) => ({ table, answers: answersBy(table, compile) }));
  const never = words?.never_press ?? [];
  const by = (ask: AnswerableAsk, use: (answers: Answers) => readonly KeyStep[] | null): readonly KeyStep[] | null => {
    const found = tables.find(({ table }) => table.kinds.includes(ask.kind));
    const strokes = found === undefined ? null : use(found.answers);
    if (strokes === null || holdsAny(strokes, never)) return null;
    // In the field of a dialog nobody can tell whether a text without the marks of a paste has arrived alone.
    return words?.paste === 'plain' && strokes.some((stroke) => 'text' in stroke) ? null : strokes;
  };
  return {
    approve: (ask) => by(ask, (answers) => answers.approve(ask)),
    reject: (ask, because) => by(ask, (answers) => answers.reject(ask, because)),
    choose: (ask, optionId) => by(ask, (answers) => answers.choose(ask, optionId)),
    write: (ask, text) => by(ask, (answers) => answers.write(ask, text)),
  };
}

const holdsAny = (strokes: readonly KeyStep[], never: readonly string[]): boolean =>
  strokes.some((stroke) => 'keys' in stroke && stroke.keys.some((key) => never.includes(key)));

function answersBy(table: Answer, compile: CompilePattern): Answers {
  const patterns = (sources: readonly string[]): Words => sources.map((source) => compile(source));
  const [lasting, once] = [patterns(table.lasting), patterns(table.once)];
  const words: DialogWords = {
    once,
    no: patterns(table.no),
    instead: patterns(table.instead),
    own: patterns(table.own),
    menus: table.menus.map(patterns),
  };
  const choose = (ask: AnswerableAsk, option: AskOption): readonly KeyStep[] | null =>
    chosenBy(table.choose, ask, option);
  const refuse = (ask: AnswerableAsk, no: AskOption): readonly KeyStep[] | null =>
    table.reject === 'no' ? choose(ask, no) : [press(...table.reject)];
  const submitted = (strokes: readonly KeyStep[] | null): readonly KeyStep[] | null =>
    strokes === null || table.submit === undefined ? strokes : [...strokes, table.submit];
  const answers = answersTo(words, { choose, refuse, isHarmless: (text) => !/\d/.test(text) });
  const grantsMore = ({ options }: AnswerableAsk): boolean =>
    options.some(
      (option) => once.some((one) => one.test(option.label)) && lasting.some((one) => one.test(option.label)),
    );
  return {
    ...answers,
    choose: (ask, optionId) => submitted(answers.choose(ask, optionId)),
    write: (ask, text) => submitted(answers.write(ask, text)),
    approve: (ask) => (stateOfAsk(ask.kind) !== 'waiting_approval' || grantsMore(ask) ? null : answers.approve(ask)),
    reject: (ask, because) => {
      const strokes = answers.reject(ask, because);
      // A question is let go of with the keys of this file, too.
      return strokes === escapeKey && table.reject !== 'no' ? [press(...table.reject)] : strokes;
    },
  };
}

function chosenBy(how: Answer['choose'], ask: AnswerableAsk, option: AskOption): readonly KeyStep[] | null {
  switch (how) {
    case 'digit':
      return isNumbered(ask) ? digit(option) : null;
    case 'digit+Enter':
      return isNumbered(ask) ? [...digit(option), press('Enter')] : null;
    case 'letter':
      return isLettered(ask) ? [press(option.id)] : null;
    case 'label':
      return keyInBrackets(option);
    case 'arrows':
      return (isPlain(ask) || isNumbered(ask)) && startsAtFirst(ask) ? walk([], ask.options.indexOf(option)) : null;
    case 'home+arrows':
      return isPlain(ask) || isNumbered(ask) ? walk(['Home'], ask.options.indexOf(option)) : null;
  }
}

/** Each with one letter or digit of its own before it. */
const isLettered = ({ options }: AnswerableAsk): boolean =>
  options.length > 0 &&
  options.every(({ id }) => /^[a-z0-9]$/i.test(id)) &&
  new Set(options.map(({ id }) => id)).size === options.length;

const namedKeys: Readonly<Record<string, string>> = {
  tab: 'Tab',
  'shift+tab': 'BTab',
  esc: 'Escape',
  enter: 'Enter',
  space: 'Space',
};

/** Nothing is walked from where a colour may mark another option, as far as somebody has looked. */
const startsAtFirst = ({ options, marked }: AnswerableAsk): boolean =>
  marked === undefined || (marked !== null && marked === options[0]?.label);

/** The one row of options that is dressed otherwise than all others. */
function markedBy(rows: Pattern): NonNullable<Keys['marked']> {
  return (lines) => {
    const found = styledText(lines).flatMap((pieces) => {
      const label = rows.exec(pieces.map(({ text }) => text).join(''))?.[1]?.trim();
      const dress = pieces.findLast(({ text }) => text.trim() !== '')?.dress;
      return label === undefined || dress === undefined ? [] : [{ label, dress }];
    });
    const alone = found.filter(({ dress }) => found.filter((one) => one.dress === dress).length === 1);
    return found.length > 2 && alone.length === 1 ? (alone[0]?.label ?? null) : null;
  };
}

/** `Continue (tab)`, `[y] Approve`: beside words that the file knows to the last letter. */
function keyInBrackets({ label }: AskOption): readonly KeyStep[] | null {
  const name = /\(([a-z]|[a-z]+(?:\+[a-z]+)?)\)$/.exec(label)?.[1] ?? /^\[([a-z])\] /.exec(label)?.[1];
  const key = name === undefined ? undefined : name.length === 1 ? name : namedKeys[name];
  return key === undefined ? null : [press(key)];
}
