// A file that is ours alone, and the helpers that say where an agent keeps its things.

import { quoteSh } from '../../text/quote.ts';
import type { InstallContext, InstallFile, InstallPlace } from '../contract.ts';

/** `sign` is a piece of text that every version of this file has: what has none is somebody else's and is left alone. */
export function ownFile(path: string, text: string, sign: string): InstallFile {
  const foreign = {
    problem: `${path}: there is a file of this name that agtmux did not write`,
    next: 'move it away, then try again',
  };
  const isForeign = (before: string | null): boolean =>
    before !== null && before.trim() !== '' && !before.includes(sign);
  return {
    path,
    isOwn: true,
    install: (before) => (isForeign(before) ? foreign : { text }),
    remove: (before) => (isForeign(before) ? foreign : { text: null }),
    status: (before) => {
      if (before === null) return 'absent';
      if (isForeign(before)) return foreign;
      return before === text ? 'installed' : 'partial';
    },
  };
}

/** The folder a variable names, or the usual one below the home directory. Relative paths name no place for us. */
export function folderOf({ home, env }: InstallPlace, variable: string, below: string): string {
  const named = env[variable];
  return named?.startsWith('/') === true ? plain(named) : `${home}/${below}`;
}

/** Without a slash at the end, by which a path would be another one. */
const plain = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, '') : path);

/** Whether a command calls our program, whose path may stand there quoted for sh. */
export function isOurCommand({ hookPath }: InstallContext, command: string): boolean {
  const quoted = quoteSh(hookPath);
  return command.includes(hookPath) || (quoted.ok && command.includes(quoted.value));
}
