// The whole terminal as lines: the screen on top, a line when the daemon is gone, the line of what was just said, the keys
// at the bottom; or the help, or what is wrong with the terminal. Always exactly as many lines as it has. Pure.

import { pad, width } from '../text/width.ts';
import { wrapped } from '../view/asks.ts';
import type { ScreenSize } from '../view/shells-panel.ts';
import { cutLine, type SpanLine, span } from '../view/shells-spans.ts';
import { type AppModel, topOf } from './app.ts';
import type { KeyHelp } from './contract.ts';
import { isTooSmall, layoutOf, smallest } from './layout.ts';
import type { Opened } from './screens.ts';

export function viewApp(model: AppModel): readonly SpanLine[] {
  const { size } = model;
  const top = topOf(model);
  if (isTooSmall(size)) return exactly(tooSmall(size), size);
  if (top === null) return exactly([], size);
  if (model.help !== null) return exactly(helpView(model, top, model.help), size);
  const { above, below, room } = layoutOf(model, top);
  const body = exactly(top.screen.view(top.model, { ...model.world, size: room }, room), room);
  return exactly([...above, ...body, ...below], size);
}

/** Cut or filled to the size. */
function exactly(lines: readonly SpanLine[], size: ScreenSize): readonly SpanLine[] {
  const empty: SpanLine = [];
  return Array.from({ length: size.lines }, (_, row) => cutLine(lines[row] ?? empty, size.columns));
}

const tooSmall = ({ columns, lines }: ScreenSize): readonly SpanLine[] => [
  [span('Too small.', 'title')],
  [span(`${columns}x${lines}, needs`)],
  [span(`${smallest.columns}x${smallest.lines}.`)],
  [span('q quits.')],
];

const frameKeys: readonly KeyHelp[] = [
  { keys: 'S', words: 'background shells ([Shell] panel)' },
  { keys: 'ctrl+r', words: 'move the foreground command to the background' },
  { keys: '?', words: 'this help' },
  { keys: 'q, esc', words: 'back; q on the first screen quits' },
  { keys: 'ctrl+l', words: 'redraw the screen' },
  { keys: 'ctrl+z', words: 'suspend; fg resumes' },
  { keys: 'ctrl+c', words: 'leave' },
];

function helpView({ world, size }: AppModel, { screen, model }: Opened, first: number): readonly SpanLine[] {
  const keys = [...screen.keys(model, world).filter((one) => one.keys !== ''), ...frameKeys];
  const widest = Math.min(16, Math.max(...keys.map((one) => width(one.keys))));
  const lines = keys.flatMap((one) =>
    wrapped(one.words, size.columns - widest - 4).map(
      (words, row): SpanLine => [span(`  ${pad(row === 0 ? one.keys : '', widest)}  `, 'title'), span(words)],
    ),
  );
  const room = size.lines - 3;
  const start = Math.max(0, Math.min(first, lines.length - room));
  const more = lines.length > start + room ? ' · ↓ more' : '';
  return [
    [span(`Keys: ${screen.title}`, 'title')],
    [],
    ...Array.from({ length: room }, (_, row): SpanLine => lines[start + row] ?? []),
    [span(`any other key goes back${more}`, 'dim')],
  ];
}
