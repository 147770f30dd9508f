// OpenCode's keys at its recorded dialogs: options side by side, the second question after "always", and its reasons.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordedDialogs, recordedSuite, shown } from '../keys/recorded-dialogs.contract.ts';
import { agent } from './agent.ts';
import { keys, markedIn } from './keys.ts';

/** What it would confirm lasts until it is started again. */
recordedSuite(agent, 83, ({ options }) => options[0]?.label === 'Confirm');

const permission = ['Allow once', 'Allow always', 'Reject'];
const named = (labels: readonly string[]) => labels.map((label) => ({ id: label, label }));

describe('the keys of OpenCode', () => {
  it('answer every recorded question by its digit or in own words', () => {
    const questions = recordedDialogs(agent).filter(({ ask }) => ask.kind === 'question');
    expect(questions.length).toBeGreaterThanOrEqual(33);
    for (const { file, ask } of questions) {
      expect(shown(keys.choose(ask, '2')), file).toBe('2');
      expect(shown(keys.write(ask, 'green')), file).toBe('3, "green", Enter');
      expect(shown(keys.reject(ask, null)), file).toBe('Escape');
    }
  });

  it('take the words of an option whatever its id is', () => {
    const ask = { kind: 'command', text: 'make', options: named(permission) } as const;
    expect(permission.map((label) => shown(keys.choose(ask, label)))).toEqual(['Enter', 'Right, Enter', 'Escape']);
    expect(shown(keys.approve(ask))).toBe('Enter');
  });

  it('press Enter only where the mark was read on "Allow once", and never move it', () => {
    const ask = { kind: 'command', text: 'make', options: named(permission) } as const;
    const answers = (marked: string | null) => {
      const seen = { ...ask, marked };
      return [keys.approve(seen), ...permission.map((label) => keys.choose(seen, label))].map(shown);
    };
    expect(answers('Allow once')).toEqual(['Enter', 'Enter', 'Right, Enter', 'Escape']);
    // Escape refuses wherever the mark stands.
    for (const other of ['Allow always', 'Reject', null]) expect(answers(other)).toEqual(['-', '-', '-', 'Escape']);
  });

  it('read the mark by its colours, as tmux told them of 1.18.33', () => {
    const [edge, plain] = ['\u001b[38;5;215m\u001b[48;5;233m┃\u001b[38;5;15m\u001b[48;5;234m  ', '\u001b[38;5;15m'];
    const row = (marked: number): string =>
      permission
        .map((label, at) =>
          at === marked
            ? `\u001b[48;5;215m \u001b[38;5;232m${label}${plain} \u001b[48;5;234m`
            : ` \u001b[38;5;8m${label}${plain} `,
        )
        .join(' ');
    const foot = `${plain}                 \u001b[38;5;255mctrl+f \u001b[38;5;8mfullscreen${plain}   \u001b[48;5;232m`;
    const screen = (marked: number): string[] => ['$ make', `${edge}${row(marked)}${foot}`, '  ┃'];
    expect([0, 1, 2].map((marked) => markedIn(screen(marked)))).toEqual(permission);
    // In all colours of a terminal that has them.
    const bright = screen(0).map((line) =>
      line.replaceAll('48;5;215', '48;2;245;167;66').replaceAll('38;5;8', '38;2;1;1;1'),
    );
    expect(markedIn(bright)).toBe('Allow once');
    expect(markedIn(screen(-1))).toBeNull();
    expect(markedIn(['  ┃   Allow once   Allow always   Reject'])).toBeNull();
    expect(markedIn([])).toBeNull();
  });

  it.each([
    ['another order', ['Allow always', 'Allow once', 'Reject']],
    ['one more', [...permission, 'Allow for this folder']],
    ['one less', ['Allow once', 'Reject']],
  ])('press nothing when the row is not the one they know: %s', (_, labels) => {
    const ask = { kind: 'command', text: 'make', options: named(labels) } as const;
    const answers = [keys.approve(ask), keys.reject(ask, null), ...labels.map((label) => keys.choose(ask, label))];
    expect(answers.every((one) => one === null)).toBe(true);
  });

  it('finish a refusal that waits for its reason', () => {
    const ask = { kind: 'tool', text: 'Reject permission', options: [] } as const;
    expect(shown(keys.reject(ask, null))).toBe('Enter');
    expect(shown(keys.reject(ask, 'use make'))).toBe('"use make", Enter');
    expect([keys.approve(ask), keys.choose(ask, '1'), keys.write(ask, 'yes')]).toEqual([null, null, null]);
    expect(keys.reject({ ...ask, text: 'make' }, null)).toBeNull();
  });

  it('interrupt with two separate strokes, for one does not, the second once the first was seen to arrive', () => {
    expect(shown(keys.interrupt)).toBe('Escape, Escape');
    const words = keys.interrupt.flatMap((stroke) => ('keys' in stroke ? (stroke.after ?? []) : []));
    const screens = [
      'opencode/fixtures/screens/1.2.27-lab_esc_once.80x24.txt',
      'opencode/fixtures/screens/1.14.41-lab_esc_once.80x24.txt',
      'opencode/fixtures/screens/1.18.33-esc_once.80x24.txt',
      'kilo/fixtures/screens/7.7.7-lab_esc_once.80x24.txt',
    ];
    for (const file of screens) {
      const lines = readFileSync(join(import.meta.dirname, '..', file), 'utf8').split('\n');
      for (const one of words) expect(lines.filter((line) => line.includes(one))).toHaveLength(1);
    }
    expect(words).toHaveLength(1);
  });

  it('know what asks on after an answer', () => {
    const reason = { kind: 'tool', text: 'Reject permission', options: [] } as const;
    const sure = { kind: 'command', text: 'make', options: named(['Confirm', 'Cancel']) } as const;
    const own = { kind: 'command', text: 'make', options: named(permission) } as const;
    expect([reason, sure, own].map((ask) => keys.asksOn?.(ask))).toEqual(['reason', 'sure', null]);
  });

  it('go on with a conversation', () => {
    expect(keys.resume('ses_1')).toEqual(['opencode', '--session', 'ses_1']);
    expect(keys.resume(null)).toEqual(['opencode', '--continue']);
    expect('┃  [Pasted ~12 lines]').toMatch(new RegExp(keys.collapsed ?? '', 'u'));
  });
});
