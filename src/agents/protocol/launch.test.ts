import { expect, it } from 'vitest';
import { acpLauncher } from './launch.ts';

const wish = { cwd: '/w', model: '--yolo', auto_approve: false, resume: null, home: '/home/u', env: {} };
const words = (modelFlag?: string): readonly string[] =>
  acpLauncher({ command: ['x', '--acp'], install: '', ...(modelFlag === undefined ? {} : { modelFlag }) }).launch(wish)
    .command;

it('a model that looks like an option does not become one', () => {
  expect(words('--model')).toEqual(['x', '--acp', '--model=--yolo']);
  expect(words()).toEqual(['x', '--acp']);
  expect(words('-m')).toEqual(['x', '--acp', '-m', '--yolo']);
});
