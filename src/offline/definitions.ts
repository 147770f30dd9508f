// A definition and labelled screens, checked without a daemon: behind `agtmux agents check` and `agents learn`.

import { z } from 'zod';
import { type SceneScreen, scenes } from '../agents/definition/draft.ts';
import { readDefinition } from '../agents/definition/read.ts';
import { type DefinitionScore, type LabelledScreen, scoreDefinition } from '../agents/definition/score.ts';
import { agents, takenNames } from '../agents/registry.ts';
import { readRuleFile } from '../agents/screen/rule-file.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { PaneId } from '../model/ids.ts';
import { stateNames } from '../model/states.ts';

export { draftDefinition, type SceneName, type SceneScreen, scenes } from '../agents/definition/draft.ts';

/** One row of `labels.json`: what was going on on a screen, said by whoever took it. */
const label = z.strictObject({
  file: z.string().regex(/^[\w.-]+$/, 'the name of a file beside labels.json'),
  state: z.enum(stateNames),
  title: z.string().default(''),
  command: z.string().nullable().default(null),
  version: z.string().nullable().default(null),
  note: z.string().optional(),
});
export type ScreenLabel = z.output<typeof label>;
const labels = z.array(label).max(5_000);

export interface CheckInput {
  readonly path: string;
  readonly text: string;
  /** Where the screens are; null where there are none. */
  readonly screens: { readonly path: string; readonly labels: string; readonly read: (file: string) => string } | null;
}

export interface Checked {
  readonly agent: string;
  /** Null where no screens lie beside it. */
  readonly score: DefinitionScore | null;
}

/** Over a built-in agent only what the file says is checked: its screens were scored with the built-in rules. */
export function checkDefinition({ path, text, screens }: CheckInput): Result<Checked> {
  const name = /([^/]+)\.toml$/.exec(path)?.[1] ?? '';
  const known = agents.find((agent) => agent.name === name);
  const base = known === undefined ? null : { rules: readRuleFile(known.screen) };
  const read = readDefinition(text, { path, taken: takenNames(), base });
  if (!read.ok) return read;
  if (screens === null) return ok({ agent: read.value.agent, score: null });
  const labelled = readLabels(screens);
  if (!labelled.ok) return labelled;
  return ok({ agent: read.value.agent, score: scoreDefinition(read.value, labelled.value) });
}

function readLabels({
  path,
  labels: text,
  read,
}: NonNullable<CheckInput['screens']>): Result<readonly LabelledScreen[]> {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (problem) {
    if (!(problem instanceof SyntaxError)) throw problem;
    return fail('E_INPUT', `${path} is no JSON: ${problem.message}`, 'docs/definitions.md shows what stands in it');
  }
  const checked = labels.safeParse(data);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const where = issue?.path.map((step) => (typeof step === 'number' ? step + 1 : String(step))).join('.') ?? '';
    return fail('E_INPUT', `${path}: ${where}: ${issue?.message ?? ''}`, 'docs/definitions.md shows what stands in it');
  }
  return ok(checked.data.map((row) => ({ ...row, lines: read(row.file).split('\n') })));
}

/** Whether a name may be given to a new agent. */
export function nameToLearn(name: string): Result<string> {
  if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name))
    return fail('E_USAGE', `${name} is no name for an agent`, 'use lower-case letters, digits, - and _');
  return agents.some((agent) => agent.name === name)
    ? fail(
        'E_INPUT',
        `${name} is built in, and what is built in stays`,
        'learn your agent under a name of its own, or lay [screen] over it: docs/definitions.md',
      )
    : ok(name);
}

/** The screens that were taken before, by the scene that their files are called after. */
export function scenesTaken(
  input: NonNullable<CheckInput['screens']>,
): Result<readonly (SceneScreen & LabelledScreen)[]> {
  const labelled = readLabels(input);
  if (!labelled.ok) return labelled;
  return ok(
    labelled.value.flatMap((row) => {
      const scene = scenes.find(({ name }) => row.file.startsWith(`${name}-`))?.name;
      return scene === undefined ? [] : [{ ...row, scene }];
    }),
  );
}

/** The one pane that may be meant where none is named: a program that nobody knows and that is no shell, nor our own pane. */
export function paneToLearn<Look extends { pane: PaneId; command: string; program: unknown; agent: string | null }>(
  looks: readonly Look[],
  named: string | undefined,
  own: string | undefined = undefined,
): Result<Look> {
  if (named !== undefined) {
    const found = looks.find(({ pane }) => pane === named);
    return found === undefined
      ? fail(
          'E_REF_NOT_FOUND',
          `there is no pane ${named}`,
          "name it by its id, as in %5: `tmux list-panes -a -F '#{pane_id} #{pane_current_command}'`",
        )
      : ok(found);
  }
  const [one, ...more] = looks.filter(({ pane, program, agent }) => program !== null && agent === null && pane !== own);
  if (one === undefined)
    return fail('E_REF_NOT_FOUND', 'no pane runs a program that agtmux does not know', 'start the agent in a pane');
  return more.length === 0
    ? ok(one)
    : fail(
        'E_REF_AMBIGUOUS',
        `several panes run programs that agtmux does not know: ${[one, ...more].map(({ pane, command }) => `${pane} (${command})`).join(', ')}`,
        'name one of them',
      );
}
