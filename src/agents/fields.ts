// Reading of foreign JSON, field by field, for all adapters: what is missing or of another type is not there, and nothing
// throws.

import { limits } from '../model/limits.ts';

export type Fields = Readonly<Record<string, unknown>>;

const none: Fields = {};

export const fieldsOf = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;

/** The same, where nothing is as good as an object without fields. */
export const fieldsIn = (value: unknown): Fields => fieldsOf(value) ?? none;

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The members of a list that are objects. */
export const rowsOf = (value: unknown): readonly Fields[] =>
  listOf(value).flatMap((one) => {
    const fields = fieldsOf(one);
    return fields === null ? [] : [fields];
  });

/** Null also for a text that says nothing. */
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null;

/** A count; nothing counts as none. */
export const numberIn = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;

const invisible = /[\u0000-\u001f\u007f-\u009f]/;

/** A text that may serve as an id: short, and with nothing invisible in it. */
export function idOf(value: unknown, charsMax: number = limits.idCharsMax): string | null {
  const text = textOf(value);
  return text === null || text.length > charsMax || invisible.test(text) || !text.isWellFormed() ? null : text;
}

/** One line of JSON; null when it is none, or no object. */
export function parseFields(text: string): Fields | null {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return null;
  }
}
