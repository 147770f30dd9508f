// That hook calls which wait are looked at until nobody waits, also when a look fails.

import { expect, it } from 'vitest';
import { limits } from '../../model/limits.ts';
import { FileError, type Files } from '../../platform/files.ts';
import { createSimulatedClock } from '../../platform/simulated/clock.ts';
import { createSimulatedFiles } from '../../platform/simulated/files.ts';
import { HookAnswers } from './answers.ts';

it('ACT10 a folder that cannot be looked at for want of a descriptor is looked at again', async () => {
  const clock = createSimulatedClock();
  let [looks, isShort] = [0, true];
  const files: Files = {
    ...createSimulatedFiles({ clock }),
    list: async () => {
      looks += 1;
      if (isShort) throw new FileError('list', '/state/answers', 'EMFILE');
      return null;
    },
  };
  const answers = new HookAnswers({ clock, files, processes: { read: () => null }, folder: '/state/answers', uid: 1 });
  answers.soon(() => true);
  for (const expected of [1, 2]) {
    await clock.advanceSettled(limits.hookAnswersPauseMs);
    expect(looks).toBe(expected);
  }
  isShort = false;
  await clock.advanceSettled(limits.hookAnswersPauseMs);
  await clock.advanceSettled(limits.hookAnswersPauseMs);
  expect(looks).toBe(3);
});
