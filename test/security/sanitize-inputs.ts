// Hostile text for the gate: sequences that have an effect on some terminal, and a seeded generator that mixes, cuts and
// nests them with noise. No checks live here.

export type Random = (below: number) => number;

/** mulberry32, so that a seed means the same input everywhere. */
export function randomOf(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b1);
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** By what they are after; ` | ` stands between two sequences. */
const hostile = {
  titles: '\x1b]0;t\x07 | \x1b]2;t\x1b\\ | \x1b]1;t\x07 | \x1bkt\x1b\\ | \x1b[22;0t | \x1b[23;0t | \x1b]l t\x1b\\',
  clipboard: '\x1b]52;c;aGk=\x07 | \x1b]52;p;?\x07 | \x1b]5522;type=write\x1b\\ | \x1b]50;CopyToClipboard=:x\x07',
  links: '\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\ | \x1b]8;id=1;file:///etc\x07',
  vendors: '\x1b]1337;File=inline=1:aGk=\x07 | \x1b]7501;state=idle\x07 | \x1b]777;notify;a;b\x07 | \x1b]9;4;1;50\x07',
  prompts: '\x1b]133;A\x07 | \x1b]633;E;id\x07 | \x1b]7;file://h/p\x07 | \x1b]99;i=1;hi\x1b\\ | \x1b]66;s=2;big\x07',
  palettes: '\x1b]4;1;rgb:ff/00/00\x07 | \x1b]10;?\x07 | \x1b]11;#000\x1b\\ | \x1b]104\x07 | \x1b]P1ff0000 | \x1b]R',
  reports: '\x1b[5n | \x1b[6n | \x1b[?6n | \x1b[c | \x1b[>c | \x1b[=c | \x1b[0x | \x1b[21t | \x1b[18t | \x1bZ | \x05',
  modes:
    '\x1b[?1049h | \x1b[?2004h | \x1b[?1000;1006h | \x1b[4h | \x1b[20h | \x1b[?25l | \x1b[?6h | \x1b[?7l | \x1b[?45h',
  keyboards:
    '\x1b[>4;2m | \x1b[>1u | \x1b[=1;1u | \x1b= | \x1b> | \x1b[?4m | \x1b[?u | \x1b[?1004h | \x1b[?2026h | \x1b[?1h',
  cursor:
    '\x1b[A | \x1b[99D | \x1b[1;1H | \x1b[3F | \x1b7 | \x1b8 | \x1b[s | \x1b[u | \x1bM | \x1bD | \x1bE | \x1b[3d | \x1b[9G',
  erasing:
    '\x1b[2J | \x1b[K | \x1b[1K | \x1b[3J | \x1b[5X | \x1b[2M | \x1b[2P | \x1b[3@ | \x1b#8 | \x1b[5b | \x1b[2L | \x1b[2S',
  resets:
    '\x1bc | \x1b[!p | \x1b[2;5r | \x1b[3g | \x1bH | \x1b(0 | \x1b)B | \x1b%G | \x1b n | \x0e | \x0f | \x1bn | \x1b[0"q',
  strings: '\x1bP$qm\x1b\\ | \x1bP+q544e\x1b\\ | \x1bP1;1|17/x\x1b\\ | \x1bPq#0;2;0;0;0#0~~@@vv\x1b\\ | \x1bP=1s\x1b\\',
  passing:
    '\x1bPtmux;\x1b\x1b]0;t\x07\x1b\\ | \x1b_Gf=100,a=T;aGk=\x1b\\ | \x1b^pm\x1b\\ | \x1bXsos\x1b\\ | \x1b_tmux\x9c',
  eightBit:
    '\x9b6n | \x9b?1049h | \x9d0;t\x9c | \x9d52;c;aGk=\x07 | \x90$qm\x9c | \x9fG;\x9c | \x9ep\x9c | \x98s\x9c | \x9a | \x85\x8d\x84',
  broken:
    '\x1b | \x1b[ | \x1b] | \x1bP | \x1b_ | \x1b]0;t | \x1b[1;2 | \x9b | \x9d | \x1b]52;c; | \x1b( | \x1bk | \x1b[?',
  aborted:
    '\x1b]0;t\x18 | \x1b[3\x1aA | \x1b]0;a\x1b]2;b\x07 | \x1b[1\x1b[2A | \x1b]0;\x9b6n\x07 | \x1b[\x1b\x9b\x1b] | \x1b[\r6n',
  forging:
    '\b\b\bx | \rfake row | \x7f\x7f | \x0b | \x0c | \x07 | ok\x08\x08no | \r\n | \n | \t | \r | \0 | \x1b[8mhidden',
  colours:
    '\x1b[31m | \x1b[0m | \x1b[1;4;7m | \x1b[38;5;99m | \x1b[48;2;1;2;3m | \x1b[38:2::9:8:7m | \x1b[m | \x1b[4:3m | \x9b9m',
  badColours:
    '\x1b[38;5;999m | \x1b[38;2;1m | \x1b[38m | \x1b[58;5;1m | \x1b[5m | \x1b[1;m | \x1b[;;m | \x1b[1:2:3m | \x1b[48;9;1m',
  invisible:
    '\u202e | \u2066 | \u2069 | \u200f | \u061c | \u200b | \u200d | \u2060 | \ufeff | \u{e0041} | \ufff9 | \u2028 | \u00ad',
  halves: '\ud83d | \ude00 | \ud800 | \udfff | \ud83d\x1b | \x1b\ud83d | \x1b]\ud83d\x07 | \ufffe | \u{1ffff} | \ufdd0',
  marks:
    '\u0301 | e\u0301 | x\u0300\u0301\u0302\u0303\u0304\u0305\u0306 | \u20dd | \ufe0f | ❤\ufe0f | \u1161\u11ab | \u0e33',
  text: 'plain words | 漢字 | 👍🏽 | 👩\u200d💻 | 🇩🇪 | Grüße | שלום | مرحبا | ✳ title | a,b | [6n | ]0;t | ~',
} as const;

export const corpus: readonly string[] = Object.values(hostile).flatMap((row) => row.split(' | '));

const pick = <Item>(random: Random, items: readonly Item[]): Item => items[random(items.length)] as Item;
const many = (random: Random, most: number, make: () => string): string =>
  Array.from({ length: 1 + random(most) }, make).join('');

function nested(random: Random): string {
  const outer = pick(random, corpus);
  const at = random(outer.length + 1);
  return outer.slice(0, at) + pick(random, corpus) + outer.slice(at);
}

function anyCsi(random: Random): string {
  const parameters = many(random, 8, () => pick(random, [...'0123456789;:?> !$']));
  return pick(random, ['\x1b[', '\x9b']) + parameters + pick(random, [...'ABHJKmhlnrtuqcp@~']);
}

function anySgr(random: Random): string {
  return `\x1b[${many(random, 8, () => `${random(110)}${pick(random, [';', ';', ':'])}`)}${random(110)}m`;
}

function overlong(random: Random): string {
  return pick(random, ['\x1b[', '\x1b]0;', '\x1bP', 'a']) + pick(random, ['1', ';', '\u0301', 'x']).repeat(random(300));
}

const bytes = (random: Random): Uint8Array => Uint8Array.from({ length: 1 + random(12) }, () => random(0x100));

const makers: readonly ((random: Random) => string)[] = [
  (random) => pick(random, corpus),
  (random) => pick(random, corpus),
  (random) => pick(random, corpus).slice(0, 1 + random(6)),
  nested,
  anyCsi,
  anySgr,
  overlong,
  (random) => String.fromCharCode(...bytes(random)),
  (random) => new TextDecoder().decode(bytes(random)),
  (random) => many(random, 6, () => String.fromCharCode(random(0x10000))),
  (random) => many(random, 4, () => String.fromCodePoint(random(0x110000))),
  (random) => many(random, 10, () => pick(random, [...'abc xyz\n\t'])),
];

export function inputOf(seed: number): string {
  const random = randomOf(seed);
  return many(random, 10, () => pick(random, makers)(random));
}
