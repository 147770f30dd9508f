// Whether all of what an approval is about is in sight (ASK3), as far as a user's own rule proves it. Rules that ship are held
// against recordings; of a user's it is asked that its text begins at a mark and that it leaves out no row.

import { stateOfAsk } from '../../model/asks.ts';
import type { Pattern } from './pattern.ts';
import { indentOf, type Regions, unframed } from './regions.ts';
import type { AskRule, Pick } from './rule-file.ts';

export const mustBeWhole = ({ kind, isOwn }: AskRule): boolean => isOwn && stateOfAsk(kind) === 'waiting_approval';

/** Null where it is whole, or where nobody has to prove it. */
export function whyNotWhole(rule: AskRule, regions: Regions, text: string): string | null {
  if (!mustBeWhole(rule)) return null;
  if (text === '') return 'ask.text finds no words on this screen';
  for (const pick of rule.text) {
    const why = whyEdge(pick, regions) ?? whyRows(rule, pick, regions);
    if (why !== null) return why;
  }
  return null;
}

function whyEdge({ in: name }: Pick, regions: Regions): string | null {
  const edges = regions.edges(name);
  if (edges === null) return null;
  if (edges.start === 'open')
    return `region ${name} begins at a count of rows or at the edge of the screen: begin it at a mark, by from or after`;
  if (edges.start === 'marks')
    return `the mark at which region ${name} begins stands there more than once: write it so that only the dialog has it`;
  return edges.isEndCounted ? `region ${name} ends at a count of rows: end it at a mark, by to or before` : null;
}

const frame = /^[\s─━╌┄═╭╮╰╯┌┐└┘├┤█▀▄+=-]*$/u;
/** What may stand before the words that were taken and behind them: a frame, and the mark of a question. */
const before = /^(?:\||[\s│┃║█▀▄]*)$/u;
const behind = /^[\s│┃║█▀▄?:]*\|?$/u;
/** Before the first group stands something that fits more than what is written there. */
const loose = /(?<!\\)\.|\\[SwWDP]|\[\^/;

function whyRows({ text, options }: AskRule, { in: name, match }: Pick, regions: Regions): string | null {
  if (match === null) return null;
  const lines = regions.lines(name) ?? [];
  const beside = text.filter((pick) => pick.in === name);
  const first = options === null ? Number.POSITIVE_INFINITY : rowOfOptions(options, regions);
  const asked = lines.slice(0, Math.max(0, first - (regions.row(name) ?? 0)));
  for (const line of asked) {
    if (frame.test(unframed(line))) continue;
    if (!beside.some((pick) => pick.match === null || pick.match.test(line)))
      return `ask.text leaves out rows of region ${name}: take all of it, or make the region smaller`;
    if (isPart(match, line))
      return `ask.text takes only a part of a row in region ${name}: let its group reach to the end of the row`;
  }
  return null;
}

/** Without a group, or where it is not there, the whole match is taken. */
function isPart(match: Pattern, line: string): boolean {
  const place = match.place(line);
  if (place === null) return false;
  if (!before.test(place.before.trim()) || !behind.test(place.behind)) return true;
  return place.isGroup && loose.test(match.source.slice(0, match.source.search(/(?<!\\)\((?!\?)/)));
}

type Options = NonNullable<AskRule['options']>;

/** The row of the screen at which the options begin; nowhere where none are there. */
function rowOfOptions(options: Options, regions: Regions): number {
  const first = firstOption(options, regions.lines(options.in) ?? []);
  return first < 0 ? Number.POSITIVE_INFINITY : first + (regions.row(options.in) ?? 0);
}

/** From the lowest one up, as far as nothing else stands between: words of the request may look like options. */
function firstOption(options: Options, lines: readonly string[]): number {
  const ids = lines.map((line) => idOf(options, line));
  let first = ids.findLastIndex((id) => id !== null);
  while (first > 0) {
    const above = ids.findLastIndex((id, at) => at < first && id !== null);
    const between = lines.slice(above + 1, first);
    if (
      above < 0 ||
      !isNext(ids, above, first) ||
      !between.every((line) => isBetween(options, lines[above] ?? '', line))
    )
      break;
    first = above;
  }
  return first;
}

function idOf({ match, split }: Options, line: string): string | null {
  const [whole, id, label] = match.exec(line) ?? [];
  return split !== null ? (id ?? whole ?? null) : label === undefined ? null : (id ?? null);
}

/** Numbers count from one; of anything else none comes twice. */
function isNext(ids: readonly (string | null)[], above: number, first: number): boolean {
  const [id, next] = [ids[above], ids[first]];
  if (/^\d+$/.test(next ?? '')) return next !== '1' && Number(id) + 1 === Number(next);
  return !ids.slice(first).includes(id ?? null);
}

/** A blank row, or the rest of a label that a number stands before: a letter may stand in a request as well. */
function isBetween(options: Options, option: string, line: string): boolean {
  if (unframed(line) === '') return true;
  if (options.wrap === 'none' || !/^\d+$/.test(idOf(options, option) ?? '')) return false;
  const more = indentOf(line) - indentOf(option);
  return more > 0 || (more === 0 && options.wrap === 'flush');
}
