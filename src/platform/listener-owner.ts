// Whose process takes connections at a port of this machine's loopback, as Linux shows it in /proc. Synchronous like all
// of /proc. What cannot be seen is not proven: without /proc, and for other users' processes, the answer is no.

import { closeSync, opendirSync, openSync, readlinkSync, readSync } from 'node:fs';
import { assert } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { errorCodeOf } from './files.ts';

/** True only when everything that could take a connection to 127.0.0.1 at this port is held by this very process. */
export type OwnsListener = (pid: number, port: number) => boolean;

export const ownsListener: OwnsListener = (pid, port) => {
  assert(Number.isSafeInteger(pid) && pid > 0, `a pid is a positive number, not ${pid}`);
  const tables = ['tcp', 'tcp6'].map((name) => orNull(() => readWhole(`/proc/self/net/${name}`)));
  // A machine may have no IPv6; without the first table nothing is known.
  if (tables[0] === null) return false;
  const wanted = tables.flatMap((table) => listening(table ?? '', port));
  if (wanted.length === 0) return false;
  const held = orNull(() => socketsOf(pid));
  return held !== null && wanted.every((inode) => held.has(inode));
};

/** 127.0.0.1 in either byte order, or any address; the same seen from IPv6. */
const reachable = /^(?:0100007F|7F000001|0{8}|0{32}|0{16}(?:0000FFFF|FFFF0000)(?:0100007F|7F000001|0{8}))$/;
const listenState = '0A';

function listening(table: string, port: number): readonly string[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      const [address = '', hex = ''] = local.split(':');
      const isWanted = state === listenState && Number.parseInt(hex, 16) === port && reachable.test(address);
      return isWanted ? [inode] : [];
    });
}

/** The system hands such tables out a page at a time. Null when there is more than a machine can need. */
function readWhole(path: string): string | null {
  const handle = openSync(path, 'r');
  try {
    const pieces: Buffer[] = [];
    let size = 0;
    for (;;) {
      const piece = Buffer.alloc(65_536);
      const count = readSync(handle, piece, 0, piece.length, null);
      if (count === 0) return Buffer.concat(pieces).toString('latin1');
      pieces.push(piece.subarray(0, count));
      size += count;
      if (size > limits.socketTableBytesMax) return null;
    }
  } finally {
    closeSync(handle);
  }
}

function socketsOf(pid: number): ReadonlySet<string> {
  const folder = `/proc/${pid}/fd`;
  const sockets = new Set<string>();
  const open = opendirSync(folder);
  try {
    let count = 0;
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      count += 1;
      if (count > limits.openFilesPerProcessMax) break;
      const { name } = entry;
      const inode = /^socket:\[(\d+)\]$/.exec(orNull(() => readlinkSync(`${folder}/${name}`)) ?? '')?.[1];
      if (inode !== undefined) sockets.add(inode);
    }
  } finally {
    open.closeSync();
  }
  return sockets;
}

/** Processes end while one looks at them, and those of other users are closed to us. */
function orNull<Value>(work: () => Value): Value | null {
  try {
    return work();
  } catch (error) {
    if (errorCodeOf(error) === null) throw error;
    return null;
  }
}
