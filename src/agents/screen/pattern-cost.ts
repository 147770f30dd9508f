// Whether a pattern can take for ever: a group that is repeated without bound and itself holds an unbounded repetition, or
// a choice whose ways begin alike, can be tried in exponentially many ways on a line that was made for it. Such a pattern is
// refused before it is ever used; nothing can stop it once it runs.

interface Group {
  /** Something in it repeats without bound. */
  hasRepetition: boolean;
}

/** True for patterns like `(a+)+`. Looks at the text only: it may refuse a harmless one, never the other way round. */
export function canTakeForever(pattern: string): boolean {
  const groups: Group[] = [{ hasRepetition: false }];
  let last: Group | null = null;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') {
      at += 1;
      last = null;
    } else if (character === '[') {
      at = endOfClass(pattern, at);
      last = null;
    } else if (character === '(') {
      groups.push({ hasRepetition: false });
      last = null;
    } else if (character === ')') {
      last = groups.pop() ?? null;
      const outer = groups.at(-1);
      if (outer !== undefined && last !== null) outer.hasRepetition ||= last.hasRepetition;
    } else {
      const open = openRepetition(pattern, at);
      if (open > 0) {
        if (last?.hasRepetition === true) return true;
        const inner = groups.at(-1);
        if (inner !== undefined) inner.hasRepetition = true;
        at += open - 1;
      }
      last = null;
    }
  }
  return false;
}

/** How long the sign of an unbounded repetition at this place is; 0 when there is none. */
function openRepetition(pattern: string, at: number): number {
  if (pattern[at] === '*' || pattern[at] === '+') return 1;
  const counted = /^\{(\d+),(\d*)\}/.exec(pattern.slice(at, at + 16));
  if (counted === null) return 0;
  const most = counted[2] === '' ? Number.POSITIVE_INFINITY : Number(counted[2]);
  // A bound in the dozens is as good as none when it is raised to the power of another.
  return most > boundMax ? counted[0].length : 0;
}

const boundMax = 100;

function endOfClass(pattern: string, from: number): number {
  for (let at = from + 1; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === ']' && at > from + 1) return at;
  }
  return pattern.length;
}
