// Copilot's keys at its recorded dialogs. Its digits act at once: "fix 2 bugs" once chose "don't ask again".

import { describe, expect, it } from 'vitest';
import { recordedDialogs, recordedSuite, shown } from '../keys/recorded-dialogs.contract.ts';
import { agent } from './agent.ts';
import { keys } from './keys.ts';

// Where a person has begun to write what to do instead, their words stand in the place of the option.
recordedSuite(
  agent,
  22,
  () => false,
  ({ options }) => options.some(({ label }) => /^(?!No, ).+ \(Esc to stop\)$/.test(label)),
);

const dialogs = recordedDialogs(agent);

describe('the keys of Copilot', () => {
  it('answer recorded questions by digit where they show one, else by walking from the first', () => {
    const questions = dialogs.filter(({ ask }) => ask.kind === 'question');
    const answers = questions.map(({ ask }) => [
      shown(keys.choose(ask, ask.options[0]?.id ?? '')),
      shown(keys.choose(ask, ask.options[1]?.id ?? '')),
      shown(keys.write(ask, 'green')),
      shown(keys.reject(ask, null)),
    ]);
    expect(answers.length).toBeGreaterThanOrEqual(4);
    expect(new Set(answers.map((one) => one.join(' | ')))).toEqual(
      new Set(['Enter | Down, Enter | Down Down, "green", Enter | Escape', '1 | 2 | 3, "green", Enter | Escape']),
    );
  });

  it('type no digit into a dialog: it might choose', () => {
    const asked = dialogs.find(({ ask }) => ask.kind === 'command');
    expect(asked).toBeDefined();
    if (asked === undefined) return;
    expect(keys.reject(asked.ask, 'fix 2 bugs')).toBeNull();
    expect(shown(keys.reject(asked.ask, 'fix the bugs'))).toBe('3, "fix the bugs", Enter');
  });

  it('see an option whole where it wraps in its own column: how long a yes lasts stands at its end', () => {
    const narrow = dialogs.find(({ file }) => file === '1.0.102-40x24-approval_outside.txt');
    expect(narrow?.ask.options.map(({ label }) => label)).toEqual([
      'Yes',
      'Yes, and remember this path for this session',
      'Yes, allow file-tool read-only access to the listed directory for this session',
      'No (Esc)',
    ]);
  });

  it('interrupt with two separate strokes, for one does not', () => {
    expect(shown(keys.interrupt)).toBe('Escape, Escape');
  });

  it('go on with a conversation', () => {
    expect(keys.resume('77aa')).toEqual(['copilot', '--resume=77aa']);
    expect(keys.resume(null)).toEqual(['copilot', '--continue']);
    for (const shown of ['❯ [Paste #1 - 12 lines]', '❯ [Saved pasted content to workspace (23.1 KB) id=1]'])
      expect(shown).toMatch(new RegExp(keys.collapsed ?? '', 'u'));
  });
});
