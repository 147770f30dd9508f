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
  const flows = new Map<string, string | null>();
  const flow = (name: string): string | null => {
    const known = flows.get(name);
    if (known !== undefined) return known;
    const lines = find(name);
    const text = lines === null ? null : lines.map(unframed).join(' ').replace(/\s+/gu, ' ').trim();
    flows.set(name, text);
    return text;
  };
  return { lines: find, flow };
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

function cut(region: Region, whole: readonly string[]): readonly string[] | null {
  let end = whole.length;
  const endMark = region.before ?? region.to;
  if (endMark !== null) {
    const at = lastMatch(whole, endMark, end);
    if (at >= 0) end = region.to === null ? at : at + 1;
    else if (!region.isOpen) return null;
  }
  let start = 0;
  const startMark = region.after ?? region.from;
  if (startMark !== null) {
    const at = lastMatch(whole, startMark, region.to === null ? end : end - 1);
    if (at >= 0) start = region.from === null ? at + 1 : at;
    else if (!region.isOpen) return null;
  }
  return end - start < (region.rows ?? 0) ? null : narrow(whole.slice(start, end), region);
}

function narrow(lines: readonly string[], { top, bottom }: Region): readonly string[] {
  const filled = lines.flatMap((line, at) => (line.trim() === '' ? [] : [at]));
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
