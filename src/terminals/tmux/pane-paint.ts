// A terminal's screen drawn anew, row by row: the characters that stand there and their colours, and nothing else of what
// the program in the pane has sent. What comes out moves nothing, asks nothing and links nowhere (SEC3).

import type { IBuffer, IBufferCell, IBufferLine, Terminal } from '@xterm/headless';
import type { PaintedScreen } from '../../model/web.ts';

const plain = '0';

export function paintOf(terminal: Terminal, isCursorShown: boolean): PaintedScreen {
  const buffer = terminal.buffer.active;
  const { cols: width, rows: height } = terminal;
  return {
    width,
    height,
    rows: Array.from({ length: height }, (_, row) => rowOf(buffer, row, width)),
    cursorColumn: Math.min(buffer.cursorX, width - 1),
    cursorRow: buffer.cursorY,
    isCursorShown,
  };
}

function rowOf(buffer: IBuffer, row: number, width: number): string {
  const line = buffer.getLine(buffer.baseY + row);
  if (line === undefined) return '';
  const last = lastColumn(line, width);
  let text = '';
  let style = plain;
  for (let column = 0; column <= last; column += 1) {
    const cell = line.getCell(column);
    // The second half of a wide character.
    if (cell === undefined || cell.getWidth() === 0) continue;
    const now = styleOf(cell);
    if (now !== style) text += `\x1b[${now}m`;
    style = now;
    text += charactersOf(cell);
  }
  return style === plain ? text : `${text}\x1b[0m`;
}

/** Blanks at the end are left out, unless they have a colour. */
function lastColumn(line: IBufferLine, width: number): number {
  for (let column = width - 1; column >= 0; column -= 1) {
    const cell = line.getCell(column);
    if (cell === undefined) continue;
    if (cell.getChars().trim() !== '' || styleOf(cell) !== plain) return column;
  }
  return -1;
}

/** What does something instead of showing something: it would be read in another order, or not at all. */
const effects = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

function charactersOf(cell: IBufferCell): string {
  const characters = cell.getChars();
  if (characters === '') return ' ';
  const shown = characters.length === 1 && characters >= ' ' && characters <= '~' ? characters : safe(characters);
  // A cell keeps its place, whatever stood in it.
  return shown === '' ? ' '.repeat(cell.getWidth()) : shown;
}

/** Emoji are made of several joined ones. */
const safe = (characters: string): string =>
  characters.replace(effects, (one) => (one === joiner ? one : '')).replace(looseJoiner, '');
const joiner = '\u200d';
const looseJoiner = /^\u200d+|\u200d+$/g;

const flags = [
  ['1', 'isBold'],
  ['2', 'isDim'],
  ['3', 'isItalic'],
  ['4', 'isUnderline'],
  ['5', 'isBlink'],
  ['7', 'isInverse'],
  ['8', 'isInvisible'],
  ['9', 'isStrikethrough'],
  ['53', 'isOverline'],
] as const satisfies readonly (readonly [string, keyof IBufferCell])[];

/** The whole style each time, from nothing: a row can be drawn by itself. */
function styleOf(cell: IBufferCell): string {
  if (cell.isAttributeDefault()) return plain;
  const parts = [plain, ...flags.flatMap(([code, name]) => (cell[name]() === 0 ? [] : [code]))];
  if (cell.isFgRGB()) parts.push(`38;2;${channels(cell.getFgColor())}`);
  else if (cell.isFgPalette()) parts.push(`38;5;${cell.getFgColor()}`);
  if (cell.isBgRGB()) parts.push(`48;2;${channels(cell.getBgColor())}`);
  else if (cell.isBgPalette()) parts.push(`48;5;${cell.getBgColor()}`);
  return parts.join(';');
}

const channels = (colour: number): string => `${(colour >> 16) & 255};${(colour >> 8) & 255};${colour & 255}`;
