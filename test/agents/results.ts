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
const pagePath = fileURLToPath(new URL('../../docs/agents.md', import.meta.url));
const stateMarks = ['<!-- results: written by make test-agents -->', '<!-- end of results -->'] as const;
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

function tableOf(mode: RunMode, runs: readonly Run[]): string {
  const columns = runs.filter((one) => one.mode === mode);
  if (columns.length === 0) return '';
  const head = ['step', ...columns.map(({ label, version }) => `${label} ${version}`)];
  const lines = stepNames.map((name) => [
    name,
    ...columns.map(({ steps }) => cellOf(steps.find(({ step }) => step === name))),
  ]);
  const title = mode === 'plain' ? 'Without hooks' : 'With hooks';
  return [`### ${title}`, '', row(head), row(head.map(() => '---')), ...lines.map(row), ''].join('\n');
}

export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function notesOf(title: string, runs: readonly (Run | ActingRun)[]): string {
  const notes = new Set<string>();
  for (const { label, steps } of runs) {
    for (const { step, verdict, note } of steps) if (verdict === 'n/a') notes.add(`- ${label}, ${step}: ${note}`);
  }
  return notes.size === 0 ? '' : [`### ${title}`, '', ...notes, ''].join('\n');
}

/** Puts a text between two marks of the page; the words around them stay. */
export function put([opening, closing]: readonly [string, string], text: string): void {
  const page = readFileSync(pagePath, 'utf8');
  const start = page.indexOf(opening);
  const end = page.indexOf(closing);
  if (start < 0 || end < start) throw new Error(`${pagePath} has lost its marks`);
  writeFileSync(pagePath, `${page.slice(0, start)}${opening}\n\n${text.trimEnd()}\n\n${page.slice(end)}`);
}

export function writeTable(): void {
  const runs = readRuns(resultsPath);
  const tables = modes.map((mode) => tableOf(mode, runs)).filter((text) => text !== '');
  put(stateMarks, [...tables, notesOf('Steps that do not exist', runs)].join('\n'));
}

function actingCell(result: ActingResult | undefined): string {
  if (result === undefined) return '';
  const { verdict, told, tookMs } = result;
  if (verdict === 'n/a' || verdict === 'not provoked') return verdict;
  const words = [...(verdict === 'right' ? [] : ['**wrong**']), ...(told === '' ? ['yes'] : [told])].join(' ');
  return tookMs === null ? words : `${words}, ${tookMs} ms`;
}

export function writeActingTable(): void {
  const runs = readRuns<ActingRun>(actingPath);
  const head = ['act', ...runs.map(({ label, version }) => `${label} ${version}`)];
  const lines = actingNames.map((name) => [
    name,
    ...runs.map(({ steps }) => actingCell(steps.find(({ step }) => step === name))),
  ]);
  put(
    actingMarks,
    [row(head), row(head.map(() => '---')), ...lines.map(row), '', notesOf('Acts that were not played', runs)].join(
      '\n',
    ),
  );
}
