// What the events of OpenCode and of its fork Kilo mean. The same objects come as server-sent events and through a plugin,
// so both ways are read here, and an ask has the same id whichever way it came.

import type { AskKind, AskOption } from '../../model/asks.ts';
import { type AskId, agentSessionId, askId, mainScope, type ScopeId, scopeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Finding } from '../contract.ts';
import { type Fields, fieldsIn, idOf, listOf, textOf } from '../fields.ts';
import { type Conversation, Memory } from './memory.ts';

type Fact = Finding['fact'];

/** One event with whom it is about already found out. */
interface Read {
  readonly session: string;
  readonly one: Conversation;
  readonly properties: Fields;
  readonly memory: Memory;
}

type Meaning = (read: Read) => readonly Fact[];

const meanings: Readonly<Record<string, Meaning>> = {
  'session.created': learn,
  'session.updated': learn,
  'session.deleted': forget,
  'session.status': status,
  'session.idle': over,
  'session.error': failed,
  'permission.asked': permissionAsked,
  // Up to 1.0.
  'permission.updated': permissionAsked,
  'permission.replied': permissionReplied,
  'question.asked': questionAsked,
  'question.replied': questionReplied,
  'question.rejected': questionRejected,
  'message.part.updated': part,
  'message.updated': message,
};

export class EventReader {
  readonly #memory = new Memory();

  /** `now` is when it was received, by the clock of the agent's machine. */
  read(event: Fields, now: number): readonly Finding[] {
    const type = textOf(event.type) ?? '';
    const meaning = Object.hasOwn(meanings, type) ? meanings[type] : undefined;
    const properties = fieldsIn(event.properties);
    const session = sessionOf(properties);
    // Errors without a conversation are about settings and plugins, not about a turn.
    if (meaning === undefined || session === null) return [];
    const facts = meaning({ session, one: this.#memory.of(session), properties, memory: this.#memory });
    const id = idOf(event.id, limits.idCharsMax - 4);
    return facts.map((fact, place) => ({
      fact,
      time: timeOf(event.id, now),
      agent_session: agentSessionId(this.#memory.rootOf(session)),
      ...(id === null ? {} : { dedupe: `${id}:${place}` }),
    }));
  }

  /** The conversation a person sees, also for events of the subagents below it. */
  rootOf(event: Fields): string | null {
    const session = sessionOf(fieldsIn(event.properties));
    return session === null ? null : this.#memory.rootOf(session);
  }
}

function sessionOf(properties: Fields): string | null {
  const info = fieldsIn(properties.info);
  const part = fieldsIn(properties.part);
  for (const value of [properties.sessionID, info.sessionID, part.sessionID, info.id]) {
    const id = idOf(value, limits.idCharsMax);
    if (id !== null) return id;
  }
  return null;
}

/**
 * An event's id begins with its time: 36 bits of milliseconds and 12 that count within one. Events of one millisecond stay
 * in order through the fraction. Only believed where it fits the time of receipt.
 */
function timeOf(id: unknown, now: number): number {
  const digits = typeof id === 'string' ? /^evt_([0-9a-f]{9})([0-9a-f]{3})/.exec(id) : null;
  if (digits === null) return now;
  const span = 2 ** 36;
  const low = Number.parseInt(digits[1] ?? '', 16);
  const high = Math.round((now - low) / span) * span;
  const stamp = high + low + Number.parseInt(digits[2] ?? '', 16) / 4096;
  return stamp <= now + 1 && now - stamp < limits.eventStampAgeMsMax ? stamp : now;
}

function learn({ session, one, properties }: Read): readonly Fact[] {
  const info = fieldsIn(properties.info);
  // Not every event of this kind carries the whole conversation; one that does says so by its own id.
  if (info.id !== session) return [];
  const parent = idOf(info.parentID, limits.idCharsMax);
  one.parent = parent === session ? null : parent;
  return [];
}

function forget({ session, memory }: Read): readonly Fact[] {
  memory.forget(session);
  return [];
}

const running = (reason: 'turn_running' | 'tool_running' | 'retrying', detail: string | null = null): Fact => ({
  kind: 'state.observed',
  state: 'running',
  reason,
  confidence: 'high',
  ...(detail === null ? {} : { detail: detail.slice(0, limits.detailCharsMax) }),
});

const counted = (read: Read): Fact => ({
  kind: 'background.counted',
  shells: 0,
  agents: read.memory.busyBelow(read.memory.rootOf(read.session)),
});

function scopeOf({ memory, session }: Read): ScopeId {
  return memory.isChild(session) ? scopeId(session) : mainScope;
}

function status(read: Read): readonly Fact[] {
  const { one, properties, memory, session } = read;
  const said = fieldsIn(properties.status);
  if (said.type === 'idle') return over(read);
  if (said.type !== 'busy' && said.type !== 'retry') return [];
  one.phase = said.type;
  one.outcome = null;
  if (memory.isChild(session)) return [counted(read)];
  return [said.type === 'retry' ? running('retrying', textOf(said.message)) : running('turn_running')];
}

/**
 * The end of a turn is told two to four times, and never how the turn went: that was said before it. Told again, it means
 * the same, so that a call which has to be read twice loses nothing.
 */
function over(read: Read): readonly Fact[] {
  const { one, memory, session } = read;
  // It never gives up retrying by itself: whoever comes from there was interrupted.
  one.outcome ??= one.phase === 'retry' ? 'interrupted' : one.isCut ? 'cut' : 'finished';
  one.phase = 'over';
  one.call = null;
  const ended: Fact = { kind: 'turn.ended', scope: scopeOf(read) };
  if (memory.isChild(session)) return [ended, counted(read)];
  switch (one.outcome) {
    case 'failed':
      return [ended];
    case 'interrupted':
      return [ended, interrupted];
    case 'refused':
      return [ended, { kind: 'state.observed', state: 'idle', reason: 'refused_by_person', confidence: 'high' }];
    case 'cut':
      return [ended, cut];
    case 'finished':
      return [ended, completed];
  }
}

const interrupted: Fact = { kind: 'state.observed', state: 'idle', reason: 'interrupted', confidence: 'high' };
const completed: Fact = { kind: 'state.observed', state: 'completed', reason: 'turn_completed', confidence: 'high' };

const cut: Fact = {
  kind: 'state.observed',
  state: 'error',
  reason: 'turn_failed',
  confidence: 'high',
  detail: 'its answer was cut off',
};

function failed(read: Read): readonly Fact[] {
  const { one, properties, memory, session } = read;
  const error = fieldsIn(properties.error);
  const isAbort = error.name === 'MessageAbortedError';
  one.outcome = isAbort ? 'interrupted' : 'failed';
  // A subagent's failure is a result the main agent goes on with.
  if (memory.isChild(session)) return [];
  if (isAbort) return [interrupted];
  const data = fieldsIn(error.data);
  const detail = textOf(data.message) ?? textOf(error.name);
  return [
    {
      kind: 'state.observed',
      state: 'error',
      reason: reasonOf(error.name, data.statusCode),
      confidence: 'high',
      ...(detail === null ? {} : { detail: detail.slice(0, limits.detailCharsMax) }),
    },
  ];
}

function reasonOf(name: unknown, statusCode: unknown): 'login_needed' | 'usage_limit' | 'api_error' | 'turn_failed' {
  if (name === 'ProviderAuthError') return 'login_needed';
  if (name !== 'APIError') return 'turn_failed';
  return statusCode === 402 || statusCode === 429 ? 'usage_limit' : 'api_error';
}

/** The ids are the words of its own interface for answers. */
const permissionOptions: readonly AskOption[] = [
  { id: 'once', label: 'Allow once' },
  { id: 'always', label: 'Allow always' },
  { id: 'reject', label: 'Reject' },
];

function permissionAsked(read: Read): readonly Fact[] {
  const { properties } = read;
  const id = askIdOf(properties.id);
  const permission = textOf(properties.permission) ?? textOf(properties.type);
  if (id === null || permission === null) return [];
  const text = permissionText(permission, properties).slice(0, limits.askCharsMax);
  const ask = { ask_id: id, kind: permissionKind(permission), scope: scopeOf(read), text, options: permissionOptions };
  return [{ kind: 'ask.opened', ask }];
}

const askIdOf = (value: unknown): AskId | null => {
  const id = idOf(value, limits.idCharsMax);
  return id === null ? null : askId(id);
};

export function permissionKind(permission: string): AskKind {
  switch (permission) {
    case 'bash':
      return 'command';
    case 'edit':
    case 'write':
    case 'patch':
      return 'edit';
    // An open list: every tool of every MCP server has a name of its own.
    default:
      return 'tool';
  }
}

export function permissionText(permission: string, properties: Fields): string {
  const metadata = fieldsIn(properties.metadata);
  const command = textOf(metadata.command);
  if (command !== null) return command;
  const path = textOf(metadata.filepath) ?? textOf(metadata.filePath);
  if (path !== null) return [`${permission} ${path}`, textOf(metadata.diff)].filter((one) => one !== null).join('\n');
  const title = textOf(properties.title);
  if (title !== null) return title;
  const patterns = [...listOf(properties.patterns), properties.pattern].map(textOf).filter((one) => one !== null);
  return [permission, patterns.join(' ')].join(' ').trim();
}

function permissionReplied(read: Read): readonly Fact[] {
  const { properties } = read;
  const id = askIdOf(properties.requestID) ?? askIdOf(properties.permissionID);
  if (id === null) return [];
  const isRefusal = (properties.reply ?? properties.response) === 'reject';
  return [{ kind: 'ask.settled', ask_id: id, how: isRefusal ? 'denied' : 'answered' }, ...goesOn(read, isRefusal)];
}

/** After an answer it works on at once, without saying so; after a refusal it stops, and says that later. */
function goesOn({ one, memory, session }: Read, isRefusal: boolean): readonly Fact[] {
  if (isRefusal) {
    one.outcome = 'refused';
    return [];
  }
  const root = memory.rootOf(session);
  return memory.of(root).phase === 'over' ? [] : [running('tool_running')];
}

function questionAsked(read: Read): readonly Fact[] {
  const { properties } = read;
  const id = askIdOf(properties.id);
  const questions = listOf(properties.questions).map(fieldsIn);
  if (id === null) return [];
  const texts = questions.map((one) => textOf(one.question)).filter((one) => one !== null);
  const text = texts.join('\n').slice(0, limits.askCharsMax);
  // Several questions are answered one by one; a single list of options would be a guess about which one.
  const options = questions.length === 1 ? optionsOf(questions[0]?.options) : [];
  return [{ kind: 'ask.opened', ask: { ask_id: id, kind: 'question', scope: scopeOf(read), text, options } }];
}

function optionsOf(options: unknown): readonly AskOption[] {
  return listOf(options)
    .slice(0, limits.askOptionsMax)
    .flatMap((option, place) => {
      const label = textOf(fieldsIn(option).label);
      return label === null ? [] : [{ id: String(place + 1), label: label.slice(0, limits.detailCharsMax) }];
    });
}

function questionReplied(read: Read): readonly Fact[] {
  const id = askIdOf(read.properties.requestID);
  return id === null ? [] : [{ kind: 'ask.settled', ask_id: id, how: 'answered' }, ...goesOn(read, false)];
}

function questionRejected(read: Read): readonly Fact[] {
  const id = askIdOf(read.properties.requestID);
  return id === null ? [] : [{ kind: 'ask.settled', ask_id: id, how: 'denied' }, ...goesOn(read, true)];
}

/** How an answer ended is told with it; only the end of the turn makes it the last one (RSV13). */
function message({ one, properties }: Read): readonly Fact[] {
  const { role, finish, summary } = fieldsIn(properties.info);
  if (role !== 'assistant' || summary === true) return [];
  one.isCut = finish === 'length' || finish === 'content-filter';
  return [];
}

/** A tool counts as running before anybody was asked for permission; the open ask is what is shown then. */
function part({ one, properties, memory, session }: Read): readonly Fact[] {
  const said = fieldsIn(properties.part);
  const call = textOf(said.callID);
  if (said.type !== 'tool' || call === null || memory.isChild(session) || one.phase !== 'busy') return [];
  const state = fieldsIn(said.state);
  if (state.status === 'running') {
    if (one.call === call) return [];
    one.call = call;
    return [running('tool_running', toolText(said.tool, fieldsIn(state.input)))];
  }
  if (one.call !== call || (state.status !== 'completed' && state.status !== 'error')) return [];
  one.call = null;
  return [running('turn_running')];
}

function toolText(tool: unknown, input: Fields): string | null {
  const name = textOf(tool);
  const about = textOf(input.command) ?? textOf(input.filePath) ?? textOf(input.description);
  return name === null || about === null ? name : `${name}: ${about}`;
}
