// Gemini's keys at its recorded dialogs. Its digits act at once: "fix 2 bugs" once chose "Allow for this session".

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordedDialogs, recordedSuite, shown } from '../keys/recorded-dialogs.contract.ts';
import { agent } from './agent.ts';
import { keys } from './keys.ts';

recordedSuite(agent, 30, () => false);

describe('the keys of Gemini', () => {
  it('answer every recorded question by its digit or in own words', () => {
    const questions = recordedDialogs(agent).filter(({ ask }) => ask.options.at(-1)?.label === 'Enter a custom value');
    expect(questions.length).toBeGreaterThanOrEqual(8);
    for (const { file, ask } of questions) {
      expect(shown(keys.choose(ask, '2')), file).toBe('2');
      expect(shown(keys.write(ask, 'green')), file).toBe(`${ask.options.length}, "green", Enter`);
      expect(shown(keys.reject(ask, null)), file).toBe('Escape');
    }
  });

  it('answer a question of which the last option is below the edge, by what is in sight', () => {
    const ofSize = (name: string) => recordedDialogs(agent).filter(({ file }) => file.includes(name));
    const scrolled = ofSize('question_scrolled');
    expect(scrolled.length).toBe(2);
    for (const { file, ask } of scrolled) {
      expect(ask.options.map(({ label }) => label)).toEqual(['Green', 'Violet', 'Orange']);
      expect(shown(keys.choose(ask, '2')), file).toBe('2');
      expect(keys.choose(ask, '4'), file).toBeNull();
      expect(shown(keys.reject(ask, null)), file).toBe('Escape');
      expect([keys.write(ask, 'green'), keys.reject(ask, 'no')], file).toEqual([null, null]);
    }
    // Boxes to tick, several questions in one, and a question whose head is out of sight are left to the pane.
    const others = ofSize('question_unsure');
    expect(others.length).toBe(3);
    for (const { file, ask } of others) expect(keys.choose(ask, '1'), file).toBeNull();
  });

  it('leave lists alone in which a digit only ticks a box', () => {
    const options = ['Red', 'Blue', 'All of the above', 'Enter a custom value'];
    const ask = {
      kind: 'question',
      text: 'Which?',
      options: options.map((label, at) => ({ id: String(at + 1), label })),
    } as const;
    expect([keys.choose(ask, '1'), keys.write(ask, 'green')]).toEqual([null, null]);
  });

  it('leave its own settings alone', () => {
    const menus = recordedDialogs(agent).filter(({ ask }) => ask.kind === 'dialog');
    expect(menus.length).toBeGreaterThan(4);
    expect(menus.flatMap(({ ask }) => ask.options.flatMap(({ id }) => keys.choose(ask, id) ?? []))).toEqual([]);
  });

  it('see by its placeholder that the prompt holds nothing: in every recorded state of a turn, and never with a draft in it', () => {
    let count = 0;
    for (const folder of ['fixtures', 'fixtures/sizes'].map((part) => join(import.meta.dirname, part))) {
      const list = JSON.parse(readFileSync(join(folder, 'screens.json'), 'utf8')) as { file: string; class: string }[];
      for (const { file, class: state } of list.filter((one) => /running|settled|error/.test(one.class))) {
        const lines = readFileSync(join(folder, 'screens', file), 'utf8').split('\n');
        expect([file, state, keys.prompt?.(lines)?.unsent === '']).toEqual([
          file,
          state,
          !/draft|menu|shell_mode/.test(file),
        ]);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(100);
  });

  it('go on with a conversation', () => {
    expect(keys.resume('9c2b')).toEqual(['gemini', '--resume', '9c2b']);
    expect(keys.resume(null)).toEqual(['gemini', '--resume', 'latest']);
    const collapsed = new RegExp(keys.collapsed ?? '', 'u');
    expect([' > [Pasted Text: 12 lines]', ' > [Pasted Text: 900 chars #2]'].every((line) => collapsed.test(line))).toBe(
      true,
    );
  });
});
