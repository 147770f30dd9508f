// The guard in tmux's own words (ACT2): one format that is true only while everything an action was decided on still
// holds, and the question that tells afterwards which part of it did not.

import { limits } from '../../model/limits.ts';
import { quoteTmuxFormat } from '../../text/quote.ts';
import type { PaneAddress, Shown, WriteResult } from './pane-writer.ts';

export type Refusal = Extract<WriteResult, { kind: 'refused' }>['why'];

const equals = (field: string, value: string): string => `#{==:#{${field}},${quoteTmuxFormat(value)}}`;

/** The pane option that says who keeps the keyboard of the pane. */
export const heldOption = '@agtmux-held';

/** A tree and not a list: `&&` of more than two came with tmux 3.6, and formats may be nested 100 deep at most. */
function all(parts: readonly string[]): string {
  const [first = '1', ...more] = parts;
  if (more.length === 0) return first;
  const middle = Math.ceil(parts.length / 2);
  return `#{&&:${all(parts.slice(0, middle))},${all(parts.slice(middle))}}`;
}

/**
 * True only for this very place. The pane id is part of it because `if-shell -t` of a pane that is gone asks another pane
 * instead. A pane whose input is switched off would swallow everything without a word, so that counts as a mode; `held`
 * is the name under which it was switched off from here.
 */
export function guardOf(place: PaneAddress, shown: Shown | null = null, held: string | null = null): string {
  return all([
    equals('pid', String(place.serverPid)),
    equals('pane_id', place.pane),
    equals('pane_pid', String(place.panePid)),
    equals('pane_current_command', place.command),
    equals('pane_in_mode', '0'),
    equals('pane_synchronized', '0'),
    ...(held === null ? ['#{!=:#{pane_input_off},1}'] : [equals('pane_input_off', '1'), equals(heldOption, held)]),
    '#{!=:#{pane_dead},1}',
    ...(shown === null ? [] : shownParts(shown)),
  ]);
}

function shownParts(shown: Shown): readonly string[] {
  if ('words' in shown) {
    const part = searchable(shown.words);
    return part === null ? [] : [`#{C:${part}}`];
  }
  const lines = shown.lines.map(trimmed);
  const rows = shown.rows.filter((row) => hasWords.test(lines[row] ?? ''));
  // tmux tells the first line that fits: each must be where it was seen first.
  const places = new Set(rows.map((row) => lines.indexOf(lines[row] ?? '')));
  const parts = [...places].map((row) => `#{==:${search(`^${literal(lines[row] ?? '')}$`)},${row + 1}}`);
  return shown.core !== undefined ? [...parts, `#{==:${search(noneOf(lines))},0}`] : parts;
}

const hasWords = /[\p{L}\p{N}]/u;

/** As tmux trims a line before it searches it. */
const trimmed = (line: string): string => line.replace(/[\t-\r ]+$/, '');

const search = (pattern: string): string => `#{C/r:${pattern.replace(/[#,}]/g, '#$&')}}`;

/** One text as an extended regular expression. */
const literal = (text: string): string => text.replace(/[.[\]\\()*+?{}^$|]/g, '\\$&');

interface Branch {
  readonly next: Map<string, Branch>;
  /** A whole line ends here. */
  isEnd: boolean;
  /** Whatever follows is one of them. */
  isOpen: boolean;
}

const newBranch = (): Branch => ({ next: new Map(), isEnd: false, isOpen: false });

/** The begin of a line by which it is told from others: its frame and indent, and some letters. */
function beginOf(line: string): readonly string[] {
  const chars = [...line];
  const first = chars.findIndex((char) => hasWords.test(char));
  return chars.slice(0, first < 0 ? limits.rowBeginCharsMax : first + limits.rowBeginCharsMax);
}

/**
 * A line that begins like none of these, as an extended regular expression: they know no "not", so it follows the lines
 * letter by letter, and fits where a letter differs, or where a line ends too soon or goes on. Begins alone, for tmux
 * stands still while it searches, and what is drawn meanwhile is not seen.
 */
export function noneOf(lines: readonly string[]): string {
  const root = newBranch();
  for (const line of new Set(lines)) {
    const begin = beginOf(line);
    const last = begin.reduce((branch, char) => {
      const next = branch.next.get(char) ?? newBranch();
      branch.next.set(char, next);
      return next;
    }, root);
    if (begin.length < [...line].length) last.isOpen = true;
    else last.isEnd = true;
  }
  return `^${otherThan(root)}`;
}

function otherThan({ next, isEnd, isOpen }: Branch): string {
  if (next.size === 0) return '.';
  const ways = [...next].flatMap(([char, branch]) => (branch.isOpen ? [] : [`${literal(char)}${otherThan(branch)}`]));
  return `(${[...ways, outside([...next.keys()]), ...(isEnd || isOpen ? [] : ['$'])].join('|')})`;
}

/** A letter that is none of these: `]` comes first and `[`, `^` and `-` last, or they would mean something else. */
function outside(chars: readonly string[]): string {
  const last = ['[', '^', '-'].filter((char) => chars.includes(char));
  const plain = chars.filter((char) => !'][^-'.includes(char));
  return `[^${chars.includes(']') ? ']' : ''}${plain.join('')}${last.join('')}]`;
}

/** True only while the process of this pane is the one that was there, and dead. */
export function deadGuardOf({ serverPid, pane, panePid, diedAt }: PaneAddress): string {
  return all([
    equals('pid', String(serverPid)),
    equals('pane_id', pane),
    equals('pane_pid', panePid === 0 ? '' : String(panePid)),
    equals('pane_dead', '1'),
    ...(diedAt === undefined ? [] : [equals('pane_dead_time', String(diedAt))]),
  ]);
}

/** What is asked in the branch that refuses, in the same step as the guard. The command stands last: it is foreign. */
export const whyFormat =
  '#{pid}|#{pane_id}|#{pane_pid}|#{pane_dead}|#{pane_in_mode}|#{pane_input_off}|#{pane_synchronized}|#{pane_current_command}';

/** The part of the guard that did not hold; with all of them in place it was the text that should have been shown. */
export function whyOf(place: PaneAddress, answer: string, isShownAsked: boolean, isHeld = false): Refusal {
  const [pid, pane, panePid, dead, mode, inputOff, synchronized, ...command] = answer.split('|');
  if (pid !== String(place.serverPid) || pane !== place.pane) return 'gone';
  if (dead === '1') return 'dead';
  if (panePid !== String(place.panePid) || command.join('|') !== place.command) return 'other_process';
  if (mode !== '0' || (inputOff === '1') !== isHeld) return 'in_mode';
  if (synchronized !== '0') return 'synchronized';
  // The foreground command is read anew each time, so it may have come and gone between guard and question.
  return isShownAsked ? 'not_shown' : 'other_process';
}

/** The same for the guard of a dead pane. */
export function whyNotDead(place: PaneAddress, answer: string): Refusal {
  const [pid, pane] = answer.split('|');
  return pid !== String(place.serverPid) || pane !== place.pane ? 'gone' : 'other_process';
}

/** Letters and digits of any script, and single blanks between them: nothing a format or a glob could read otherwise. */
const safeRuns = /[\p{L}\p{N}]+(?: [\p{L}\p{N}]+)*/gu;

/** The pieces of a text that can stand in `#{C:...}`, which is a format and a glob and searches line by line. */
export function safePieces(text: string): readonly string[] {
  return text.match(safeRuns) ?? [];
}

/** The longest of them, of several the last; null when there is none. Long ones lose their beginning. */
export function searchable(text: string): string | null {
  let longest = '';
  for (const piece of safePieces(text)) if (piece.length >= longest.length) longest = piece;
  return longest === '' ? null : [...longest].slice(-limits.shownCharsMax).join('').trim();
}
