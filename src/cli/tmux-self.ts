// How others call this very program: tmux in a popup, a person in another terminal.

import { realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** The file that Node was given. */
export const selfPath = (): string => realpathSync(process.argv[1] ?? '');

/** By its name where it is on the PATH, so that upgrades keep working; else the launcher of a checkout, or the file. */
export function selfCommand(): string {
  const self = selfPath();
  const places = (process.env.PATH ?? '').split(delimiter).filter((place) => place.startsWith('/'));
  if (places.some((place) => realPathOrNull(join(place, 'agtmux')) === self)) return 'agtmux';
  const launcher = join(dirname(dirname(self)), 'agtmux');
  return statSync(launcher, { throwIfNoEntry: false })?.isFile() === true ? launcher : self;
}

function realPathOrNull(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
