// A screen with its colours, as `capture-pane -e` tells it, taken apart: what is written, and in which dress.

const escapes = /\u001b\[([\d;:]*)m|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/gu;

/** One piece of a line in one dress: the colours as tmux tells them, in the order it does. */
export interface StyledText {
  readonly text: string;
  readonly dress: string;
}

/** Lines with their colours, as `capture-pane -e` tells them: a dress lasts until it is changed, over line ends too. */
export function styledText(lines: readonly string[]): readonly (readonly StyledText[])[] {
  let [front, back, others] = ['', '', ''];
  const change = (codes: string): void => {
    const parts = codes.split(/[;:]/);
    for (let at = 0; at < parts.length; at += 1) {
      const code = Number(parts[at]);
      const length = code === 38 || code === 48 ? (parts[at + 1] === '2' ? 5 : 3) : 1;
      const whole = parts.slice(at, at + length).join(';');
      if (code === 0) [front, back, others] = ['', '', ''];
      else if (code === 38 || (code >= 30 && code <= 39) || (code >= 90 && code <= 97))
        front = code === 39 ? '' : whole;
      else if (code === 48 || (code >= 40 && code <= 49) || (code >= 100 && code <= 107))
        back = code === 49 ? '' : whole;
      else others += ` ${code}`;
      at += length - 1;
    }
  };
  return lines.map((line) => {
    const pieces: StyledText[] = [];
    let from = 0;
    for (const found of line.matchAll(escapes)) {
      pieces.push({ text: line.slice(from, found.index), dress: `${front}/${back}/${others}` });
      from = found.index + found[0].length;
      if (found[1] !== undefined) change(found[1]);
    }
    return [...pieces, { text: line.slice(from), dress: `${front}/${back}/${others}` }];
  });
}

const others = /[\u000e\u000f]/g;

/** The same lines as `capture-pane` tells them without colours. */
export const plainLines = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => line.replace(escapes, '').replace(others, '').replace(/ +$/, ''));

/** What only hints is written faintly. */
export const isDim = ({ dress }: StyledText): boolean => / 2(?: |$)/.test(dress);
export const isReversed = ({ dress }: StyledText): boolean => / 7(?: |$)/.test(dress);
