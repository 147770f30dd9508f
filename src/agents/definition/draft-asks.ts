// What can be told of an unknown agent's dialogs from a few screens of them: how its options look, and from which line on a
// request stands. What differs between two requests has to be in what is shown; where it is not, nothing is approved.

import { onlyOption } from '../keys/options.ts';
import { escaped, filled, hasLetters, liveLines, liveOf, strictShape } from './draft-lines.ts';

type Lines = readonly string[];

export interface DraftOptions {
  /** Null: they are there, and nothing but their place says how one is chosen. */
  readonly pattern: string | null;
  readonly choose: 'digit' | 'letter' | 'label' | null;
  /** Their first line. */
  readonly first: string;
  /** Their words, screen by screen. */
  readonly labels: readonly Lines[];
}

export const betweenInRow = ' {2,}';
const edge = '[\\s│┃║|]*';
/** What stands before the option that is marked. */
const mark = '[^\\p{L}\\p{N}\\s│┃║|()[\\]]';
const numbered = new RegExp(`^${edge}(?:(${mark}) *)?(\\d)([.):] +| {2,}| )(\\S.*?)${edge}$`, 'u');
const lettered = new RegExp(`^${edge}(?:${mark} ?)?[[(]?([a-z])[\\])] (\\S.*?)${edge}$`, 'u');
/** Several in one row: `[y] Yes   [n] No`. */
const inRow = new RegExp(`^${edge}([[(]\\w[\\])] \\S.*? {2,}[[(]\\w[\\])] \\S.*?)${edge}$`, 'u');
const marked = /^([\s│┃║|]*)([❯›>▶▸→➜➤●◉*»]) +(\S.*?)[\s│┃║|]*$/u;

export const optionsOf = (screens: readonly Lines[]): DraftOptions | null =>
  screens.length === 0
    ? null
    : (numberedOptions(screens) ?? letteredOptions(screens) ?? optionsInRow(screens) ?? markedOptions(screens));

interface NumberedRow {
  readonly mark: string | undefined;
  readonly gap: string;
  readonly label: string;
}

/** The last rows of a screen that are numbered from 1 on, all in one way. */
function numberedRows(lines: Lines): readonly NumberedRow[] {
  const found = liveOf(lines).flatMap((line) => {
    const [, sign, digit, gap = '', label = ''] = numbered.exec(line) ?? [];
    return digit === undefined ? [] : [{ mark: sign, digit: Number(digit), gap: gapOf(gap), label }];
  });
  const start = found.findLastIndex(({ digit }) => digit === 1);
  const rows = start < 0 ? [] : found.slice(start);
  const isOne = rows.every(({ digit, gap }, at) => digit === at + 1 && gap === rows[0]?.gap);
  return isOne && rows.length > 1 ? rows : [];
}

const gapOf = (gap: string): string => (/^[.):]/.test(gap) ? `[${gap[0]}] +` : gap.length > 1 ? ' {2,}' : ' ');

function numberedOptions(screens: readonly Lines[]): DraftOptions | null {
  const found = screens.map(numberedRows);
  const rows = found.flat();
  const gap = rows[0]?.gap;
  if (gap === undefined || found.some((one) => one.length === 0) || rows.some((row) => row.gap !== gap)) return null;
  const signs = [...new Set(rows.flatMap((row) => row.mark ?? []))];
  // A number and one blank is also how sentences begin; a mark beside one of them says that they are options.
  if (gap === ' ' && signs.length === 0) return null;
  const sign = signs.length === 0 ? '' : `(?:(?:${signs.map(escaped).join('|')}) *)?`;
  return {
    pattern: `^${edge}${sign}(\\d)${gap}(\\S.*?)${edge}$`,
    choose: 'digit',
    first: `^${edge}${sign}1${gap}`,
    labels: found.map((one) => one.map(({ label }) => label)),
  };
}

function letteredOptions(screens: readonly Lines[]): DraftOptions | null {
  const found = screens.map((lines) => liveOf(lines).flatMap((line) => [lettered.exec(line) ?? []]));
  const rows = found.map((one) => one.filter(([, id]) => id !== undefined));
  const id = rows[0]?.[0]?.[1];
  if (id === undefined || rows.some((one) => new Set(one.map((row) => row[1])).size < 2)) return null;
  return {
    pattern: lettered.source,
    choose: 'letter',
    first: `^${edge}(?:${mark} ?)?[[(]?${id}[\\])] `,
    labels: rows.map((one) => one.map((row) => row[2] ?? '')),
  };
}

function optionsInRow(screens: readonly Lines[]): DraftOptions | null {
  const found = screens.map((lines) =>
    liveOf(lines).flatMap((line) => (inRow.exec(line)?.[1] ?? '').split(new RegExp(betweenInRow, 'u')).filter(Boolean)),
  );
  if (found.some((one) => one.length < 2)) return null;
  const labels = found.map((one) => one.map((label) => label.trim()));
  return { pattern: inRow.source, choose: 'label', first: `^${edge}[[(]\\w[\\])] `, labels };
}

/** One of several rows has a mark, and none a number: only arrows choose there, from wherever the mark is. */
function markedOptions(screens: readonly Lines[]): DraftOptions | null {
  const signs = screens.map((lines) => {
    const live = liveOf(lines);
    const at = live.findLastIndex((line) => marked.test(line));
    const [, before = '', sign = '', label = ''] = marked.exec(live[at] ?? '') ?? [];
    const column = (live[at] ?? '').indexOf(label, before.length);
    const isBeside = [live[at - 1], live[at + 1]].some(
      (line) => line !== undefined && /^[\s│┃║|]*$/u.test(line.slice(0, column)) && /^\S/.test(line.slice(column)),
    );
    return at >= 0 && isBeside ? sign : null;
  });
  const [sign] = signs;
  if (sign === undefined || sign === null || signs.some((one) => one !== sign)) return null;
  return { pattern: null, choose: null, first: `^${edge}${escaped(sign)} +\\S`, labels: [] };
}

/** Where a request begins: `how` is a word of regions. */
export interface DraftHead {
  readonly how: 'from' | 'after';
  readonly mark: string;
}

const boxTop = /^\s*(?:[╭┌┏╔]|\+[-=]{3,})/u;
const wordsIn = (text: string): string => text.replace(/[^\p{L}]+/gu, ' ').trim();

/** Null where no line begins every request, or what is below it does not tell one request from another. */
export function headOf(screens: readonly Lines[], others: readonly Lines[], first: string): DraftHead | null {
  const start = new RegExp(first, 'u');
  const above = screens.map((lines) =>
    lines.slice(
      0,
      Math.max(
        0,
        lines.findLastIndex((line) => start.test(line)),
      ),
    ),
  );
  const boxed = boxHead(above);
  const common = commonHead(above, others);
  const heads: readonly (DraftHead | null)[] = [
    // A border of signs says that bars are frames, so it belongs to what is read.
    boxed === null ? null : { how: /^\^\s*[╭┌┏╔].*\p{L}{3}/u.test(boxed) ? 'after' : 'from', mark: boxed },
    common === null ? null : { how: 'from', mark: common },
  ];
  return heads.find((head) => head !== null && tellsApart(head, above)) ?? null;
}

/**
 * The line above the lowest one that differs, and up from there as long as all screens are alike: a request may begin with a line
 * that another one has too. What differs above it is the conversation.
 */
function commonHead(above: readonly Lines[], others: readonly Lines[]): string | null {
  const shapes = above.map((lines) => lines.map(strictShape));
  const foreign = new Set(others.flatMap((lines) => lines.map(strictShape)));
  const [first = []] = shapes;
  const isShared = (shape: string): boolean => shapes.every((list) => list.includes(shape));
  const isHead = (shape: string | undefined): shape is string =>
    shape !== undefined && hasLetters(shape) && isShared(shape) && !foreign.has(shape);
  const differs = first.findLastIndex((shape) => shape !== strictShape('') && !isShared(shape));
  const start = first.slice(0, Math.max(0, differs)).findLast(isHead);
  if (start === undefined) return null;
  let head = start;
  for (let up = 1; up <= liveLines; up += 1) {
    const [row, ...more] = shapes.map((list) => list[list.lastIndexOf(start) - up]);
    if (row === undefined || more.some((one) => one !== row)) return head;
    if (isHead(row)) head = row;
  }
  return head;
}

/** The upper edge of the lowest box, as far as all of them begin alike. */
function boxHead(above: readonly Lines[]): string | null {
  const tops = above.map((lines) => lines.findLast((line) => boxTop.test(line))?.trimEnd());
  const [top] = tops;
  if (top === undefined || tops.includes(undefined)) return null;
  if (new Set(tops.map((one) => strictShape(one ?? ''))).size === 1) return strictShape(top);
  let length = 0;
  while (tops.every((one) => one?.[length] !== undefined && one[length] === top[length])) length += 1;
  const shared = top.slice(0, top.slice(0, length).lastIndexOf(' ') + 1);
  return /\p{L}{3}/u.test(shared) ? `^${escaped(shared)}` : null;
}

/** It stands once on each screen, and below it two requests were not the same. */
function tellsApart({ how, mark: head }: DraftHead, above: readonly Lines[]): boolean {
  const pattern = new RegExp(head, 'u');
  const texts = above.map((lines) => {
    const [at, more] = lines.flatMap((line, row) => (pattern.test(line) ? [row] : []));
    return at === undefined || more !== undefined ? null : wordsIn(filled(lines.slice(at + 1)).join(' '));
  });
  return !texts.includes(null) && new Set(texts).size > 1 && (how === 'from' || !texts.includes(''));
}

/** The words of a yes and of a no, each exactly once on every screen. */
export function answerWords(
  labels: readonly Lines[],
  saysYes: (label: string) => boolean,
  saysNo: (label: string) => boolean,
): { readonly once: Lines; readonly no: Lines } | null {
  const one = (says: (label: string) => boolean): readonly (string | null)[] =>
    labels.map((list) => {
      const options = list.map((label) => ({ id: label, label }));
      return onlyOption({ kind: 'command', text: '', options }, [{ test: says }])?.label ?? null;
    });
  const [once, no] = [one(saysYes), one(saysNo)];
  const known = (list: readonly (string | null)[]): Lines | null =>
    list.length === 0 || list.includes(null) ? null : [...new Set(list.filter((label) => label !== null))];
  const [yes, refusal] = [known(once), known(no)];
  return yes === null || refusal === null ? null : { once: yes, no: refusal };
}
