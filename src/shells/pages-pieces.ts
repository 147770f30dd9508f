// One piece of a log: a line as it is shown, or as much of a line as fits a page. What a carriage return wrote over is
// folded away; the raw bytes stay as they are (SHL5).

import { limits } from '../model/limits.ts';
import { type Rendered, render } from './pages-decode.ts';
import type { LogSource, LogWindow } from './pages-window.ts';

export interface PageBounds {
  readonly lines: number;
  readonly bytes: number;
  readonly lineScanBytes: number;
  readonly pageScanBytes: number;
}

export const pageBounds: PageBounds = {
  lines: limits.shellPageLinesMax,
  bytes: limits.shellPageBytesMax,
  lineScanBytes: limits.shellLineScanBytesMax,
  pageScanBytes: limits.shellPageScanBytesMax,
};

export interface Piece {
  readonly text: string;
  readonly start: number;
  /** Where the next piece begins. */
  readonly end: number;
  /** The line goes on behind it. */
  readonly isSplit: boolean;
  /** The last line of a log that is still written to, and not whole yet. */
  readonly isPartial: boolean;
}

/** Behind a piece whose line goes on. */
export const splitMark = '…';

const newline = 0x0a;
const carriageReturn = 0x0d;
const firstLookBytes = 4_096;
/** The mark, the line end, and four marks of four bytes that may follow the last character. */
const pieceExtraBytes = 3 + 1 + 16;

export const pieceBytesMax = (bounds: PageBounds): number => bounds.bytes - pieceExtraBytes;

/** The piece that begins at `offset`; null where the bytes were dropped meanwhile. */
export async function pieceAt(
  window: LogWindow,
  source: LogSource,
  offset: number,
  bounds: PageBounds,
): Promise<Piece | null> {
  let length = Math.min(firstLookBytes, bounds.lineScanBytes);
  let scanned = 0;
  for (;;) {
    const bytes = await window.at(offset, length);
    const lineEnd = bytes.indexOf(newline, scanned);
    if (lineEnd !== -1) return wholeLine(bytes.subarray(0, lineEnd), offset, lineEnd + 1, bounds);
    if (offset + bytes.length >= source.bytes) return lastLine(bytes, source, offset, bounds);
    if (bytes.length < length) return null;
    if (length >= bounds.lineScanBytes) return longLine(bytes, offset, bounds);
    scanned = bytes.length;
    length = Math.min(length * 4, bounds.lineScanBytes);
  }
}

/** What is left to see of a line: what stands behind the last carriage return that something was written after. */
function folded(bytes: Uint8Array, end: number): readonly [start: number, end: number] {
  let last = end;
  while (last > 0 && bytes[last - 1] === carriageReturn) last -= 1;
  return last === 0 ? [end, end] : [bytes.lastIndexOf(carriageReturn, last - 1) + 1, last];
}

/** Nothing of the front of this line is to be seen any more. `bytes` may end in the line end. */
export function isRewritten(bytes: Uint8Array): boolean {
  const [start] = folded(bytes, bytes.at(-1) === newline ? bytes.length - 1 : bytes.length);
  return start > 0;
}

function shown(bytes: Uint8Array, end: number, bounds: PageBounds, isWhole: boolean): Rendered {
  const [from, to] = folded(bytes, end);
  return render(bytes, from, to, pieceBytesMax(bounds), isWhole);
}

const split = ({ text, end }: Pick<Rendered, 'text' | 'end'>, start: number): Piece => ({
  text: text + splitMark,
  start,
  end: start + end,
  isSplit: true,
  isPartial: false,
});

function wholeLine(bytes: Uint8Array, start: number, length: number, bounds: PageBounds): Piece {
  const line = shown(bytes, bytes.length, bounds, true);
  if (line.isFull) return split(line, start);
  return { text: line.text, start, end: start + length, isSplit: false, isPartial: false };
}

/** A log that is full gets no more, whatever its command goes on to say. */
function lastLine(bytes: Uint8Array, source: LogSource, start: number, bounds: PageBounds): Piece {
  const isWhole = source.isEnded || source.is_capped;
  const line = shown(bytes, bytes.length, bounds, isWhole);
  if (line.isFull) return split(line, start);
  return { text: line.text, start, end: start + bytes.length, isSplit: false, isPartial: !isWhole };
}

/** No end in sight: up to the last carriage return, if there is one, else what fits. */
function longLine(bytes: Uint8Array, start: number, bounds: PageBounds): Piece {
  // A carriage return at the very end may belong to a line end that was not read.
  let end = bytes.length;
  while (end > 1 && bytes[end - 1] === carriageReturn) end -= 1;
  const overwritten = bytes.lastIndexOf(carriageReturn, end - 1);
  if (overwritten === -1) return split(render(bytes, 0, end, pieceBytesMax(bounds), end < bytes.length), start);
  const line = shown(bytes, overwritten, bounds, true);
  return split(line.isFull ? line : { text: line.text, end: overwritten + 1 }, start);
}
