// Pages of a log: the end of it, or forward from a cursor, at most 120 lines and 16 KiB each (SHL5). Reading takes nothing
// away, so any number of readers may follow the same log. Pure over the source that is given.

import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { shellStatusText } from '../model/shell-status.ts';
import type { ShellId, ShellLogMode, ShellLogPage, ShellRecord } from '../model/shells.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { secondsText } from './life-words.ts';
import { brokenHead, utf8Bytes } from './pages-decode.ts';
import {
  isRewritten,
  type PageBounds,
  type Piece,
  pageBounds,
  pieceAt,
  pieceBytesMax,
  splitMark,
} from './pages-pieces.ts';
import { blockBytesMax, createWindow, type LogSource, type LogWindow } from './pages-window.ts';

export type { LogSource } from './pages-window.ts';

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
const newline = 0x0a;

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
