// Finds the parts of a screen that rules speak of. Each is looked for once, when the first rule asks for it.

import { limits } from '../../model/limits.ts';
import { width } from '../../text/width.ts';
import { withoutAside } from './aside.ts';
import type { Pattern } from './pattern.ts';
import type { Region, RuleFile } from './rule-file.ts';

export interface Screen {
  /** The visible lines as tmux tells them, without colours. Foreign text. */
  readonly lines: readonly string[];
  readonly title: string;
  /** What tmux says runs in the foreground; null where nobody asked. */
  readonly command: string | null;
  /** Its process is known to have the keyboard: whatever looks like a shell's prompt is the agent's own. */
  readonly isAlive?: boolean;
}

export interface Regions {
  /** The lines of a region; null when it is not on this screen. */
  lines(name: string): readonly string[] | null;
  /** The same as one line of text: wrapped text without its frames. */
  flow(name: string): string | null;
  /** What its first line is known by; null when it is not on this screen. */
  edges(name: string): Edges | null;
  /** Which row of the screen its first line is; null when it is not on this screen. */
  row(name: string): number | null;
}

/**
 * Where a region begins: at a mark that stands there once, at one of several, or where nothing says that this is the beginning:
 * at the edge of the screen, or at a count of rows. And whether it ends at a count of rows that left some out.
 */
export interface Edges {
  readonly start: 'mark' | 'marks' | 'open';
  readonly isEndCounted: boolean;
}

export function regionsOf(file: RuleFile, screen: Screen): Regions {
  const found = new Map<string, readonly string[] | null>([
    ['screen', withoutAside(file.aside, withoutBlankEnd(withoutEnds(file.trim, screen.lines.map(untabbed))))],
    ['title', [screen.title.trim()]],
    ['command', screen.command === null ? null : [screen.command]],
  ]);
  const find = (name: string): readonly string[] | null => {
    const known = found.get(name);
    if (known !== undefined) return known;
    const region = file.regions.get(name);
    const whole = region === undefined ? null : find(region.of);
    const lines = region === undefined || whole === null ? null : cut(region, whole);
    found.set(name, lines);
    return lines;
  };
  const edgesOf = (name: string): Edges | null => placeOf(name)?.edges ?? null;
  const placeOf = (name: string): Place | null => {
    const lines = find(name);
    const region = file.regions.get(name);
    if (region === undefined) return lines === null ? null : { root: lines, at: 0, floor: 0, edges: edgeOfScreen };
    const outer = lines === null ? null : placeOf(region.of);
    const whole = find(region.of);
    return outer === null || whole === null ? null : placeIn(region, whole, outer);
  };
  const flows = new Map<string, string | null>();
  const flow = (name: string): string | null => {
    const known = flows.get(name);
    if (known !== undefined) return known;
    const lines = find(name);
    const text = lines === null ? null : lines.map(unframed).join(' ').replace(/\s+/gu, ' ').trim();
    flows.set(name, text);
    return text;
  };
  return { lines: find, flow, edges: edgesOf, row: (name) => placeOf(name)?.at ?? null };
}

const tabColumns = 8;

/** Before 3.6 tmux told a tab as the blanks it stands for, and rules are about where things stand. */
function untabbed(line: string): string {
  if (!line.includes('\t')) return line;
  return line
    .split('\t')
    .reduce((text, part) => `${text}${' '.repeat(tabColumns - (width(text) % tabColumns))}${part}`);
}

const edges = new Set([' ', '\t', '\u00a0', '│', '┃', '║']);
/** Of a scroll bar, which may stand right of a frame. */
const thumbs = new Set(['█', '▀', '▄']);

/**
 * A line without blanks and bars at its ends. A plain bar is none: at the end of a line it is the pipe of a command that
 * wraps. By hand, because a pattern for the end of a line takes a square of its length on a hostile one.
 */
export function unframed(line: string): string {
  let start = 0;
  let end = line.length;
  if (line[end - 2] === '│' && thumbs.has(line[end - 1] ?? '')) end -= 1;
  while (start < end && edges.has(line[start] ?? '')) start += 1;
  while (end > start && edges.has(line[end - 1] ?? '')) end -= 1;
  return line.slice(start, end);
}

export const indentOf = (line: string): number => /^[\s│┃║]*/u.exec(line)?.[0].length ?? 0;

interface Span {
  readonly start: number;
  readonly end: number;
  readonly isMarked: boolean;
}

function cut(region: Region, whole: readonly string[]): readonly string[] | null {
  const span = spanOf(region, whole);
  return span === null ? null : narrow(whole.slice(span.start, span.end), region);
}

function spanOf(region: Region, whole: readonly string[]): Span | null {
  let end = whole.length;
  const endMark = region.before ?? region.to;
  if (endMark !== null) {
    const at = lastMatch(whole, endMark, end);
    if (at >= 0) end = region.to === null ? at : at + 1;
    else if (!region.isOpen) return null;
  }
  let start = 0;
  let isMarked = false;
  const startMark = region.after ?? region.from;
  if (startMark !== null) {
    const at = lastMatch(whole, startMark, region.to === null ? end : end - 1);
    isMarked = at >= 0;
    if (isMarked) start = region.from === null ? at + 1 : at;
    else if (!region.isOpen) return null;
  }
  return end - start < (region.rows ?? 0) ? null : { start, end, isMarked };
}

/** A region among the lines of the screen that it was cut out of. */
interface Place {
  readonly root: readonly string[];
  readonly at: number;
  /** Where the nearest region around it that begins at a mark begins. */
  readonly floor: number;
  readonly edges: Edges;
}

const edgeOfScreen: Edges = { start: 'open', isEndCounted: false };

function placeIn(region: Region, whole: readonly string[], outer: Place): Place {
  const span = spanOf(region, whole) ?? { start: 0, end: whole.length, isMarked: false };
  const lines = whole.slice(span.start, span.end);
  const filled = filledAt(lines);
  const isStartCounted = region.bottom !== null && filled.length > region.bottom;
  const at = outer.at + span.start + (isStartCounted ? (filled.at(-(region.bottom ?? 0)) ?? 0) : 0);
  const mark = region.after ?? region.from;
  // Also above of what a count of rows left: the last mark is taken, and a request may show one itself.
  const near = outer.root.slice(outer.floor, outer.at + span.end);
  const isOne = mark !== null && near.filter((line) => mark.test(line)).length === 1;
  const start = !span.isMarked ? outer.edges.start : isOne && outer.edges.start !== 'marks' ? 'mark' : 'marks';
  return {
    root: outer.root,
    at,
    floor: span.isMarked ? at : outer.floor,
    edges: {
      start: isStartCounted ? 'open' : start,
      isEndCounted: outer.edges.isEndCounted || (region.top !== null && filled.length > region.top),
    },
  };
}

const filledAt = (lines: readonly string[]): readonly number[] =>
  lines.flatMap((line, at) => (line.trim() === '' ? [] : [at]));

function narrow(lines: readonly string[], { top, bottom }: Region): readonly string[] {
  const filled = filledAt(lines);
  const first = bottom === null ? 0 : (filled.at(-bottom) ?? 0);
  const last = top === null ? lines.length : (filled[top - 1] ?? lines.length - 1) + 1;
  return lines.slice(first, last);
}

function lastMatch(lines: readonly string[], pattern: Pattern, before: number): number {
  for (let at = before - 1; at >= 0; at -= 1) if (pattern.test(lines[at] ?? '')) return at;
  return -1;
}

/** Without what a pattern finds at the end of a line. */
function withoutEnds(trim: Pattern | null, lines: readonly string[]): readonly string[] {
  if (trim === null) return lines;
  return lines.map((line) => {
    const short = line.slice(0, limits.screenColumnsMax).trimEnd();
    const end = trim.exec(short)?.[0] ?? '';
    return end !== '' && short.endsWith(end) ? short.slice(0, -end.length).trimEnd() : line;
  });
}

function withoutBlankEnd(lines: readonly string[]): readonly string[] {
  let end = lines.length;
  while (end > 0 && (lines[end - 1] ?? '').trim() === '') end -= 1;
  // The live interface stands at the bottom; nobody has a terminal of more rows than this.
  const start = Math.max(0, end - limits.screenRowsMax);
  return lines.slice(start, end).map((line) => line.slice(0, limits.screenColumnsMax).trimEnd());
}
