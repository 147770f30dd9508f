// Makes docs/board.svg: the real board on a terminal of tmux, with made-up agents, its screen taken with its colours and drawn
// as text. Run it when the board looks different: `sh scripts/run.sh node scripts/board-picture.ts`.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { width } from '../src/text/width.ts';
import { openTui } from '../test/kit/tui.ts';
import { startStage } from '../test/system/tui/board-stage.ts';

const columns = 124;
const lines = 26;
const cell = { width: 8.43, height: 20 };
const margin = 20;
const top = 40;

const colours: Readonly<Record<string, string>> = {
  '31': '#f85149',
  '32': '#3fb950',
  '33': '#e3b341',
  '34': '#58a6ff',
  '35': '#bc8cff',
  '36': '#39c5cf',
  '90': '#7d8590',
};
const plain = '#d7dae0';
const back = '#16181d';
const faint = '#7d8590';

interface Look {
  readonly fill: string;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isReverse: boolean;
}

const start: Look = { fill: plain, isBold: false, isDim: false, isReverse: false };

function lookAfter(before: Look, parameters: string): Look {
  let look = before;
  for (const code of parameters.split(';')) {
    const fill = code === '39' ? plain : colours[code];
    if (code === '' || code === '0') look = start;
    else if (code === '1') look = { ...look, isBold: true };
    else if (code === '2') look = { ...look, isDim: true };
    else if (code === '7') look = { ...look, isReverse: true };
    else if (fill !== undefined) look = { ...look, fill };
  }
  return look;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Of the text before, also of the line before: tmux tells only what changes. */
let look = start;

/** Each run of words at its own place: how wide blanks are drawn is not left to whoever draws them. */
function lineOf(text: string, row: number): string {
  const y = top + row * cell.height;
  const place = (column: number): string => (margin + column * cell.width).toFixed(1);
  const wide = (columnsOf: string): string => (width(columnsOf) * cell.width).toFixed(1);
  let column = 0;
  const parts: string[] = [];
  for (const piece of text.split(/(\u001b\[[0-9;]*m)/)) {
    const style = /^\u001b\[([0-9;]*)m$/.exec(piece);
    if (style !== null) {
      look = lookAfter(look, style[1] ?? '');
      continue;
    }
    const fill = look.isReverse ? back : look.isDim ? faint : look.fill;
    if (look.isReverse) {
      const box = `y="${y - 15}" width="${wide(piece)}" height="${cell.height}" fill="${plain}"`;
      parts.push(`<rect x="${place(column)}" ${box}/>`);
    }
    for (const words of piece.matchAll(/\S+(?: \S+)*/g)) {
      const x = place(column + width(piece.slice(0, words.index)));
      const weight = look.isBold ? ' font-weight="bold"' : '';
      const how = `textLength="${wide(words[0])}" lengthAdjust="spacingAndGlyphs" fill="${fill}"${weight}`;
      parts.push(`<text x="${x}" y="${y}" ${how}>${escaped(words[0])}</text>`);
    }
    column += width(piece);
  }
  return parts.join('');
}

const daemon = await startStage();
const tui = openTui({ columns, lines, env: daemon.env });
try {
  await tui.until((screen) => screen.includes('? help') && screen.includes('Do you want'));
  const rows = tui.coloured().split('\n').slice(0, lines);
  const size = { width: Math.ceil(columns * cell.width + 2 * margin), height: top + lines * cell.height };
  const picture = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="agtmux: the board">`,
    `  <rect width="${size.width}" height="${size.height}" rx="8" fill="${back}"/>`,
    '  <g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">',
    ...rows.map((row, place) => `    ${lineOf(row, place)}`),
    '  </g>',
    '</svg>',
    '',
  ].join('\n');
  writeFileSync(fileURLToPath(new URL('../docs/board.svg', import.meta.url)), picture);
} finally {
  tui.end();
  await daemon.end();
}
