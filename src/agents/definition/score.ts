// How well a definition reads screens of which somebody said what was going on, and what its keys would do there. Pure, and
// the same for a built-in definition, a user's and one that was just drafted.

import type { AskOption } from '../../model/asks.ts';
import { classOf, type StateName } from '../../model/states.ts';
import type { KeyStep } from '../contract.ts';
import { classify, type Reading } from '../screen/classify.ts';
import { linearPattern } from '../screen/pattern.ts';
import { readRuleFile } from '../screen/rule-file.ts';
import { keysOf } from './keys.ts';
import { screenOf } from './read.ts';
import type { Definition } from './schema.ts';

/** One screen with what was going on when it was taken. */
export interface LabelledScreen {
  readonly file: string;
  readonly state: StateName;
  readonly lines: readonly string[];
  readonly title: string;
  readonly command: string | null;
  readonly version: string | null;
}

export interface ScreenScore {
  readonly file: string;
  readonly expected: StateName;
  readonly read: StateName;
  /** unknown is honest, wrong is a defect. */
  readonly outcome: 'right' | 'unknown' | 'wrong';
  readonly rule: string | null;
  /** What an approval would press; null when there is nothing to approve, or nothing would be pressed. */
  readonly approve: string | null;
  /** What it asks, in the words and options that an approver would be shown. */
  readonly ask: { readonly text: string; readonly options: readonly AskOption[] } | null;
  /** Why no approval would press anything; null where one would, or nothing is to approve. */
  readonly refused: string | null;
}

export interface DefinitionScore {
  readonly screens: readonly ScreenScore[];
  readonly right: number;
  readonly unknown: number;
  readonly wrong: number;
  /** What a person should still do, one sentence each. */
  readonly weak: readonly string[];
}

/** With one screen of a state nobody knows which part of it stays. */
const screensWanted = 2;
const statesWanted: readonly StateName[] = ['idle', 'running', 'waiting_approval', 'waiting_input', 'error'];

export function scoreDefinition(definition: Definition, screens: readonly LabelledScreen[]): DefinitionScore {
  const rules = readRuleFile(screenOf(definition), null, linearPattern);
  const keys = keysOf(definition, linearPattern);
  const scored = screens.map(({ file, state, lines, title, command, version }): ScreenScore => {
    const reading = classify(rules, { lines, title, command, isAlive: true }, version);
    const isRight = classOf(reading.state) === classOf(state);
    const outcome = reading.state === 'unknown' && state !== 'unknown' ? 'unknown' : isRight ? 'right' : 'wrong';
    const strokes = reading.ask === null ? null : keys.approve(reading.ask);
    const isCut = reading.ask?.cut === true;
    return {
      file,
      expected: state,
      read: reading.state,
      outcome,
      rule: reading.rule,
      approve: isCut ? null : shown(strokes),
      ask: reading.ask === null ? null : { text: reading.ask.text, options: reading.ask.options },
      refused: reading.state === 'waiting_approval' ? whyRefused(reading, strokes, definition) : null,
    };
  });
  const count = (outcome: ScreenScore['outcome']): number => scored.filter((one) => one.outcome === outcome).length;
  const counts = { right: count('right'), unknown: count('unknown'), wrong: count('wrong') };
  return { screens: scored, ...counts, weak: weakOf(definition, scored) };
}

/** What is in the way of an approval, and where that is said in the file. */
function whyRefused(
  { ask, cutBecause, rule }: Reading,
  strokes: readonly KeyStep[] | null,
  { keys, measured }: Definition,
): string | null {
  if (ask === null) return `rule ${rule} has no ask: say by ask what it asks and which options it has`;
  if (cutBecause !== null) return `not all of what it asks is known to be in sight: ${cutBecause}`;
  if (strokes !== null) return null;
  if (ask.options.length === 0)
    return `ask.options of rule ${rule} finds none: its match needs two groups, what chooses an option and its words`;
  if (measured.length === 0) return 'measured names no version';
  const table = keys?.answer.find(({ kinds }) => kinds.includes(ask.kind));
  if (table === undefined) return `no [[keys.answer]] is about ${ask.kind}`;
  const options = ask.options.map(({ id, label }) => (id === label ? label : `${id}: ${label}`)).join(' / ');
  return `exactly one option must fit once and one no, and choose = "${table.choose}" must find its key; the options are ${options}`;
}

const shown = (strokes: readonly KeyStep[] | null): string | null =>
  strokes === null
    ? null
    : strokes.map((one) => ('keys' in one ? one.keys.join(' ') : JSON.stringify(one.text))).join(', ');

function weakOf({ never_prompts: isSilent, keys }: Definition, scored: readonly ScreenScore[]): readonly string[] {
  const wanted = statesWanted.filter((state) => !isSilent || !state.startsWith('waiting'));
  const few = wanted.flatMap((state) => {
    const count = scored.filter(({ expected }) => classOf(expected) === classOf(state)).length;
    return count >= screensWanted ? [] : [`${state}: ${count} of at least ${screensWanted} screens`];
  });
  const missed = scored.flatMap(({ file, expected, read, outcome, rule }) =>
    outcome === 'right' ? [] : [`${file}: was ${expected}, is read as ${read}${rule === null ? '' : ` by ${rule}`}`],
  );
  const mute = scored.flatMap(({ file, refused }) =>
    refused === null ? [] : [`${file}: an approval would press nothing: ${refused}`],
  );
  const prompt =
    keys !== undefined && keys.prompt === undefined ? ['its prompt is not known: unsent text in it is not seen'] : [];
  return [...few, ...missed, ...mute, ...prompt];
}
