// Going on after a usage limit (LIM3): a message that waits for the reset, for one run and only while that is still limited.
// Nothing of it happens unless a person asked for it.

import type { AskOption } from '../model/asks.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';

/** In a menu about the limit: the one that waits. Every other one buys, switches or sends something. */
const stopAndWait = /^Stop and wait for (?:the )?limit to reset\b/i;

export const waitingOption = ({ ask }: Pick<StateRecord, 'ask'>): AskOption | null =>
  ask?.options.find(({ label }) => stopAndWait.test(label)) ?? null;

/** It says so itself, or shows the menu about it. */
export const isLimited = (state: Pick<StateRecord, 'reason' | 'ask'>): boolean =>
  state.reason === 'usage_limit' || waitingOption(state) !== null;

/** What speaks for itself: it went on, finished or failed otherwise. Doubt is neither. */
export const isUnlimited = (state: StateRecord): boolean => state.state !== 'unknown' && !isLimited(state);

/** Not before this; `hex` is chance. */
export function resumeTime(state: StateRecord, hex: string): Result<number> {
  if (!isLimited(state)) return fail('E_STATE_CHANGED', 'it has not hit a usage limit');
  if (state.until === null) {
    const next = 'send it yourself once you know: `agtmux limit resume` without --at-reset';
    return fail('E_UNSUPPORTED', 'when its usage limit resets is not known', next);
  }
  const share = Number.parseInt(hex, 16) / 0xffff_ffff;
  const { limitJitterMinMs: from, limitJitterMaxMs: to } = limits;
  return ok(state.until + from + Math.round(share * (to - from)));
}
