// The allow-list of SGR: colours, bold, dim, italic, underline, inverse and strike. Reads the parameters of one sequence
// into a style and writes a style in one canonical form. Blinking and concealed text are left out on purpose: the one
// disturbs, the other hides.

/** One slot an attribute: bold, dim, italic, underline, inverse, strike, foreground, background. Empty means default. */
export type Style = readonly string[];

export const plainStyle: Style = ['', '', '', '', '', '', '', ''];
export const resetSequence = '\x1b[0m';

const foregroundSlot = 6;
const backgroundSlot = 7;

/** What the parameters without arguments do: the slots they set, and to what. */
const simple: ReadonlyMap<number, { readonly slots: readonly number[]; readonly value: string }> = new Map([
  [1, { slots: [0], value: '1' }],
  [2, { slots: [1], value: '2' }],
  [3, { slots: [2], value: '3' }],
  [4, { slots: [3], value: '4' }],
  [7, { slots: [4], value: '7' }],
  [9, { slots: [5], value: '9' }],
  [21, { slots: [3], value: '4' }],
  [22, { slots: [0, 1], value: '' }],
  [23, { slots: [2], value: '' }],
  [24, { slots: [3], value: '' }],
  [27, { slots: [4], value: '' }],
  [29, { slots: [5], value: '' }],
  [39, { slots: [foregroundSlot], value: '' }],
  [49, { slots: [backgroundSlot], value: '' }],
]);

const isBetween = (value: number, first: number, last: number): boolean => value >= first && value <= last;

function withSlots(style: Style, slots: readonly number[], value: string): Style {
  return style.map((old, slot) => (slots.includes(slot) ? value : old));
}

/** An empty parameter is 0. */
const numberOf = (field: string | undefined): number => Number(field ?? '');

/** `38;5;n` and `38;2;r;g;b` after their first parameter; null when a value is out of range or the kind unknown. */
function extendedColour(ground: number, fields: readonly string[]): string | null {
  const count = numberOf(fields[0]) === 5 ? 1 : 3;
  const values = fields.slice(1, 1 + count).map(numberOf);
  const isWhole = values.length === count && values.every((value) => isBetween(value, 0, 255));
  return isWhole ? [ground, numberOf(fields[0]), ...values].join(';') : null;
}

function slotOfGround(ground: number): readonly number[] {
  if (ground === 38) return [foregroundSlot];
  return ground === 48 ? [backgroundSlot] : []; // 58, the colour of the underline, is read past and left out.
}

function applySimple(style: Style, value: number): Style {
  if (value === 0) return plainStyle;
  if (isBetween(value, 30, 37) || isBetween(value, 90, 97)) return withSlots(style, [foregroundSlot], String(value));
  if (isBetween(value, 40, 47) || isBetween(value, 100, 107)) return withSlots(style, [backgroundSlot], String(value));
  const rule = simple.get(value);
  return rule === undefined ? style : withSlots(style, rule.slots, rule.value);
}

/** One parameter with its arguments behind colons: `4:3`, `38:5:n`, `38:2:r:g:b`, `38:2:space:r:g:b`. */
function applyColons(style: Style, parts: readonly string[]): Style {
  const head = numberOf(parts[0]);
  if (head === 4) return withSlots(style, [3], numberOf(parts[1]) === 0 ? '' : '4');
  const kind = numberOf(parts[1]);
  const isColour = slotOfGround(head).length > 0 && (kind === 2 || kind === 5);
  if (!isColour) return style;
  const values = kind === 2 && parts.length > 5 ? parts.slice(3, 6) : parts.slice(2);
  const colour = extendedColour(head, [String(kind), ...values]);
  return colour === null ? style : withSlots(style, slotOfGround(head), colour);
}

/** The style after one SGR sequence. What is not on the list, or out of range, changes nothing. */
export function applySgr(before: Style, parameters: string): Style {
  const fields = parameters.split(';');
  let style = before;
  let next = 0;
  for (const [index, field] of fields.entries()) {
    if (index < next) continue; // An argument of a colour before it.
    const value = numberOf(field);
    if (field.includes(':')) {
      style = applyColons(style, field.split(':'));
    } else if (value === 38 || value === 48 || value === 58) {
      const kind = numberOf(fields[index + 1]);
      if (kind !== 2 && kind !== 5) return style; // How many arguments follow is unknown, so the rest means nothing.
      const colour = extendedColour(value, fields.slice(index + 1));
      if (colour !== null) style = withSlots(style, slotOfGround(value), colour);
      next = index + (kind === 2 ? 5 : 3);
    } else {
      style = applySimple(style, value);
    }
  }
  return style;
}

/** Always from a reset on, so that a style means the same whatever was printed before it. */
export function sgrOf(style: Style): string {
  return `\x1b[${['0', ...style.filter((value) => value !== '')].join(';')}m`;
}
