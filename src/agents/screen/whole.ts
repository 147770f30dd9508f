// Whether all of what an approval is about is in sight (ASK3), as far as a user's own rule proves it. Rules that ship are held
// against recordings; of a user's it is asked that its text begins at a mark and that it leaves out no row.

import { stateOfAsk } from '../../model/asks.ts';
import { type Regions, unframed } from './regions.ts';
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
/** What may stand behind the words that were taken: a frame, and the mark of a question. */
const behind = /^[\s│┃║█▀▄?:]*\|?$/u;
/** Before the first group stands something that fits more than what is written there. */
const loose = /(?<!\\)\.|\\[SwWDP]|\[\^/;

function whyRows({ text, options }: AskRule, { in: name, match }: Pick, regions: Regions): string | null {
  if (match === null) return null;
  const lines = regions.lines(name) ?? [];
  const beside = text.filter((pick) => pick.in === name);
  const first = options === null ? -1 : firstOption(lines, options.match);
  for (const line of first < 0 ? lines : lines.slice(0, first)) {
    if (frame.test(unframed(line))) continue;
    if (!beside.some((pick) => pick.match === null || pick.match.test(line)))
      return `ask.text leaves out rows of region ${name}: take all of it, or make the region smaller`;
    const taken = match.exec(line)?.[1];
    if (taken === undefined) continue;
    const isPart = !behind.test(line.slice(line.lastIndexOf(taken) + taken.length));
    if (isPart || loose.test(match.source.slice(0, match.source.search(/(?<!\\)\((?!\?)/))))
      return `ask.text takes only a part of a row in region ${name}: let its group reach to the end of the row`;
  }
  return null;
}

/** Where the options begin: at the last row that looks like their first one, for words of the request may look so too. */
function firstOption(lines: readonly string[], pattern: NonNullable<AskRule['options']>['match']): number {
  const ids = lines.map((line) => pattern.exec(line)?.[1] ?? null);
  const first = ids.find((id) => id !== null);
  return first === undefined ? -1 : ids.lastIndexOf(first);
}
