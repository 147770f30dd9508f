// What an agent works on, as one line that may be shown: from prompts, hooks and titles, which are all foreign text.

import { redact } from '../engine/redact.ts';
import { limits } from '../model/limits.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { cut } from '../text/width.ts';

/** One line of what a person wrote, without effects and secrets (SEC3); null when nothing is left of it. */
export function taskText(text: string): string | null {
  // Sequences go first: a secret with one inside it would not look like one. And what is cut in half would not, either.
  const line = redact(sanitizeLine(foreign(text.slice(0, limits.taskSourceCharsMax))))
    .replace(/\s+/g, ' ')
    .trim();
  return line === '' ? null : cut(line, limits.taskColumnsMax);
}
