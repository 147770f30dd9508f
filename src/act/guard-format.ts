// The guard in tmux's own words (ACT2): one format that is true only while everything an action was decided on still
// holds, and the question that tells afterwards which part of it did not.

import { limits } from '../model/limits.ts';
import { quoteTmuxFormat } from '../text/quote.ts';
import type { Place, Touch } from './hands.ts';

export type Refusal = Extract<Touch, { kind: 'refused' }>['why'];

const equals = (field: string, value: string): string => `#{==:#{${field}},${quoteTmuxFormat(value)}}`;

/**
 * True only for this very place. Pairs only: `&&` of more than two came with tmux 3.6. The pane id is part of it because
 * `if-shell -t` of a pane that is gone asks another pane instead. A pane whose input is switched off would swallow
 * everything without a word, so that counts as a mode.
 */
export function guardOf(place: Place, shown: string | null = null): string {
  const parts = [
    equals('pid', String(place.serverPid)),
    equals('pane_id', place.pane),
    equals('pane_pid', String(place.panePid)),
    equals('pane_current_command', place.command),
    equals('pane_in_mode', '0'),
    equals('pane_synchronized', '0'),
    '#{!=:#{pane_input_off},1}',
    '#{!=:#{pane_dead},1}',
    ...(shown === null ? [] : [`#{C:${shown}}`]),
  ];
  return parts.reduceRight((rest, part) => `#{&&:${part},${rest}}`);
}

/** True only while the process of this pane is the one that was there, and dead. */
export function deadGuardOf({ serverPid, pane, panePid }: Place): string {
  const parts = [equals('pid', String(serverPid)), equals('pane_id', pane), equals('pane_pid', String(panePid))];
  return parts.reduceRight((rest, part) => `#{&&:${part},${rest}}`, '#{==:#{pane_dead},1}');
}

/** What is asked in the branch that refuses, in the same step as the guard. The command stands last: it is foreign. */
export const whyFormat =
  '#{pid}|#{pane_id}|#{pane_pid}|#{pane_dead}|#{pane_in_mode}|#{pane_input_off}|#{pane_synchronized}|#{pane_current_command}';

/** The part of the guard that did not hold; with all of them in place it was the text that should have been shown. */
export function whyOf(place: Place, answer: string, isShownAsked: boolean): Refusal {
  const [pid, pane, panePid, dead, mode, inputOff, synchronized, ...command] = answer.split('|');
  if (pid !== String(place.serverPid) || pane !== place.pane) return 'gone';
  if (dead === '1') return 'dead';
  if (panePid !== String(place.panePid) || command.join('|') !== place.command) return 'other_process';
  if (mode !== '0' || inputOff === '1') return 'in_mode';
  if (synchronized !== '0') return 'synchronized';
  // The foreground command is read anew each time, so it may have come and gone between guard and question.
  return isShownAsked ? 'not_shown' : 'other_process';
}

/** The same for the guard of a dead pane. */
export function whyNotDead(place: Place, answer: string): Refusal {
  const [pid, pane] = answer.split('|');
  return pid !== String(place.serverPid) || pane !== place.pane ? 'gone' : 'other_process';
}

/** Letters and digits of any script, and single blanks between them: nothing a format or a glob could read otherwise. */
const safeRuns = /[\p{L}\p{N}]+(?: [\p{L}\p{N}]+)*/gu;

/** The pieces of a text that can stand in `#{C:...}`, which is a format and a glob and searches line by line. */
export function safePieces(text: string): readonly string[] {
  return text.match(safeRuns) ?? [];
}

/** The longest of them, of several the last; null when there is none. Long ones lose their beginning. */
export function searchable(text: string): string | null {
  let longest = '';
  for (const piece of safePieces(text)) if (piece.length >= longest.length) longest = piece;
  return longest === '' ? null : [...longest].slice(-limits.shownCharsMax).join('').trim();
}
