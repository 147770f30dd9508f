// Forms of MCP servers that Codex passes on: one question a field, and the answers as the values that the fields want.

import { type Fields, fieldsIn, fieldsOf, listOf, rowsOf, textOf } from '../../agents/fields.ts';
import type { Question } from '../questions.ts';

/** The questions of a form; none when it has no fields, or is no form: then it wants a yes or a no. */
export function formQuestions(params: Fields): readonly Question[] {
  const message = textOf(params.message) ?? '';
  return fieldsOfForm(params).map(([key, field]) => {
    const labels = labelsOf(field);
    const words = textOf(field.description) ?? textOf(field.title) ?? key;
    const text = message === '' || message === words ? words : `${message}\n${words}`;
    return { key, text, labels, isMany: field.type === 'array', isFree: labels.length === 0 };
  });
}

export function formContent(params: Fields, given: Readonly<Record<string, readonly string[]>>): Fields {
  return Object.fromEntries(
    fieldsOfForm(params).flatMap(([key, field]) => {
      const answers = given[key] ?? [];
      return answers.length === 0 ? [] : [[key, valueFor(field, answers)]];
    }),
  );
}

const fieldsOfForm = (params: Fields): readonly (readonly [string, Fields])[] =>
  Object.entries(fieldsIn(fieldsIn(params.requestedSchema).properties)).flatMap(([key, value]) => {
    const field = fieldsOf(value);
    return field === null ? [] : [[key, field] as const];
  });

function labelsOf(field: Fields): readonly string[] {
  if (field.type === 'boolean') return ['true', 'false'];
  const items = field.type === 'array' ? fieldsIn(field.items) : field;
  const plain = listOf(items.enum).filter((one): one is string => textOf(one) !== null);
  const titled = [...rowsOf(items.oneOf), ...rowsOf(items.anyOf)].flatMap((one) => textOf(one.const) ?? []);
  return plain.length > 0 ? plain : titled;
}

function valueFor(field: Fields, answers: readonly string[]): unknown {
  const [first = ''] = answers;
  switch (field.type) {
    case 'boolean':
      return first === 'true';
    case 'number':
    case 'integer':
      return Number.isFinite(Number(first)) ? Number(first) : first;
    case 'array':
      return answers;
    default:
      return first;
  }
}
