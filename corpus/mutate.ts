// Screens that nobody recorded, made from those that were, always the same ones for a seed. What was going on stays what it was:
// a tool that reads a mutated screen otherwise than its original has read something that does not tell the state. What decides may
// be cut away, so that `unknown` is no mistake.

/** mulberry32: small, and the same everywhere. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Lines = readonly string[];

/** Below this nothing can be read any more. */
const narrowest = 20;

function wrapped(text: string, wanted: number): Lines {
  const room = Math.max(narrowest, wanted);
  const indent = (/^\s*/.exec(text)?.[0] ?? '').slice(0, 4);
  const rows: string[] = [];
  let rest = text;
  while (rest.length > room) {
    const blank = rest.lastIndexOf(' ', room);
    const at = blank > room / 2 ? blank : room;
    rows.push(rest.slice(0, at).trimEnd());
    rest = indent + rest.slice(at).trimStart();
  }
  return [...rows, rest];
}

/** Frames and rulers follow the width, what stands at the right stays there, and everything else wraps at a blank. */
export function drawnTo(lines: Lines, width: number, to: number): Lines {
  return lines.flatMap((line): Lines => {
    const own = line.trimEnd();
    const length = [...own].length;
    const room = to - (width - length);
    if (/[─━]{8,}/.test(own)) {
      const more = to - width;
      return [
        own.replace(
          /[─━]{8,}/,
          (rule) => rule.slice(0, Math.max(3, rule.length + more)) + '─'.repeat(Math.max(0, more)),
        ),
      ];
    }
    const edge = /\S.*?( *)([│┃█▄▀])$/.exec(own);
    if (edge !== null && length > width - 8) {
      const isBox = /^\s*[│┃]/.test(own);
      const head = isBox ? (/^\s*[│┃] ?/.exec(own)?.[0] ?? '') : '';
      const body = own.slice(head.length, -1).trimEnd();
      return wrapped(body, room - head.length - 1).map(
        (text) => head + text.padEnd(room - head.length - 1) + own.slice(-1),
      );
    }
    const [, left, gap, right] = /^(\s*\S.*?\S)(\s{6,})(\S.*)$/.exec(own) ?? [];
    if (left !== undefined && gap !== undefined && right !== undefined && length > width - 6) {
      const blank = gap.length + to - width;
      if (blank > 0) return [`${left}${' '.repeat(blank)}${right}`];
    }
    return wrapped(own, to);
  });
}

/** Counts, times and amounts change; the digit that numbers a choice (`1.`, `2)`, `[3]`) does not, nor does a version. */
function otherNumbers(lines: Lines, random: () => number): Lines {
  const digits = (text: string): string => text.replace(/\d/g, () => String(1 + Math.floor(random() * 9)));
  return lines.map((line) =>
    line.replace(/(?<![\w.[])\d+(?:\.\d+)?(?=(?:s|m|ms|k|%| ?tokens?| ?seconds?| ?minutes?)\b)/g, digits),
  );
}

/** A picture of something else, as an answer shows it: indented, and well above what is at the bottom of the screen. */
function quoting(lines: Lines, quoted: Lines): Lines {
  const bottom = lines.findLastIndex((line) => line.trim() !== '');
  const at = lines.slice(0, Math.max(0, bottom - 14)).findLastIndex((line) => line.trim() === '');
  if (at < 0) return lines;
  return [...lines.slice(0, at), ...quoted.map((line) => `      ${line.trim()}`), '', ...lines.slice(at)];
}

const quotes: readonly Lines[] = [
  ['Do you want to proceed?', '1. Yes', "2. Yes, and don't ask again", '3. No'],
  ['Allow this command? (y/n)', '$ rm -rf build'],
  ['✻ Working… (12s · esc to interrupt)'],
  ['Error: 529 overloaded, retrying in 4 seconds'],
];

export interface Mutated {
  readonly kind: string;
  readonly lines: Lines;
}

/** The mutations of one screen: another width, fewer rows, other numbers, and a quote inside of what the agent said. */
export function mutate(lines: Lines, columns: number | null, seed: number): readonly Mutated[] {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const width = columns ?? Math.max(40, ...lines.map((line) => [...line].length));
  const to = pick([60, 72, 100, 132].filter((one) => one !== width));
  const kept = pick([16, 20, 24, 30]);
  return [
    { kind: 'wrap', lines: drawnTo(lines, width, to) },
    { kind: 'crop', lines: lines.slice(-kept) },
    { kind: 'numbers', lines: otherNumbers(lines, random) },
    { kind: 'quote', lines: quoting(lines, pick(quotes)) },
  ];
}
