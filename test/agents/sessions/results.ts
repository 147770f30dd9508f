// What came of leading the agents: kept in .agents, one entry an agent, and shown as a table in docs/agents.md.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { put, readRuns, row } from '../results.ts';
import { agentsDir } from '../stage.ts';
import { type SceneName, sceneNames } from './player.ts';

export interface Played {
  readonly scene: SceneName;
  readonly verdict: 'right' | 'wrong' | 'n/a';
  /** The states, one after another. */
  readonly seen: string;
  /** What went wrong, or why it was not played, or why the states differ from the usual ones. */
  readonly why: string | null;
  readonly tookMs: number;
}

export interface SessionsRun {
  readonly label: string;
  readonly version: string;
  readonly driver: string;
  readonly scenes: readonly Played[];
}

const path = join(agentsDir, 'sessions.json');
const marks = ['<!-- sessions: written by make test-agents -->', '<!-- end of sessions -->'] as const;

/** Takes the place of an earlier run of the same agent. */
export function keepSessions(run: SessionsRun): void {
  const others = readRuns<SessionsRun>(path).filter(({ label }) => label !== run.label);
  const runs = [...others, run].sort((a, b) => (a.label < b.label ? -1 : 1));
  writeFileSync(path, `${JSON.stringify(runs, null, 1)}\n`);
}

function cellOf(played: Played | undefined): string {
  if (played === undefined) return '';
  const { verdict, tookMs } = played;
  return verdict === 'n/a' ? verdict : `${verdict === 'right' ? verdict : '**wrong**'}, ${tookMs} ms`;
}

export function writeSessionsTable(): void {
  const runs = readRuns<SessionsRun>(path);
  const head = ['scene', ...runs.map(({ label, version, driver }) => `${label} ${version} (${driver})`)];
  const lines = sceneNames.map((name) => [
    name,
    ...runs.map(({ scenes }) => cellOf(scenes.find(({ scene }) => scene === name))),
  ]);
  const notes = runs.flatMap(({ label, scenes }) =>
    scenes.flatMap(({ scene, why }) => (why === null ? [] : [`- ${label}, ${scene}: ${why}`])),
  );
  const more = notes.length === 0 ? [] : ['', '### Scenes that differ', '', ...notes];
  put(marks, [row(head), row(head.map(() => '---')), ...lines.map(row), ...more].join('\n'));
}
