// What a person wants of a dialog, and the strokes that carry it out there. An option is found by its id or its words,
// never by its place.

import type { Keys, SeenAsk, Stroke } from '../agents/contract.ts';
import { isSame } from '../engine/canonical.ts';
import { isAskRedacted } from '../engine/facts.ts';
import { hidesValuesOnly, redact } from '../engine/redact.ts';
import type { Ask, AskOption } from '../model/asks.ts';
import { type Failure, fail, ok, type Result } from '../model/errors.ts';
import { squeezed } from './strokes.ts';

export type Wish =
  | { readonly kind: 'approve' }
  | { readonly kind: 'reject'; readonly because: string | null }
  | { readonly kind: 'choose'; readonly option: string }
  | { readonly kind: 'write'; readonly text: string };

export interface Plan {
  readonly strokes: readonly Stroke[];
  /** What has to be said about them. */
  readonly words: string | null;
}

const notInSight = fail(
  'E_UNSUPPORTED',
  'not all of what it asks is in sight, only a no can be given from here',
  'answer at the pane (`agtmux attach`), make its window larger, or let it tell by itself (`agtmux hooks install`)',
);

const hidden = fail(
  'E_UNSUPPORTED',
  'part of what it asks was hidden as a secret, and it is not certain what stands there; only a no can be given from here',
  'look at the pane and answer there (`agtmux attach`)',
);

/**
 * Null when this may be said to the ask. What nobody was shown must be a mere value, and known: another ask may differ in
 * nothing else.
 */
export function refusedAsHidden(wish: Wish, ask: Ask, whole: Ask | null): Failure | null {
  if (wish.kind === 'reject' || !isAskRedacted(ask)) return null;
  return whole !== null && hidesValuesOnly(whole.text) ? null : hidden.failure;
}

export function planFor(keys: Keys, wish: Wish, ask: Ask, seen: SeenAsk): Result<Plan> {
  const cannot = fail('E_UNSUPPORTED', 'this dialog cannot be answered from here: its options were not recognised');
  // Where the agent's own words for it are known, they were compared; else nobody was shown what a yes would be to.
  const isBlind = seen.cut === true && ask.ask_id.startsWith('screen:');
  const plan = (strokes: readonly Stroke[] | null, words: string | null = null): Result<Plan> => {
    if (strokes === null || strokes.length === 0) return cannot;
    return isBlind && wish.kind !== 'reject' && !isSame(strokes, keys.reject(seen, null))
      ? notInSight
      : ok({ strokes, words });
  };
  switch (wish.kind) {
    case 'approve':
      return plan(keys.approve(seen));
    case 'reject': {
      const strokes = keys.reject(seen, wish.because);
      if (strokes !== null || wish.because === null) return plan(strokes);
      return plan(keys.reject(seen, null), 'its dialog takes no words: they were not passed on');
    }
    case 'choose': {
      const option = optionMeant(wish.option, ask, seen);
      return option.ok ? plan(keys.choose(seen, option.value.id)) : option;
    }
    case 'write':
      return plan(keys.write(seen, wish.text));
  }
}

/** What finishes an answer that is asked about once more; null where that is for a person to say. */
export function planOn(keys: Keys, wish: Wish, plan: Plan, ask: Ask, first: SeenAsk, next: SeenAsk): Plan | null {
  const isRefusal = wish.kind === 'reject' || isSame(plan.strokes, keys.reject(first, null));
  if (!isRefusal || keys.asksOn?.(next) !== 'reason') return null;
  const finish = planFor(keys, wish.kind === 'reject' ? wish : { kind: 'reject', because: null }, ask, next);
  return finish.ok ? finish.value : null;
}

/** By its id on the screen or by its words; an id that a hook gave is turned into words first. */
export function optionMeant(text: string, ask: Ask, seen: SeenAsk): Result<AskOption> {
  const told = isSame(ask.options, seen.options) ? undefined : ask.options.find(({ id }) => id === text);
  const words = squeezed(told?.label ?? text);
  const byWords = seen.options.filter(({ label }) => words !== '' && squeezed(label) === words);
  const byId = told === undefined ? seen.options.filter(({ id }) => id === text) : [];
  const found = byId.length > 0 ? byId : byWords;
  const [option] = found;
  if (option !== undefined && found.length === 1) return ok(option);
  // This is kept in the audit.
  const names = seen.options.map(({ id, label }) => redact(id === label ? label : `${id} (${label})`));
  return fail(
    'E_INPUT',
    `there is no option ${text}`,
    names.length === 0 ? 'it offers none' : `it offers ${names.join(', ')}`,
  );
}
