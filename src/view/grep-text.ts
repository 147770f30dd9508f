// Hits of a search as pieces of a line: who, where, and the line with what was found in it. Everything has passed the gate (SEC3).

import type { GrepReply } from '../api/grep.ts';
import { foreign, type SafeText, sanitizeLine } from '../text/sanitize.ts';

type Hit = GrepReply['items'][number];

const places = { screens: 'screen', transcripts: 'said', shells: 'shell log' } as const;

const safe = (text: string): SafeText => sanitizeLine(foreign(text));

/** `claude  host/work:1.0  said` */
export const hitHead = ({ name, where, place }: Hit): string => `${safe(name)}  ${safe(where)}  ${places[place]}`;

export const hitLine = ({ line }: Hit): SafeText => safe(line.replaceAll('\t', ' '));

export function searchedWords({
  searched,
  left_out,
  is_cut,
  items,
}: Pick<GrepReply, 'searched' | 'left_out' | 'is_cut' | 'items'>): string {
  const lines = `${items.length} ${items.length === 1 ? 'line' : 'lines'}${is_cut ? ', and more' : ''}`;
  return `${lines}; looked into ${searched}${left_out > 0 ? `, not into ${left_out}` : ''}`;
}
