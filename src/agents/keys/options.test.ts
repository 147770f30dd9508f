import { describe, expect, it } from 'vitest';
import type { AskOption } from '../../model/asks.ts';
import type { AnswerableAsk } from '../contract.ts';
import { isFieldText } from './key-steps.ts';
import { isLasting, isNumbered, isPlain, onlyOption, optionOf } from './options.ts';

const option = (id: string, label: string): AskOption => ({ id, label });
const ask = (...options: AskOption[]): AnswerableAsk => ({ kind: 'command', text: 'rm -rf build', options });

describe('options', () => {
  it('ASK2 are found by their words, and not at all when two say the same', () => {
    const real = option('2', 'Yes');
    expect(onlyOption(ask(option('1', 'No'), real), [/^Yes$/])).toBe(real);
    // A command that draws a second list into the dialog.
    expect(onlyOption(ask(option('1', 'Yes'), option('2', 'No'), option('3', 'Yes')), [/^Yes$/])).toBeNull();
    expect(onlyOption(ask(), [/^Yes$/])).toBeNull();
    expect(optionOf(ask(option('1', 'Yes'), option('1', 'No')), '1')).toBeNull();
  });

  it('are numbered only from one on, each once and in order', () => {
    expect(isNumbered(ask(option('1', 'Yes'), option('2', 'No')))).toBe(true);
    for (const ids of [[], ['2', '3'], ['1', '1'], ['1', '3'], ['2', '1'], ['Yes', 'No']])
      expect(isNumbered(ask(...ids.map((id) => option(id, 'x')))), ids.join()).toBe(false);
    expect(isNumbered(ask(...Array.from({ length: 10 }, (_, at) => option(String(at + 1), 'x'))))).toBe(false);
    expect(isPlain(ask(option('Yes', 'Yes'), option('No', 'No')))).toBe(true);
    expect(isPlain(ask(option('1', 'Yes')))).toBe(false);
  });

  it.each([
    "Yes, and don't ask again for `rm` in this repo",
    'Yes, and always allow access to src/ from this project',
    'Yes, and switch to auto mode · auto mode handles these prompts for you',
    'Yes, allow all edits during this session (shift+tab)',
    'Allow for this session',
    'Always allow',
    'Yes, and remember this folder for future sessions',
    'Trust parent folder (w)',
    'Yes, and auto-accept edits',
  ])('that last are known: %s', (label) => {
    expect(isLasting(option('2', label))).toBe(true);
  });

  it.each(['Yes', 'Yes, proceed (y)', 'Allow once', 'Yes, manually approve edits', 'Trust folder (all again)'])(
    'that do not last are known: %s',
    (label) => {
      expect(isLasting(option('1', label))).toBe(false);
    },
  );
});

describe('words for a field', () => {
  it('are one line that could not choose an option', () => {
    expect(['use port 8', 'no: ask first', '日本'].map(isFieldText)).toEqual([true, true, true]);
    expect(['', ' ', 'a\nb', 'a\tb', '\u001b', '2', ' 2 '].map(isFieldText)).toEqual(Array(7).fill(false));
  });
});
