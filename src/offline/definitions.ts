// A definition and labelled screens, checked without a daemon: behind `agtmux agents check` and `agents learn`.

import { z } from 'zod';
import { readDefinition } from '../agents/definition/read.ts';
import { type DefinitionScore, type LabelledScreen, scoreDefinition } from '../agents/definition/score.ts';
import { agents, takenNames } from '../agents/registry.ts';
import { readRuleFile } from '../agents/screen/rule-file.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { PaneId } from '../model/ids.ts';
import { stateNames } from '../model/states.ts';

export { draftDefinition, type SceneScreen, scenes } from '../agents/definition/draft.ts';

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

/** The one pane that may be meant where none is named: a program that nobody knows and that is no shell. */
export function paneToLearn<Look extends { pane: PaneId; program: unknown; agent: string | null }>(
  looks: readonly Look[],
  named: string | undefined,
): Result<Look> {
  if (named !== undefined) {
    const found = looks.find(({ pane }) => pane === named);
    return found === undefined
      ? fail(
          'E_REF_NOT_FOUND',
          `there is no pane ${named}`,
          'name it as tmux does, as in %5: `agtmux list --all-panes`',
        )
      : ok(found);
  }
  const [one, ...more] = looks.filter(({ program, agent }) => program !== null && agent === null);
  if (one === undefined)
    return fail('E_REF_NOT_FOUND', 'no pane runs a program that agtmux does not know', 'start the agent in a pane');
  return more.length === 0
    ? ok(one)
    : fail(
        'E_REF_AMBIGUOUS',
        `several panes run programs that agtmux does not know: ${[one, ...more].map(({ pane }) => pane).join(', ')}`,
        'name one of them',
      );
}
