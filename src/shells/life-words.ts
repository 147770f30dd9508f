// What cards, answers and notices say about the life of a shell. Whatever others wrote has passed the gate (SEC3).

import {
  type ShellNotice,
  type ShellParty,
  type ShellRecord,
  type ShellResult,
  type ShellVia,
  shellStatusText,
} from '../model/shells.ts';
import { foreign, type SafeText, sanitizeLine } from '../text/sanitize.ts';

const nameColumnsMax = 60;
const reasonColumnsMax = 200;

export const safeReason = (text: string): SafeText => sanitizeLine(foreign(text), { columnsMax: reasonColumnsMax });

/** What people call it: its label, or what it runs. */
export const shellName = ({ label, command }: Pick<ShellRecord, 'label' | 'command'>): SafeText =>
  sanitizeLine(foreign(label ?? command), { columnsMax: nameColumnsMax });

/** `60s`, `0.5s`. */
export const secondsText = (ms: number): string => `${Number((ms / 1000).toFixed(1))}s`;

const through = (via: ShellVia | null): string => (via === null ? '' : ` (${via})`);

/** Why it is in the background. */
export function promotionWords(by: ShellParty, budgetMs: number, via: ShellVia | null): string {
  switch (by) {
    case 'system':
      return `auto background (${secondsText(budgetMs)} budget exceeded)`;
    case 'user':
      return `moved to background by user${through(via ?? 'Ctrl+R')}`;
    case 'agent':
      return 'moved to background by agent';
  }
}

export const adoptionWords = 'auto background (the daemon restarted)';

/**
 * Until it is gone the card says what is under way; when it is gone the same words without this say what was done. So
 * the reason needs no second field.
 */
const underWay = 'being ';

export const killWords = (by: Exclude<ShellParty, 'system'>, via: ShellVia | null): string =>
  `${underWay}killed by ${by}${by === 'user' ? through(via ?? 'Shell panel') : ''}`;
export const timeoutWords = (timeoutMs: number | null): string =>
  `${underWay}killed at its timeout${timeoutMs === null ? '' : ` (${secondsText(timeoutMs)})`}`;
export const cancelWords = `${underWay}killed by agent (the call was cancelled)`;

const killedWords = ({ words, kill_requested_by }: ShellRecord): string =>
  words?.startsWith(underWay) === true ? words.slice(underWay.length) : `killed by ${kill_requested_by ?? 'system'}`;

export const lostWords = 'exit status lost';

const knownStatuses: Readonly<Record<number, string>> = { 126: ' (cannot be executed)', 127: ' (command not found)' };

/** Why it ended, from its last record before the end and how it ended. */
export function endWords(
  before: ShellRecord,
  end: Pick<ShellRecord, 'exit_code' | 'signal' | 'is_signal_inferred'>,
): string | null {
  if (before.kill_requested_by !== null) {
    const words = killedWords(before);
    return end.exit_code === 0 ? words.replace(/^killed/, 'stopped') : words;
  }
  if (end.signal !== null) {
    const inferred = end.is_signal_inferred ? `, inferred from status ${end.exit_code}` : '';
    return `killed by ${end.signal} (outside)${inferred}`;
  }
  if (end.exit_code === 0) return before.words;
  return `exited with status ${end.exit_code}${knownStatuses[end.exit_code ?? 0] ?? ''}`;
}

export const lostEndWords = (before: ShellRecord): string =>
  before.kill_requested_by === null ? lostWords : `${killedWords(before)}, ${lostWords}`;

export const spawnFailedWords = (reason: string): string => `could not be started: ${safeReason(reason)}`;

export const killFailedWords = (before: ShellRecord, reason: string): string =>
  `not ${killedWords(before)}: ${safeReason(reason)}`;

export const restartWords = (by: ShellParty): string => `run again by ${by}`;

const withWords = (text: string, words: string | null): string => (words === null ? text : `${text}: ${words}`);

/** One sentence to a result, for models and people. `record` is as it is after the step. */
export function reasonOf(result: ShellResult, record: ShellRecord, because: string | null = null): string {
  const { shell_id, words } = record;
  switch (result) {
    case 'Started':
      return `${shell_id} runs in the background`;
    case 'Completed':
      return withWords(`${shell_id} has completed`, words);
    case 'Failed':
      return withWords(`${shell_id} ${shellStatusText(record)}`, words);
    case 'Running':
    case 'Backgrounded':
      return withWords(`${shell_id} continues in the background`, words);
    case 'Killed':
      return withWords(`${shell_id} has ended`, words);
    case 'KillPending':
      return withWords(`${shell_id} has not ended yet`, words);
    case 'KillFailed':
      return withWords(`${shell_id} keeps running`, words);
    case 'AlreadyBackground':
      return `${shell_id} is already in the background`;
    case 'Resumed':
      return `${shell_id} was stopped and is continued`;
    case 'Restarted':
      return `${shell_id} ${words ?? 'runs again'}, attempt ${record.attempt}`;
    case 'AlreadyRunning':
      return `${shell_id} is running; nothing to resume`;
    case 'ResumeUnavailable':
      return `${shell_id} cannot be run again: ${safeReason(because ?? 'what it needs is gone')}`;
    case 'AlreadyFinishedCompleted':
      return withWords(`${shell_id} had already completed`, words);
    case 'AlreadyFinishedFailed':
      return withWords(`${shell_id} had already ended, ${shellStatusText(record)}`, words);
    case 'NotFound':
      return `there is no ${shell_id}`;
    case 'Refused':
      return `${shell_id}: ${safeReason(because ?? 'refused')}`;
  }
}

const actors: Readonly<Record<ShellParty, string>> = { agent: 'you', user: 'the user', system: 'the system' };

/** "the user killed shell-3 (sleep 120)". To the agent, so it is "you" there. `record` is as it is after the step. */
export function noticeWords(kind: ShellNotice['kind'], by: ShellParty, record: ShellRecord): string {
  const name = `${record.shell_id} (${shellName(record)})`;
  switch (kind) {
    case 'exited':
      return withWords(
        `${name} ${record.status === 'completed' ? 'has completed' : shellStatusText(record)}`,
        record.words,
      );
    case 'killed':
      return by === 'system' ? withWords(`${name} has ended`, record.words) : `${actors[by]} killed ${name}`;
    case 'auto_background':
      return withWords(`${name} continues in the background`, record.words);
    case 'user_background':
      return `${actors[by]} moved ${name} to the background`;
    case 'resumed':
      return record.attempt > 1 && record.process === null
        ? `${actors[by]} ran ${name} again, attempt ${record.attempt}`
        : `${actors[by]} continued ${name}`;
    case 'lost':
      return `${name} has ended: ${record.words ?? lostWords}`;
  }
}
