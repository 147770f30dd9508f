// The definitions that ship, as `make references` wrote them down from the files in the agents' folders: checked then, and
// with every default in its place, so that nothing is parsed at a start.

import { assert } from '../../model/errors.ts';
import definitions from '../definitions.json' with { type: 'json' };
import type { Definition } from './schema.ts';

export const builtInDefinitions = definitions as unknown as readonly Definition[];

/** Of an agent whose folder has code too. */
export function builtIn(name: string): Definition {
  const found = builtInDefinitions.find(({ agent }) => agent === name);
  assert(found !== undefined, `there is no definition of ${name}`);
  return found;
}
