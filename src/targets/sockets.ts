// The tmux sockets of the user on this machine, found where tmux puts them. Only what is ours and answers becomes a
// target; the default socket is one whether it answers or not (IDN1). Other machines are asked by the collector.

import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { FileError, type Files } from '../platform/files.ts';
import { connectPrivate } from '../platform/net.ts';
import { defaultSocketName, isSocketName, targetOfSocket } from './names.ts';

/** A tmux socket of one machine as a target. */
export interface TargetSocket {
  readonly target: TargetId;
  readonly path: string;
  /** A server listens there. Only a default socket is listed without one. */
  readonly alive: boolean;
}

export interface SocketSearch {
  readonly machine: TargetId;
  readonly files: Files;
  readonly clock: Clock;
  readonly uid: number;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Names (`tmux -L`) or absolute paths (`tmux -S`) instead of a search. */
  readonly explicit?: readonly string[];
}

/** A server that does not take a connection this fast still listens; it is only slow. */
const knockMs = 500;
/** Entries looked at: leftovers of years stay in that directory. */
const entriesMax = 1_000;

export function socketDirectoryOf(search: Pick<SocketSearch, 'uid' | 'variables'>): string {
  const base = search.variables.TMUX_TMPDIR;
  const parent = base === undefined || !base.startsWith('/') ? '/tmp' : base.replace(/\/+$/, '');
  return `${parent}/tmux-${search.uid}`;
}

export async function findSockets(search: SocketSearch): Promise<readonly TargetSocket[]> {
  const directory = socketDirectoryOf(search);
  if (search.explicit !== undefined) {
    const paths = search.explicit.map((text) => (text.startsWith('/') ? text : `${directory}/${text}`));
    return Promise.all(paths.map((path) => socketAt(search, path)));
  }
  const first = await socketAt(search, `${directory}/${defaultSocketName}`);
  const names = (await namesIn(search.files, directory)).filter((name) => name !== defaultSocketName);
  const others = await Promise.all(names.map((name) => socketAt(search, `${directory}/${name}`)));
  return [first, ...others.filter((socket) => socket.alive)];
}

export interface ChosenSockets {
  readonly sockets: readonly TargetSocket[];
  /** More than are watched; not one word about them would look as if they were not there. */
  readonly unwatched: readonly TargetSocket[];
}

/** `left`: so many more that are not named. */
export const unwatchedWords = (left: number): string =>
  `not watched${left === 0 ? '' : `, and neither are ${left} more`}: agtmux watches at most ${limits.targetSocketsMax} tmux servers of one machine; stop one that you do not need`;

/** The first of what was found is always watched, and who is watched already stays: a new server takes the place of none. */
export function chooseSockets(found: readonly TargetSocket[], before: readonly TargetSocket[]): ChosenSockets {
  const known = new Set(before.map(({ path }) => path));
  const [first, ...others] = found;
  const order = [
    ...(first === undefined ? [] : [first]),
    ...others.filter(({ path }) => known.has(path)),
    ...others.filter(({ path }) => !known.has(path)),
  ];
  const chosen = new Set(order.slice(0, limits.targetSocketsMax));
  return {
    sockets: found.filter((socket) => chosen.has(socket)),
    unwatched: found.filter((socket) => !chosen.has(socket)),
  };
}

/** A directory that cannot be read holds nothing that we could use. */
async function namesIn(files: Files, directory: string): Promise<readonly string[]> {
  try {
    return (await files.list(directory, entriesMax))?.names.filter(isSocketName) ?? [];
  } catch (error) {
    if (error instanceof FileError) return [];
    throw error;
  }
}

async function socketAt(search: SocketSearch, path: string): Promise<TargetSocket> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return { target: targetOfSocket(search.machine, name), path, alive: await isAlive(search, path) };
}

/** A socket of another user is never asked: who answers there would be taken for our own tmux. */
async function isAlive(search: SocketSearch, path: string): Promise<boolean> {
  const stat = await search.files.stat(path).catch(() => null);
  if (stat === null || stat.kind !== 'socket' || stat.uid !== search.uid) return false;
  const knock = { clock: search.clock, deadlineMs: knockMs, onTrouble: () => undefined };
  const answer = await connectPrivate(path, knock);
  if (!answer.ok) return answer.failure.code !== 'E_DAEMON_DOWN' && answer.failure.message.includes('ETIMEDOUT');
  answer.value.destroy();
  return true;
}
