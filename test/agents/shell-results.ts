// What came of the shells of real agents: kept in .agents, one entry an agent, and shown as a table in docs/agents.md.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { put, readRuns, row } from './results.ts';
import { shellNames } from './shell-names.ts';
import type { ShellingResult } from './shelling.ts';
import { agentsDir } from './stage.ts';

interface ShellingRun {
  readonly label: string;
  readonly version: string;
  readonly began: number;
  readonly steps: readonly ShellingResult[];
}

const path = join(agentsDir, 'shells.json');
const marks = ['<!-- shells: written by make test-agents -->', '<!-- end of shells -->'] as const;

/** Takes the place of an earlier run of the same agent. */
export function keepShelling(run: ShellingRun): void {
  const others = readRuns<ShellingRun>(path).filter(({ label }) => label !== run.label);
  const runs = [...others, run].sort((a, b) => (a.label < b.label ? -1 : 1));
  writeFileSync(path, `${JSON.stringify(runs, null, 1)}\n`);
}

function cellOf(result: ShellingResult | undefined): string {
  if (result === undefined) return '';
  if (result.verdict === 'n/a') return 'n/a';
  const words = result.verdict === 'right' ? 'yes' : `**${result.verdict}**`;
  return result.tookMs === null ? words : `${words}, ${result.tookMs} ms`;
}

export function writeShellingTable(): void {
  const runs = readRuns<ShellingRun>(path);
  const head = ['shell', ...runs.map(({ label, version }) => `${label} ${version}`)];
  const lines = shellNames.map((name) => [
    name,
    ...runs.map(({ steps }) => cellOf(steps.find(({ step }) => step === name))),
  ]);
  const notes = runs.flatMap(({ label, steps }) =>
    steps.flatMap(({ step, verdict, note }) => (verdict === 'n/a' ? [`- ${label}, ${step}: ${note}`] : [])),
  );
  put(marks, [row(head), row(head.map(() => '---')), ...lines.map(row), '', ...notes].join('\n'));
}
