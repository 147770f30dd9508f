// Version ranges of rules: `>=2.1 <3`, `*`. A run whose version is not known fits every range: rules match live
// interfaces, and a look at the screen that fits is better evidence than a number that is missing.

interface Bound {
  readonly sign: '>=' | '>' | '<' | '<=' | '=';
  readonly parts: readonly number[];
}

export type VersionRange = readonly Bound[];

export function parseRange(text: string): VersionRange | null {
  if (text.trim() === '*') return [];
  const bounds: Bound[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const found = /^(>=|<=|>|<|=)?(\d+(?:\.\d+)*)$/.exec(word);
    if (found?.[2] === undefined) return null;
    bounds.push({ sign: (found[1] ?? '=') as Bound['sign'], parts: found[2].split('.').map(Number) });
  }
  return bounds;
}

export function fits(range: VersionRange, version: string | null): boolean {
  const parts = /^\d+(?:\.\d+)*/
    .exec(version ?? '')?.[0]
    .split('.')
    .map(Number);
  return parts === undefined || range.every((bound) => holds(bound, parts));
}

/** Only as many places as the bound names: `=2.1` holds for 2.1.325. */
function holds({ sign, parts }: Bound, version: readonly number[]): boolean {
  let order = 0;
  for (const [place, part] of parts.entries()) {
    order = Math.sign((version[place] ?? 0) - part);
    if (order !== 0) break;
  }
  switch (sign) {
    case '=':
      return order === 0;
    case '>=':
      return order >= 0;
    case '>':
      return order > 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
  }
}
