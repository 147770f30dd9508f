// Several questions asked at once, put to a person one after another. Pure; knows no agent's words.

import type { AskOption } from '../../model/asks.ts';
import { fail, ok, type Result } from '../../model/errors.ts';
import { askId, type ScopeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { PendingAsk } from '../../model/sessions.ts';
import { type Fields, fieldsIn, fieldsOf, listOf, rowsOf, textOf } from '../fields.ts';
import type { UserAction } from './adapter.ts';

export interface Question {
  /** What the answer goes by: the agent's id of it, or its words. */
  readonly key: string;
  readonly text: string;
  readonly labels: readonly string[];
  /** Several options may be taken at once: `1,3`. */
  readonly isMany: boolean;
  /** Words of one's own are taken. */
  readonly isFree: boolean;
}

/** What was asked and what was answered so far. The next question is the first without an answer. */
export interface Interview {
  readonly questions: readonly Question[];
  readonly answers: readonly (readonly string[])[];
}

export const interviewOf = (questions: readonly Question[]): Interview => ({
  questions: questions.slice(0, limits.sessionQuestionsMax),
  answers: [],
});

/** It has answers that the agent was not told yet. */
export const isBegun = (interview: Interview | null): boolean => interview !== null && interview.answers.length > 0;

export const nextOf = ({ questions, answers }: Interview): Question | null => questions[answers.length] ?? null;

/** The id of the question that is asked now: that of the request, and from the second on with its number. */
export const questionId = (request: string, { answers }: Interview): string =>
  answers.length === 0 ? request : `${request}/${answers.length + 1}`;

/** The question that is asked now, as an ask. */
export function askOfInterview(request: string, scope: ScopeId, interview: Interview): PendingAsk | null {
  const question = nextOf(interview);
  if (question === null) return null;
  const free = question.isFree ? (['text'] as const) : [];
  const choice = question.labels.length > 0 ? (['option'] as const) : [];
  return {
    ask_id: askId(questionId(request, interview)),
    kind: 'question',
    scope,
    text: question.text.slice(0, limits.askCharsMax),
    options: optionsOf(question),
    accepts: [...choice, ...free],
  };
}

const optionsOf = ({ labels }: Question): readonly AskOption[] =>
  labels.slice(0, limits.askOptionsMax).map((label, place) => ({
    id: String(place + 1),
    // It is chosen by its id: how it is shown need not be the whole of it.
    label: label.slice(0, limits.detailCharsMax),
  }));

/** One of the options by its id or its words; of a question that takes many, several with commas between. */
function chosen(interview: Interview, option: string): Result<Interview> {
  const question = nextOf(interview);
  if (question === null) return fail('E_STATE_CHANGED', 'that question was already answered');
  const whole = labelOf(question, option);
  const labels =
    whole !== null ? [whole] : question.isMany ? option.split(',').map((one) => labelOf(question, one)) : [];
  const known = labels.filter((label) => label !== null);
  if (known.length === 0 || known.length < labels.length) {
    const ids = question.labels.map((label, place) => `${place + 1} (${label})`).join(', ');
    return fail('E_INPUT', `"${option}" is not one of the options`, `choose one of ${ids}`);
  }
  return ok({ ...interview, answers: [...interview.answers, known] });
}

function labelOf({ labels }: Question, option: string): string | null {
  const wanted = option.trim();
  const byId = /^\d{1,3}$/.test(wanted) ? labels[Number(wanted) - 1] : undefined;
  return labels.find((label) => label === wanted) ?? byId ?? null;
}

/** Words of one's own; those of an option are that option. */
function written(interview: Interview, text: string): Result<Interview> {
  const question = nextOf(interview);
  if (question === null) return fail('E_STATE_CHANGED', 'that question was already answered');
  const label = question.labels.find((one) => one === text.trim());
  if (label === undefined && !question.isFree) {
    return fail('E_UNSUPPORTED', 'this question accepts only its options', 'choose one of the options');
  }
  return ok({ ...interview, answers: [...interview.answers, [label ?? text]] });
}

/** What a person's answer makes of it. A plain yes answers no question. */
export function answeredBy(
  interview: Interview,
  deed: Extract<UserAction, { readonly kind: 'approve' | 'choose' | 'write' }>,
): Result<Interview> {
  switch (deed.kind) {
    case 'choose':
      return chosen(interview, deed.option);
    case 'write':
      return written(interview, deed.text);
    case 'approve':
      return fail('E_UNSUPPORTED', 'this is a question and needs an answer', 'choose an option, or answer with text');
  }
}

// Forms of MCP servers that Codex passes on: one question a field, and the answers as the values that the fields want.

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
