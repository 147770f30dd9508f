// `agtmux agents check`: how good a definition is, without a daemon.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AgtmuxError } from '../model/errors.ts';
import { type Checked, type CheckInput, checkDefinition } from '../offline/definitions.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { type Action, must } from './context.ts';
import { print } from './output.ts';

type ShownAsk = NonNullable<NonNullable<Checked['score']>['screens'][number]['ask']>;

export const safe = (text: string): string => sanitizeLine(foreign(text));

export const agentsCheck: Action = async (parsed) => {
  const place = parsed.args[0] ?? '';
  const checked = definitionsIn(place).map(({ path, folder }) => ({
    path,
    checked: must(checkDefinition(inputOf(path, folder))),
  }));
  if (parsed.has('json')) print(JSON.stringify(checked.map(({ path, checked: one }) => ({ path, ...one }))));
  else for (const { path, checked: one } of checked) print(scoreLines(path, one).join('\n'));
  if (checked.some(({ checked: one }) => (one.score?.wrong ?? 0) > 0)) process.exitCode = 1;
};

/** A file with its folder of screens beside it, or every definition of a folder. */
function definitionsIn(place: string): readonly { readonly path: string; readonly folder: string }[] {
  if (!existsSync(place)) throw new AgtmuxError('E_FILE', `there is no ${safe(place)}`);
  if (!statSync(place).isDirectory()) {
    const beside = place.replace(/\.toml$/, '');
    return [{ path: place, folder: existsSync(join(beside, 'labels.json')) ? beside : dirname(place) }];
  }
  const files = readdirSync(place).filter((name) => name.endsWith('.toml'));
  if (files.length === 0)
    throw new AgtmuxError('E_FILE', `there is no definition in ${safe(place)}`, { next: 'a definition ends in .toml' });
  return files.sort().flatMap((name) => definitionsIn(join(place, name)));
}

export function inputOf(path: string, folder: string, text = readFileSync(path, 'utf8')): CheckInput {
  const file = join(folder, 'labels.json');
  if (!existsSync(file)) return { path, text, screens: null };
  const read = (name: string): string => {
    const screen = join(folder, name);
    if (!existsSync(screen)) throw new AgtmuxError('E_FILE', `${safe(file)} names ${safe(name)}, which is not there`);
    return readFileSync(screen, 'utf8');
  };
  return { path, text, screens: { path: file, labels: readFileSync(file, 'utf8'), read } };
}

export function scoreLines(path: string, { agent, score }: Checked): readonly string[] {
  if (score === null)
    return [`${safe(path)}: ${safe(agent)} can be read; there are no labelled screens beside it to score it on`];
  const { screens, right, unknown, wrong, weak } = score;
  const rows = screens.flatMap(({ file, expected, read, outcome, rule, approve, ask }, at) => {
    const keys = approve === null ? '' : `  approve presses ${safe(approve)}`;
    const row = `  ${outcome.padEnd(8)} ${safe(file).padEnd(28)} ${expected.padEnd(17)} ${read.padEnd(17)} ${safe(rule ?? 'no rule')}${keys}`;
    // Looks of one scene ask the same.
    const isSame = JSON.stringify(screens[at - 1]?.ask) === JSON.stringify(ask);
    return ask === null || isSame ? [row] : [row, ...askLines(ask)];
  });
  return [
    `${safe(path)}: ${safe(agent)}: ${right} of ${screens.length} right, ${unknown} unknown, ${wrong} wrong`,
    `  ${''.padEnd(8)} ${'screen'.padEnd(28)} ${'was'.padEnd(17)} ${'read as'.padEnd(17)} rule`,
    ...rows,
    ...(weak.length === 0 ? [] : ['weak', ...weak.map((one) => `  ${safe(one)}`)]),
  ];
}

/** What somebody who approves is shown. */
export const askLines = ({ text, options }: ShownAsk): readonly string[] => [
  `           asks     ${text === '' ? 'nothing: its words are not found' : ''}`.trimEnd(),
  ...text.split('\n').map((line) => `             ${safe(line)}`.trimEnd()),
  `           options  ${options.map(({ id, label }) => safe(id === label ? label : `${id}: ${label}`)).join(' / ') || 'none are found'}`,
];
