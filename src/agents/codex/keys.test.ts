// Codex' keys at its recorded dialogs, and what it shares with no other: letters behind the words, menus of its start.

import { describe, expect, it } from 'vitest';
import { lowSuite, recordedDialogs, recordedSuite, shown } from '../keys/recorded-dialogs.contract.ts';
import { agent } from './agent.ts';
import { keys } from './keys.ts';

recordedSuite(agent, 43, () => false);
lowSuite(agent, 24);

const dialogs = recordedDialogs(agent);

describe('the keys of Codex', () => {
  it('answer every recorded question by its digit, and none in own words', () => {
    const questions = dialogs.filter(({ ask }) => ask.kind === 'question');
    expect(questions.length).toBeGreaterThanOrEqual(9);
    for (const { file, ask } of questions) {
      expect(shown(keys.choose(ask, '2')), file).toBe('2');
      expect(keys.write(ask, 'neither'), file).toBeNull();
      expect(shown(keys.reject(ask, null)), file).toBe('Escape');
    }
  });

  it('choose by digit where a command stands before the bracket', () => {
    const label = "Yes, and don't ask again for commands that start with `echo` (y)";
    const options = [
      { id: '1', label: 'Yes, proceed (y)' },
      { id: '2', label },
      { id: '3', label: 'Cancel' },
    ];
    expect(shown(keys.choose({ kind: 'command', text: 'echo', options }, '2'))).toBe('2');
  });

  it('answer the menus of its start, and no others', () => {
    const menus = dialogs.filter(({ ask }) => ask.kind === 'dialog');
    const answers = new Map(
      menus.map(({ ask }) => [ask.options.map(({ label }) => label).join(', '), shown(keys.choose(ask, '2'))]),
    );
    expect(Object.fromEntries([...answers].filter(([, strokes]) => strokes !== '-'))).toEqual({
      'Trust and continue, Quit': '2, Enter',
      'Yes, continue, No, quit': '2',
      'Try new model, Use existing model': '2',
      "Review hooks, Trust all and continue, Continue without trusting (hooks won't run)": '2, Enter',
    });
    expect(answers.size).toBeGreaterThan(8);
  });

  it('go on with a conversation', () => {
    expect(keys.resume('01a1')).toEqual(['codex', 'resume', '01a1']);
    expect(keys.resume(null)).toEqual(['codex', 'resume', '--last']);
    expect('› [Pasted Content 1203 chars]').toMatch(new RegExp(keys.collapsed ?? '', 'u'));
  });
});
