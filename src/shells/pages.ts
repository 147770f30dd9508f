// Pages of a log: the end of it, or forward from a cursor, at most 120 lines and 16 KiB each (SHL5). Reading takes nothing
// away, so any number of readers may follow the same log. Pure over the source that is given.

import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import {
  type ShellId,
  type ShellLogMode,
  type ShellLogPage,
  type ShellRecord,
  shellStatusText,
} from '../model/shells.ts';
import { createSanitizer, foreign, sanitizeLine } from '../text/sanitize.ts';
import { codePointColumns } from '../text/width.ts';
import { secondsText } from './life-words.ts';

// From bytes of a log to text that may be shown: UTF-8 as browsers read it, wrong bytes replaced, through the gate (SEC3),
// and never half a character.

const replacement = 0xfffd;
const runUnitsMax = 4_096;

/** A code point and how many bytes it took; `isShort`: the bytes ended inside it. */
interface Decoded {
  readonly code: number;
  readonly length: number;
  readonly isShort: boolean;
}

/** How many bytes follow a lead byte, and between what the first of them must lie. */
function followers(lead: number): readonly [count: number, low: number, high: number] | null {
  if (lead >= 0xc2 && lead <= 0xdf) return [1, 0x80, 0xbf];
  if (lead >= 0xe0 && lead <= 0xef) return [2, lead === 0xe0 ? 0xa0 : 0x80, lead === 0xed ? 0x9f : 0xbf];
  if (lead >= 0xf0 && lead <= 0xf4) return [3, lead === 0xf0 ? 0x90 : 0x80, lead === 0xf4 ? 0x8f : 0xbf];
  return null;
}

export function decodeAt(bytes: Uint8Array, start: number, end: number): Decoded {
  const lead = bytes[start] ?? 0;
  if (lead < 0x80) return { code: lead, length: 1, isShort: false };
  const rest = followers(lead);
  if (rest === null) return { code: replacement, length: 1, isShort: false };
  const [count, low, high] = rest;
  let code = lead & (0x3f >> count);
  for (let place = 1; place <= count; place += 1) {
    if (start + place >= end) return { code: replacement, length: place, isShort: true };
    const byte = bytes[start + place] ?? 0;
    const fits = place === 1 ? byte >= low && byte <= high : byte >= 0x80 && byte <= 0xbf;
    if (!fits) return { code: replacement, length: place, isShort: false };
    code = (code << 6) | (byte & 0x3f);
  }
  return { code, length: count + 1, isShort: false };
}

const isPlain = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x20 && byte <= 0x7e;
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
const isLineSeparator = (code: number): boolean => code === 0x2028 || code === 0x2029;
/** Belongs to the character before it; a tab does not. */
const isMark = (code: number): boolean => code >= 0x300 && codePointColumns(code) === 0;

/** Bytes of a text in UTF-8. */
function utf8Bytes(text: string): number {
  let bytes = 0;
  for (const one of text) {
    const code = one.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** The tail of a character whose head was dropped: how many bytes to leave out. */
function brokenHead(bytes: Uint8Array): number {
  let length = 0;
  while (length < 3 && isContinuation(bytes[length])) length += 1;
  return length;
}

interface Rendered {
  readonly text: string;
  /** Up to where the bytes went into the text. */
  readonly end: number;
  /** There was more to show than fits. */
  readonly isFull: boolean;
}

/**
 * What `bytes` from `start` to `end` show, at most `bytesMax` of it (a few more where marks belong to the last
 * character). `isWhole`: nothing follows, so a last character that is cut short is a wrong one; else it is left for later.
 */
function render(bytes: Uint8Array, start: number, end: number, bytesMax: number, isWhole: boolean): Rendered {
  const gate = createSanitizer('block', { charsMax: Infinity });
  let text = '';
  let size = 0;
  let at = start;
  while (at < end) {
    const runEnd = plainRunEnd(bytes, at, Math.min(end, at + bytesMax - size));
    if (runEnd > at) {
      const shown = gate.push(String.fromCharCode(...bytes.subarray(at, runEnd)));
      text += shown;
      size += shown.length;
      at = runEnd;
      continue;
    }
    const { code, length, isShort } = decodeAt(bytes, at, end);
    if (isShort && !isWhole) break;
    // A page's line is one line, whatever Unicode says.
    const shown = gate.push(isLineSeparator(code) ? ' ' : String.fromCodePoint(code));
    const shownBytes = utf8Bytes(shown);
    if (size + shownBytes > bytesMax && !isMark(code)) return { text, end: at, isFull: true };
    text += shown;
    size += shownBytes;
    at += length;
  }
  return { text, end: at, isFull: false };
}

function plainRunEnd(bytes: Uint8Array, start: number, end: number): number {
  const last = Math.min(end, start + runUnitsMax);
  let at = start;
  while (at < last && isPlain(bytes[at])) at += 1;
  return at;
}

// Where pages are read from: the bytes of one attempt through a source that is given, a block at a time, so that a log
// of a gigabyte needs no more memory than one of a kilobyte.

export interface LogSource {
  readonly attempt: number;
  /** Where the log ends now. */
  readonly bytes: number;
  /** What lies before was dropped. */
  readonly first_offset: number;
  /** Nothing will be added any more. */
  readonly isEnded: boolean;
  readonly is_capped: boolean;
  /** Offsets count from the first byte of the attempt. Fewer bytes than asked for: ask again; none: they were dropped. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

interface LogWindow {
  /** The bytes there; fewer only where the log ends or was dropped meanwhile. Valid until the next call. */
  at(offset: number, length: number): Promise<Uint8Array>;
}

/** One read of a disk's cache; more would mostly be for nothing. */
const blockBytesMax = 65_536;
const nothing = new Uint8Array(0);

function createWindow(source: LogSource, blockBytes = blockBytesMax): LogWindow {
  let base = 0;
  let held: Uint8Array = nothing;

  async function fill(from: number, length: number): Promise<void> {
    const room = new Uint8Array(length);
    let got = 0;
    while (got < length) {
      const chunk = await source.read(from + got, length - got);
      if (chunk.length === 0) break;
      room.set(chunk.subarray(0, length - got), got);
      got += chunk.length;
    }
    base = from;
    held = room.subarray(0, Math.min(got, length));
  }

  return {
    async at(offset, length) {
      const end = Math.min(offset + length, source.bytes);
      if (end <= offset) return nothing;
      if (offset < base || end > base + held.length) {
        // Whole blocks: lines that stand near each other are read once.
        const from = Math.max(source.first_offset, offset - (offset % blockBytes));
        const to = Math.min(source.bytes, Math.ceil(end / blockBytes) * blockBytes);
        await fill(from, to - from);
        // The front of the block may have been dropped meanwhile.
        if (base + held.length < end) await fill(offset, end - offset);
      }
      return held.subarray(offset - base, end - base);
    },
  };
}

// One piece of a log: a line as it is shown, or as much of a line as fits a page. What a carriage return wrote over is
// folded away; the raw bytes stay as they are (SHL5).

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

interface Piece {
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
async function pieceAt(
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
function isRewritten(bytes: Uint8Array): boolean {
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

export interface LogCursor {
  readonly attempt: number;
  readonly offset: number;
}

const cursorPattern = /^([1-9]\d{0,8}):(0|[1-9]\d{0,15})$/;

export const formatCursor = (attempt: number, offset: number): string => `${attempt}:${offset}`;

export function parseCursor(text: string): Result<LogCursor> {
  const [, attempt, offset] = cursorPattern.exec(text) ?? [];
  if (attempt === undefined || offset === undefined || !Number.isSafeInteger(Number(offset))) {
    return fail(
      'E_INPUT',
      'invalid cursor: it must look like 1:4096, the attempt and an offset in its log',
      'use the cursor of the previous page, or omit it',
    );
  }
  return ok({ attempt: Number(attempt), offset: Number(offset) });
}

export interface PageRequest {
  readonly shell_id: ShellId;
  readonly mode: ShellLogMode;
  /** Null: the end for tail and diagnostic, the beginning for body. */
  readonly offset: number | null;
  readonly lines: number | null;
  /** Only for mode diagnostic: see `diagnosisOf`. */
  readonly diagnosis: string | null;
}

export async function readPage(
  source: LogSource,
  wish: PageRequest,
  bounds: PageBounds = pageBounds,
): Promise<ShellLogPage> {
  const lines = Math.max(1, Math.min(Math.floor(wish.lines ?? bounds.lines), bounds.lines));
  const asked = { ...bounds, lines };
  const found =
    wish.mode === 'body' ? await forward(source, wish.offset, asked) : await tail(source, wish.offset, asked);
  const partial = found.pieces.at(-1)?.isPartial === true;
  return {
    shell_id: wish.shell_id,
    attempt: source.attempt,
    lines: found.pieces.map(({ text }) => text),
    cursor: formatCursor(source.attempt, found.cursor),
    has_more: !partial && found.cursor < source.bytes,
    truncated: found.truncated,
    partial_line: partial,
    has_split_line: found.pieces.some(({ isSplit }) => isSplit) || found.isCut,
    is_capped: source.is_capped,
    diagnosis: wish.mode === 'diagnostic' ? wish.diagnosis : null,
  };
}

interface Found {
  readonly pieces: readonly Piece[];
  readonly cursor: number;
  readonly truncated: boolean;
  /** The first line does not begin where the line does. */
  readonly isCut: boolean;
}

const costOf = ({ text }: Piece): number => utf8Bytes(text) + 1;

async function forward(source: LogSource, offset: number | null, bounds: PageBounds): Promise<Found> {
  const window = createWindow(source);
  const isDropped = (offset ?? 0) < source.first_offset;
  const first = isDropped ? await soundStart(window, source.first_offset) : (offset ?? 0);
  const pieces: Piece[] = [];
  let at = first;
  let size = 0;
  while (at < source.bytes && pieces.length < bounds.lines && at - first < bounds.pageScanBytes) {
    const piece = await pieceAt(window, source, at, bounds);
    // Dropped while we read: the next page says where it goes on.
    if (piece === null) return { pieces, cursor: at, truncated: true, isCut: false };
    size += costOf(piece);
    if (size > bounds.bytes) break;
    pieces.push(piece);
    if (piece.isPartial) break;
    at = piece.end;
  }
  return { pieces, cursor: at, truncated: isDropped, isCut: false };
}

/** Where the front was dropped, the first bytes may be the rest of a character. */
const soundStart = async (window: LogWindow, offset: number): Promise<number> =>
  offset === 0 ? 0 : offset + brokenHead(await window.at(offset, 4));

/** Lines longer than this are looked at from their end: more of them cannot be seen on the last page. */
const tailLineBytes = 4 * limits.shellPageBytesMax;

async function tail(whole: LogSource, offset: number | null, bounds: PageBounds): Promise<Found> {
  if (offset !== null && offset > whole.bytes) return { pieces: [], cursor: offset, truncated: false, isCut: false };
  const source = offset === null || offset === whole.bytes ? whole : endingAt(whole, offset);
  if (source.bytes < source.first_offset) {
    return { pieces: [], cursor: source.first_offset, truncated: true, isCut: false };
  }
  const window = createWindow(source, Math.min(blockBytesMax, bounds.pageScanBytes));
  const lines = await lastLines(window, source, bounds);
  const room = { ...bounds, bytes: bounds.bytes - utf8Bytes(splitMark) };
  let pieces: readonly Piece[] = [];
  let isCut = false;
  for (const line of lines) {
    const left = room.bytes - pieces.reduce((sum, piece) => sum + costOf(piece), 0);
    const end = await endOfLine(window, source, line, room, left);
    const all = [...end.pieces, ...pieces];
    const kept = lastThatFit(all, room);
    // A line of which nothing fits is not on the page, and so not cut.
    const isFirstCut = end.isCut || kept.length < all.length;
    isCut = kept.length > pieces.length ? isFirstCut : isCut;
    pieces = kept;
    if (kept.length < all.length || isCut) break;
  }
  const last = pieces.at(-1);
  const cursor = last === undefined ? source.bytes : last.isPartial ? last.start : last.end;
  return { pieces: isCut ? pieces.map(marked) : pieces, cursor, truncated: false, isCut };
}

const marked = (piece: Piece, place: number): Piece =>
  place === 0 ? { ...piece, text: splitMark + piece.text } : piece;

/** As if nothing had been written behind `bytes`. */
const endingAt = (source: LogSource, bytes: number): LogSource => ({
  attempt: source.attempt,
  bytes,
  first_offset: source.first_offset,
  isEnded: true,
  is_capped: source.is_capped,
  read: (offset, length) => source.read(offset, length),
});

interface LineSpan {
  readonly start: number;
  readonly end: number;
  /** It begins before `start`. */
  readonly isInside: boolean;
}

/** The last lines, the last one first; the one that was not looked through to its beginning, too. */
async function lastLines(window: LogWindow, source: LogSource, bounds: PageBounds): Promise<readonly LineSpan[]> {
  const { first_offset, bytes } = source;
  const lowest = Math.max(first_offset, bytes - bounds.pageScanBytes);
  const spans: LineSpan[] = [];
  let end = bytes;
  for (let blockEnd = bytes; blockEnd > lowest; ) {
    const blockStart = Math.max(lowest, blockEnd - blockBytesMax);
    const block = await window.at(blockStart, blockEnd - blockStart);
    for (let at = block.length - 1; at >= 0; at -= 1) {
      at = block.lastIndexOf(newline, at);
      if (at === -1) break;
      const start = blockStart + at + 1;
      // The line end that the log ends in begins no line.
      if (start === bytes) continue;
      spans.push({ start, end, isInside: false });
      if (spans.length === bounds.lines) return spans;
      end = start;
    }
    blockEnd = blockStart;
  }
  return end > lowest ? [...spans, { start: lowest, end, isInside: lowest > first_offset }] : spans;
}

async function endOfLine(
  window: LogWindow,
  source: LogSource,
  line: LineSpan,
  bounds: PageBounds,
  leftBytes: number,
): Promise<{ readonly pieces: readonly Piece[]; readonly isCut: boolean }> {
  const near = Math.max(line.start, line.end - tailLineBytes);
  const isInside = line.isInside || near > line.start;
  const start = isInside || near === source.first_offset ? await soundStart(window, near) : near;
  const isCut = isInside && !isRewritten(await window.at(start, line.end - start));
  const pieces = await piecesFrom(window, source, start, line.end, bounds);
  if (pieces.length < 2) return { pieces, isCut };
  // Longer than a page: as much of its end as there is room for, not what is left over when it is cut from its beginning.
  const most = pieceBytesMax({ ...bounds, bytes: leftBytes });
  for (let length = most, tries = 0; length >= shortestEndBytes && tries < endTriesMax; tries += 1) {
    const inside = await soundStart(window, Math.max(start, line.end - length));
    const last = await piecesFrom(window, source, inside, line.end, bounds);
    const cost = last.reduce((sum, piece) => sum + costOf(piece), 0);
    if (last.length === 1 && cost <= leftBytes) return { pieces: last, isCut: true };
    // Bytes that are no text are shown in more than one.
    length = Math.floor((length * most) / Math.max(cost, leftBytes + 1));
  }
  return { pieces, isCut };
}

/** Less than this of a line is of no use to anybody. */
const shortestEndBytes = 64;
const endTriesMax = 4;

async function piecesFrom(
  window: LogWindow,
  source: LogSource,
  from: number,
  end: number,
  bounds: PageBounds,
): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  for (let at = from; at < end; ) {
    const piece = await pieceAt(window, source, at, bounds);
    if (piece === null) break;
    pieces.push(piece);
    if (piece.isPartial) break;
    at = piece.end;
  }
  return pieces;
}

function lastThatFit(pieces: readonly Piece[], bounds: PageBounds): readonly Piece[] {
  let first = pieces.length;
  let size = 0;
  for (const piece of pieces.toReversed()) {
    size += costOf(piece);
    if (size > bounds.bytes || pieces.length - first === bounds.lines) break;
    first -= 1;
  }
  return pieces.slice(first);
}

const lastLogBounds: PageBounds = {
  lines: 20,
  // Whatever stands there fits: a wrong byte is shown in three.
  bytes: 4 * limits.shellLastLogBytes,
  lineScanBytes: limits.shellLastLogBytes,
  pageScanBytes: limits.shellLastLogBytes,
};

/** The last two lines that say something, for a card. */
export async function lastLog(source: LogSource): Promise<readonly string[]> {
  const { pieces } = await tail(source, null, lastLogBounds);
  return pieces
    .map(({ text }) => sanitizeLine(foreign(text), { columnsMax: limits.shellLastLogColumnsMax }))
    .filter((text) => text.trim() !== '')
    .slice(-2);
}

/** What mode diagnostic says beside the lines. */
export function diagnosisOf(record: ShellRecord, now: number): string {
  const { log, ended_at, started_at } = record;
  const ran = secondsText(Math.max(0, (ended_at ?? now) - started_at));
  const parts = [
    `${record.shell_id} attempt ${record.attempt}: ${shellStatusText(record)}${record.is_stopped ? ', stopped' : ''}`,
    record.signal === null ? '' : `signal ${record.signal}${record.is_signal_inferred ? ' (inferred)' : ''}`,
    record.ended_by === null ? '' : `ended by ${record.ended_by} (${record.end_reason})`,
    record.words === null ? '' : `reason: ${record.words}`,
    ended_at === null ? `running for ${ran} in the ${record.start_mode}` : `ran for ${ran}`,
    `log of ${log.bytes} bytes${log.first_offset > 0 ? `, the first ${log.first_offset} dropped` : ''}`,
    log.is_capped ? 'the log is full: later output was not stored' : '',
  ];
  return parts.filter((part) => part !== '').join('; ');
}
