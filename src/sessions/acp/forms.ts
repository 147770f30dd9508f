// Forms over ACP: those of MCP servers, with a twist of Claude's adapter. It puts a question with options as two fields,
// `x` and `x_custom`, of which one is filled in; a person is asked once.

import { type Fields, fieldsIn } from '../../agents/fields.ts';
import { formContent, formQuestions } from '../codex/forms.ts';
import type { Question } from '../questions.ts';

const ending = '_custom';

/** The fields that take words in place of another field's options. */
function twinsIn(params: Fields): readonly string[] {
  const keys = Object.keys(fieldsIn(fieldsIn(params.requestedSchema).properties));
  return keys.filter((key) => key.endsWith(ending) && keys.includes(key.slice(0, -ending.length)));
}

/** The questions of a form; none when it has no fields, or is no form: then it wants a yes or a no. */
export function questionsIn(params: Fields): readonly Question[] {
  const twins = twinsIn(params);
  return formQuestions(params)
    .filter(({ key }) => !twins.includes(key))
    .map((question) => (twins.includes(`${question.key}${ending}`) ? { ...question, isFree: true } : question));
}

export function contentOf(
  params: Fields,
  questions: readonly Question[],
  answers: readonly (readonly string[])[],
): Fields {
  const twins = twinsIn(params);
  const given = questions.map(({ key, labels }, place) => {
    const said = answers[place] ?? [];
    const isOwn = said.some((one) => !labels.includes(one)) && twins.includes(`${key}${ending}`);
    return [isOwn ? `${key}${ending}` : key, said] as const;
  });
  return formContent(params, Object.fromEntries(given));
}
