// A screen of a terminal as a picture: rows with the escape sequences of their colours, as tmux captures them, become text of an
// SVG, in a dark and a light look. Pure.
import { width } from '../src/text/width.ts';

export type Scheme = 'dark' | 'light';

interface Palette {
  readonly plain: string;
  readonly back: string;
  readonly faint: string;
  readonly colours: Readonly<Record<string, string>>;
}

const palettes: Readonly<Record<Scheme, Palette>> = {
  dark: {
    plain: '#d7dae0',
    back: '#16181d',
    faint: '#7d8590',
    colours: {
      '31': '#f85149',
      '32': '#3fb950',
      '33': '#e3b341',
      '34': '#58a6ff',
      '35': '#bc8cff',
      '36': '#39c5cf',
      '90': '#7d8590',
    },
  },
  light: {
    plain: '#1f2328',
    back: '#ffffff',
    faint: '#6e7781',
    colours: {
      '31': '#cf222e',
      '32': '#1a7f37',
      '33': '#9a6700',
      '34': '#0969da',
      '35': '#8250df',
      '36': '#1b7c83',
      '90': '#6e7781',
    },
  },
};

const cell = { width: 8.43, height: 20 };
const margin = 20;
const top = 40;

interface Look {
  readonly fill: string | null;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isReverse: boolean;
}

const start: Look = { fill: null, isBold: false, isDim: false, isReverse: false };

function lookAfter(before: Look, parameters: string, { colours }: Palette): Look {
  let look = before;
  for (const code of parameters.split(';')) {
    const fill = code === '39' ? null : colours[code];
    if (code === '' || code === '0') look = start;
    else if (code === '1') look = { ...look, isBold: true };
    else if (code === '2') look = { ...look, isDim: true };
    else if (code === '7') look = { ...look, isReverse: true };
    else if (code === '27') look = { ...look, isReverse: false };
    else if (fill !== undefined) look = { ...look, fill };
  }
  return look;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Each run of words at its own place: how wide blanks are drawn is not left to whoever draws them. */
function drawn(
  text: string,
  row: number,
  before: Look,
  palette: Palette,
): { readonly svg: string; readonly look: Look } {
  const { plain, back, faint } = palette;
  const y = top + row * cell.height;
  const place = (column: number): string => (margin + column * cell.width).toFixed(1);
  const wide = (columnsOf: string): string => (width(columnsOf) * cell.width).toFixed(1);
  let column = 0;
  let look = before;
  const parts: string[] = [];
  for (const piece of text.split(/(\u001b\[[0-9;]*m)/)) {
    const style = /^\u001b\[([0-9;]*)m$/.exec(piece);
    if (style !== null) {
      look = lookAfter(look, style[1] ?? '', palette);
      continue;
    }
    const ink = look.isDim ? faint : (look.fill ?? plain);
    const fill = look.isReverse ? back : ink;
    if (look.isReverse) {
      const box = `y="${y - 15}" width="${wide(piece)}" height="${cell.height}" fill="${ink}"`;
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
  return { svg: parts.join(''), look };
}

interface Size {
  readonly columns: number;
  readonly lines: number;
}

export const pictureSize = ({ columns, lines }: Size): { readonly width: number; readonly height: number } => ({
  width: Math.ceil(columns * cell.width + 2 * margin),
  height: top + lines * cell.height,
});

export function terminalPicture(screen: string, size: Size, label: string, scheme: Scheme = 'dark'): string {
  const palette = palettes[scheme];
  const { width: wide, height } = pictureSize(size);
  // tmux tells only what changes, also from one line to the next.
  let look = start;
  const rows = screen
    .split('\n')
    .slice(0, size.lines)
    .map((row, place) => {
      const line = drawn(row, place, look, palette);
      look = line.look;
      return `    ${line.svg}`;
    });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${height}" viewBox="0 0 ${wide} ${height}" role="img" aria-label="${label}">`,
    `  <rect width="${wide}" height="${height}" rx="8" fill="${palette.back}"/>`,
    '  <g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">',
    ...rows,
    '  </g>',
    '</svg>',
    '',
  ].join('\n');
}
