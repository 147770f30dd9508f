// What a person wants of a dialog, and the strokes that carry it out there. An option is found by its id or its words,
// never by its place.

import type { KeyStep, Keys, SeenAsk } from '../agents/contract.ts';
import { squeezed } from '../agents/screen/fitting.ts';
import { isSame } from '../engine/canonical.ts';
import { isAskRedacted } from '../engine/facts.ts';
import { hidesValuesOnly, redact } from '../engine/redact.ts';
import type { Ask, AskOption } from '../model/asks.ts';
import { type Failure, fail, ok, type Result } from '../model/errors.ts';

export type Intent =
  | { readonly kind: 'approve' }
  | { readonly kind: 'reject'; readonly because: string | null }
  | { readonly kind: 'choose'; readonly option: string }
  | { readonly kind: 'write'; readonly text: string };

export interface Plan {
  readonly strokes: readonly KeyStep[];
  /** What has to be said about them. */
  readonly words: string | null;
}

const notInSight = fail(
  'E_UNSUPPORTED',
  'the request is not completely visible; from here it can only be rejected',
  'answer in the pane (`agtmux attach`), enlarge its window, or install hooks (`agtmux hooks install`)',
);

const hidden = fail(
  'E_UNSUPPORTED',
  'part of the request was redacted as a secret, and its content is not certain; from here it can only be rejected',
  'answer in the pane (`agtmux attach`)',
);

/**
 * Null when this may be said to the ask. What nobody was shown must be a mere value, and known: another ask may differ in
 * nothing else.
 */
export function refusedAsHidden(intent: Intent, ask: Ask, whole: Ask | null): Failure | null {
  if (intent.kind === 'reject' || !isAskRedacted(ask)) return null;
  return whole !== null && hidesValuesOnly(whole.text) ? null : hidden.failure;
}

export function planFor(keys: Keys, intent: Intent, ask: Ask, seen: SeenAsk): Result<Plan> {
  const cannot = fail('E_UNSUPPORTED', 'this dialog cannot be answered from here: its options were not recognised');
  // Where the agent's own words for it are known, they were compared; else nobody was shown what a yes would be to.
  const isBlind = seen.cut === true && ask.ask_id.startsWith('screen:');
  const plan = (strokes: readonly KeyStep[] | null, words: string | null = null): Result<Plan> => {
    if (strokes === null || strokes.length === 0) return cannot;
    return isBlind && intent.kind !== 'reject' && !isSame(strokes, keys.reject(seen, null))
      ? notInSight
      : ok({ strokes, words });
  };
  switch (intent.kind) {
    case 'approve':
      return plan(keys.approve(seen));
    case 'reject': {
      const strokes = keys.reject(seen, intent.because);
      if (strokes !== null || intent.because === null) return plan(strokes);
      return plan(keys.reject(seen, null), 'its dialog accepts no text: yours was not passed on');
    }
    case 'choose': {
      const option = optionMeant(intent.option, ask, seen);
      return option.ok ? plan(keys.choose(seen, option.value.id)) : option;
    }
    case 'write':
      return plan(keys.write(seen, intent.text));
  }
}

/** What finishes an answer that is asked about once more; null where that is for a person to say. */
export function planOn(keys: Keys, intent: Intent, plan: Plan, ask: Ask, first: SeenAsk, next: SeenAsk): Plan | null {
  const isRefusal = intent.kind === 'reject' || isSame(plan.strokes, keys.reject(first, null));
  if (!isRefusal || keys.asksOn?.(next) !== 'reason') return null;
  const finish = planFor(keys, intent.kind === 'reject' ? intent : { kind: 'reject', because: null }, ask, next);
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
    names.length === 0 ? 'there are no options' : `the options are ${names.join(', ')}`,
  );
}
