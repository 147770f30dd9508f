// Rules that a user wrote, as a TOML or JSON file: laid over the built-in ones, or told what is wrong with them and on
// which line, and then nothing of the file counts (RSV10).

import { parse, TomlError } from 'smol-toml';
import { fail, ok, type Result } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { growthOf, growthWords } from './pattern.ts';
import { type RuleFile, RuleProblem, readRuleFile } from './rule-file.ts';

export function readUserRules(text: string, path: string, builtIn: RuleFile): Result<RuleFile> {
  try {
    const data: unknown = path.endsWith('.json') ? JSON.parse(text) : parse(text);
    const growth = growthOf(data);
    if (growth > limits.patternsGrowthMax) return wrong(path, 1, growthWords(growth));
    return ok(readRuleFile(data, builtIn));
  } catch (problem) {
    if (problem instanceof RuleProblem) return wrong(path, lineOf(text, problem.near), problem.message);
    if (problem instanceof TomlError) return wrong(path, problem.line, firstLine(problem.message));
    if (problem instanceof SyntaxError)
      return wrong(path, lineOfJson(text, problem.message), firstLine(problem.message));
    throw problem;
  }
}

function wrong(path: string, line: number, words: string): Result<never> {
  return fail('E_RULES', `${path}:${line}: ${words}`, 'fix the file; until then the built-in rules apply');
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? text;

/** As a whole word of the file first: quoted, as a key, as a table. Patterns may stand there with their escapes doubled. */
function lineOf(text: string, near: string): number {
  if (near === '') return 1;
  const plain = near.replace(/^"|"$/g, '');
  const doubled = JSON.stringify(plain).slice(1, -1);
  const forms = [`"${plain}"`, `'${plain}'`, `"${doubled}"`, `.${plain}]`, `\n${plain} =`, plain, doubled];
  const form = forms.find((one) => text.includes(one));
  if (form === undefined) return 1;
  return text.slice(0, text.indexOf(form) + (form.startsWith('\n') ? 1 : 0)).split('\n').length;
}

function lineOfJson(text: string, message: string): number {
  const line = /line (\d+)/.exec(message)?.[1];
  if (line !== undefined) return Number(line);
  const at = /position (\d+)/.exec(message)?.[1];
  return at === undefined ? text.split('\n').length : text.slice(0, Number(at)).split('\n').length;
}
