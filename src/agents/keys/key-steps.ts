// Steps of keys that dialogs share. The last one of a list decides, and none follows it: what it hit would be the next dialog.

import type { AskOption } from '../../model/asks.ts';
import type { KeyStep } from '../contract.ts';

export const press = (...keys: readonly string[]): KeyStep => ({ keys });

export const escapeKey: readonly KeyStep[] = [press('Escape')];

export const digit = ({ id }: AskOption): readonly KeyStep[] => [press(id)];

/** From the option that is marked: so many down, and then Enter as a step of its own, once the list has been drawn anew. */
export const walk = (first: readonly string[], downCount: number): readonly KeyStep[] => {
  const moves = [...first, ...Array.from({ length: downCount }, () => 'Down')];
  return [...(moves.length === 0 ? [] : [press(...moves)]), press('Enter')];
};

/**
 * Words for a field that an option opens. Lines are left out: in a field of one line the second would be an Enter.
 * A lone digit is left out too, for in a field that did not open it would choose.
 */
export const isFieldText = (text: string): boolean =>
  text.trim() !== '' && !/\p{Cc}/u.test(text) && !/^\s*\d\s*$/.test(text);

export const fill = (open: readonly KeyStep[], text: string): readonly KeyStep[] => [...open, { text }, press('Enter')];
