// Reads the text of a definition: checked word by word, every pattern compiled, and held against what a definition must
// never say. What is wrong is told with file, line and remedy, and then nothing of the file counts.

import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { fail, ok, type Result } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { type CompilePattern, growthOf, growthWords, linearPattern } from '../screen/pattern.ts';
import { RuleProblem, readRuleFile } from '../screen/rule-file.ts';
import { type DefinitionPlace, problemsOf } from './checks.ts';
import { type DefinitionPath, type DefinitionProblem, lineOfPath } from './lines.ts';
import { type Definition, definitionSchema } from './schema.ts';

/** So many are told at once; the rest is often a consequence of them. */
const problemsToldMax = 5;

export function readDefinition(text: string, place: DefinitionPlace): Result<Definition> {
  if (Buffer.byteLength(text) > limits.definitionBytesMax) {
    const words = `${place.path} is larger than ${limits.definitionBytesMax / 1024} KiB`;
    return fail('E_DEFINITION', words, 'a definition is a page or two of text; leave out what no rule needs');
  }
  let data: unknown;
  try {
    data = parse(text);
  } catch (problem) {
    if (!(problem instanceof TomlError)) throw problem;
    return fail('E_DEFINITION', `${place.path}:${problem.line}: ${problem.message.split('\n', 1)[0] ?? ''}`);
  }
  const growth = growthOf(data);
  if (growth > limits.patternsGrowthMax)
    return fail(
      'E_DEFINITION',
      `${place.path}: ${growthWords(growth)}`,
      'use `+` and `*` where the count does not matter',
    );
  const checked = definitionSchema.safeParse(data);
  const problems = checked.success
    ? [...patternProblems(checked.data), ...screenProblems(checked.data, place), ...problemsOf(checked.data, place)]
    : checked.error.issues.flatMap((issue) => issueProblems(issue, data));
  const [first] = problems;
  if (!checked.success || first !== undefined) return refused(text, place.path, problems);
  return ok(checked.data);
}

function refused(text: string, path: string, problems: readonly DefinitionProblem[]): Result<never> {
  const told = problems.map(
    ({ path: steps, word, words }) => `${path}:${lineOfPath(text, steps, word)}: ${nameOf(steps)}${words}`,
  );
  const more = told.length > problemsToldMax ? `; and ${told.length - problemsToldMax} more` : '';
  return fail('E_DEFINITION', `${told.slice(0, problemsToldMax).join('; ')}${more}`, problems[0]?.next);
}

/** `keys.answer.1`: as people count. */
const nameOf = (path: DefinitionPath): string => {
  const name = path.map((step) => (typeof step === 'number' ? step + 1 : String(step))).join('.');
  return name === '' ? '' : `${name}: `;
};

function issueProblems(issue: z.core.$ZodIssue, data: unknown): readonly DefinitionProblem[] {
  if (issue.code === 'unrecognized_keys') {
    const known = wordsAt(issue.path);
    return issue.keys.map((word) => ({
      path: issue.path,
      word,
      words: `${word} is not a known word`,
      next: remedyFor(word, known),
    }));
  }
  // Of several forms the first that says what is wrong inside of it tells more than that none of them fits.
  const value = valueAt(data, issue.path);
  const next = 'docs/definitions.md has every word and what may follow it';
  const words = value === undefined ? `it is missing: ${issue.message}` : issue.message;
  return [{ path: issue.path, word: typeof value === 'string' ? value : null, words, next }];
}

const valueAt = (data: unknown, path: DefinitionPath): unknown =>
  path.reduce<unknown>((value, step) => (value as Record<PropertyKey, unknown> | undefined)?.[step], data);

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape | boolean;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

/** The words that may stand in the table at a path. */
function wordsAt(path: DefinitionPath): readonly string[] {
  let shapes: readonly Shape[] = [z.toJSONSchema(definitionSchema, { io: 'input', unrepresentable: 'any' }) as Shape];
  for (const step of path)
    shapes = shapes.flatMap((shape) =>
      [shape, ...(shape.anyOf ?? [])].flatMap(({ properties, items, additionalProperties: each }) => {
        if (typeof step === 'number') return items ?? [];
        return properties?.[String(step)] ?? (typeof each === 'object' ? each : []);
      }),
    );
  return shapes
    .flatMap(({ properties, anyOf }) => [properties, ...(anyOf ?? []).map((one) => one.properties)])
    .flatMap((properties) => Object.keys(properties ?? {}));
}

function remedyFor(word: string, known: readonly string[]): string {
  const near = known.find((one) => distance(one, word) <= 2);
  const all = known.length === 0 ? 'leave it out' : `the words here are ${known.join(', ')}`;
  return near === undefined ? all : `write ${near}; ${all}`;
}

/** How many letters have to be changed, left out or put in. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1];
    for (const [at, beside] of [...other].entries())
      next.push(Math.min((row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1, (row[at] ?? 0) + (letter === beside ? 0 : 1)));
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Outside of the screen, whose rules compile their own. */
function patternProblems({ identify, keys }: Definition): readonly DefinitionProblem[] {
  const found: (readonly [path: DefinitionPath, pattern: string])[] = [];
  const add = (path: DefinitionPath, value: string | readonly string[] | undefined): void => {
    if (typeof value === 'string') found.push([path, value]);
    else for (const [at, one] of (value ?? []).entries()) found.push([[...path, at], one]);
  };
  for (const name of ['places', 'not_places', 'versions', 'tool_env'] as const)
    add(['identify', name], identify?.[name]);
  add(['keys', 'collapsed_paste'], keys?.collapsed_paste);
  for (const name of ['mark', 'end', 'empty', 'suggestion', 'sign'] as const)
    add(['keys', 'prompt', name], keys?.prompt?.[name]);
  for (const [at, table] of (keys?.answer ?? []).entries()) {
    for (const name of ['once', 'lasting', 'no', 'instead', 'own'] as const)
      add(['keys', 'answer', at, name], table[name]);
    add(['keys', 'answer', at, 'marked_rows'], table.marked_rows);
    for (const [place, menu] of table.menus.entries()) add(['keys', 'answer', at, 'menus', place], menu);
  }
  return found.flatMap(([path, source]) => patternProblem(path, source, linearPattern) ?? []);
}

function patternProblem(path: DefinitionPath, source: string, compile: CompilePattern): DefinitionProblem | null {
  try {
    compile(source);
    return null;
  } catch (problem) {
    const words = problem instanceof Error ? problem.message : 'it is no pattern';
    return { path, word: source, words, next: 'write it as RE2 takes it: no look-around, no back references' };
  }
}

/** The screen of a definition as a file of rules; see screen/rule-file. */
export const screenOf = ({ agent, screen, title }: Definition): unknown => ({
  title: `${title ?? agent}: what its title proves is not known`,
  ...screen,
  schema: 1,
  agent,
});

function screenProblems(definition: Definition, { base }: DefinitionPlace): readonly DefinitionProblem[] {
  if (definition.screen === undefined) return [];
  try {
    readRuleFile(screenOf(definition), base?.rules ?? null, linearPattern);
    return [];
  } catch (problem) {
    if (!(problem instanceof RuleProblem)) throw problem;
    const next = 'docs/rules.md explains regions and rules';
    return [{ path: ['screen'], word: problem.near.replaceAll('"', ''), words: problem.message, next }];
  }
}
