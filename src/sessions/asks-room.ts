// How much open asks may hold. Each is kept as the agent put it until a person answers, and an agent may ask for ever: what
// goes beyond the bounds is refused unseen, and both sides are told (SES10).

import { limits } from '../model/limits.ts';
import { clip, type Draft, type Marked, note } from './draft.ts';

/** An open ask that knows how much it holds. */
export interface Weighed {
  readonly bytes: number;
}

/** What a value takes beside its letters, roughly. */
const nodeBytes = 64;

/** Roughly what a value out of JSON takes in memory; many small things take more than the text they came in. */
export function weightOf(value: unknown): number {
  let bytes = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0 && bytes <= limits.sessionAsksBytesMax) {
    const one = rest.pop();
    bytes += nodeBytes;
    if (typeof one === 'string') bytes += one.length * 2;
    else if (typeof one === 'object' && one !== null) {
      for (const [key, inner] of Object.entries(one)) {
        bytes += key.length * 2;
        rest.push(inner);
      }
    }
  }
  return bytes;
}

export const heldBy = (asks: readonly Weighed[]): number => asks.reduce((sum, { bytes }) => sum + bytes, 0);

/** A little is free, so that others who ask too much silence nobody. */
export function hasRoom<Memory extends { readonly asks: readonly Weighed[] }>(
  { memory, asksRoom }: Draft<Memory>,
  { bytes }: Weighed,
): boolean {
  if (memory.asks.length >= limits.sessionToolsMax) return false;
  const held = heldBy(memory.asks) + bytes;
  if (held <= limits.sessionAsksFreeBytes) return true;
  return held <= limits.sessionAsksBytesMax && bytes <= asksRoom;
}

/** What the agent is told. */
export const fullReason =
  'agtmux refused this unseen: too much waits for an answer already. Wait until that is answered, then ask again.';

/** Where a reply has no place for a reason, it is an error of ours. */
export const fullCode = -32_000;

/** What people are told: the last of them stands for all. */
export function tellRefused<Memory extends Marked>(draft: Draft<Memory>, what: string): void {
  const words = `refused unseen, since too much waits for an answer already: ${clip(what, limits.detailCharsMax)}`;
  note(draft, `full-${draft.memory.mark}`, words);
}
