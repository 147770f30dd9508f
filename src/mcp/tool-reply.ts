// What a tool answers, before it is put into the protocol's own shape: data for programs, the same in a few lines for models
// that only get text. What others wrote has passed the gate (SEC3).

import type { ShellItem, ShellNoticeItem, ShellPageReply, ShellReceiptReply } from '../api/shells.ts';
import { AgtmuxError, type ErrorCode } from '../model/errors.ts';
import { foreign, sanitizeBlock, sanitizeLine } from '../text/sanitize.ts';
import type { Card, Page } from './schemas.ts';

export interface ToolReply {
  readonly data: ToldHead & Readonly<Record<string, unknown>>;
  /** Below the first line, which says result and reason. */
  readonly lines: readonly string[];
  /** Nothing was done. */
  readonly isError: boolean;
  /** Null: the daemon was not asked for them in this call. */
  readonly notices: readonly ShellNoticeItem[] | null;
}

interface ToldHead {
  readonly result: string;
  readonly reason: string;
  readonly ended_by: string | null;
  readonly code: ErrorCode | null;
  readonly next: string | null;
}

export const safe = (text: string): string => sanitizeLine(foreign(text));
export const safeOrNull = (text: string | null): string | null => (text === null ? null : safe(text));

/** A refusal of any tool. `empty` are the fields that this tool has besides. */
export function refused(problem: unknown, empty: Readonly<Record<string, unknown>>): ToolReply {
  const { code, message, next } = problem instanceof AgtmuxError ? problem : defect(problem);
  const result = code === 'E_REF_NOT_FOUND' ? 'NotFound' : 'Refused';
  const data = { result, reason: safe(message), ended_by: null, code, next: safe(next), ...empty };
  return { data, lines: [], isError: true, notices: null };
}

const defect = (problem: unknown): AgtmuxError =>
  new AgtmuxError('E_INTERNAL', problem instanceof Error ? problem.message : String(problem));

/** Of an answer that is about no shell. */
export const noShell = {
  shell_id: null,
  attempt: null,
  status: null,
  start_mode: null,
  promoted_by: null,
  exit_code: null,
  signal: null,
  end_reason: null,
  pid: null,
  elapsed_s: null,
  log: null,
} as const;

type Receipt = Pick<ShellReceiptReply, 'result' | 'reason' | 'ended_by' | 'shell' | 'page' | 'failure'>;

const refusals = new Set<string>(['Refused', 'NotFound', 'KillFailed', 'ResumeUnavailable']);

/** `at` is when the daemon said it. */
export function toldOfShell(receipt: Receipt, at: string, notices: ToolReply['notices']): ToolReply {
  const { result, reason, ended_by, failure, shell } = receipt;
  const log = receipt.page === null ? null : pageOf(receipt.page);
  const head = { result, reason: safe(reason), ended_by, code: failure?.code ?? null, next: nextOf(receipt) };
  return {
    data: { ...head, ...(shell === null ? noShell : factsOf(shell, at)), log },
    lines: [...(shell === null ? [] : [shortLine(shell, reason, at)]), ...(log === null ? [] : pageLines(log))],
    isError: refusals.has(result),
    notices,
  };
}

/** What its agent does not know by itself. */
function factsOf(item: ShellItem, at: string) {
  const { shell_id, attempt, status, start_mode, promoted_by, exit_code, signal, end_reason } = item;
  const facts = { shell_id, attempt, status, start_mode, promoted_by, exit_code, signal, end_reason };
  return { ...facts, pid: item.process?.pid ?? null, elapsed_s: elapsedOf(item, at) };
}

/** What the reason says already is not said twice. */
function shortLine(item: ShellItem, reason: string, at: string): string {
  const card = cardOf(item, at);
  return cardLine(reason.includes(item.words ?? '') ? { ...card, words: null } : card);
}

const elapsedOf = ({ started_at, ended_at }: ShellItem, at: string): number =>
  Math.max(0, Math.round((Date.parse(ended_at ?? at) - Date.parse(started_at)) / 100) / 10);

function nextOf({ result, failure, shell }: Receipt): string | null {
  const name = shell?.shell_id ?? 'it';
  switch (result) {
    case 'Started':
    case 'Running':
    case 'Backgrounded':
      return `continue with other work; read ${name} with shell_log (mode tail) when you need it`;
    case 'AlreadyFinishedCompleted':
    case 'AlreadyFinishedFailed':
      return `call shell_summary and forget ${name}`;
    case 'KillPending':
      return `it was asked to end; a notice will report when it has`;
    default:
      return failure === null ? null : safe(failure.next);
  }
}

/** Its agent wrote it, and needs no more of it than to know it again. */
const commandColumnsMax = 200;

export function cardOf(item: ShellItem, at: string): Card {
  return {
    shell_id: item.shell_id,
    attempt: item.attempt,
    status: item.status,
    label: safeOrNull(item.label),
    command: sanitizeLine(foreign(item.command), { columnsMax: commandColumnsMax }),
    cwd: safe(item.cwd),
    start_mode: item.start_mode,
    promoted_by: item.promoted_by,
    is_stopped: item.is_stopped,
    elapsed_s: elapsedOf(item, at),
    expected_s: item.expected_ms === null ? null : item.expected_ms / 1000,
    exit_code: item.exit_code,
    signal: item.signal,
    end_reason: item.end_reason,
    ended_by: item.ended_by,
    words: safeOrNull(item.words),
    last_log: item.last_log.map(safe),
  };
}

export function pageOf(page: Omit<ShellPageReply, 'schema_version' | 'generated_at' | 'notices'>): Page {
  const { attempt, cursor, has_more, truncated, partial_line, has_split_line, is_capped } = page;
  const lines = page.lines.map((line) => sanitizeBlock(foreign(line)));
  return { attempt, lines, cursor, has_more, truncated, partial_line, has_split_line, is_capped };
}

const nameColumnsMax = 60;

/** `shell-3 (npm test): failed, exit 1, 12.3 s; exited with status 1`. */
export function cardLine(card: Card): string {
  const name = sanitizeLine(foreign(card.label ?? card.command), { columnsMax: nameColumnsMax });
  const end = card.signal ?? (card.exit_code === null ? null : `exit ${card.exit_code}`);
  const mode = card.status === 'running' ? `${card.start_mode}${card.is_stopped ? ', stopped' : ''}` : null;
  const facts = [card.status, mode, end, `${card.elapsed_s} s`].filter((fact) => fact !== null).join(', ');
  const attempt = card.attempt === 1 ? '' : `, attempt ${card.attempt}`;
  return `${card.shell_id} (${name}): ${facts}${attempt}${card.words === null ? '' : `; ${card.words}`}`;
}

export function pageLines(page: Page): readonly string[] {
  if (page.lines.length === 0) return [`(no output${page.has_more ? ' in this page' : ''}; cursor ${page.cursor})`];
  const notes = [
    ...(page.truncated ? ['earlier output was dropped'] : []),
    ...(page.is_capped ? ['the log is full: later output was not stored'] : []),
    ...(page.has_split_line
      ? ['a line is longer than a page: … marks where it was cut, mode body reads all of it']
      : []),
    ...(page.partial_line ? ['its last line is incomplete'] : []),
    ...(page.has_more ? ['more follows'] : []),
    `cursor ${page.cursor}`,
  ];
  return [`--- output (${notes.join('; ')})`, ...page.lines, '---'];
}
