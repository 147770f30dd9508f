// What is put into the files of agents, as people decide on it: the difference, a question, what was done; and what is there.
// The same for hooks and for the MCP server. The files themselves are never touched from here.

import type { HookOutcomeReply, HookPlanReply, HookStatusReply } from '../api/hooks.ts';
import { AgtmuxError } from '../model/errors.ts';
import { foreign, sanitizeBlock, sanitizeLine } from '../text/sanitize.ts';
import { print } from './output.ts';
import { hasTerminal, isWanted } from './question.ts';

/** Said by `agtmux setup` alone: one line a change, and the difference when somebody asks for it. No command has this option. */
export const briefly = 'brief';

export interface PlanWords {
  /** `hooks`. */
  readonly noun: string;
  /** What the program is that all agents call. */
  readonly program: string;
  /** The machine, for people. */
  readonly target: string;
}

export const shown = (text: string): string => sanitizeLine(foreign(text));

export type Plan = Omit<HookPlanReply, 'target'>;

export function showPlan(plan: Plan, words: PlanWords, isColoured: boolean): void {
  const { action, edits, agents, unused } = plan;
  for (const { path, change: how, diff } of edits) {
    const [from, to] = [how === 'create' ? '/dev/null' : path, how === 'delete' ? '/dev/null' : path];
    if (diff === '') print(shown(`${how === 'create' ? 'new' : 'changed'}: ${path}, ${words.program}`));
    else print([`--- ${shown(from)}`, `+++ ${shown(to)}`, ...diffLines(diff, isColoured)].join('\n'));
  }
  if (unused.length > 0)
    print(shown(`not in use on ${words.target}, skipped: ${unused.join(', ')}; name one with --agent to include it`));
  if (edits.length > 0) return;
  const done = action === 'install' ? 'already installed' : 'nothing was installed';
  print(shown(agents.length === 0 ? `no agent to install ${words.noun} for` : `${done}: ${agents.join(', ')}`));
}

/** The same in one line a file, for who decides without reading all of it. */
export function showSummary(plan: Plan, words: PlanWords): void {
  const { action, edits, agents, unused } = plan;
  for (const { path, change: how, diff } of edits) {
    const count = (mark: string): number => diff.split('\n').filter((line) => line.startsWith(mark)).length;
    print(shown(changeLine(path, how, diff === '' ? words.program : linesWords(count('+'), count('-')))));
  }
  if (edits.length > 0) return;
  const done = action === 'install' ? 'already installed' : 'nothing was installed';
  if (agents.length > 0) print(shown(`  ${done}: ${agents.join(', ')}`));
  else
    print(
      shown(`  no agent to install ${words.noun} for${unused.length > 0 ? `; not in use: ${unused.join(', ')}` : ''}`),
    );
}

/** `  new     ~/.codex/hooks.json, 40 lines`. */
export const changeLine = (path: string, how: 'create' | 'change' | 'delete', words: string): string =>
  `  ${{ create: 'new', change: 'change', delete: 'remove' }[how].padEnd(7)} ${path}, ${words}`;

/** `+40 lines`, `+40 -2 lines`. */
export function linesWords(added: number, removed: number): string {
  const counts = [added > 0 ? `+${added}` : '', removed > 0 ? `-${removed}` : ''].filter((count) => count !== '');
  return `${counts.join(' ')} ${added + removed === 1 ? 'line' : 'lines'}`;
}

function diffLines(diff: string, isColoured: boolean): readonly string[] {
  const lines = sanitizeBlock(foreign(diff)).replace(/\n$/, '').split('\n');
  if (!isColoured) return lines;
  const colours: Readonly<Record<string, number>> = { '+': 32, '-': 31, '@': 36 };
  return lines.map((line) => {
    const colour = colours[line.slice(0, 1)];
    return colour === undefined ? line : `\u001b[${colour}m${line}\u001b[0m`;
  });
}

export type Outcome = Omit<HookOutcomeReply, 'target' | 'trust'>;

/** `more` is what else is worth saying, between the files and the notes. */
export function outcomeLines({ written, removed, notes }: Outcome, more: readonly string[] = []): readonly string[] {
  return [
    ...written.map((path) => `written: ${path}`),
    ...removed.map((path) => `removed: ${path}`),
    ...more,
    ...notes,
  ].map(shown);
}

/** `show` has the whole difference, where only a summary was printed. */
export async function confirm(
  { action, edits }: Plan,
  words: PlanWords,
  more = '',
  show: (() => unknown) | null = null,
): Promise<void> {
  const files = edits.length === 1 ? '1 file' : `${edits.length} files`;
  const verb = action === 'install' ? 'Write' : 'Change';
  const what = edits.length > 0 ? `${verb} ${files} on ${shown(words.target)}` : 'Do it';
  if (!hasTerminal()) {
    throw new AgtmuxError(
      'E_USAGE',
      'nothing was written: this needs confirmation, and there is no terminal to ask on',
      {
        next: 'check the difference, then use --yes',
      },
    );
  }
  if (await isWanted(`${what}${more}?`, show)) return;
  throw new AgtmuxError('E_USAGE', 'nothing was written', { next: 'answer y, or use --yes' });
}

type Status = Pick<HookStatusReply, 'agents' | 'program'>;

/** Something is not as it should be: half installed, unreadable, or calls a program of another version. */
export function isTrouble({ agents, program }: Status): boolean {
  const isInstalled = agents.some(({ state }) => state === 'installed');
  const isBroken = agents.some(({ state }) => state === 'partial' || state === 'broken');
  return isBroken || (isInstalled && program.state !== 'current');
}

/** `renew` is the command that sets the program right. */
export function statusLines({ agents, program }: Status, renew: string): readonly string[] {
  const width = Math.max(...agents.map(({ agent }) => agent.length), 0) + 2;
  const lines = agents.flatMap(({ agent, state, is_used, files, notes }) => {
    const isPlain = state === 'absent' && !is_used;
    const more = [...(isPlain ? ['not in use here'] : []), ...notes];
    const line = `${agent.padEnd(width)}${state}${more.length > 0 ? ` (${more.join('; ')})` : ''}`;
    const problems = files.flatMap(({ problem }) => (problem === null ? [] : [`  ${problem}`]));
    return [line, ...problems];
  });
  const words: Readonly<Record<Status['program']['state'], string>> = {
    current: 'is installed',
    other: `is from another version; \`${renew}\` updates it`,
    absent: 'is missing',
  };
  return [...lines, `${program.path} ${words[program.state]}`];
}

/** The daemon may have been started from another shell; where agents keep their files is said by this one. */
export function chosen(names: readonly string[]): Readonly<Record<string, string>> {
  const { env } = process;
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]] as const] : [])));
}
