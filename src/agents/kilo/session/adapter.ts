// How Kilo was led before 7: lines of JSON on stdin and stdout, in the words that the states of a session were first
// written for.

import type { AskKind } from '../../../model/asks.ts';
import { fail, ok, type Result } from '../../../model/errors.ts';
import { agentSessionId, askId, mainScope } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { MachineEvent, MachineEventKind, PendingAsk } from '../../../model/sessions.ts';
import { type Fields, fieldsIn, idOf, parseFields, rowsOf, textOf } from '../../fields.ts';
import type {
  Delivery,
  Incoming,
  Opening,
  ProtocolAdapter,
  Turn,
  UserAction,
  Wakeful,
} from '../../protocol/adapter.ts';
import {
  clip,
  draftOf,
  goOn,
  hearGarbage,
  hearStillborn,
  hearStray,
  keep,
  nextId,
  note,
  sayLine,
  tell,
  turnOf,
  weightOf,
  write,
} from '../../protocol/draft.ts';
import {
  beginTurn,
  deliveryOf,
  endTurn,
  hearClock,
  hearGone,
  noteAnswer,
  setWatch,
  spokenTo,
  watchSigns,
} from '../../protocol/watch.ts';
import { lastConversation } from '../session.ts';
import {
  dated,
  endItems,
  freshMemory,
  hearCommandOutput,
  hearSay,
  hearTool,
  type LinesDraft,
  type LinesMemory,
  markTool,
  type Row,
  settle,
  type Waiting,
  wordsOf,
} from './conversation.ts';

export const kiloLines: ProtocolAdapter<LinesMemory> = {
  name: 'kilo-lines',
  hasNoCreated: true,
  livesOn: false,
  open(opening: Opening, at: number): Turn<LinesMemory> {
    const draft = draftOf(freshMemory(opening, at), at);
    const { prompt, resume } = opening;
    if (resume === null) sayTask(draft, prompt === '' ? goOn : prompt);
    // It shows the whole conversation first, and asks then.
    else sayWords(draft, prompt === '' ? goOn : prompt, null);
    return scheduled(draft);
  },
  hear(memory: LinesMemory, heard: Incoming, at: number): Turn<LinesMemory> {
    const draft = draftOf(memory, at);
    switch (heard.from) {
      case 'stdout':
        hearLine(draft, heard.line);
        watchSigns(draft);
        break;
      case 'stderr':
        hearStray(draft, heard.line);
        break;
      case 'exit':
        if (!memory.isHeard) hearStillborn(draft, heard);
        endItems(draft, 'failed');
        keep(draft, { waiting: null, held: null, heldUntil: null, half: '' });
        hearGone(draft);
        break;
      case 'clock':
        hearTime(draft, heard.isAsked);
        break;
      case 'reconnect':
      case 'reply':
      case 'stream':
        break;
    }
    return scheduled(draft);
  },
  do(memory: LinesMemory, deed: UserAction, at: number): Result<Turn<LinesMemory>> {
    const draft = draftOf(memory, at);
    spokenTo(draft);
    const done = act(draft, deed);
    if (done.ok) noteAnswer(draft, deed, draft.memory.held !== null);
    return done.ok ? ok(scheduled(draft)) : done;
  },
  // One at a time, and only the words of its options.
  asksBytes: ({ waiting }: LinesMemory): number => weightOf(waiting),
  delivery: ({ watch, held }: LinesMemory): Delivery => deliveryOf(watch, held !== null),
  wakeful: ({ session, watch, waiting, held }: LinesMemory): Wakeful | null => {
    if (watch.isTurnOpen || held !== null || (waiting !== null && waiting.kind !== 'rest')) return 'busy';
    // The last one of its directory may be another one by then.
    return session === null || session === lastConversation ? 'no_resume' : null;
  },
};

function hearLine(draft: LinesDraft, line: string): void {
  setWatch(draft, { heardAt: draft.at });
  const { rows, half, words } = rowsIn(draft.memory.half, line);
  keep(draft, { half });
  for (const row of rows) hearRow(draft, row);
  if (words !== '') hearGarbage(draft, words);
}

function hearRow(draft: LinesDraft, fields: Fields): void {
  if (fields.event === 'session_created') {
    hearNamed(draft, idOf(fields.sessionId));
    return;
  }
  const saidAt = typeof fields.timestamp === 'number' && Number.isFinite(fields.timestamp) ? fields.timestamp : null;
  const row: Row = {
    fields,
    id: saidAt === null ? nextId(draft, 'line') : String(saidAt),
    saidAt,
    isOld: saidAt !== null && saidAt < draft.memory.opening.spawned_at,
    partial: fields.partial === true,
  };
  if (fields.source === 'cli') hearProgram(draft, row);
  else if (fields.type === 'ask') hearAsk(draft, row);
  else if (fields.type === 'say') hearSay(draft, row);
  else return;
  keep(draft, { isHeard: true });
}

/** Only where the task is kept in Kilo's cloud. */
function hearNamed(draft: LinesDraft, id: string | null): void {
  if (id === null) return;
  keep(draft, { isNamed: true, session: id });
  tell(draft, 'session_created', { agent_session: agentSessionId(id) });
}

/** The program itself: greetings and complaints. */
function hearProgram(draft: LinesDraft, { fields, id }: Row): void {
  note(draft, `program-${id}`, textOf(fields.content)?.slice(0, limits.sessionStrayCharsMax) ?? null);
}

/** When to wake next: for what is watched, or for words that it never said it would take. */
function scheduled(draft: LinesDraft): Turn<LinesMemory> {
  const { watch, heldUntil } = draft.memory;
  const dues = [watch.isTurnOpen ? watch.due?.at : null, heldUntil].filter((due) => typeof due === 'number');
  draft.wakeMs = dues.length === 0 ? null : Math.max(1, Math.min(...dues) - draft.at);
  return turnOf(draft);
}

function hearTime(draft: LinesDraft, isSeen: boolean | undefined): void {
  const { held, heldUntil } = draft.memory;
  if (held !== null && heldUntil !== null && heldUntil <= draft.at) sayHeld(draft, held);
  const { waiting, items } = draft.memory;
  const isTool = Object.values(items).some(({ role }) => role === 'tool');
  const isAsked = waiting?.kind === 'leave' || waiting?.kind === 'question';
  hearClock(draft, isAsked ? 'ask' : isTool ? 'tool' : null, isSeen);
}

function act(draft: LinesDraft, deed: UserAction): Result<null> {
  switch (deed.kind) {
    case 'send':
      if (deed.text.trim() === '') return fail('E_INPUT', 'nothing to send');
      sayWords(draft, deed.text, limits.sessionHeldWordsMs);
      return ok(null);
    case 'continue':
      sayWords(draft, deed.text ?? goOn, limits.sessionHeldWordsMs);
      return ok(null);
    case 'retry':
      sayRetry(draft);
      return ok(null);
    case 'cancel':
      sayStop(draft);
      return ok(null);
    case 'approve':
    case 'reject':
    case 'choose':
    case 'write':
      return answer(draft, deed);
  }
}

// What stands in a line of Kilo's output: it prints objects, but to what it takes for a terminal, so that control sequences
// stand between them, several may share a line, and some are cut. Nothing here throws.

interface Found {
  readonly rows: readonly Fields[];
  /** An object that has begun and not ended: its other half may be the next line. */
  readonly half: string;
  /** What stands there when no object does. */
  readonly words: string;
}

/** Titles of windows, moves of the cursor and whatever else begins with an escape; raw controls are never in JSON. */
const sequences =
  /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]|[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** Beginnings of objects that are tried in one line; a line of nothing but braces must not cost more. */
const triesMax = 16;

/** The objects of a line, and of the half that was left by the one before. */
export function rowsIn(before: string, line: string): Found {
  const text = line.replaceAll(sequences, '');
  const joined = before === '' ? null : scan(before + text);
  // Only where the half became whole; else it is lost, and the line stands for itself.
  return joined?.isFromStart ? joined : scan(text);
}

interface Scanned extends Found {
  /** The first object begins where the text does. */
  readonly isFromStart: boolean;
}

function scan(text: string): Scanned {
  const rows: Fields[] = [];
  const first = text.indexOf('{');
  let half = -1;
  let isFromStart = false;
  let at = first;
  for (let tries = 0; at >= 0 && tries < triesMax; ) {
    const end = endOf(text, at);
    const row = end < 0 ? null : parseFields(text.slice(at, end));
    if (row === null) {
      tries += 1;
      if (half < 0) half = at;
      at = text.indexOf('{"', at + 1);
      continue;
    }
    isFromStart ||= at === 0;
    rows.push(row);
    half = -1;
    at = text.indexOf('{', end);
  }
  const rest = half < 0 ? '' : text.slice(half);
  return {
    rows,
    half: rest.length > limits.sessionHalfCharsMax ? '' : rest,
    words: rows.length > 0 || first === 0 ? '' : text,
    isFromStart,
  };
}

/** Behind the object that begins here; -1 when it does not end. */
function endOf(text: string, from: number): number {
  let depth = 0;
  let isText = false;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (isText) {
      if (char === '\\') at += 1;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

// What Kilo waits for, and how it is answered. Its answers name no ask: the second answer to the same one would be taken for
// the next, so every ask is answered once.

type Said = Readonly<Record<string, unknown>>;
const say = (draft: LinesDraft, message: Said): void => sayLine(draft, JSON.stringify(message));

/** A task of its own, or words for the one that there is. */
function sayTask(draft: LinesDraft, text: string): void {
  began(draft, text);
  setWatch(draft, { words: 'said' });
  say(draft, { type: 'newTask', text });
}

/** Words at once if it takes some, else as soon as it does; it does not always say so, so not later than `withinMs`. */
function sayWords(draft: LinesDraft, text: string, withinMs: number | null): void {
  const { waiting, held } = draft.memory;
  began(draft, text);
  if (waiting?.kind === 'rest' || waiting?.kind === 'guidance') {
    sayHeld(draft, text);
    return;
  }
  // Any other answer than a yes would end the task: it tries again, and gets the words behind that.
  if (waiting?.kind === 'failure') sayRetry(draft);
  const heldUntil = withinMs === null || waiting?.kind === 'failure' ? null : draft.at + withinMs;
  keep(draft, { held: held === null ? text : `${held}\n\n${text}`, heldUntil });
  setWatch(draft, { words: 'held' });
}

function began(draft: LinesDraft, text: string): void {
  write(draft, { id: nextId(draft, 'user'), role: 'user', text });
  keep(draft, { unrepeated: [...draft.memory.unrepeated, clip(text)].slice(-8) });
  setWatch(draft, { isCancelling: false });
  beginTurn(draft);
}

function sayHeld(draft: LinesDraft, text: string): void {
  settle(draft);
  beginTurn(draft);
  keep(draft, { held: null, heldUntil: null });
  setWatch(draft, { words: 'said' });
  say(draft, { type: 'askResponse', askResponse: 'messageResponse', text });
}

function sayStop(draft: LinesDraft): void {
  if (draft.memory.waiting?.kind !== 'rest') settle(draft);
  keep(draft, { held: null, heldUntil: null });
  setWatch(draft, { isCancelling: draft.memory.watch.isTurnOpen });
  say(draft, { type: 'cancelTask' });
}

/** It asks one thing at a time: what it asked before is settled. */
function waitFor(draft: LinesDraft, waiting: Waiting): void {
  if (draft.memory.waiting?.id !== waiting.id) settle(draft);
  keep(draft, { waiting });
}

/** Failures by their names, each with the words it takes besides another try. */
const failures: Readonly<Record<string, PendingAsk['accepts']>> = {
  api_req_failed: ['retry'],
  mistake_limit_reached: ['retry', 'text'],
  payment_required_prompt: ['retry'],
  invalid_model: ['retry'],
};
const leaves: readonly unknown[] = ['command', 'tool', 'browser_action_launch', 'use_mcp_server'];
const rests: readonly unknown[] = ['completion_result', 'resume_task', 'resume_completed_task'];

function hearAsk(draft: LinesDraft, row: Row): void {
  const { ask, isAnswered } = row.fields;
  const name = textOf(ask);
  if (name === null) return;
  if (name === 'command_output') {
    hearCommandOutput(draft, row);
    return;
  }
  if (rests.includes(name)) {
    hearRest(draft, row, name);
    return;
  }
  if (row.isOld || draft.memory.settled.includes(row.id)) return;
  if (isAnswered === true) hearAnswered(draft, row);
  else if (name === 'followup') hearQuestion(draft, row);
  else if (Object.hasOwn(failures, name)) hearFailure(draft, row, name);
  else hearWanted(draft, row, name);
}

/** Somebody else answered it, or the program itself. */
function hearAnswered(draft: LinesDraft, row: Row): void {
  if (draft.memory.waiting?.id === row.id) settle(draft);
  tell(draft, 'user_feedback', { ask_id: row.id, ...dated(row) });
}

/** It rests, and takes words: after its task, or in one that is to be gone on with. */
function hearRest(draft: LinesDraft, row: Row, name: string): void {
  const { settled, held } = draft.memory;
  const isHistory = row.isOld && name === 'completion_result';
  if (settled.includes(row.id) || isHistory || row.partial) return;
  waitFor(draft, { id: row.id, kind: 'rest', labels: [] });
  endItems(draft, name === 'completion_result' ? 'done' : 'failed');
  if (held !== null) {
    sayHeld(draft, held);
    return;
  }
  endTurn(draft, { kind: `ask:${name}` as MachineEventKind, at: draft.at, ...dated(row) });
}

function hearFailure(draft: LinesDraft, row: Row, name: string): void {
  const text = wordsOf(row.fields);
  const words = clip(text, limits.detailCharsMax);
  const ask = askOf(row, { kind: 'dialog', text: words, accepts: failures[name] ?? [] });
  const kind = `ask:${name}` as MachineEventKind;
  const isGuided = ask.accepts.includes('text');
  waitFor(draft, { id: row.id, kind: isGuided ? 'guidance' : 'failure', labels: [] });
  if (row.partial) {
    tellAsk(draft, row, kind, ask);
    return;
  }
  endItems(draft, 'failed');
  endTurn(draft, { kind, at: draft.at, words, ask, ...dated(row) });
}

function hearQuestion(draft: LinesDraft, row: Row): void {
  const about = fieldsIn(row.fields.metadata);
  const labels = rowsOf(about.suggest)
    .flatMap(({ answer }) => textOf(answer) ?? [])
    .slice(0, limits.askOptionsMax);
  const text = textOf(about.question) ?? wordsOf(row.fields);
  const options = labels.map((label, place) => ({ id: String(place + 1), label: clip(label, limits.detailCharsMax) }));
  waitFor(draft, { id: row.id, kind: 'question', labels });
  const accepts = labels.length > 0 ? (['option', 'text'] as const) : (['text'] as const);
  tellAsk(draft, row, 'ask:followup', { ...askOf(row, { kind: 'question', text, accepts }), options });
}

/** What it wants leave for. An ask that nobody knows yet is one too: the program waits for a yes. */
function hearWanted(draft: LinesDraft, row: Row, name: string): void {
  const about = fieldsIn(row.fields.metadata);
  const text = leaves.includes(name) ? wishOf(name, row.fields, about) : `${name}: ${wordsOf(row.fields)}`;
  waitFor(draft, { id: row.id, kind: 'leave', labels: [] });
  hearTool(draft, `ask-${row.id}`, textOf(about.tool) ?? name, text);
  const ask = askOf(row, { kind: kindOf(name, about), text, accepts: ['approve', 'reject'] });
  tellAsk(draft, row, leaves.includes(name) ? (`ask:${name}` as MachineEventKind) : 'ask:tool', ask);
}

function wishOf(name: string, fields: Fields, about: Fields): string {
  if (name === 'use_mcp_server') {
    const parts = [about.serverName, about.toolName ?? about.uri, about.arguments];
    return parts.flatMap((one) => textOf(one) ?? []).join(' ') || wordsOf(fields);
  }
  if (name !== 'tool') return wordsOf(fields);
  const head = [about.tool, about.path].flatMap((one) => textOf(one) ?? []).join(' ');
  const body = textOf(about.diff) ?? textOf(about.content);
  return head === '' ? wordsOf(fields) : [head, ...(body === null ? [] : [body])].join('\n');
}

const edits: readonly unknown[] = [
  ...['newFileCreated', 'editedExistingFile', 'appliedDiff', 'insertContent', 'searchAndReplace'],
];

function kindOf(name: string, { tool }: Fields): AskKind {
  if (name === 'command') return 'command';
  return name === 'tool' && edits.includes(tool) ? 'edit' : 'tool';
}

function askOf({ id }: Row, rest: Pick<PendingAsk, 'kind' | 'text' | 'accepts'>): PendingAsk {
  return { ask_id: askId(id), scope: mainScope, options: [], ...rest, text: rest.text.slice(0, limits.askCharsMax) };
}

function tellAsk(draft: LinesDraft, row: Row, kind: MachineEvent['kind'], ask: PendingAsk): void {
  tell(draft, kind, { ask, ...(row.partial ? { partial: true } : {}), ...dated(row) });
}

type Answer = Extract<UserAction, { readonly ask_id: string }>;

/** A person's answer to what it waits for. */
function answer(draft: LinesDraft, deed: Answer): Result<null> {
  const { waiting } = draft.memory;
  if (waiting === null || waiting.id !== deed.ask_id) {
    return fail('E_STATE_CHANGED', 'the request was already answered, or the agent continued');
  }
  switch (deed.kind) {
    case 'approve':
    case 'reject':
      if (waiting.kind !== 'leave') return fail('E_UNSUPPORTED', 'this is a question and needs an answer');
      settle(draft);
      decide(draft, deed);
      return ok(null);
    case 'choose': {
      const label = waiting.labels[Number(deed.option) - 1] ?? waiting.labels.find((one) => one === deed.option);
      if (label === undefined) return fail('E_INPUT', `"${deed.option}" is not one of the options`);
      return respond(draft, waiting, label);
    }
    case 'write':
      return respond(draft, waiting, deed.text);
  }
}

function decide(draft: LinesDraft, deed: Extract<UserAction, { readonly kind: 'approve' | 'reject' }>): void {
  const isYes = deed.kind === 'approve';
  const askResponse = isYes ? 'yesButtonClicked' : 'noButtonClicked';
  const because = deed.kind === 'reject' ? deed.because : null;
  markTool(draft, `ask-${deed.ask_id}`, isYes);
  if (because !== null) keep(draft, { unrepeated: [...draft.memory.unrepeated, clip(because)].slice(-8) });
  say(draft, { type: 'askResponse', askResponse, ...(because === null ? {} : { text: because }) });
}

function respond(draft: LinesDraft, { kind }: Waiting, text: string): Result<null> {
  if (kind === 'leave')
    return fail('E_UNSUPPORTED', 'this request needs an approval or a rejection', 'approve or reject it');
  if (kind === 'failure') return fail('E_UNSUPPORTED', 'this request accepts no text', 'retry it, or stop it');
  settle(draft);
  began(draft, text);
  say(draft, { type: 'askResponse', askResponse: 'messageResponse', text });
  return ok(null);
}

/** Another try of what failed. While it retries by itself there is nothing to say. */
function sayRetry(draft: LinesDraft): void {
  const { waiting } = draft.memory;
  if (waiting?.kind !== 'failure' && waiting?.kind !== 'guidance') return;
  settle(draft);
  beginTurn(draft);
  say(draft, { type: 'askResponse', askResponse: 'yesButtonClicked' });
}
