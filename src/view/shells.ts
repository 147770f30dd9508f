// Shells as every screen shows them: the card of one shell (SHL8), the notice of something that happened to it, the hints
// in a footer, and the words for times and badges. Pure; what others wrote passes the gate here (SEC3).

import type { ShellItem } from '../api/shells.ts';
import { type ShellNotice, type ShellStatus, shellStatusText } from '../model/shells.ts';
import { foreign, type SafeText, sanitizeLine } from '../text/sanitize.ts';
import type { PaintRole } from './paint.ts';
import { cutLine, type SpanLine, span } from './shells-spans.ts';

/** What a person calls it: its label, or what it runs. */
export const shellLabel = ({ label, command }: Pick<ShellItem, 'label' | 'command'>): SafeText =>
  sanitizeLine(foreign(label ?? command));

export const statusRoles: Readonly<Record<ShellStatus, PaintRole>> = {
  running: 'connected',
  completed: 'doubt',
  failed: 'bad',
};

const headWords: Readonly<Record<ShellStatus, string>> = { running: 'Shell', completed: 'Completed', failed: 'Failed' };

export const shellMark = '●';
export const backgroundHint = 'Ctrl+R → background';

export const isForeground = ({ status, start_mode }: Pick<ShellItem, 'status' | 'start_mode'>): boolean =>
  status === 'running' && start_mode === 'foreground';

/** `failed (code 143)`, `running, stopped`; with the attempt, where it is not the first. */
export const statusWords = (
  row: Pick<ShellItem, 'status' | 'exit_code' | 'signal' | 'is_stopped' | 'attempt'>,
): string =>
  `${shellStatusText(row)}${row.is_stopped ? ', stopped' : ''}${row.attempt > 1 ? `, attempt ${row.attempt}` : ''}`;

/** The card of one shell: at most ten lines, in the same place for as long as it is shown. */
export function shellCard(row: ShellItem, { columns }: { readonly columns: number }): readonly SpanLine[] {
  const { status, shell_id, label, words } = row;
  const log = row.last_log.map((line) => sanitizeLine(foreign(line))).slice(-2);
  // When it is over, the head names the command unless it has a name of its own.
  const hasCommand = status === 'running' || label !== null;
  const lines: readonly SpanLine[] = [
    [span(shellMark, statusRoles[status]), span(` ${headWords[status]} (`), span(shellLabel(row), 'title'), span(')')],
    [span('  └ Status: '), span(statusWords(row), statusRoles[status]), span(` · ${shell_id}`)],
    ...(hasCommand ? [[span(`    Command: ${sanitizeLine(foreign(row.command))}`)]] : []),
    ...(words === null ? [] : [[span(`    Reason: ${sanitizeLine(foreign(words))}`)]]),
    [span('    Last log:')],
    ...(log.length === 0 ? ['(no output)'] : log).map((line) => [span(`        ${line}`, 'dim')]),
    ...(isForeground(row) ? [[span(`    ${backgroundHint}`, 'dim')]] : []),
  ];
  return lines.map((line) => cutLine(line, columns));
}

const endKinds: ReadonlySet<ShellNotice['kind']> = new Set(['exited', 'killed', 'lost']);

/** One dim line in a conversation. */
export function shellNotice(
  { kind, by, words }: Pick<ShellNotice, 'kind' | 'by' | 'words'>,
  { columns }: { readonly columns: number },
): SpanLine {
  const ended = endKinds.has(kind) ? ` · ended by ${by}` : '';
  return cutLine([span(`· ${sanitizeLine(foreign(words))}${ended}`, 'dim')], columns);
}

/** For the footer of any screen: the hint of the panel, and Ctrl+R while somebody waits for a shell. */
export function shellHints(rows: readonly Pick<ShellItem, 'status' | 'start_mode'>[]): readonly string[] {
  const running = rows.filter(({ status }) => status === 'running');
  if (rows.length === 0) return [];
  const panel = running.length === 0 ? '[Shell ▾]' : `[Shell ▾ ${running.length}]`;
  return running.some(isForeground) ? [panel, backgroundHint] : [panel];
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `01:43`, `1:02:03`, `2d 03h`. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  if (hours >= 24) return `${Math.floor(hours / 24)}d ${two(hours % 24)}h`;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${two(minutes)}:${two(seconds % 60)}`;
}

export const ranMs = ({ started_at, ended_at }: Pick<ShellItem, 'started_at' | 'ended_at'>, now: number): number =>
  Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at));

/** How long it still takes, if somebody said how long that would be and it has not been longer; else how long it took. */
export function timeText(row: ShellItem, now: number): string {
  const ran = ranMs(row, now);
  const left = row.status === 'running' && row.expected_ms !== null ? row.expected_ms - ran : 0;
  return left > 0 ? `ETA ${clockText(left)}` : clockText(ran);
}

/** Whose doing it is that it runs as it does, or how it ended. */
export function badgeText(row: ShellItem, now: number): string {
  return row.status === 'running' ? runningBadge(row, now) : endBadge(row);
}

function runningBadge(row: ShellItem, now: number): string {
  const parts = [
    originOf(row, now),
    row.is_stopped ? 'stopped' : '',
    row.kill_requested_by === null ? '' : `being killed by ${row.kill_requested_by}`,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

function originOf(row: ShellItem, now: number): string {
  if (row.start_mode === 'foreground') return 'foreground';
  if (row.promoted_by === null) return row.started_by;
  if (row.promoted_by !== 'system') return row.promoted_by;
  // The system also takes over what a daemon that went away has left; then no budget was exceeded.
  const isOver = ranMs(row, now) >= row.budget_ms;
  return isOver ? `auto background · ${Number((row.budget_ms / 1000).toFixed(1))}s` : 'auto background';
}

function endBadge({ exit_code, signal, end_reason, ended_by }: ShellItem): string {
  const status = exit_code === null ? (signal ?? '') : `code ${exit_code}`;
  const reasons = { spawn_error: 'not started', timeout: 'timeout', lost: 'status lost' } as const;
  const reason = end_reason !== null && end_reason in reasons ? reasons[end_reason as keyof typeof reasons] : '';
  const who = ended_by === null || ended_by === 'system' ? '' : ended_by;
  return [status, reason, who].filter((part) => part !== '').join(' · ');
}

/** Ended, and nobody has looked since. */
export const isNew = ({ status, seen }: Pick<ShellItem, 'status' | 'seen'>): boolean => status !== 'running' && !seen;

/** How long it took and may take, in full. */
export function timingText(row: ShellItem, now: number): string {
  const parts = [
    `${row.status === 'running' ? 'running for' : 'ran'} ${clockText(ranMs(row, now))}`,
    row.ended_at === null ? '' : `ended ${clockText(Math.max(0, now - Date.parse(row.ended_at)))} ago`,
    row.expected_ms === null ? '' : `expected ${clockText(row.expected_ms)}`,
    row.timeout_ms === null ? '' : `timeout ${clockText(row.timeout_ms)}`,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

/** How it was meant to run, how it runs, and by whom. */
export const modeText = ({ requested_mode, start_mode, promoted_by, started_by }: ShellItem): string =>
  `${requested_mode}${promoted_by === null ? '' : `, moved to ${start_mode} by ${promoted_by}`}, started by ${started_by}`;
