// Logs for the tests of pages: of given bytes, of any length without holding them, and what they should show, worked out
// in the simplest way there is.

import type { LogSource } from '../../src/shells/pages.ts';
import { foreign, sanitizeBlock } from '../../src/text/sanitize.ts';

export interface SourceOptions extends Partial<Omit<LogSource, 'read' | 'bytes'>> {
  /** At most this many bytes a read. */
  readonly readBytes?: number;
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

export function sourceOf(log: Uint8Array | string, options: SourceOptions = {}): LogSource {
  const bytes = typeof log === 'string' ? bytesOf(log) : log;
  const { readBytes = Infinity, ...facts } = options;
  const first = options.first_offset ?? 0;
  return {
    attempt: 1,
    first_offset: 0,
    isEnded: true,
    is_capped: false,
    ...facts,
    bytes: bytes.length,
    read: async (offset, length) => {
      if (offset < first) throw new Error(`${offset} was dropped`);
      return bytes.slice(offset, offset + Math.min(length, readBytes));
    },
  };
}

/** A log of `bytes` bytes that are made when they are read, and how much of it was. */
export function hugeSource(bytes: number, byteAt: (offset: number) => number, facts: Partial<LogSource> = {}) {
  const counted = { bytes: 0, longest: 0 };
  const source: LogSource = {
    attempt: 1,
    first_offset: 0,
    isEnded: true,
    is_capped: false,
    ...facts,
    bytes,
    read: async (offset, length) => {
      counted.bytes += length;
      counted.longest = Math.max(counted.longest, length);
      return Uint8Array.from({ length }, (_, place) => byteAt(offset + place));
    },
  };
  return { source, counted };
}

/** The lines of an ended log, each whole, as they should be seen. */
export function linesOf(log: Uint8Array): readonly string[] {
  const lines: string[] = [];
  let start = 0;
  while (start < log.length) {
    const end = log.indexOf(0x0a, start);
    lines.push(lineOf(log.subarray(start, end === -1 ? log.length : end)));
    start = end === -1 ? log.length : end + 1;
  }
  return lines;
}

function lineOf(bytes: Uint8Array): string {
  const parts: number[][] = [[]];
  for (const byte of bytes) {
    if (byte === 0x0d) parts.push([]);
    else parts.at(-1)?.push(byte);
  }
  const last = parts.findLast((part) => part.length > 0) ?? [];
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(last));
  return sanitizeBlock(foreign(text.replaceAll(/[\u2028\u2029]/g, ' ')));
}
