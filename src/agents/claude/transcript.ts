// The transcript of a conversation: a journal of rows. It tells a finished turn from one that was interrupted, refused or
// failed, which the registry does not; that a dialog is open it never tells. For people it is what was said.

import type { StateFact } from '../../model/events.ts';
import { agentSessionId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { ReasonCode } from '../../model/reasons.ts';
import type { StateName } from '../../model/states.ts';
import type { Finding, NativeInput, NativeReader, RunView, Spoken, Transcript } from '../contract.ts';
import { type Fields, fieldsOf, parseFields, rowsOf, textOf } from '../fields.ts';
import { textIn, toolCalled, toolReturned } from '../transcript/tools.ts';

export function configFolder({ env, home }: RunView): string {
  const named = env.CLAUDE_CONFIG_DIR;
  return named === undefined || named === '' ? `${home}/.claude` : named.replace(/\/+$/, '');
}

/** Folders are named after the directory the agent was started in. */
export function transcriptPath(configFolder: string, cwd: string, session: string): string {
  return `${configFolder}/projects/${cwd.replace(/[^a-zA-Z0-9]/g, '-')}/${session}.jsonl`;
}

export function transcriptReader(): NativeReader {
  let last: Row | null = null;
  return {
    take: (input, runs) => {
      if (input.kind !== 'lines') return { findings: [] };
      const endsAtAnswer = runs.length > 0 && runs.every((run) => isBefore21(run.version));
      let told: Row | null = null;
      let prompt: string | null = null;
      for (const line of input.lines) {
        const row = readRow(line, last, endsAtAnswer);
        if (row === null) continue;
        last = row;
        told = row;
        prompt = row.prompt ?? prompt;
      }
      // Of rows that are read together only the last says what is so now.
      const asked = prompt === null ? {} : { prompt };
      return { findings: told === null ? [] : [{ ...findingOf(told, input, runs), ...asked }] };
    },
  };
}

interface Row {
  readonly fact: StateFact;
  readonly time: number | null;
  /** What a person wrote in it; null in all others. */
  readonly prompt: string | null;
}

function findingOf({ fact, time }: Row, input: NativeInput & { kind: 'lines' }, runs: readonly RunView[]): Finding {
  const session = /([^/]+)\.jsonl$/.exec(input.path)?.[1];
  const [only] = runs;
  return {
    fact,
    time: Math.min(time ?? input.changedAt, input.changedAt + limits.futureLeadMs),
    source: 'transcript',
    ...(runs.length === 1 && only !== undefined ? { runtime_id: only.runtime_id } : {}),
    ...(session === undefined ? {} : { agent_session: agentSessionId(session.slice(0, limits.idCharsMax)) }),
  };
}

/** Until 2.0 nothing is written when a turn ends: the answer itself has to do. */
const isBefore21 = (version: string | null): boolean => version !== null && /^(1|2\.0)\./.test(version);

/** Null for rows that say nothing about the state, and for what is no row at all. */
function readRow(line: string, last: Row | null, endsAtAnswer: boolean): Row | null {
  const row = parseFields(line);
  if (row === null || row.isSidechain === true || row.isMeta === true) return null;
  const stamp = Date.parse(textOf(row.timestamp) ?? '');
  const time = Number.isFinite(stamp) ? stamp : null;
  const fact = factOf(row, last?.fact ?? null, endsAtAnswer);
  return fact === null ? null : { fact, time, prompt: row.type === 'user' ? promptOf(row) : null };
}

function factOf(row: Fields, last: StateFact | null, endsAtAnswer: boolean): StateFact | null {
  switch (row.type) {
    case 'user':
      return readUser(row, last);
    case 'assistant':
      return readAssistant(row, endsAtAnswer);
    case 'system':
      return readSystem(row, last);
    default:
      return null;
  }
}

/** Refused, interrupted and failed turns get a duration, too; it does not make them finished ones. */
function readSystem(row: Fields, last: StateFact | null): StateFact | null {
  if (row.subtype === 'api_error') return state('running', 'retrying');
  if (row.subtype !== 'turn_duration') return null;
  return last === null || last.state === 'running' ? state('completed', 'turn_completed') : null;
}

function readAssistant(row: Fields, endsAtAnswer: boolean): StateFact | null {
  const message = fieldsOf(row.message);
  const parts = rowsOf(message?.content);
  const words = textOf(parts.find((part) => part.type === 'text')?.text);
  if (row.isApiErrorMessage === true) {
    const reason: ReasonCode = row.error === 'authentication_failed' ? 'login_needed' : 'api_error';
    return state('error', words !== null && usageLimit.test(words) ? 'usage_limit' : reason, words);
  }
  const tool = parts.find((part) => part.type === 'tool_use');
  if (tool !== undefined) return state('running', 'tool_running', textOf(tool.name));
  if (!endsAtAnswer) return state('running', 'turn_running');
  // Those versions often leave out why an answer ended; whether the turn goes on is then for others to say.
  return message?.stop_reason === 'end_turn'
    ? state('completed', 'turn_completed')
    : state('unknown', 'unsupported_signal');
}

const usageLimit = /usage limit reached|you've (hit|reached) your .{0,40}limit|\b\w+ limit reached\b/i;

function readUser(row: Fields, last: StateFact | null): StateFact | null {
  const content = fieldsOf(row.message)?.content;
  if (typeof content === 'string') return isPrompt(row, content) ? state('running', 'turn_running') : null;
  const parts = rowsOf(content);
  const result = parts.find((part) => part.type === 'tool_result');
  if (result !== undefined) return readResult(row, result);
  const words = textOf(parts.find((part) => part.type === 'text')?.text);
  if (words === null) return null;
  if (!words.startsWith('[Request interrupted by user'))
    return isPrompt(row, words) ? state('running', 'turn_running') : null;
  // Written after a refusal as well, which says more.
  return last?.reason === 'refused_by_person' ? null : state('idle', 'interrupted');
}

function readResult(row: Fields, result: Fields): StateFact {
  const words = typeof result.content === 'string' ? result.content : '';
  const isRefused =
    row.toolDenialKind === 'user-rejected' || words.startsWith("The user doesn't want to proceed with this tool use");
  if (isRefused && result.is_error === true) return state('idle', 'refused_by_person');
  const isCut = result.is_error === true && words.endsWith('[Request interrupted by user for tool use]');
  return isCut ? state('idle', 'interrupted') : state('running', 'turn_running');
}

function promptOf(row: Fields): string | null {
  const content = fieldsOf(row.message)?.content;
  const parts = rowsOf(content);
  if (parts.some(({ type }) => type === 'tool_result')) return null;
  const words = typeof content === 'string' ? content : textOf(parts.find(({ type }) => type === 'text')?.text);
  return words === null || words.startsWith('[Request interrupted') || !isPrompt(row, words) ? null : words;
}

/** Commands of the program itself, their output, and summaries of a compacted conversation are written as prompts. */
function isPrompt(row: Fields, words: string): boolean {
  if (row.isCompactSummary === true || row.isVisibleInTranscriptOnly === true) return false;
  return !/^\s*<(command-|local-command-|bash-)/.test(words) && !words.startsWith('Caveat: ');
}

function state(name: StateName, reason: ReasonCode, detail: string | null = null): StateFact {
  return {
    kind: 'state.observed',
    state: name,
    reason,
    confidence: 'high',
    // While it runs a dialog may be open: no row tells.
    ...(name === 'running' || name === 'unknown' ? {} : { dialog: false }),
    ...(detail === null ? {} : { detail: detail.slice(0, limits.detailCharsMax) }),
  };
}

/** What was said. A directory that Claude was sent to later does not move the file, hence the second place. */
export const transcript: Transcript = {
  environment: ['CLAUDE_CONFIG_DIR'],
  places: (run, sessions) =>
    sessions.flatMap((session) => [
      { kind: 'journal', path: transcriptPath(configFolder(run), run.cwd, session) },
      { kind: 'find', folder: `${configFolder(run)}/projects/*`, name: `^${session}\\.jsonl$` },
    ]),
  read(rows) {
    const names = new Map<string, string>();
    return rows.flatMap((text) => {
      const row = parseFields(text);
      return row === null || row.isSidechain === true || row.isMeta === true ? [] : spokenIn(row, names);
    });
  },
};

function spokenIn(row: Fields, names: Map<string, string>): readonly Spoken[] {
  const content = fieldsOf(row.message)?.content;
  const parts: readonly Fields[] = typeof content === 'string' ? [{ type: 'text', text: content }] : rowsOf(content);
  switch (row.type) {
    case 'user':
      return parts.flatMap((part) => saidByPerson(row, part, names));
    case 'assistant':
      return parts.flatMap((part) => saidByAgent(row, part, names));
    case 'system':
      return row.subtype === 'compact_boundary' ? [{ who: 'note', text: 'the conversation was compacted' }] : [];
    default:
      return [];
  }
}

function saidByPerson(row: Fields, part: Fields, names: Map<string, string>): readonly Spoken[] {
  if (part.type === 'tool_result') {
    const name = names.get(textOf(part.tool_use_id) ?? '') ?? null;
    return [toolReturned(name, textIn(part.content), part.is_error === true)];
  }
  const text = textOf(part.text) ?? '';
  if (text.startsWith('[Request interrupted by user')) return [{ who: 'note', text: 'interrupted' }];
  const command = /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1];
  if (command !== undefined) return [{ who: 'user', text: command }];
  return isPrompt(row, text) ? [{ who: 'user', text }] : [];
}

function saidByAgent(row: Fields, part: Fields, names: Map<string, string>): readonly Spoken[] {
  if (part.type === 'tool_use') {
    const name = textOf(part.name);
    if (name !== null) names.set(textOf(part.id) ?? '', name);
    return [toolCalled(name, part.input)];
  }
  const text = textOf(part.text) ?? '';
  if (part.type !== 'text') return [];
  return [{ who: row.isApiErrorMessage === true ? 'note' : 'assistant', text }];
}
