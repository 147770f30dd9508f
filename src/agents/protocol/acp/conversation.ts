// What the ACP adapter remembers between lines. Plain values; bounded.

import { askId, mainScope, type ScopeId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { MachineEvent, MachineEventKind, SessionMessage } from '../../../model/sessions.ts';
import { type Fields, fieldsIn, fieldsOf, idOf, listOf, parseFields, rowsOf, textOf } from '../../fields.ts';
import type { Opening } from '../adapter.ts';
import {
  clip,
  type Draft,
  freshMarks,
  keep,
  lastOf,
  type Marked,
  nextId,
  own,
  tell,
  type Weighed,
  write,
} from '../draft.ts';
import { type Calls, noCalls, type RpcError, type RpcId } from '../json-rpc.ts';
import type { Interview } from '../questions.ts';
import { freshWatch, type Watched } from '../watch.ts';
import { type AcpAgent, general, type Profile, type Voice } from './profile.ts';

/** A way to answer a request for leave, as the agent names it. */
export interface Choice {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
}

/** Something the agent wants from a person. */
export interface OpenAsk extends Weighed {
  readonly key: string;
  readonly scope: ScopeId;
  readonly tool: string | null;
  readonly about: /** A yes or a no. */
    | {
        readonly kind: 'leave';
        readonly id: RpcId;
        readonly toolKind: string;
        readonly text: string;
        readonly choices: readonly Choice[];
      }
    /** A form to be filled in, or a page to be opened: then there is nothing to fill in. */
    | { readonly kind: 'form'; readonly id: RpcId; readonly params: Fields; readonly interview: Interview | null }
    /** A question that the protocol hides: the answer is said as the next prompt. */
    | { readonly kind: 'hidden'; readonly interview: Interview };
}

/** A tool that was called and has not come to its end. */
export interface Tool {
  readonly name: string;
  readonly kind: string;
  readonly text: string;
  /** Of an edit: what it changes. */
  readonly change: string | null;
  readonly output: string;
  readonly status: 'pending' | 'running' | 'refused';
}

/** What is being said: the pieces of one message follow each other. */
interface Speech {
  readonly id: string;
  readonly role: 'agent' | 'thought';
  /** The agent's own id of the message; null where it gives none. */
  readonly message: string | null;
  readonly text: string;
  readonly pieces: number;
}

/** What was seen of the turn that runs: enough to tell at its end whether it went well (SES6). */
interface Seen {
  /** Words of the model or a tool. */
  readonly work: boolean;
  /** The same since a person said no. */
  readonly workSinceNo: boolean;
  readonly saidNo: boolean;
  /** What the program wrote, in place of the model, about a request that failed. Later work takes it back. */
  readonly failure: string | null;
  /** It looks like that, but nobody knows this agent. */
  readonly suspicion: string | null;
  /** The agent says that it stands in an error. */
  readonly isBroken: boolean;
  /** The program's own last words. */
  readonly notice: string | null;
  /** Requests that were tried again. */
  readonly retries: number;
}

export const nothingSeen: Seen = {
  work: false,
  workSinceNo: false,
  saidNo: false,
  failure: null,
  suspicion: null,
  isBroken: false,
  notice: null,
  retries: 0,
};

export interface AcpMemory extends Watched, Marked {
  readonly opening: Opening;
  readonly calls: Calls;
  /** It said who it is. */
  readonly isGreeted: boolean;
  /** Chosen by what the agent says of itself. */
  /** The name of the agent that speaks, if it was measured. */
  readonly profile: string | null;
  /** How to log in to it; null: as it says itself. */
  readonly login: string | null;
  readonly canResume: boolean;
  readonly canLoad: boolean;
  /** How to log in, in the agent's words. */
  readonly logins: readonly string[];
  readonly session: string | null;
  /** How the model that was wished for is set, or why it cannot be; null: nothing is to be set. */
  readonly model: ModelChoice | null;
  /** The session is there and has that model. */
  readonly isReady: boolean;
  /** The number of the prompt that is being answered. */
  readonly prompt: number | null;
  /** What is to be said as soon as it can be; null: nothing. */
  readonly waiting: string | null;
  /** The last prompt. */
  readonly said: string | null;
  readonly asks: readonly OpenAsk[];
  readonly settled: readonly string[];
  readonly tools: Readonly<Record<string, Tool>>;
  readonly speech: Speech | null;
  readonly seen: Seen;
  /** Tokens of turns that have ended, where the agent counts each turn alone. */
  readonly tokens: { readonly input: number; readonly output: number };
  /** The ask that a failed turn has left behind: words for it are another prompt. */
  readonly failedAsk: string | null;
}

/** With the agents that were measured: a memory is plain values, and has the name of one alone. */
export interface AcpDraft extends Draft<AcpMemory> {
  readonly agents: readonly AcpAgent[];
}

export const profileOf = ({ agents, memory }: AcpDraft): Profile =>
  agents.find(({ name }) => name === memory.profile)?.profile ?? general;

export const freshMemory = (opening: Opening, at: number): AcpMemory => ({
  ...freshMarks(opening.spawned_at),
  opening,
  calls: noCalls,
  isGreeted: false,
  profile: null,
  login: null,
  canResume: false,
  canLoad: false,
  logins: [],
  session: null,
  model: null,
  isReady: false,
  prompt: null,
  waiting: null,
  said: null,
  asks: [],
  settled: [],
  tools: {},
  speech: null,
  seen: nothingSeen,
  tokens: { input: 0, output: 0 },
  failedAsk: null,
  watch: freshWatch(at),
});

// The model a session was wished for with, found among those that the agent offers: as one of its settings, or, before
// there were settings, in a list of its own.

type ModelChoice =
  | { readonly kind: 'set'; readonly method: string; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'unknown'; readonly words: string };

interface Offer {
  readonly method: string;
  /** What goes into the request beside the session: which setting it is. */
  readonly fixed: Readonly<Record<string, string>>;
  readonly field: string;
  readonly current: string | null;
  readonly models: readonly { readonly value: string; readonly name: string }[];
}

/** What is to be said for this model; null: it is set already, or the agent lets nobody choose. */
export function modelChoice(wanted: string | null, session: string, result: Fields): ModelChoice | null {
  const offer = wanted === null ? null : offerIn(result);
  if (wanted === null || offer === null || offer.models.length === 0 || offer.current === wanted) return null;
  const found = modelIn(offer, wanted);
  if (found === null) {
    const some = offer.models.slice(0, 8).map(({ value }) => value);
    const rest = offer.models.length > some.length ? `, and ${offer.models.length - some.length} more` : '';
    return { kind: 'unknown', words: `it has no model "${wanted}"; it offers ${some.join(', ')}${rest}` };
  }
  if (found === offer.current) return null;
  return { kind: 'set', method: offer.method, params: { sessionId: session, ...offer.fixed, [offer.field]: found } };
}

function offerIn(result: Fields): Offer | null {
  const setting = rowsOf(result.configOptions).find(({ category, id }) => category === 'model' || id === 'model');
  if (setting !== undefined) {
    const id = idOf(setting.id);
    if (id === null) return null;
    const models = rowsOf(setting.options).flatMap((one) => (fieldsOf(one)?.options ? rowsOf(one.options) : [one]));
    return {
      method: 'session/set_config_option',
      fixed: { configId: id },
      field: 'value',
      current: textOf(setting.currentValue),
      models: models.flatMap(({ value, name }) => modelOf(value, name)),
    };
  }
  const list = fieldsIn(result.models);
  return {
    method: 'session/set_model',
    fixed: {},
    field: 'modelId',
    current: textOf(list.currentModelId),
    models: rowsOf(list.availableModels).flatMap(({ modelId, name }) => modelOf(modelId, name)),
  };
}

function modelOf(value: unknown, name: unknown): Offer['models'] {
  const id = textOf(value);
  return id === null ? [] : [{ value: id, name: textOf(name) ?? id }];
}

/** By its id, by its name, or by the end of its id where that is one model only: `gpt-9` for `openai/gpt-9`. */
function modelIn({ models }: Offer, wanted: string): string | null {
  const exact = models.find(({ value, name }) => value === wanted || name === wanted);
  if (exact !== undefined) return exact.value;
  const ending = models.filter(({ value }) => value.endsWith(`/${wanted}`));
  return ending.length === 1 ? (ending[0]?.value ?? null) : null;
}

// What the agent says, as messages that grow. The protocol marks no end of a message: it is over when something else is
// said or done. Words of the program itself are told apart from the model's, since only they tell of failed requests.

/** One more piece of what is said. */
export function hearPiece(draft: AcpDraft, role: Speech['role'], update: Fields): void {
  const text = wordsIn(fieldsIn(update.content));
  if (text === '') return;
  const message = idOf(update.messageId);
  const { speech } = draft.memory;
  const isSame = speech !== null && speech.role === role && speech.message === message;
  const isMore = isSame && !profileOf(draft).beginsAnew(text);
  if (!isMore) endSpeech(draft);
  const before = isMore ? speech : { id: nextId(draft, role), role, message, text: '', pieces: 0 };
  const grown = { ...before, text: clip(before.text + text), pieces: before.pieces + 1 };
  keep(draft, { speech: grown });
  const isOpen = draft.memory.watch.isTurnOpen;
  writeSpeech(draft, grown, isOpen);
  if (!isMore && isOpen) {
    if (voiceOf(draft, grown) === 'retry') hearRetry(draft);
    else tell(draft, 'say:text');
  }
  // After the end of a turn nothing tells when a message is over.
  if (!isOpen) endSpeech(draft);
}

function wordsIn(content: Fields): string {
  if (content.type === 'text') return typeof content.text === 'string' ? content.text : '';
  const name = textOf(content.uri) ?? textOf(fieldsIn(content.resource).uri) ?? textOf(content.name);
  const kind = textOf(content.type);
  return kind === null ? '' : `[${kind}${name === null ? '' : ` ${name}`}]`;
}

const voiceOf = (draft: AcpDraft, { role, text, pieces, message }: Speech): Voice =>
  role === 'thought' ? 'model' : profileOf(draft).voiceOf({ text, pieces, hasId: message !== null });

function writeSpeech(draft: AcpDraft, speech: Speech, partial: boolean): void {
  const voice = voiceOf(draft, speech);
  const role = voice === 'model' || voice === 'suspect' ? speech.role : 'notice';
  write(draft, { id: speech.id, role, text: speech.text, partial });
}

/** Something else begins: what was said is whole, and it counts. */
export function endSpeech(draft: AcpDraft): void {
  const { speech } = draft.memory;
  if (speech === null) return;
  writeSpeech(draft, speech, false);
  keep(draft, { speech: null });
  if (speech.role === 'agent' && speech.text.trim() !== '') see(draft, seenIn(voiceOf(draft, speech), speech.text));
}

function seenIn(voice: Voice, text: string): Partial<Seen> {
  switch (voice) {
    case 'model':
      return { work: true, workSinceNo: true, failure: null, suspicion: null };
    case 'suspect':
      return { work: true, workSinceNo: true, suspicion: text };
    case 'failure':
      return { failure: text };
    case 'program':
    case 'retry':
      return { notice: text };
  }
}

/** A request has failed and is tried again. */
function hearRetry(draft: AcpDraft): void {
  const count = draft.memory.seen.retries + 1;
  see(draft, { retries: count });
  tell(draft, 'api_retry_scheduled', { retry: { count, status: null, until: null } });
}

export function see(draft: AcpDraft, seen: Partial<Seen>): void {
  keep(draft, { seen: { ...draft.memory.seen, ...seen } });
}

// The tools an agent calls, from the call to what came of it: one message each. What is told of a tool comes in pieces
// that replace each other, and its title changes on the way.

type Status = NonNullable<SessionMessage['tool']>['status'];

/** Joins what is told now to what is known; null where the tool has no id. */
export function toolIn(draft: AcpDraft, call: Fields): { readonly id: string; readonly tool: Tool } | null {
  const id = idOf(call.toolCallId);
  if (id === null) return null;
  const known = own(draft.memory.tools, id);
  const kind = idOf(call.kind) ?? known?.kind ?? 'other';
  const name = clip(nameIn(call) ?? known?.name ?? kind, limits.detailCharsMax);
  // A command stays what it is; titles come and go.
  const kept = kind === 'execute' ? known?.text : undefined;
  const words = commandIn(call) ?? kept ?? textOf(call.title) ?? known?.text ?? name;
  const text = clip(words, limits.sessionOutputCharsMax);
  const isRefused = known?.status === 'refused';
  const status = call.status === 'in_progress' && !isRefused ? 'running' : (known?.status ?? 'pending');
  const change = changeIn(call) ?? known?.change ?? null;
  return { id, tool: { name, kind, text, change, output: outputIn(call, known?.output ?? ''), status } };
}

const nameIn = (call: Fields): string | null =>
  textOf(fieldsIn(fieldsIn(call._meta).claudeCode).toolName) ?? textOf(call.name);

/** The command itself, as it is given to the tool: a title may be anything. */
function commandIn(call: Fields): string | null {
  const { command } = fieldsIn(call.rawInput);
  const parts = listOf(command).filter((one): one is string => typeof one === 'string');
  return textOf(command) ?? (parts.length > 0 ? parts.join(' ') : null);
}

/** What it gave back so far. Pieces of a terminal are added, everything else is told anew as a whole. */
function outputIn(call: Fields, known: string): string {
  const piece = fieldsIn(fieldsIn(call._meta).terminal_output_delta).data;
  if (typeof piece === 'string') return lastOf(known + piece, limits.sessionOutputCharsMax);
  // Before a tool works, what stands beside its input are words about it.
  const isOutput = isAtWork(call.status) || (call.status === undefined && call.rawInput === undefined);
  const whole = isOutput ? (textOf(textsIn(call.content)) ?? diffsIn(call.content) ?? resultIn(call.rawOutput)) : null;
  return whole === null ? known : clip(whole, limits.sessionOutputCharsMax);
}

const isAtWork = (status: unknown): boolean =>
  status === 'in_progress' || status === 'completed' || status === 'failed';

export const textsIn = (content: unknown): string =>
  rowsOf(content)
    .flatMap((one) => textOf(fieldsIn(one.content).text) ?? [])
    .join('\n');

function resultIn(raw: unknown): string | null {
  const { output, content, error, message } = fieldsIn(raw);
  return textOf(raw) ?? textOf(output) ?? textOf(content) ?? textOf(error) ?? textOf(message);
}

/** What an edit does, as lines that go and lines that come, or in the agent's own words; null: nothing is told of it. */
function changeIn(call: Fields): string | null {
  const { diff, patch } = fieldsIn(call.rawInput);
  const change = diffsIn(call.content) ?? textOf(diff) ?? textOf(patch);
  return change === null ? null : clip(change.trim(), limits.askCharsMax);
}

function diffsIn(content: unknown): string | null {
  const parts = rowsOf(content).flatMap(({ type, path, oldText, newText }) =>
    type === 'diff' ? [`${textOf(path) ?? 'a file'}\n${linesOfChange(textAt(oldText), textAt(newText))}`] : [],
  );
  return parts.length === 0 ? null : parts.join('\n');
}

const textAt = (value: unknown): string => (typeof value === 'string' ? value : '');

function linesOfChange(before: string, after: string): string {
  const old = before === '' ? [] : before.replace(/\n$/, '').split('\n');
  const fresh = after === '' ? [] : after.replace(/\n$/, '').split('\n');
  let head = 0;
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, fresh.length) - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  return [
    ...old.slice(head, old.length - tail).map((line) => `- ${line}`),
    ...fresh.slice(head, fresh.length - tail).map((line) => `+ ${line}`),
  ].join('\n');
}

/** A tool that waits or works. */
export function showTool(draft: AcpDraft, id: string, tool: Tool): void {
  const { tools } = draft.memory;
  if (Object.hasOwn(tools, id) || Object.keys(tools).length < limits.sessionToolsMax) {
    keep(draft, { tools: { ...tools, [id]: tool } });
  }
  writeTool(draft, id, tool, tool.status === 'refused' ? 'failed' : tool.status);
}

export function markTool(draft: AcpDraft, id: string | null, status: Tool['status']): void {
  const tool = id === null ? undefined : own(draft.memory.tools, id);
  if (id !== null && tool !== undefined) showTool(draft, id, { ...tool, status });
}

/** Its last message. Of one that is not known there is nothing to end. */
export function endTool(draft: AcpDraft, id: string, status: 'done' | 'failed', last?: Tool): void {
  const { [id]: known, ...tools } = draft.memory.tools;
  const tool = last ?? known;
  if (tool === undefined) return;
  keep(draft, { tools });
  writeTool(draft, id, tool, status);
}

/** The turn is over. `status` is for tools of which nothing more was told. */
export function endTools(draft: AcpDraft, status: 'done' | 'failed'): void {
  for (const [id, tool] of Object.entries(draft.memory.tools)) {
    endTool(draft, id, tool.status === 'refused' ? 'failed' : status);
  }
}

function writeTool(draft: AcpDraft, id: string, { name, text, output }: Tool, status: Status): void {
  const words = output.trim() === '' ? text : `${text}\n${output}`;
  const isEnd = status === 'done' || status === 'failed';
  write(draft, { id: `tool-${id}`, role: 'tool', text: words, partial: !isEnd, tool: { name, status } });
}

// How a turn over ACP ended. Agents end failed turns as if they had gone well, or answer the prompt with an error: what
// was seen of the turn is held against what they say of its end (SES6).

interface Failure {
  readonly kind: MachineEventKind;
  readonly words: string;
  /** Nobody is logged in, or not with the right to do this. */
  readonly isLogin?: boolean;
}

/** The end that a reply to the prompt tells of. */
export function endingOf(result: Fields, memory: AcpMemory, at: number): MachineEvent {
  const { seen } = memory;
  const reason = textOf(result.stopReason) ?? 'nothing';
  if (reason === 'cancelled') return { kind: 'turn_cancelled', at };
  if (seen.isBroken || seen.failure !== null) {
    return failed(
      memory,
      failureOf(seen.failure ?? seen.notice ?? 'a request failed without a message', null, null),
      at,
    );
  }
  const unverified = (words: string): MachineEvent => ({
    kind: 'say:completion_result',
    at,
    outcome: 'unverified',
    words,
  });
  switch (reason) {
    case 'end_turn':
      // Some agents go on after a no, others stop there and call it the end of the turn.
      if (seen.saidNo && !seen.workSinceNo) return { kind: 'turn_cancelled', at };
      if (!seen.work) return unverified('the turn ended without output');
      if (seen.suspicion !== null) return unverified(`its last message looks like a failure: ${seen.suspicion}`);
      return { kind: 'say:completion_result', at, outcome: 'verified' };
    case 'max_turn_requests':
      return failed(memory, { kind: 'ask:mistake_limit_reached', words: 'the turn reached its step limit' }, at);
    case 'max_tokens':
    case 'refusal':
      return unverified(`the model stopped early (${reason})`);
    default:
      return unverified(`the turn ended with "${reason}"`);
  }
}

/** The code with which an agent says that nobody is logged in. */
const loginNeeded = -32_000;

/** What the error says that answered one of our requests. */
export function failureIn({ code, message, data }: RpcError): Failure {
  const details = textOf(data.details) ?? textOf(data.message);
  const plain = message.replace(/^Internal error(?:: )?/, '');
  const words = plain === '' ? (details ?? message) : plain;
  const status = code !== null && code >= 400 && code < 600 ? code : null;
  return failureOf(words, code === loginNeeded ? 401 : status, textOf(data.errorKind));
}

function failureOf(text: string, status: number | null, kind: string | null): Failure {
  const words = failureWordsIn(text);
  const number = status ?? statusIn(text);
  if (kind === 'model_not_found' || number === 404) return { kind: 'ask:invalid_model', words };
  if (kind === 'billing_error' || number === 402) return { kind: 'ask:payment_required_prompt', words };
  const isLogin = kind === 'authentication_failed' || number === 401 || number === 403;
  return { kind: 'ask:api_req_failed', words, isLogin };
}

/** Words for people out of what may be the body of a reply: `{"error":{"message":...}}`. */
function failureWordsIn(line: string): string {
  const text = line.replace(/^(?:API )?Error: /, '');
  const body = text.slice(Math.max(0, text.indexOf('{')));
  const fields = fieldsIn(parseFields(body.trim()));
  return textOf(fieldsIn(fields.error).message) ?? textOf(fields.message) ?? text.trim();
}

/** `Error: 400 ...`, `API Error: 529 ...`, `... Last error: 500 ...`, `{"error":{"code":400,...}}`. */
function statusIn(text: string): number | null {
  const found = /^\W*([45]\d\d)\b/.exec(text)?.[1] ?? /\berror\W{1,3}([45]\d\d)\b/i.exec(text)?.[1];
  const { code } = fieldsIn(fieldsIn(parseFields(text.trim())).error);
  return found !== undefined ? Number(found) : typeof code === 'number' ? code : null;
}

/** A turn that failed: what a person can do is try again, after a login where one is missing. */
export function failed(memory: AcpMemory, { kind, words, isLogin = false }: Failure, at: number): MachineEvent {
  const { mark, count, logins, login } = memory;
  const own = logins.length > 0 ? logins.join('; or: ') : 'log in with the agent itself';
  const ways = login ?? own;
  const text = `${words}${isLogin ? ` (to log in: ${ways})` : ''}`.slice(0, limits.detailCharsMax);
  const accepts = kind === 'ask:mistake_limit_reached' ? (['retry', 'text'] as const) : (['retry'] as const);
  const ask_id = askId(`failed-${mark}-${count}`);
  return { kind, at, words: text, ask: { ask_id, kind: 'dialog', scope: mainScope, text, options: [], accepts } };
}
