// The wall around everything agtmux keeps (SEC1): a directory that no other user can read, enter, replace or redirect.
// Looks only; loose rights are refused and never repaired in silence, because someone may already have used them. Clients
// look at a socket in the same way before they say a word to it: Node cannot ask who is at the other end (SO_PEERCRED), but
// in such a directory nobody else can have made the socket.

import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { FileError, type FileStat, type PathFiles } from './file-stat.ts';
import type { Files } from './files.ts';

const rootUid = 0;

/** Creates the directory when it is missing, then checks it. The value is its path in plain form. */
export async function ensurePrivateDirectory(files: Files, path: string, uid: number): Promise<Result<string>> {
  return refusingFileErrors(async () => {
    const plain = plainPathOf(path);
    // What is wrong with the place should be told before anything is made in it.
    if (plain === null) return failOfPath(path);
    await files.mkdirPrivate(plain);
    return check(files, plain, uid);
  });
}

/**
 * The directory itself is real, ours and 0700; each parent up to the root, through any links, belongs to us or to root
 * and cannot be changed by everybody. A sticky parent such as /tmp is fine: others cannot rename what is ours in it.
 * Group-writable parents are accepted: who is in such a group is the administrator's or the owner's own choice.
 */
export async function checkPrivateDirectory(files: Files, path: string, uid: number): Promise<Result<string>> {
  const plain = plainPathOf(path);
  return plain === null ? failOfPath(path) : refusingFileErrors(() => check(files, plain, uid));
}

/** The directory as above, and in it a socket of ours that is 0600. E_DAEMON_DOWN when there is none. */
export async function checkPrivateSocket(files: PathFiles, path: string, uid: number): Promise<Result<string>> {
  const plain = plainPathOf(path);
  if (plain === null) return failOfPath(path);
  try {
    const directory = parentOf(plain);
    if ((await files.stat(directory)) === null) return fail('E_DAEMON_DOWN', `no daemon listens at ${path}`);
    const around = await check(files, directory, uid);
    if (!around.ok) return fail('E_UNSAFE_DIR', `${around.failure.message}; nothing was sent`, nextOfSocket);
    const stat = await files.stat(plain);
    if (stat === null || (stat.kind !== 'socket' && stat.kind !== 'link')) {
      return fail('E_DAEMON_DOWN', `no daemon listens at ${path}`);
    }
    const trouble = troubleOfSocket(stat, uid);
    return trouble === null ? ok(plain) : fail('E_UNSAFE_DIR', `${path}: ${trouble}; nothing was sent`, nextOfSocket);
  } catch (error) {
    if (error instanceof FileError) return fail('E_SOCKET', error.message);
    throw error;
  }
}

const nextOfSocket = 'point AGTMUX_RUNTIME_DIR at a directory that is yours alone (0700)';

function troubleOfSocket(stat: FileStat, uid: number): string | null {
  if (stat.kind === 'link') return 'is a symbolic link; whoever made it chooses who answers';
  if (stat.uid !== uid) return `belongs to user ${stat.uid}, not to ${uid}`;
  return (stat.mode & 0o077) === 0 ? null : `has mode ${octal(stat.mode)}; other users may answer there`;
}

async function check(files: PathFiles, path: string, uid: number): Promise<Result<string>> {
  const trouble = troubleOfDirectory(await files.stat(path), uid) ?? (await troubleOfParents(files, path, uid));
  return trouble === null ? ok(path) : fail('E_UNSAFE_DIR', `${path}: ${trouble}`);
}

async function refusingFileErrors(work: () => Promise<Result<string>>): Promise<Result<string>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileError) return fail('E_STORE_IO', error.message);
    throw error;
  }
}

/** Without doubled or trailing slashes: a slash after the name of a link would make the system look behind the link. */
function plainPathOf(path: string): string | null {
  const names = namesOf(path);
  return path.startsWith('/') && !names.includes('..') ? `/${names.join('/')}` : null;
}

function failOfPath(path: string): Result<string> {
  return fail('E_UNSAFE_DIR', `${path}: is not an absolute path without ..`, 'name the directory by its full path');
}

function troubleOfDirectory(stat: FileStat | null, uid: number): string | null {
  if (stat === null) return 'does not exist';
  if (stat.kind === 'link') return 'is a symbolic link; the real directory must be named';
  if (stat.kind !== 'directory') return 'is not a directory';
  if (stat.uid !== uid) return `belongs to user ${stat.uid}, not to ${uid}`;
  if ((stat.mode & 0o077) !== 0) return `has mode ${octal(stat.mode)}; other users may enter it`;
  if ((stat.mode & 0o700) !== 0o700) return `has mode ${octal(stat.mode)}; its owner cannot use it`;
  return null;
}

/** Walks the path as the kernel does, one name at a time, and looks at everything it walks through. */
async function troubleOfParents(files: PathFiles, path: string, uid: number): Promise<string | null> {
  let names = namesOf(path).slice(0, -1);
  let walked = '';
  let links = 0;
  for (;;) {
    const place = walked === '' ? '/' : walked;
    const stat = await files.stat(place);
    if (stat === null) return `its parent ${place} does not exist`;
    const trouble = troubleOfParent(stat, uid);
    if (trouble !== null) return `its parent ${place} ${trouble}`;
    if (stat.kind === 'link') {
      links += 1;
      if (links > limits.linksMax) return 'its path has too many links';
      const target = await files.readLink(place);
      if (target === null) return `its parent ${place} does not exist`;
      // Absolute targets start over; relative ones start beside the link.
      walked = target.startsWith('/') ? '' : parentOf(walked);
      names = [...namesOf(target), ...names];
      continue;
    }
    const next = names.shift();
    if (next === undefined) return null;
    walked = next === '..' ? parentOf(walked) : `${walked}/${next}`;
  }
}

function troubleOfParent(stat: FileStat, uid: number): string | null {
  if (stat.uid !== uid && stat.uid !== rootUid) return `belongs to user ${stat.uid}, who could replace it`;
  // A link has no rights of its own; who may change it is decided by the directory it stands in.
  if (stat.kind === 'link') return null;
  if (stat.kind !== 'directory') return 'is not a directory';
  const everybodyWrites = (stat.mode & 0o002) !== 0;
  const sticky = (stat.mode & 0o1000) !== 0;
  return everybodyWrites && !sticky ? `has mode ${octal(stat.mode)}; every user may replace what is in it` : null;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

function octal(mode: number): string {
  return `0${mode.toString(8)}`;
}
