// Files of another machine as the collector tells them, and how their names travel there. The machine may be broken or
// hostile: what does not fit is left out, and nothing throws. Pure.

import { limits } from '../model/limits.ts';

export interface RemoteFile {
  /** Its path as it was asked for, or its name in the spool. */
  readonly name: string;
  readonly sizeBytes: number;
  /** By the clock over there. Whole seconds where its `stat` tells no more. */
  readonly mtimeMs: number;
  /** Null when the file is larger than what is told. */
  readonly bytes: Uint8Array | null;
}

const newline = 0x0a;
/** `1202380-15207-0 1048576 1794756515.943872945`, with room to spare. */
const headingBytesMax = 128;

export function parseFiles(content: Uint8Array, mark: string): RemoteFile[] {
  const view = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const heading = Buffer.from(`\n=${mark} `, 'latin1');
  const files: RemoteFile[] = [];
  let at = view.indexOf(heading);
  while (at !== -1 && files.length < limits.remoteFilesMax) {
    const next = view.indexOf(heading, at + heading.length);
    const file = fileOf(view.subarray(at + heading.length, next === -1 ? view.length : next));
    if (file !== null) files.push(file);
    at = next;
  }
  return files;
}

function fileOf(part: Buffer): RemoteFile | null {
  const end = part.subarray(0, headingBytesMax).indexOf(newline);
  if (end === -1) return null;
  const line = part.subarray(0, end).toString('latin1');
  const found = /^([0-9-]{1,40}) (\d{1,15}) (\d{1,12})(?:\.(\d{1,9}))?$/.exec(line);
  if (found === null) return null;
  const [, name = '', size, seconds, fraction = '0'] = found;
  const sizeBytes = Number(size);
  const bytes = part.subarray(end + 1);
  return {
    name,
    sizeBytes,
    mtimeMs: Number(seconds) * 1_000 + Number(`0.${fraction}`) * 1_000,
    bytes: bytes.length === 0 && sizeBytes > 0 ? null : new Uint8Array(bytes),
  };
}

/** A path as printf reads it: whatever the far shell could take for something else becomes a number. */
export function octalOf(path: string): string {
  const plain = /[A-Za-z0-9/._-]/;
  return [...new TextEncoder().encode(path)]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return plain.test(char) ? char : `\\0${byte.toString(8).padStart(3, '0')}`;
    })
    .join('');
}

/** The name of a spool file; nothing else is ever sent as one. */
export function isSpoolWord(word: string): boolean {
  return /^\d{1,20}-\d{1,10}-\d$/.test(word);
}
