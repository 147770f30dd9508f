// How well a definition reads screens of which somebody said what was going on, and what its keys would do there. Pure, and
// the same for a built-in definition, a user's and one that was just drafted.

import { classOf, type StateName } from '../../model/states.ts';
import type { KeyStep } from '../contract.ts';
import { classify } from '../screen/classify.ts';
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
    const approve = reading.ask === null ? null : shown(keys.approve(reading.ask));
    return { file, expected: state, read: reading.state, outcome, rule: reading.rule, approve };
  });
  const count = (outcome: ScreenScore['outcome']): number => scored.filter((one) => one.outcome === outcome).length;
  const counts = { right: count('right'), unknown: count('unknown'), wrong: count('wrong') };
  return { screens: scored, ...counts, weak: weakOf(definition, scored) };
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
  const mute = scored.flatMap(({ file, read, approve }) =>
    read === 'waiting_approval' && approve === null ? [`${file}: an approval would press nothing`] : [],
  );
  const prompt =
    keys !== undefined && keys.prompt === undefined ? ['its prompt is not known: unsent text in it is not seen'] : [];
  return [...few, ...missed, ...mute, ...prompt];
}
