// Claude's keys at its recorded dialogs: two that number their options differently, lists without numbers, questions.

import { describe, expect, it } from 'vitest';
import { lowSuite, recordedDialogs, recordedSuite, shown } from '../keys/recorded-dialogs.contract.ts';
import { agent } from './agent.ts';
import { keys } from './keys.ts';

recordedSuite(agent, 103, () => false);
lowSuite(agent, 24);

const dialogs = recordedDialogs(agent);
const questions = dialogs.filter(({ ask }) => ask.options.some(({ label }) => label === 'Type something.'));
const ticked = dialogs.filter(({ ask }) => ask.options.some(({ label }) => label === 'Type something'));

describe('the keys of Claude', () => {
  it('answer every recorded question by its digit or in own words', () => {
    expect(questions.length).toBeGreaterThanOrEqual(16);
    for (const { file, ask } of questions) {
      expect(shown(keys.choose(ask, '2')), file).toBe('2');
      expect(keys.choose(ask, '4'), 'the field is no answer').toBeNull();
      expect(shown(keys.write(ask, 'a file per user')), file).toBe('4, "a file per user", Enter');
      if (ask.kind === 'question') expect(shown(keys.reject(ask, null)), file).toBe('Escape');
    }
  });

  it('leave lists alone in which a digit only ticks a box', () => {
    expect(ticked.length).toBeGreaterThanOrEqual(7);
    for (const { file, ask } of ticked) {
      const answers = [keys.choose(ask, '1'), keys.write(ask, 'both'), keys.reject(ask, null), keys.approve(ask)];
      expect(answers, file).toEqual([null, null, null, null]);
    }
  });

  it('answer the menu of leaving and no other', () => {
    const menus = dialogs.filter(({ ask }) => ask.kind === 'dialog' && !questions.some((one) => one.ask === ask));
    const answered = menus.filter(({ ask }) => ask.options.some(({ id }) => keys.choose(ask, id) !== null));
    expect(new Set(answered.map(({ ask }) => ask.options.map(({ label }) => label).join(', ')))).toEqual(
      new Set(['Exit and stop tasks, Move to background and exit, Stay']),
    );
  });

  it('press nothing where the dialog is known from a hook alone: it has no options', () => {
    const ask = { kind: 'command', text: 'rm -rf build', options: [] } as const;
    expect([keys.approve(ask), keys.reject(ask, null)]).toEqual([null, null]);
  });

  it('go on with a conversation', () => {
    expect(keys.resume('3f1c')).toEqual(['claude', '--resume', '3f1c']);
    expect(keys.resume(null)).toEqual(['claude', '--continue']);
    const collapsed = new RegExp(keys.collapsed ?? '', 'u');
    expect(['❯ [Pasted text #1 +12 lines]', '❯ [Pasted text #3]'].map((line) => collapsed.test(line))).toEqual([
      true,
      true,
    ]);
  });
});
