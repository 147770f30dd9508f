// A file that is ours alone, and the helpers that say where an agent keeps its things.

import { quoteSh } from '../../text/quote.ts';
import type { InstallContext, InstallFile, InstallPlace } from '../contract.ts';

/** `isOurs` knows the text of every version of this file, untouched: what else stands there is left alone. */
export function ownFile(path: string, text: string, isOurs: (before: string) => boolean): InstallFile {
  const foreign = {
    problem: `${path}: there is a file of this name that agtmux did not write, or that was changed since`,
    next: 'move it away, then try again',
  };
  const isForeign = (before: string | null): boolean =>
    before !== null && before.trim() !== '' && before !== text && !isOurs(before);
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

const shWord = /^AGTMUX_SPOOL='(?:[^']|'\\'')*' /;

/**
 * Whether a command is one that agtmux wrote for this agent: our program with the agent and an event, and nothing else. One
 * that names our program among other things, or goes on behind it, is its user's.
 */
export function isOurCommand({ hookPath, command: commandOf }: InstallContext, command: string): boolean {
  const quoted = quoteSh(hookPath);
  const agent = commandOf('event').split(' ').at(-2);
  const rest = command.replace(shWord, '');
  const program = [quoted.ok ? quoted.value : hookPath, hookPath].find((word) => rest.startsWith(`${word} `));
  if (program === undefined) return false;
  const words = rest.slice(program.length + 1).split(' ');
  return words.length === 2 && words[0] === agent && /^[\w.:-]+$/.test(words[1] ?? '');
}
