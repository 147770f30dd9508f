// Which records can be: every combination of status, end and mode that is none of the known ones is a defect (SHL1, SHL2).

import type { ShellRecord } from '../model/shells.ts';

/** What cannot be, in words; null when the record is sound. Also for records that were read from a disk. */
export function problemOf(record: ShellRecord): string | null {
  const { status, exit_code, signal, ended_by, end_reason, kill_requested_by } = record;
  const isEnded = status !== 'running';
  if (!Number.isInteger(record.attempt) || record.attempt < 1) return 'attempts count from 1';
  if (isEnded !== (ended_by !== null)) return 'what has ended was ended by someone, and nothing else was';
  if (isEnded !== (end_reason !== null)) return 'what has ended has a reason, and nothing else has';
  if (isEnded !== (record.ended_at !== null)) return 'what has ended has an end, and nothing else has';
  if (!isEnded)
    return exit_code === null && signal === null ? promotionProblem(record) : 'a running shell has no status';
  if ((status === 'completed') !== (exit_code === 0 && signal === null)) return 'completed means status 0';
  if (record.is_stopped) return 'what has ended is not stopped';
  if (record.is_signal_inferred && (signal === null || exit_code === null)) return 'an inferred signal has its status';
  if (end_reason !== 'spawn_error' && ended_by !== (kill_requested_by ?? 'system')) return 'not ended by who killed it';
  return endProblem(record) ?? promotionProblem(record);
}

function promotionProblem({ start_mode, requested_mode, promoted_by }: ShellRecord): string | null {
  const isMoved = requested_mode === 'foreground' && start_mode === 'background';
  if (requested_mode === 'background' && start_mode === 'foreground') return 'nothing goes to the foreground';
  return isMoved === (promoted_by !== null) ? null : 'what was moved was moved by someone, and nothing else was';
}

/** Which reasons go with which status (the rows of the seed's table of ends). */
function endProblem({ end_reason, exit_code, signal, ended_by, kill_requested_by }: ShellRecord): string | null {
  const hasStatus = exit_code !== null || signal !== null;
  switch (end_reason) {
    case 'exited':
      return exit_code !== null && signal === null && ended_by === 'system' ? null : 'exited means a status of its own';
    case 'signaled':
      return signal !== null && ended_by === 'system' ? null : 'signaled means a signal from outside';
    case 'killed':
      return hasStatus && ended_by !== 'system' ? null : 'killed means by the agent or the user, with a status';
    case 'timeout':
      return hasStatus && kill_requested_by === 'system' ? null : 'timeout means killed by the system, with a status';
    case 'spawn_error':
      return !hasStatus && ended_by === 'system' ? null : 'what could not be started has no status';
    case 'lost':
      return hasStatus ? 'a lost status is not there' : null;
    case null:
      return null;
  }
}
