// What came out of the runs: kept in .agents, one entry a run, and shown as tables in docs/agents.md.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { actingNames } from './act-names.ts';
import type { ActingResult } from './acting.ts';
import { stepNames } from './actor.ts';
import type { StepResult } from './play.ts';
import { agentsDir } from './stage.ts';

export const modes = ['plain', 'hooks'] as const;
export type RunMode = (typeof modes)[number];

interface Run {
  readonly label: string;
  readonly version: string;
  readonly mode: RunMode;
  readonly began: number;
  readonly steps: readonly StepResult[];
}

type ActingRun = Omit<Run, 'mode' | 'steps'> & { readonly steps: readonly ActingResult[] };

const resultsPath = join(agentsDir, 'results.json');
const actingPath = join(agentsDir, 'acting.json');
const seenPath = fileURLToPath(new URL('../../src/agents/seen.json', import.meta.url));
const pagePath = fileURLToPath(new URL('../../docs/agents.md', import.meta.url));
const stateMarks = ['<!-- results: written by make test-agents -->', '<!-- end of results -->'] as const;
const seenMarks = ['<!-- seen: written by make test-agents -->', '<!-- end of seen -->'] as const;
const actingMarks = ['<!-- acting: written by make test-agents -->', '<!-- end of acting -->'] as const;

export function readRuns<Kept = Run>(path: string): readonly Kept[] {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as readonly Kept[]) : [];
}

/** Takes the place of an earlier run of the same agent in the same mode. */
export function keepRun(run: Run): void {
  const others = readRuns(resultsPath).filter((one) => one.label !== run.label || one.mode !== run.mode);
  const runs = [...others, run].sort((a, b) => (`${a.label} ${a.mode}` < `${b.label} ${b.mode}` ? -1 : 1));
  writeFileSync(resultsPath, `${JSON.stringify(runs, null, 1)}\n`);
}

export function keepActing(run: ActingRun): void {
  const others = readRuns<ActingRun>(actingPath).filter(({ label }) => label !== run.label);
  const runs = [...others, run].sort((a, b) => (a.label < b.label ? -1 : 1));
  writeFileSync(actingPath, `${JSON.stringify(runs, null, 1)}\n`);
}

function cellOf(result: StepResult | undefined): string {
  if (result === undefined) return '';
  if (result.verdict === 'n/a' || result.verdict === 'not provoked') return result.verdict;
  const time = result.afterTruthMs === null ? '' : `, ${result.afterTruthMs} ms`;
  const slip = result.verdict === 'seen' && result.note !== null ? ' *' : '';
  return `${result.verdict === 'seen' ? '' : `**${result.verdict}** `}${result.told}${time}${slip}`;
}

const titles: Readonly<Record<RunMode, string>> = { plain: 'Without hooks', hooks: 'With hooks' };

function tableOf(mode: RunMode, runs: readonly Run[]): string {
  const columns = runs.filter((one) => one.mode === mode);
  if (columns.length === 0) return '';
  const head = ['step', ...columns.map(({ label, version }) => `${label} ${version}`)];
  const lines = stepNames.map((name) => [
    name,
    ...columns.map(({ steps }) => cellOf(steps.find(({ step }) => step === name))),
  ]);
  return [row(head), row(head.map(() => '---')), ...lines.map(row)].join('\n');
}

export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function notesOf(runs: readonly (Run | ActingRun)[]): string {
  const notes = new Set<string>();
  for (const { label, steps } of runs) {
    for (const { step, verdict, note } of steps) if (verdict === 'n/a') notes.add(`- ${label}, ${step}: ${note}`);
  }
  return [...notes].join('\n');
}

/** Puts a text between two marks of the page; the words around them stay. */
export function put([opening, closing]: readonly [string, string], text: string): void {
  const page = readFileSync(pagePath, 'utf8');
  const start = page.indexOf(opening);
  const end = page.indexOf(closing);
  if (start < 0 || end < start) throw new Error(`${pagePath} has lost its marks`);
  writeFileSync(pagePath, `${page.slice(0, start)}${opening}\n\n${text.trimEnd()}\n\n${page.slice(end)}`);
}

/** The text between two marks of the page. */
function between([opening, closing]: readonly [string, string]): string {
  const page = readFileSync(pagePath, 'utf8');
  return page.slice(page.indexOf(opening) + opening.length, page.indexOf(closing));
}

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** `codex, own process` of `codex, own process 0.166.0`. */
const labelOf = (head: string): string => head.replace(/ [\d.]+$/, '');

/** A table as it is on the page: its columns by their heads, and in each a cell for every step. */
function columnsOf(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const [head = [], , ...lines] = text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf);
  return new Map(
    head.slice(1).map((name, at) => [name, new Map(lines.map((cells) => [cells[0] ?? '', cells[at + 1] ?? '']))]),
  );
}

/** Who plays some of the agents leaves the columns of the others as they stand on the page. */
function merged(before: string, after: string): string {
  const played = columnsOf(after);
  const labels = [...played.keys()].map(labelOf);
  const kept = [...columnsOf(before)].filter(([head]) => !labels.includes(labelOf(head)));
  if (kept.length === 0) return after;
  const columns = [...kept, ...played].sort(([one], [other]) => (labelOf(one) < labelOf(other) ? -1 : 1));
  const [first = [], , ...lines] = after
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf);
  const head = [first[0] ?? '', ...columns.map(([name]) => name)];
  const rows = lines.map(([step = '']) => [step, ...columns.map(([, cells]) => cells.get(step) ?? '')]);
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}

/** The same for the notes below it, which begin with the agent. */
function mergedNotes(before: string, after: string, labels: readonly string[]): string {
  const notesIn = (text: string): readonly string[] => text.split('\n').filter((line) => line.startsWith('- '));
  const isPlayed = (note: string): boolean => labels.some((label) => note.startsWith(`- ${label}, `));
  return [...notesIn(before).filter((note) => !isPlayed(note)), ...notesIn(after)].join('\n');
}

/** The part of a text below a heading, up to the next one. */
const below = (text: string, heading: string): string => text.split(`### ${heading}\n`)[1]?.split('\n### ')[0] ?? '';

/** Tables and notes under their headings, with what the page has of agents that were not played. */
function withOthers(
  before: string,
  parts: readonly (readonly [heading: string, table: string])[],
  notes: readonly [heading: string, text: string],
  labels: readonly string[],
): string {
  const tables = parts.map(([heading, table]) => {
    const old = heading === '' ? (before.split('\n### ')[0] ?? '') : below(before, heading);
    const text = table === '' ? old.trim() : merged(old, table);
    return heading === '' ? text : `### ${heading}\n\n${text}`;
  });
  const [heading, text] = notes;
  const all = mergedNotes(below(before, heading), text, labels);
  return [...tables, ...(all === '' ? [] : [`### ${heading}\n\n${all}`])].join('\n\n');
}

/** `19 of 20`, of the steps that exist. */
function countOf(steps: readonly (StepResult | ActingResult)[]): string {
  const played = steps.filter(({ verdict }) => verdict !== 'n/a');
  return `${played.filter(({ verdict }) => verdict === 'seen' || verdict === 'right').length} of ${played.length}`;
}

/**
 * How much of each agent was seen, by agent and version: what `agtmux agents` shows, and a table on the page. Of agents that were
 * not played here it stays as it was.
 */
function writeSeen(): void {
  const runs = readRuns(resultsPath);
  const acts = readRuns<ActingRun>(actingPath);
  const before = JSON.parse(readFileSync(seenPath, 'utf8')) as Record<string, string>;
  for (const { label, version, steps } of runs.filter(({ mode }) => mode === 'plain')) {
    const hooks = runs.find((one) => one.label === label && one.mode === 'hooks');
    const keys = acts.find((one) => one.label === label);
    const parts = [
      ...(steps.find(({ step }) => step === 'start')?.verdict === 'seen' ? ['process'] : []),
      `screen ${countOf(steps)}`,
      ...(hooks === undefined ? [] : [`hooks ${countOf(hooks.steps)}`]),
      ...(keys === undefined ? [] : [`keys ${countOf(keys.steps)}`]),
    ];
    before[label] = `${version}: ${parts.join(', ')}`;
  }
  const all = Object.entries(before).sort(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(seenPath, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
  const lines = all.map(([label, words]) => row([label, ...words.split(/: (.*)/s).slice(0, 2)]));
  put(seenMarks, [row(['agent', 'version', 'seen']), row(['---', '---', '---']), ...lines].join('\n'));
}

export function writeTable(): void {
  writeSeen();
  const runs = readRuns(resultsPath);
  const notes = ['Steps that do not exist', notesOf(runs)] as const;
  const parts = modes.map((mode) => [titles[mode], tableOf(mode, runs)] as const);
  put(
    stateMarks,
    withOthers(
      between(stateMarks),
      parts,
      notes,
      runs.map(({ label }) => label),
    ),
  );
}

function actingCell(result: ActingResult | undefined): string {
  if (result === undefined) return '';
  const { verdict, told, tookMs } = result;
  if (verdict === 'n/a' || verdict === 'not provoked') return verdict;
  const words = [...(verdict === 'right' ? [] : ['**wrong**']), ...(told === '' ? ['yes'] : [told])].join(' ');
  return tookMs === null ? words : `${words}, ${tookMs} ms`;
}

export function writeActingTable(): void {
  writeSeen();
  const runs = readRuns<ActingRun>(actingPath);
  const head = ['act', ...runs.map(({ label, version }) => `${label} ${version}`)];
  const lines = actingNames.map((name) => [
    name,
    ...runs.map(({ steps }) => actingCell(steps.find(({ step }) => step === name))),
  ]);
  const table = [row(head), row(head.map(() => '---')), ...lines.map(row)].join('\n');
  const notes = ['Acts that were not played', notesOf(runs)] as const;
  put(
    actingMarks,
    withOthers(
      between(actingMarks),
      [['', table]],
      notes,
      runs.map(({ label }) => label),
    ),
  );
}
