// Kilo's keys at its recorded dialogs. After a refusal it waits for a reason, which OpenCode does in subagents only.

import { expect, it } from 'vitest';
import { recordedDialogs, recordedSuite, shown } from '../keys/recorded-dialogs.contract.ts';
import { agent } from './agent.ts';
import { keys } from './keys.ts';

/** What it would confirm lasts until it is started again. */
recordedSuite(agent, 22, ({ options }) => options[0]?.label === 'Confirm');

it('the keys of Kilo answer every recorded question by its digit or in own words', () => {
  const questions = recordedDialogs(agent).filter(({ ask }) => ask.kind === 'question');
  expect(questions.length).toBeGreaterThanOrEqual(8);
  for (const { file, ask } of questions) {
    expect(shown(keys.choose(ask, '2')), file).toBe('2');
    expect(shown(keys.write(ask, 'green')), file).toBe('3, "green", Enter');
  }
});

it('the keys of Kilo start Kilo', () => {
  expect([keys.start, keys.resume('ses_1')]).toEqual([['kilo'], ['kilo', '--session', 'ses_1']]);
});
