// Lines of an agent as they must never come and one day do: dropped, doubled, swapped, cut, joined, mixed with garbage, and
// with foreign values in them.

import fc from 'fast-check';
import { parseFields } from '../../src/agents/fields.ts';

/** Values that break a reader which believes in what it is told. */
const strange = fc.constantFrom<unknown>(
  ...[null, true, -1, 1e308, '', '__proto__', 'constructor', [], {}, [null], [[]], { id: {} }, '\u0000', '\ud800'],
);

const place = fc.nat(500);

const change = fc.oneof(
  fc.record({ kind: fc.constant('drop' as const), at: place }),
  fc.record({ kind: fc.constant('double' as const), at: place }),
  fc.record({ kind: fc.constant('swap' as const), at: place, with: place }),
  fc.record({ kind: fc.constant('cut' as const), at: place, length: fc.nat(2_000) }),
  fc.record({ kind: fc.constant('halve' as const), at: place, length: fc.nat(400) }),
  fc.record({ kind: fc.constant('join' as const), at: place }),
  fc.record({ kind: fc.constant('garbage' as const), at: place, text: fc.string({ unit: 'binary', maxLength: 80 }) }),
  fc.record({ kind: fc.constant('bend' as const), at: place, place: fc.nat(60), value: strange }),
);
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;

export type Changes = readonly Change[];
export const changes = fc.array(change, { maxLength: 12 });

/** One place of a message, wherever it is, gets another value. */
function bend(line: string, at: number, value: unknown): string {
  let left = at;
  const walk = (node: unknown): unknown => {
    if (left < 0) return node;
    left -= 1;
    if (left < 0) return value;
    if (Array.isArray(node)) return node.map(walk);
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([name, one]) => [name, walk(one)]));
  };
  return JSON.stringify(walk(parseFields(line.slice(Math.max(0, line.indexOf('{'))))) ?? null);
}

function changed(lines: readonly string[], one: Change): readonly string[] {
  if (lines.length === 0) return lines;
  const at = one.at % lines.length;
  const line = lines[at] ?? '';
  switch (one.kind) {
    case 'drop':
      return lines.toSpliced(at, 1);
    case 'double':
      return lines.toSpliced(at, 0, line);
    case 'swap': {
      const other = one.with % lines.length;
      return lines.with(at, lines[other] ?? '').with(other, line);
    }
    case 'cut':
      return lines.with(at, line.slice(0, one.length));
    case 'halve':
      return lines.toSpliced(at, 1, line.slice(0, one.length), line.slice(one.length));
    case 'join':
      return lines.toSpliced(at, 2, `${line}${lines[at + 1] ?? ''}`);
    case 'garbage':
      return lines.toSpliced(at, 0, one.text);
    case 'bend':
      return lines.with(at, bend(line, one.place, one.value));
  }
}

export const mangled = (lines: readonly string[], all: Changes): readonly string[] => all.reduce(changed, lines);
