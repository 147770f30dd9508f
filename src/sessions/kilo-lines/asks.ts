// What Kilo waits for, and how it is answered. Its answers name no ask: the second answer to the same one would be taken for
// the next, so every ask is answered once.

import { type Fields, fieldsIn, rowsOf, textOf } from '../../agents/fields.ts';
import type { AskKind } from '../../model/asks.ts';
import { fail, ok, type Result } from '../../model/errors.ts';
import { askId, mainScope } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { MachineEvent, MachineEventKind, PendingAsk } from '../../model/sessions.ts';
import type { Deed } from '../dialect.ts';
import { clip, keep, nextId, sayLine, tell, write } from '../draft.ts';
import { beginTurn, endTurn, setWatch } from '../watch.ts';
import type { LinesDraft, Waiting } from './memory.ts';
import { dated, hearCommandOutput, type Row, settle, wordsOf } from './says.ts';
import { endItems, hearTool, markTool } from './speech.ts';

type Said = Readonly<Record<string, unknown>>;
const say = (draft: LinesDraft, message: Said): void => sayLine(draft, JSON.stringify(message));

/** A task of its own, or words for the one that there is. */
export function sayTask(draft: LinesDraft, text: string): void {
  began(draft, text);
  setWatch(draft, { words: 'said' });
  say(draft, { type: 'newTask', text });
}

/** Words at once if it takes some, else as soon as it does; it does not always say so, so not later than `withinMs`. */
export function sayWords(draft: LinesDraft, text: string, withinMs: number | null): void {
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

export function sayHeld(draft: LinesDraft, text: string): void {
  settle(draft);
  beginTurn(draft);
  keep(draft, { held: null, heldUntil: null });
  setWatch(draft, { words: 'said' });
  say(draft, { type: 'askResponse', askResponse: 'messageResponse', text });
}

export function sayStop(draft: LinesDraft): void {
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

export function hearAsk(draft: LinesDraft, row: Row): void {
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

type Answer = Extract<Deed, { readonly ask_id: string }>;

/** A person's answer to what it waits for. */
export function answer(draft: LinesDraft, deed: Answer): Result<null> {
  const { waiting } = draft.memory;
  if (waiting === null || waiting.id !== deed.ask_id) {
    return fail('E_STATE_CHANGED', 'that was answered already, or the agent went on');
  }
  switch (deed.kind) {
    case 'approve':
    case 'reject':
      if (waiting.kind !== 'leave') return fail('E_UNSUPPORTED', 'this is a question and wants an answer');
      settle(draft);
      decide(draft, deed);
      return ok(null);
    case 'choose': {
      const label = waiting.labels[Number(deed.option) - 1] ?? waiting.labels.find((one) => one === deed.option);
      if (label === undefined) return fail('E_INPUT', `"${deed.option}" is none of the options`);
      return respond(draft, waiting, label);
    }
    case 'write':
      return respond(draft, waiting, deed.text);
  }
}

function decide(draft: LinesDraft, deed: Extract<Deed, { readonly kind: 'approve' | 'reject' }>): void {
  const isYes = deed.kind === 'approve';
  const askResponse = isYes ? 'yesButtonClicked' : 'noButtonClicked';
  const because = deed.kind === 'reject' ? deed.because : null;
  markTool(draft, `ask-${deed.ask_id}`, isYes);
  if (because !== null) keep(draft, { unrepeated: [...draft.memory.unrepeated, clip(because)].slice(-8) });
  say(draft, { type: 'askResponse', askResponse, ...(because === null ? {} : { text: because }) });
}

function respond(draft: LinesDraft, { kind }: Waiting, text: string): Result<null> {
  if (kind === 'leave') return fail('E_UNSUPPORTED', 'this wants a yes or a no', 'approve or reject it');
  if (kind === 'failure') return fail('E_UNSUPPORTED', 'this takes no words', 'retry it, or stop it');
  settle(draft);
  began(draft, text);
  say(draft, { type: 'askResponse', askResponse: 'messageResponse', text });
  return ok(null);
}

/** Another try of what failed. While it retries by itself there is nothing to say. */
export function sayRetry(draft: LinesDraft): void {
  const { waiting } = draft.memory;
  if (waiting?.kind !== 'failure' && waiting?.kind !== 'guidance') return;
  settle(draft);
  beginTurn(draft);
  say(draft, { type: 'askResponse', askResponse: 'yesButtonClicked' });
}
