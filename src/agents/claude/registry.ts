// The row that a live Claude Code keeps of itself, sessions/<pid>.json: what it does now, by its own word. A row outlives a
// killed process and pids come back, so a row counts only for the very process that wrote it (IDN3).

import type { StateFact } from '../../model/events.ts';
import { agentSessionId, type RuntimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { ReasonCode } from '../../model/reasons.ts';
import type { Confidence, StateName } from '../../model/states.ts';
import type { Finding, NativeAnswer, NativeInput, NativeReader, RunView } from '../contract.ts';
import { type Fields, parseFields, textOf } from '../fields.ts';
import { transcriptPath } from './transcript.ts';

type FileInput = NativeInput & { readonly kind: 'file' };

export function registryReader(): NativeReader {
  /** The conversation last told of each run that had a row. */
  const told = new Map<RuntimeId, string | null>();
  return {
    take: (input, runs, now) => {
      if (input.kind !== 'file') return { findings: [] };
      for (const known of told.keys()) if (!runs.some((run) => run.runtime_id === known)) told.delete(known);
      if (input.text === null) return { findings: leave(told, now) };
      const row = parseFields(input.text);
      if (row === null) return { findings: [], trouble: 'its registry file cannot be read' };
      const run = runs.find((one) => isRowOf(row, input.path, one));
      return run === undefined
        ? { findings: [], trouble: 'its registry file is of another process' }
        : readRow(row, run, input, told);
    },
  };
}

/** Rows are removed in good order only: it took its leave (RSV12). */
function leave(told: Map<RuntimeId, string | null>, now: number): readonly Finding[] {
  const findings = [...told.keys()].map(
    (runtime_id): Finding => ({ fact: { kind: 'runtime.goodbye' }, time: now, runtime_id }),
  );
  told.clear();
  return findings;
}

function isRowOf(row: Fields, path: string, run: RunView): boolean {
  const pid = Number(/(?:^|\/)(\d+)\.json$/.exec(path)?.[1]);
  if (row.pid !== pid) return false;
  const program = run.programs.find((one) => one.pid === pid);
  if (program === undefined) return false;
  const start = typeof row.procStart === 'number' ? String(row.procStart) : textOf(row.procStart);
  // Both in the ticks of Linux: equal or of another process. Elsewhere the spellings differ, and the age has to do.
  if (start !== null && /^\d+$/.test(start) && /^\d+$/.test(program.start)) return start === program.start;
  return typeof row.startedAt === 'number' && row.startedAt >= run.startedAt - limits.futureLeadMs;
}

function readRow(row: Fields, run: RunView, input: FileInput, told: Map<RuntimeId, string | null>): NativeAnswer {
  const { runtime_id } = run;
  const session = idOf(row.sessionId);
  const findings: Finding[] = [];
  if (session !== null && told.get(runtime_id) !== session)
    findings.push({
      fact: { kind: 'runtime.session', agent_session: agentSessionId(session) },
      time: timeOf(row.startedAt, input),
      runtime_id,
    });
  told.set(runtime_id, session ?? told.get(runtime_id) ?? null);
  const fact = stateOf(row);
  if (fact !== null) {
    const about = session === null ? {} : { agent_session: agentSessionId(session) };
    findings.push({ fact, time: timeOf(row.statusUpdatedAt ?? row.updatedAt, input), runtime_id, ...about });
  }
  const cwd = textOf(row.cwd);
  const folder = /^(.*)\/sessions\/\d+\.json$/.exec(input.path)?.[1];
  if (session === null || cwd === null || folder === undefined) return { findings };
  const path = transcriptPath(folder, cwd, session);
  return { findings, watch: [{ kind: 'journal', path, tailBytes: limits.transcriptTailBytes }] };
}

/** Ids name files here; one with a slash would name another folder. */
function idOf(value: unknown): string | null {
  const text = textOf(value);
  return text !== null && text.length <= limits.idCharsMax && /^[\w-]+$/.test(text) ? text : null;
}

/** The stamp of the agent, never later than the file it stands in. */
const timeOf = (stamp: unknown, { changedAt }: FileInput): number =>
  typeof stamp === 'number' && Number.isFinite(stamp) && stamp > 0 ? Math.min(stamp, changedAt) : changedAt;

/**
 * Null for words this adapter does not know. `idle` says that no turn runs and no dialog is open, not how the last turn
 * ended: a failed one looks the same here.
 */
function stateOf({ status, waitingFor }: Fields): StateFact | null {
  switch (status) {
    case 'busy':
      return state('running', 'turn_running', false);
    case 'idle':
    case 'shell':
      return state('idle', 'prompt_ready', false);
    case 'waiting':
      return waitingState(textOf(waitingFor));
    default:
      return null;
  }
}

function waitingState(waitingFor: string | null): StateFact {
  const detail = waitingFor === null ? {} : { detail: waitingFor.slice(0, limits.detailCharsMax) };
  switch (waitingFor) {
    case 'permission prompt':
    case 'sandbox request':
    case 'worker request':
    case 'goal proposal':
      return { ...state('waiting_approval', 'approval_asked', true), ...detail };
    case 'input needed':
      return { ...state('waiting_input', 'question_asked', true), ...detail };
    case 'dialog open':
      return { ...state('waiting_input', 'dialog_open', true), ...detail };
    default:
      return { ...state('waiting_input', 'dialog_open', true, 'medium'), ...detail };
  }
}

function state(name: StateName, reason: ReasonCode, dialog: boolean, confidence: Confidence = 'high'): StateFact {
  return { kind: 'state.observed', state: name, reason, confidence, dialog };
}
