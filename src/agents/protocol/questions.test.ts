import { describe, expect, it } from 'vitest';
import { mainScope } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { answeredBy, askOfInterview, interviewOf, nextOf, type Question, questionId } from './questions.ts';

const colour: Question = { key: 'c', text: 'Which colour?', labels: ['Red', 'Blue'], isMany: false, isFree: false };
const sizes: Question = { key: 's', text: 'Which sizes?', labels: ['S', 'M', 'L'], isMany: true, isFree: true };
const name: Question = { key: 'n', text: 'Which name?', labels: [], isMany: false, isFree: true };

const choose = (option: string) => ({ kind: 'choose', ask_id: 'r', option }) as const;
const write = (text: string) => ({ kind: 'write', ask_id: 'r', text }) as const;

describe('an interview', () => {
  it('puts one question after another, each with an id of its own', () => {
    const first = interviewOf([colour, name]);
    expect(askOfInterview('r', mainScope, first)).toMatchObject({
      ask_id: 'r',
      kind: 'question',
      text: 'Which colour?',
      options: [
        { id: '1', label: 'Red' },
        { id: '2', label: 'Blue' },
      ],
      accepts: ['option'],
    });
    const second = answeredBy(first, choose('2'));
    if (!second.ok) throw new Error(second.failure.message);
    expect(questionId('r', second.value)).toBe('r/2');
    expect(askOfInterview('r', mainScope, second.value)).toMatchObject({ ask_id: 'r/2', accepts: ['text'] });
    const third = answeredBy(second.value, write('Ada'));
    if (!third.ok) throw new Error(third.failure.message);
    expect(third.value.answers).toEqual([['Blue'], ['Ada']]);
    expect(nextOf(third.value)).toBeNull();
    expect(askOfInterview('r', mainScope, third.value)).toBeNull();
  });

  it.each([
    [colour, choose('Blue'), ['Blue']],
    [colour, write('Red'), ['Red']],
    [sizes, choose('1,3'), ['S', 'L']],
    [sizes, choose('M, L'), ['M', 'L']],
    [sizes, write('XXL'), ['XXL']],
  ])('takes %o answered by %o', (question, deed, answers) => {
    const done = answeredBy(interviewOf([question]), deed);
    expect(done.ok && done.value.answers).toEqual([answers]);
  });

  it.each([
    [colour, choose('3'), 'E_INPUT'],
    [colour, choose('1,2'), 'E_INPUT'],
    [sizes, choose('1,9'), 'E_INPUT'],
    [sizes, choose(''), 'E_INPUT'],
    [colour, write('green'), 'E_UNSUPPORTED'],
    [colour, { kind: 'approve', ask_id: 'r' } as const, 'E_UNSUPPORTED'],
  ])('refuses %o answered by %o', (question, deed, code) => {
    const done = answeredBy(interviewOf([question]), deed);
    expect(done.ok ? null : done.failure.code).toBe(code);
  });

  it('an answer after the last one comes too late', () => {
    const over = { questions: [colour], answers: [['Red']] };
    for (const deed of [choose('1'), write('Red')]) {
      const done = answeredBy(over, deed);
      expect(done.ok ? null : done.failure.code).toBe('E_STATE_CHANGED');
    }
  });

  it('is bounded', () => {
    expect(interviewOf(Array.from({ length: 100 }, () => name)).questions).toHaveLength(limits.sessionQuestionsMax);
  });
});
