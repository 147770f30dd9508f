// The colour roles in the sixteen colours of a terminal. Text goes in after it was measured: colours take no column.

import type { ColourRole } from './words.ts';

export type PaintRole = ColourRole | 'dim' | 'title' | 'connected' | 'disconnected' | 'selected';

/** Sixteen colours, so that the user's own palette decides how they look. */
const codes: Readonly<Record<PaintRole, string>> = {
  attention: '33',
  ask: '35',
  bad: '31',
  doubt: '90',
  good: '1;32',
  work: '34',
  quiet: '2',
  dim: '2',
  title: '1',
  connected: '32',
  disconnected: '33',
  selected: '7',
};

export function paint(text: string, role: PaintRole): string {
  return `\u001b[${codes[role]}m${text}\u001b[0m`;
}
