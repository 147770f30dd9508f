// Cursor's agent was never run here: nothing is pressed in it, and an interrupt is refused by having no strokes.

import { expect, it } from 'vitest';
import { keys } from './keys.ts';

it('the keys of Cursor press nothing, for none is proven', () => {
  const options = [
    { id: '1', label: 'Yes' },
    { id: '2', label: 'No' },
  ];
  const ask = { kind: 'command', text: 'make', options } as const;
  expect([keys.approve(ask), keys.reject(ask, null), keys.choose(ask, '1'), keys.write(ask, 'x')]).toEqual(
    Array(4).fill(null),
  );
  expect([keys.interrupt, keys.collapsed]).toEqual([[], null]);
});

it('the keys of Cursor start it and go on with a conversation', () => {
  expect([keys.start, keys.resume('c1')]).toEqual([['cursor-agent'], ['cursor-agent', '--resume=c1']]);
});
