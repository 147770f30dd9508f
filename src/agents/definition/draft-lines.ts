// Lines of a screen as patterns: what changes from moment to moment is left open, the rest is taken by its letters.

/** So far from the bottom is the live interface. */
export const liveLines = 16;
export const edge = '[\\s│┃║|]*';

export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
export const filled = (lines: readonly string[]): readonly string[] => lines.filter((line) => line.trim() !== '');
export const liveOf = (lines: readonly string[]): readonly string[] => filled(lines).slice(-liveLines);
export const hasLetters = (shape: string): boolean =>
  /\p{L}{3}/u.test(shape.replaceAll('\\d', '').replaceAll('\\S', ''));

const opened = (text: string): string =>
  escaped(text)
    .replace(/\d+/g, '\\d+')
    .replace(/[\u2800-\u28ff◐◓◑◒✳✶✻✽✢✦]+/gu, '\\S+')
    .replace(/(?:\\\.|…)+/g, '[.…]+')
    .replace(/([─━═=~_-])\1{3,}/gu, '$1{4,}');

/** Numbers, spinners, dots, lengths of rulers and gaps are left open, and so is a frame around it. */
export function shapeOf(line: string): string {
  const text = line.replace(/^[\s│┃║|]+|[\s│┃║|█]+$/gu, '');
  return `^${edge}${opened(text)
    .replace(/^(?:\\[|/\\]|[-/]) /u, '\\S ')
    .replace(/ {2,}/g, ' +')}`;
}

/** The whole line where it stands: a mark that what an agent was talked into showing must not look like. */
export function strictShape(line: string): string {
  const text = line.replace(/[\s│┃║|█]+$/u, '');
  const indent = /^\s*/.exec(text)?.[0] ?? '';
  return `^${indent}${opened(text.slice(indent.length)).replace(/ {2,}/g, ' +')}${edge}$`;
}

/** The word behind a spinner is what it does just now: `⠋ Reading 2s, esc stops` may be `⠋ Writing` the next time. */
export function openedWord(shape: string): readonly string[] {
  const open = shape.replace(/^(\^\[[^\]]*\]\*(?:\\S\+?|\\?[^\p{L}\p{N}\s\\]) )\p{L}+/u, '$1\\S+');
  return open === shape ? [] : [open];
}

/** Lines at about the same height on other screens, word by word: where they differ, anything may stand. */
export function sharedShapes(first: readonly string[], more: readonly (readonly string[])[]): readonly string[] {
  return more.flatMap((lines) =>
    first.flatMap((shape, at) =>
      [-1, 0, 1].flatMap((step) => {
        const height = first.length - at - step;
        const other = height > 0 ? lines.at(-height) : undefined;
        return other === undefined ? [] : sharedShape(shape, shapeOf(other));
      }),
    ),
  );
}

function sharedShape(one: string, other: string): readonly string[] {
  const [words, beside] = [one.split(/( \+?)/), other.split(/( \+?)/)];
  if (one === other || words.length !== beside.length) return [];
  const shared = words.map((word, at) => (word === beside[at] ? word : at % 2 === 1 ? ' +' : '\\S+'));
  // The edge of the line is a part of the first word.
  return [`${shared[0] === '\\S+' ? `^${edge}` : ''}${shared.join('')}`];
}

export const quoted = (text: string): string => (text.includes("'") ? JSON.stringify(text) : `'${text}'`);
export const listed = (texts: readonly string[]): string => `[${texts.map(quoted).join(', ')}]`;
