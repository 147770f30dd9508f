// Reads the payload of each kind of event into a typed fact, or says which field is wrong. Only the fields named here
// get through: this is the innermost allow-list (ADM1).

import { type Ask, type AskOption, askKinds, settleKinds } from '../model/asks.ts';
import { endCauses, type Fact, type FactKind, type RuntimeIdentity, type StateFact } from '../model/events.ts';
import {
  agentName,
  agentSessionId,
  askId,
  mainScope,
  type ProcessIdentity,
  paneId,
  runtimeId,
  scopeId,
  serverKey,
  targetId,
} from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { reasonCodes, reasonFits } from '../model/reasons.ts';
import { confidences, stateNames } from '../model/states.ts';
import { hasRedaction, redact } from './redact.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A field that is not what it should be. Thrown and caught inside this room only. */
export class BadField extends Error {}

export function asFields(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadField(`${name} is not an object`);
  return value as Fields;
}

const unsafeInId = /[\u0000-\u001f\u007f-\u009f]/;

/** A short name or id: never empty, never long, nothing invisible. */
export function idField(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '' || value.length > limits.idCharsMax) throw new BadField(name);
  // Not every store keeps these as they are, and an id that changes on the way to the disk is two ids.
  if (unsafeInId.test(value) || !value.isWellFormed())
    throw new BadField(`${name} holds a character that no id may hold`);
  return value;
}

export function optionalId(fields: Fields, name: string): string | undefined {
  return fields[name] === undefined || fields[name] === null ? undefined : idField(fields, name);
}

export function numberField(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw new BadField(name);
  return value;
}

function countField(fields: Fields, name: string): number {
  const value = numberField(fields, name);
  if (!Number.isSafeInteger(value)) throw new BadField(name);
  return value;
}

function booleanField(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (typeof value !== 'boolean') throw new BadField(name);
  return value;
}

function choiceField<Choice extends string>(fields: Fields, name: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === fields[name]);
  if (found === undefined) throw new BadField(name);
  return found;
}

/** Longer text is cut, not refused: an ask must not be lost because its command is long. Never cuts a surrogate pair. */
function textField(fields: Fields, name: string, charsMax: number, clean: (text: string) => string = redact): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new BadField(name);
  const cut = value.slice(0, charsMax);
  return clean(/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut);
}

export function processField(value: unknown): ProcessIdentity {
  const fields = asFields(value, 'process');
  const pid = countField(fields, 'pid');
  if (pid < 1) throw new BadField('pid');
  return { boot: idField(fields, 'boot'), pid, start: idField(fields, 'start') };
}

function runtimeField(value: unknown): RuntimeIdentity {
  const fields = asFields(value, 'runtime');
  const pane = optionalId(fields, 'pane');
  const server = optionalId(fields, 'server');
  if ((pane === undefined) !== (server === undefined)) throw new BadField('pane and server go together');
  const parent = optionalId(fields, 'parent');
  return {
    runtime_id: runtimeId(idField(fields, 'runtime_id')),
    target: targetId(idField(fields, 'target')),
    agent: agentName(idField(fields, 'agent')),
    server: server === undefined ? null : serverKey(server),
    pane: pane === undefined ? null : paneId(pane),
    pane_epoch: countField(fields, 'pane_epoch'),
    process: fields.process === undefined || fields.process === null ? null : processField(fields.process),
    parent: parent === undefined ? null : runtimeId(parent),
    started_at: numberField(fields, 'started_at'),
  };
}

/** `dialog` is what a level source sees; an edge only tells what happened (ASK4). */
function stateFact(fields: Fields): StateFact {
  const state = choiceField(fields, 'state', stateNames);
  const reason = choiceField(fields, 'reason', reasonCodes);
  if (!reasonFits(reason, state)) throw new BadField(`reason ${reason} does not go with ${state}`);
  return {
    kind: 'state.observed',
    state,
    reason,
    confidence: choiceField(fields, 'confidence', confidences),
    ...(fields.dialog === undefined ? {} : { dialog: booleanField(fields, 'dialog') }),
    ...(fields.detail === undefined ? {} : { detail: textField(fields, 'detail', limits.detailCharsMax) }),
    ...(fields.until === undefined ? {} : { until: numberField(fields, 'until') }),
  };
}

function readAsk(fields: Fields, clean: (text: string) => string): Ask {
  const ask = asFields(fields.ask, 'ask');
  const options = ask.options ?? [];
  if (!Array.isArray(options) || options.length > limits.askOptionsMax) throw new BadField('options');
  return {
    ask_id: askId(idField(ask, 'ask_id')),
    kind: choiceField(ask, 'kind', askKinds),
    scope: scopeId(optionalId(ask, 'scope') ?? mainScope),
    text: textField(ask, 'text', limits.askCharsMax, clean),
    options: options.map((option): AskOption => {
      const one = asFields(option, 'option');
      return { id: idField(one, 'id'), label: textField(one, 'label', limits.detailCharsMax, clean) };
    }),
  };
}

/** Whether some of an ask may be hidden. */
export const isAskRedacted = ({ text, options }: Ask): boolean =>
  hasRedaction(text) || options.some(({ label }) => hasRedaction(label));

/** The ask as it was told, secrets and all: to compare with, never to keep or to show. */
export const wholeAsk = (payload: Fields): Ask => readAsk(payload, (text) => text);

function endFact(fields: Fields): Fact {
  const cause = choiceField(fields, 'cause', endCauses);
  const signal = optionalId(fields, 'signal');
  return {
    kind: 'runtime.ended',
    cause,
    ...(fields.status === undefined ? {} : { status: countField(fields, 'status') }),
    ...(signal === undefined ? {} : { signal }),
  };
}

const readers: { readonly [Kind in FactKind]: (fields: Fields) => Fact } = {
  'runtime.started': (fields) => ({ kind: 'runtime.started', runtime: runtimeField(fields.runtime) }),
  'runtime.session': (fields) => ({
    kind: 'runtime.session',
    agent_session: agentSessionId(idField(fields, 'agent_session')),
  }),
  'runtime.goodbye': () => ({ kind: 'runtime.goodbye' }),
  'runtime.ended': endFact,
  'server.seen': (fields) => ({
    kind: 'server.seen',
    server: serverKey(idField(fields, 'server')),
    server_started_at: numberField(fields, 'server_started_at'),
  }),
  'state.observed': stateFact,
  'state.repeated': () => ({ kind: 'state.repeated' }),
  'ask.opened': (fields) => ({ kind: 'ask.opened', ask: readAsk(fields, redact) }),
  'ask.settled': (fields) => ({
    kind: 'ask.settled',
    ask_id: askId(idField(fields, 'ask_id')),
    how: choiceField(fields, 'how', settleKinds),
  }),
  'turn.ended': (fields) => ({ kind: 'turn.ended', scope: scopeId(optionalId(fields, 'scope') ?? mainScope) }),
  'background.counted': (fields) => ({
    kind: 'background.counted',
    shells: countField(fields, 'shells'),
    agents: countField(fields, 'agents'),
  }),
  'process.observed': (fields) => ({ kind: 'process.observed', suspended: booleanField(fields, 'suspended') }),
  'route.activated': () => ({ kind: 'route.activated' }),
  'runtime.base': () => {
    throw new BadField('runtime.base is written by the store only');
  },
};

export function readFact(kind: FactKind, payload: Fields): Fact {
  return readers[kind](payload);
}
