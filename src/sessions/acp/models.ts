// The model a session was wished for with, found among those that the agent offers: as one of its settings, or, before
// there were settings, in a list of its own.

import { type Fields, fieldsIn, fieldsOf, idOf, rowsOf, textOf } from '../../agents/fields.ts';

export type ModelWish =
  | { readonly kind: 'set'; readonly method: string; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'unknown'; readonly words: string };

interface Offer {
  readonly method: string;
  /** What goes into the request beside the session: which setting it is. */
  readonly fixed: Readonly<Record<string, string>>;
  readonly field: string;
  readonly current: string | null;
  readonly models: readonly { readonly value: string; readonly name: string }[];
}

/** What is to be said for this model; null: it is set already, or the agent lets nobody choose. */
export function modelWish(wanted: string | null, session: string, result: Fields): ModelWish | null {
  const offer = wanted === null ? null : offerIn(result);
  if (wanted === null || offer === null || offer.models.length === 0 || offer.current === wanted) return null;
  const found = modelIn(offer, wanted);
  if (found === null) {
    const some = offer.models.slice(0, 8).map(({ value }) => value);
    const rest = offer.models.length > some.length ? `, and ${offer.models.length - some.length} more` : '';
    return { kind: 'unknown', words: `it has no model "${wanted}"; it offers ${some.join(', ')}${rest}` };
  }
  if (found === offer.current) return null;
  return { kind: 'set', method: offer.method, params: { sessionId: session, ...offer.fixed, [offer.field]: found } };
}

function offerIn(result: Fields): Offer | null {
  const setting = rowsOf(result.configOptions).find(({ category, id }) => category === 'model' || id === 'model');
  if (setting !== undefined) {
    const id = idOf(setting.id);
    if (id === null) return null;
    const models = rowsOf(setting.options).flatMap((one) => (fieldsOf(one)?.options ? rowsOf(one.options) : [one]));
    return {
      method: 'session/set_config_option',
      fixed: { configId: id },
      field: 'value',
      current: textOf(setting.currentValue),
      models: models.flatMap(({ value, name }) => modelOf(value, name)),
    };
  }
  const list = fieldsIn(result.models);
  return {
    method: 'session/set_model',
    fixed: {},
    field: 'modelId',
    current: textOf(list.currentModelId),
    models: rowsOf(list.availableModels).flatMap(({ modelId, name }) => modelOf(modelId, name)),
  };
}

function modelOf(value: unknown, name: unknown): Offer['models'] {
  const id = textOf(value);
  return id === null ? [] : [{ value: id, name: textOf(name) ?? id }];
}

/** By its id, by its name, or by the end of its id where that is one model only: `gpt-9` for `openai/gpt-9`. */
function modelIn({ models }: Offer, wanted: string): string | null {
  const exact = models.find(({ value, name }) => value === wanted || name === wanted);
  if (exact !== undefined) return exact.value;
  const ending = models.filter(({ value }) => value.endsWith(`/${wanted}`));
  return ending.length === 1 ? (ending[0]?.value ?? null) : null;
}
