// Recorded conversations with the servers of OpenCode and Kilo as scenes for the replay: replies get the names that our own
// requests have, and what the recording's client asked for becomes what a person did.

import { readFileSync } from 'node:fs';
import { type Fields, fieldsIn, parseFields, textOf } from '../../src/agents/fields.ts';
import type { Incoming } from '../../src/agents/protocol/adapter.ts';
import type { Scene } from './replay-session.ts';

const folder = new URL('../fixtures/sessions/kilo-serve/', import.meta.url).pathname;
/** As the replay begins, in the ids that the adapter makes. */
const mark = (1_800_000_000_000).toString(36);

export interface RecordedServer {
  readonly prompt: string;
  readonly model: string | null;
  readonly scenes: readonly Scene[];
  /** What the recording's client changed on the server, in order. */
  readonly posts: readonly { readonly path: string; readonly body: unknown }[];
}

interface Said {
  readonly n: number;
  readonly path: string;
  readonly body: Fields;
}

export function serverRecording(name: string): RecordedServer {
  const rows = readFileSync(`${folder}${name}.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => fieldsIn(parseFields(line)));
  const saids = rows.flatMap(({ say }) => (say === undefined ? [] : [saidOf(fieldsIn(say))]));
  const prompts = saids.filter(({ path }) => path.endsWith('/prompt_async'));
  const model = fieldsIn(prompts[0]?.body.model);
  const state: Player = { isFailed: false, first: prompts[0]?.n ?? -1, saids };
  return {
    prompt: prompts[0] === undefined ? 'do it' : promptIn(prompts[0]),
    model: textOf(model.modelID) === null ? null : `${model.providerID}/${model.modelID}`,
    scenes: rows.flatMap((row) => sceneOf(row, state)),
    posts: rows.flatMap(({ say }) => (fieldsIn(say).method === 'POST' ? [fieldsIn(say)] : [])).map(postOf),
  };
}

const saidOf = (say: Fields): Said => ({ n: Number(say.n), path: String(say.path), body: fieldsIn(say.body) });
const postOf = ({ path, body }: Fields) => ({ path: String(path), body: body ?? null });

const promptIn = ({ body }: Said): string =>
  (Array.isArray(body.parts) ? body.parts : []).flatMap((part) => textOf(fieldsIn(part).text) ?? []).join('\n');

interface Player {
  isFailed: boolean;
  readonly first: number;
  readonly saids: readonly Said[];
}

const errorName = ({ properties }: Fields): unknown => fieldsIn(fieldsIn(properties).error).name;

function sceneOf(row: Fields, player: Player): readonly Scene[] {
  const at = Number(row.t);
  if (row.reply === 'permission') return [{ at, deed: { action: 'approve' } }];
  if (row.ev !== undefined) {
    const event = fieldsIn(row.ev);
    if (event.type === 'session.error') player.isFailed = errorName(event) !== 'MessageAbortedError';
    if (fieldsIn(fieldsIn(event.properties).status).type === 'busy') player.isFailed = false;
    const heard: Scene = { at, heard: { from: 'stream', data: JSON.stringify(event) } };
    // A conversation that was begun at the agent's own screen, as if we had begun it.
    if (event.type !== 'session.created' || player.saids.length > 0) return [heard];
    const body = JSON.stringify(fieldsIn(event.properties).info);
    return [{ at, heard: { from: 'reply', request: `create-${mark}-1`, status: 200, body } }, heard];
  }
  if (row.say !== undefined) return deedsOf(at, saidOf(fieldsIn(row.say)), player);
  const heard = replyOf(row, player);
  return heard === null ? [] : [{ at, heard }];
}

/** Only what is asked first has a name that can be known here; replies to the rest say nothing that events do not. */
function replyOf(row: Fields, player: Player): Incoming | null {
  const created = textOf(row.session);
  const create = `create-${mark}-1`;
  if (created !== null) return { from: 'reply', request: create, status: 200, body: JSON.stringify({ id: created }) };
  const said = player.saids.find(({ n }) => n === row.reply);
  if (said?.path !== '/session') return null;
  return { from: 'reply', request: create, status: Number(row.status), body: String(row.text) };
}

function deedsOf(at: number, said: Said, { first, isFailed, saids }: Player): readonly Scene[] {
  const [, kind, id, verb] = said.path.split('/');
  // Part of a stop, which comes with the next request.
  if (saids.find(({ n }) => n === said.n + 1)?.path.endsWith('/abort') && kind === 'permission') return [];
  if (kind === 'session' && verb === 'abort') return [{ at, deed: { action: 'stop' } }];
  if (kind === 'session' && verb === 'prompt_async' && said.n !== first) {
    return [{ at, deed: isFailed ? { action: 'retry' } : { action: 'send', text: promptIn(said) } }];
  }
  if (kind === 'question' && verb === 'reply') {
    const answers = said.body.answers as readonly (readonly string[])[];
    return [{ at, deed: { action: 'answer', ask_id: id ?? '', option: answers[0]?.[0] ?? '' } }];
  }
  if (kind !== 'permission' || verb !== 'reply') return [];
  const because = textOf(said.body.message);
  if (said.body.reply === 'once') return [{ at, deed: { action: 'approve', ask_id: id ?? '' } }];
  return [{ at, deed: { action: 'reject', ask_id: id ?? '', ...(because === null ? {} : { because }) } }];
}
