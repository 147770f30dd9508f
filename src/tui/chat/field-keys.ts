// Which keys change a field that a person writes in, and how. The same in every field of the TUI that is ours.

import type { Key } from '../contract.ts';
import { type Edit, edit, insert, type TextField } from './text-field.ts';

const edits: Readonly<Record<Key, Edit>> = {
  left: 'left',
  right: 'right',
  home: 'home',
  end: 'end',
  backspace: 'backspace',
  delete: 'delete',
  'ctrl+a': 'home',
  'ctrl+e': 'end',
  'ctrl+b': 'left',
  'ctrl+f': 'right',
  'ctrl+u': 'delete_before',
  'ctrl+k': 'delete_after',
  'ctrl+w': 'delete_word',
  'alt+backspace': 'delete_word',
  'alt+b': 'word_left',
  'alt+f': 'word_right',
};

const lineEnds: ReadonlySet<Key> = new Set(['alt+enter', 'shift+enter', 'ctrl+j']);

/** A character by itself; every other key has a name in plain letters. */
export const isCharacter = (key: Key): boolean => [...key].length === 1 || /[^\x20-\x7e]/u.test(key);

/** The field after the key, or null where the key means nothing in a field. */
export function fieldKey(field: TextField, key: Key, isOneLine = false): TextField | null {
  if (isCharacter(key)) return insert(field, key, isOneLine);
  if (lineEnds.has(key)) return isOneLine ? null : insert(field, '\n');
  const what = edits[key];
  return what === undefined ? null : edit(field, what);
}
