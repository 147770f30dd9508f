// A line beside the database that says how far commits have come. It is written after each commit and never synced, so it
// can only be behind the database; when it is ahead, the database has lost its tail (a damaged write-ahead log looks
// like a shorter one). A line that cannot be read proves nothing and is ignored.

import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { Head } from './head.ts';

export interface HeadMark {
  readonly store_id: string;
  readonly commits: number;
  readonly feed_version: number;
  readonly last_event_id: number;
}

/** One disk sector: written whole or not at all, and always the same length, so nothing old is left behind it. */
const lineBytes = 256;
const linePattern = /^agtmux1 ([0-9a-f]{1,64}) (\d{1,16}) (\d{1,16}) (\d{1,16}) ([0-9a-f]{8}) *\n$/;

function crcText(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

export function encodeMark(mark: HeadMark): string {
  const text = `agtmux1 ${mark.store_id} ${mark.commits} ${mark.feed_version} ${mark.last_event_id}`;
  return `${`${text} ${crcText(text)}`.padEnd(lineBytes - 1)}\n`;
}

/** Null for everything that is not a whole line with the right checksum. */
export function decodeMark(line: string): HeadMark | null {
  const parts = linePattern.exec(line);
  if (parts === null) return null;
  const [, store_id = '', commits, feed_version, last_event_id, crc = ''] = parts;
  if (crcText(line.slice(0, line.lastIndexOf(crc) - 1)) !== crc) return null;
  return {
    store_id,
    commits: Number(commits),
    feed_version: Number(feed_version),
    last_event_id: Number(last_event_id),
  };
}

export function readMark(path: string): HeadMark | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const buffer = Buffer.alloc(lineBytes + 1);
    const length = readSync(file, buffer, 0, buffer.length, 0);
    return decodeMark(buffer.toString('latin1', 0, Math.min(length, lineBytes)));
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

export class HeadFile {
  #file: number | null;

  constructor(path: string) {
    this.#file = openOrNull(path);
  }

  /** Best effort: a mark that was not written only makes the next start a little less suspicious. */
  write(head: Head): void {
    if (this.#file === null) return;
    try {
      writeSync(this.#file, encodeMark(head), 0, 'latin1');
    } catch {
      // The disk is full or gone; the commit itself is safe.
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}

function openOrNull(path: string): number | null {
  try {
    return openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  } catch {
    return null;
  }
}
