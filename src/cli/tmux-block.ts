// Our few lines in somebody's tmux.conf: put in between two marks, found again, and taken out so that what stays is byte
// for byte what was there. Pure; a file is one character a byte here, so that no encoding can be changed by it.

import { fail, ok, type Result } from '../model/errors.ts';

const beginMark = '# >>> agtmux >>>';
const endMark = '# <<< agtmux <<<';
/** How the one line begins that every version puts in between. */
const ourWords = 'source-file -q ';
/** What had to be added around the block is said in its first line, so that it can be taken away again. */
const newlineNote = ' (and the end of the line before)';
const fileNote = ' (and this file)';

export interface Block {
  readonly lines: readonly string[];
  /** Offsets of its first byte and behind its last one. */
  readonly start: number;
  readonly end: number;
  readonly hasAddedNewline: boolean;
  readonly hasAddedFile: boolean;
}

/** The block in the text, null when there is none; a failure when it is not whole. */
export function findBlock(text: string, path: string): Result<Block | null> {
  const marks = [...text.matchAll(/^# (>>>|<<<) agtmux (?:>>>|<<<)[^\r\n]*\r?(?:\n|$)/gm)];
  if (marks.length === 0) return ok(null);
  const [begin, end, more] = marks;
  if (begin === undefined || end === undefined || more !== undefined || begin[1] !== '>>>' || end[1] !== '<<<') {
    return fail(
      'E_INPUT',
      `${path}: the lines between ${beginMark} and ${endMark} are incomplete or occur more than once`,
      'remove these lines by hand, then try again',
    );
  }
  const inside = text.slice(begin.index + begin[0].length, end.index);
  const lines = inside.replace(/\r?\n$/, '').split(/\r?\n/);
  const [ours = '', ...others] = lines.filter((line) => line.trim() !== '');
  if (others.length > 0 || (ours !== '' && !ours.startsWith(ourWords))) {
    return fail(
      'E_INPUT',
      `${path}: between ${beginMark} and ${endMark} are lines that agtmux did not write`,
      'move your own lines elsewhere, then try again',
    );
  }
  return ok({
    lines,
    start: begin.index,
    end: end.index + end[0].length,
    hasAddedNewline: begin[0].includes(newlineNote),
    hasAddedFile: begin[0].includes(fileNote),
  });
}

/** The text with the block at its end; `text` is null when there is no file yet. */
export function addBlock(text: string | null, lines: readonly string[], path: string): Result<string> {
  const before = text ?? '';
  const isOpen = before !== '' && !before.endsWith('\n');
  if (/\\\r?\n?$/.test(before)) {
    return fail(
      'E_INPUT',
      `${path}: its last line ends with a backslash and would absorb the next line`,
      'end that line, then try again',
    );
  }
  const notes = `${isOpen ? newlineNote : ''}${text === null ? fileNote : ''}`;
  return ok(`${before}${isOpen ? '\n' : ''}${[`${beginMark}${notes}`, ...lines, endMark].join('\n')}\n`);
}

/** The text with other lines in the block that is there. */
export function replaceBlock(text: string, block: Block, lines: readonly string[]): string {
  const begin = text.slice(block.start, text.indexOf('\n', block.start) + 1);
  return `${text.slice(0, block.start)}${begin}${[...lines, endMark].join('\n')}\n${text.slice(block.end)}`;
}

/** The text as it was without the block; null when the file itself came with it. */
export function removeBlock(text: string, block: Block): string | null {
  const after = text.slice(block.end);
  const before = text.slice(0, block.start);
  // With lines behind it, the end that was added now parts two lines of the user's.
  const kept = block.hasAddedNewline && after === '' ? before.replace(/\r?\n$/, '') : before;
  return block.hasAddedFile && kept === '' && after === '' ? null : kept + after;
}
