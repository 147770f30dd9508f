import { describe, expect, it } from 'vitest';
import { commandAsk, commandScreen } from '../../test/kit/act.ts';
import type { FreshLook } from '../agents/contract.ts';
import { type StateName, stateNames } from '../model/states.ts';
import { messageRule } from './messages.ts';

const look = (state: StateName): FreshLook => ({ state, ask: null });
const question: FreshLook = { state: 'waiting_input', ask: { kind: 'question', text: 'Which?', options: [] } };

/** What the screen shows, over what was published; plain and forced. */
const table: Readonly<
  Record<StateName, Readonly<Record<'prompt' | 'work' | 'nothing' | 'approval' | 'unread', string>>>
> = {
  idle: {
    prompt: 'type type',
    work: 'type type',
    nothing: 'E_STATE_CHANGED type',
    approval: 'E_DIALOG E_DIALOG',
    unread: 'E_STATE_CHANGED E_STATE_CHANGED',
  },
  completed: {
    prompt: 'type type',
    work: 'type type',
    nothing: 'E_STATE_CHANGED type',
    approval: 'E_DIALOG E_DIALOG',
    unread: 'E_STATE_CHANGED E_STATE_CHANGED',
  },
  running: {
    prompt: 'type type',
    work: 'type type',
    nothing: 'E_STATE_CHANGED type',
    approval: 'E_DIALOG E_DIALOG',
    unread: 'E_STATE_CHANGED E_STATE_CHANGED',
  },
  waiting_input: {
    prompt: 'type type',
    work: 'type type',
    nothing: 'E_STATE_CHANGED type',
    approval: 'E_DIALOG E_DIALOG',
    unread: 'E_STATE_CHANGED E_STATE_CHANGED',
  },
  waiting_approval: {
    prompt: 'E_DIALOG E_DIALOG',
    work: 'E_DIALOG E_DIALOG',
    nothing: 'E_DIALOG E_DIALOG',
    approval: 'E_DIALOG E_DIALOG',
    unread: 'E_STATE_CHANGED E_STATE_CHANGED',
  },
  error: {
    prompt: 'type type',
    work: 'type type',
    nothing: 'E_STATE_CHANGED type',
    approval: 'E_DIALOG E_DIALOG',
    unread: 'E_STATE_CHANGED E_STATE_CHANGED',
  },
  unknown: {
    prompt: 'E_STATE_CHANGED type',
    work: 'E_STATE_CHANGED type',
    nothing: 'E_STATE_CHANGED type',
    approval: 'E_DIALOG E_DIALOG',
    unread: 'E_STATE_CHANGED E_STATE_CHANGED',
  },
};

const screens: Readonly<Record<keyof (typeof table)['idle'], FreshLook | null>> = {
  prompt: look('idle'),
  work: look('running'),
  nothing: look('unknown'),
  approval: commandScreen,
  unread: null,
};

describe('where a message may be typed', () => {
  const cells = stateNames.flatMap((state) =>
    Object.entries(screens).map(([shown, screen]) => [state, shown as keyof typeof screens, screen] as const),
  );
  it.each(cells)('ACT3a published %s, on the screen %s', (state, shown, screen) => {
    const rules = [false, true].map((isForced) => messageRule({ state, ask: null }, screen, isForced));
    expect(rules.map((rule) => (typeof rule === 'string' ? rule : rule.code)).join(' ')).toBe(table[state][shown]);
  });

  it('ACT3 a question that is asked and shown takes it as its answer', () => {
    const state = { state: 'waiting_input', ask: { ...commandAsk, kind: 'question' } } as const;
    expect(messageRule(state, question, false)).toBe('answer');
    expect(messageRule(state, look('idle'), false)).toMatchObject({ code: 'E_STATE_CHANGED' });
    expect(messageRule(state, commandScreen, true)).toMatchObject({ code: 'E_STATE_CHANGED' });
    expect(messageRule({ state: 'idle', ask: null }, question, true)).toMatchObject({ code: 'E_DIALOG' });
  });
});
