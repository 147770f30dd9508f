// Recorded conversations with Claude Code and Codex as scenes for the replay: what the agent said is heard, what the
// recording's own client said becomes what a person did.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fields, fieldsIn, parseFields, rowsOf, textOf } from '../../src/agents/fields.ts';
import type { MachineState } from '../../src/model/sessions.ts';
import type { Scene } from './replay-session.ts';

const folder = new URL('../fixtures/sessions/', import.meta.url).pathname;

export interface Label {
  readonly about: string;
  /** The conversation that is gone on with: its id, or `@name` for that of another recording. */
  readonly resume?: string;
  /** On the user's own server, without a prompt. */
  readonly joins?: boolean;
  readonly states: readonly MachineState[];
  readonly reason: string;
}

interface Row {
  readonly at: number;
  readonly dir: string;
  readonly message: unknown;
}

export interface Recorded {
  readonly prompt: string;
  readonly scenes: readonly Scene[];
  /** Every line that the recording's client wrote, in order. */
  readonly client: readonly Fields[];
}

export const labelsOf = (agent: string): Readonly<Record<string, Label>> =>
  JSON.parse(readFileSync(join(folder, agent, 'labels.json'), 'utf8'));

export const recordingsOf = (agent: string): readonly string[] =>
  readdirSync(join(folder, agent))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => name.replace(/\.jsonl$/, ''));

function rowsIn(agent: string, name: string): readonly Row[] {
  const lines = readFileSync(join(folder, agent, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => {
    const row = fieldsIn(parseFields(line));
    return { at: Number(row.rel ?? row.t), dir: String(row.dir), message: row.msg };
  });
}

const textIn = (parts: unknown): string =>
  rowsOf(parts)
    .flatMap(({ text }) => textOf(text) ?? [])
    .join('\n');

const clientOf = (rows: readonly Row[]): readonly Fields[] =>
  rows.filter(({ dir }) => dir === '>').map(({ message }) => fieldsIn(message));

export function claudeRecording(name: string): Recorded {
  const rows = rowsIn('claude', name);
  const prompts = rows.filter(({ dir, message }) => dir === '>' && fieldsIn(message).type === 'user');
  const [first] = prompts;
  return {
    prompt: textIn(fieldsIn(fieldsIn(first?.message).message).content),
    client: clientOf(rows),
    scenes: rows.flatMap((row) => (row === first ? [] : claudeScenes(row))),
  };
}

function claudeScenes({ at, dir, message }: Row): readonly Scene[] {
  const fields = fieldsIn(message);
  switch (dir) {
    case '<':
      return [{ at, heard: { from: 'stdout', line: JSON.stringify(message) } }];
    case 'stderr':
      return String(message)
        .trim()
        .split('\n')
        .map((line) => ({ at, heard: { from: 'stderr', line } }));
    case 'exit':
      return [{ at, heard: { from: 'exit', code: fields.code as number | null, signal: textOf(fields.signal) } }];
    default:
      return claudeDeed(at, fields);
  }
}

function claudeDeed(at: number, fields: Fields): readonly Scene[] {
  if (fields.type === 'user') {
    return [{ at, deed: { action: 'send', text: textIn(fieldsIn(fields.message).content) } }];
  }
  if (fieldsIn(fields.request).subtype === 'interrupt') return [{ at, deed: { action: 'stop' } }];
  if (fields.type !== 'control_response') return [];
  const { request_id, response } = fieldsIn(fields.response);
  const { behavior, message, updatedInput } = fieldsIn(response);
  const ask_id = String(request_id);
  const [answer] = Object.values(fieldsIn(fieldsIn(updatedInput).answers));
  if (behavior === 'deny') return [{ at, deed: { action: 'reject', ask_id, because: String(message) } }];
  if (answer !== undefined) return [{ at, deed: { action: 'answer', ask_id, option: String(answer) } }];
  return [{ at, deed: { action: 'approve', ask_id } }];
}

/** What our own adapter would ask of the server; the rest of what the recording asked is nobody's here. */
const ownMethods = [
  ...['initialize', 'thread/start', 'thread/resume', 'thread/turns/list'],
  ...['turn/start', 'turn/interrupt'],
];

/** After joining a thread we ask how its last turn ended; the recording's client did not, so the answer is made here. */
const lastTurn = { data: [{ id: 'before', status: 'completed' }] };

export function codexRecording(name: string): Recorded {
  const rows = rowsIn('codex', name).flatMap((row): readonly Row[] => {
    const isJoin = name.startsWith('daemon-socket') && fieldsIn(row.message).method === 'thread/resume';
    const own = { at: row.at, dir: '>', message: { id: 'turns', method: 'thread/turns/list' } };
    return isJoin ? [row, own] : [row];
  });
  const isFirst = firstOf((fields) => fields.method === 'turn/start' && !name.startsWith('daemon-socket'));
  const ids = new Map<unknown, number>();
  let prompt = '';
  let isFailed = false;
  const scenes = rows.flatMap((row): readonly Scene[] => {
    const fields = fieldsIn(row.message);
    if (row.dir === '<') {
      if (fields.method === 'turn/completed') isFailed = fieldsIn(fieldsIn(fields.params).turn).status === 'failed';
      return codexHeard(row.at, fields, ids);
    }
    if (ownMethods.includes(String(fields.method))) ids.set(fields.id, ids.size + 1);
    if (!isFirst(fields)) return codexDeed(row.at, fields, isFailed);
    prompt = textIn(fieldsIn(fields.params).input);
    return [];
  });
  return { prompt, scenes, client: clientOf(rows) };
}

function firstOf(fits: (fields: Fields) => boolean): (fields: Fields) => boolean {
  let isFound = false;
  return (fields) => {
    const isIt = !isFound && fits(fields);
    isFound ||= isIt;
    return isIt;
  };
}

/** Replies get the numbers that our own requests have. */
function codexHeard(at: number, fields: Fields, ids: ReadonlyMap<unknown, number>): readonly Scene[] {
  const isReply = fields.method === undefined;
  const id = isReply ? ids.get(fields.id) : fields.id;
  if (isReply && id === undefined) return [];
  const line = JSON.stringify(id === undefined ? fields : { ...fields, id });
  const heard: readonly Scene[] = [{ at, heard: { from: 'stdout', line } }];
  const turns = ids.get('turns');
  if (!isReply || turns === undefined || id !== turns - 1) return heard;
  return [...heard, { at, heard: { from: 'stdout', line: JSON.stringify({ id: turns, result: lastTurn }) } }];
}

function codexDeed(at: number, fields: Fields, isFailed: boolean): readonly Scene[] {
  const params = fieldsIn(fields.params);
  const result = fieldsIn(fields.result);
  switch (fields.method) {
    case 'turn/start':
      return [{ at, deed: isFailed ? { action: 'retry' } : { action: 'send', text: textIn(params.input) } }];
    case 'turn/interrupt':
      return [{ at, deed: { action: 'stop' } }];
    case undefined: {
      if (result.decision === 'accept') return [{ at, deed: { action: 'approve' } }];
      if (result.decision === 'decline') return [{ at, deed: { action: 'reject' } }];
      const [answer] = Object.values(fieldsIn(result.answers));
      return [{ at, deed: { action: 'answer', option: String(fieldsIn(answer).answers) } }];
    }
    default:
      return [];
  }
}
