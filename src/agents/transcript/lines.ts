// From what was said in a conversation to plain lines for people: whoever speaks stands at the beginning of a line, and
// nowhere else can anything stand there. What an agent wrote passes the gate, and what looks like a secret is blotted out.

import { redact } from '../../engine/redact.ts';
import { limits } from '../../model/limits.ts';
import { foreign, sanitizeBlock, sanitizeLine } from '../../text/sanitize.ts';
import type { Spoken } from '../contract.ts';

/** The last `linesMax` lines of it. */
export function linesOf(spoken: readonly Spoken[], linesMax: number): readonly string[] {
  const parts: (readonly string[])[] = [];
  let count = 0;
  for (let at = spoken.length - 1; at >= 0 && count < linesMax; at -= 1) {
    const one = spoken[at];
    if (one === undefined) continue;
    const lines = one.who === 'tool' || one.who === 'note' ? oneLine(one) : manyLines(one);
    parts.push(lines);
    count += lines.length;
  }
  return parts.reverse().flat().slice(-linesMax);
}

/** Sequences go first: a secret with one inside it would not look like one. */
const safe = (text: string): string => redact(sanitizeBlock(foreign(text.slice(0, limits.spokenCharsMax))));

function oneLine({ who, text }: Spoken): readonly string[] {
  const words = safe(text).replace(/\s+/g, ' ').trim();
  return words === '' ? [] : [sanitizeLine(foreign(`${who}: ${words}`), { columnsMax: limits.spokenColumnsMax })];
}

/** Further lines are set in: a line that says `user:` was written by nobody but us (SEC3). */
function manyLines({ who, text }: Spoken): readonly string[] {
  const words = safe(text).replace(/^(?:[ \t]*\n)+|\s+$/g, '');
  if (words.trim() === '') return [];
  return words.split('\n').map((line, at) => (at === 0 ? `${who}: ${line.trim()}` : `  ${line}`.trimEnd()));
}
