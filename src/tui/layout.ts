// What the frame itself puts around a screen: the line when the daemon is gone, the line of what was just said, the keys at
// the bottom; and so how much room is left between. Pure.

import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { pad } from '../text/width.ts';
import { saidLines } from '../view/asks.ts';
import type { PaintRole } from '../view/paint.ts';
import { notKeptNotice } from '../view/pane-words.ts';
import { shellHints } from '../view/shells.ts';
import type { ScreenSize } from '../view/shells-panel.ts';
import { hintLines, type SpanLine, span } from '../view/shells-spans.ts';
import { ageLabel } from '../view/words.ts';
import type { KeyHelp, World } from './contract.ts';
import type { Opened } from './screens.ts';

export interface FootMessage {
  readonly text: string;
  readonly role: PaintRole | null;
}

export interface Framed {
  readonly size: ScreenSize;
  readonly world: World;
  readonly said: FootMessage | null;
}

/** So many lines of keys at most: what does not fit is in the help. */
const footerLinesMax = 2;

export const smallest: ScreenSize = { columns: 24, lines: 8 };

export const isTooSmall = ({ columns, lines }: ScreenSize): boolean =>
  columns < smallest.columns || lines < smallest.lines;

export interface Layout {
  readonly above: readonly SpanLine[];
  readonly below: readonly SpanLine[];
  readonly room: ScreenSize;
}

export function layoutOf(framed: Framed, top: Opened): Layout {
  const { size, world } = framed;
  const above = [...linkLines(world, size.columns), ...notKeptLines(world, size.columns)];
  const below = [...saidBelow(framed), ...(top.screen.hasOwnFooter === true ? [] : footerLines(framed, top))];
  const lines = Math.max(1, size.lines - above.length - below.length);
  return { above, below, room: { columns: size.columns, lines } };
}

/** One line while there is no daemon; what is shown below it is as old as it says. */
function linkLines({ link, nowMs }: World, columns: number): readonly SpanLine[] {
  switch (link.is) {
    case 'up':
      return [];
    case 'connecting':
      return [[span('Connecting to the daemon…', 'dim')]];
    case 'lost': {
      const age = ageLabel(nowMs - link.sinceMs);
      const words = link.words === '' ? '' : ` (${sanitizeLine(foreign(link.words))})`;
      return [[span(pad(`The daemon stopped ${age} ago; restarting it${words}`, columns), 'attention')]];
    }
  }
}

/** Cut where the terminal is narrow: what matters most comes first. */
function notKeptLines({ targets }: World, columns: number): readonly SpanLine[] {
  const words = notKeptNotice(targets);
  return words === null ? [] : [[span(pad(words, columns), 'attention')]];
}

const saidBelow = ({ said, size }: Framed): readonly SpanLine[] =>
  said === null
    ? []
    : saidLines(sanitizeLine(foreign(said.text)), size.columns).map((line): SpanLine => [span(line, said.role)]);

const keyText = ({ keys, words }: KeyHelp): string => (keys === '' ? words : `${keys} ${words}`);

/** What is rarer stands further back and goes first where there is little room; the way to the help stays. */
function footerLines({ world, size }: Framed, { screen, model }: Opened): readonly SpanLine[] {
  const own = screen.keys(model, world).filter(({ isRare }) => isRare !== true);
  const isTyping = screen.isTyping?.(model) === true;
  const [panel, ...hints] = shellHints(world.shells);
  const panels = panel === undefined ? [] : [isTyping ? panel : `S ${panel}`];
  const fixed = [...panels, ...hints, ...(isTyping ? [] : ['? help'])];
  for (let count = own.length; count > 0; count -= 1) {
    const lines = hintLines([...own.slice(0, count).map(keyText), ...fixed], size.columns);
    if (lines.length <= footerLinesMax) return lines;
  }
  return hintLines(fixed, size.columns).slice(0, footerLinesMax);
}
