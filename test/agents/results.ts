// What came out of the runs: kept in .agents/results.json, one entry a run, and shown as tables in docs/agents.md.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

const resultsPath = join(agentsDir, 'results.json');
const pagePath = fileURLToPath(new URL('../../docs/agents.md', import.meta.url));
const opening = '<!-- results: written by make test-agents -->';
const closing = '<!-- end of results -->';

function readRuns(): readonly Run[] {
  return existsSync(resultsPath) ? (JSON.parse(readFileSync(resultsPath, 'utf8')) as readonly Run[]) : [];
}

/** Takes the place of an earlier run of the same agent in the same mode. */
export function keepRun(run: Run): void {
  const others = readRuns().filter((one) => one.label !== run.label || one.mode !== run.mode);
  const runs = [...others, run].sort((a, b) => (`${a.label} ${a.mode}` < `${b.label} ${b.mode}` ? -1 : 1));
  writeFileSync(resultsPath, `${JSON.stringify(runs, null, 1)}\n`);
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

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function notesOf(runs: readonly Run[]): string {
  const notes = new Set<string>();
  for (const { label, steps } of runs) {
    for (const { step, verdict, note } of steps) if (verdict === 'n/a') notes.add(`- ${label}, ${step}: ${note}`);
  }
  return notes.size === 0 ? '' : ['### Steps that do not exist', '', ...notes, ''].join('\n');
}

/** Writes the tables between the marks of the page; the words around them stay. */
export function writeTable(): void {
  const runs = readRuns();
  const page = existsSync(pagePath) ? readFileSync(pagePath, 'utf8') : `# Agents\n\n${opening}\n${closing}\n`;
  const start = page.indexOf(opening);
  const end = page.indexOf(closing);
  if (start < 0 || end < start) throw new Error(`${pagePath} has lost its marks`);
  const tables = modes.map((mode) => tableOf(mode, runs)).filter((text) => text !== '');
  const text = [opening, '', ...tables, notesOf(runs)].join('\n').trimEnd();
  writeFileSync(pagePath, `${page.slice(0, start)}${text}\n\n${page.slice(end)}`);
}
