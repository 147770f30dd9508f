// What the chat does with keys, with what it follows, and with the answers it gets. Pure. Which deeds there are is told by
// the flags of the session (SES7); an answer is only sent to an ask that the person could read.

import { sessionRequest } from '../../api/requests.ts';
import type { ManagedItem } from '../../api/sessions.ts';
import { errors } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { SessionCommand } from '../../model/sessions.ts';
import { foreign, sanitizeLine } from '../../text/sanitize.ts';
import type { PaintRole } from '../../view/paint.ts';
import { machineLabel } from '../../view/sessions.ts';
import type { Command, Key, Message, Step, World } from '../contract.ts';
import { emptyField, fieldKey, insert, isCharacter, type TextField } from '../message-field.ts';
import { backgroundForeground } from '../shells/commands.ts';
import { shellsOf } from './entries.ts';
import { type ActionName, type ChatModel, type ChatOwn, isWriting, joined, openAsk } from './model.ts';
import { scrollMax } from './view.ts';

// What the chat asks the daemon to do to its session, one request a deed. An answer names the ask it is for (ASK3); what is
// refused comes back in the daemon's own words.

const doneWords: Readonly<Record<ActionName, string>> = {
  send: 'sent',
  approve: 'approved',
  reject: 'rejected',
  answer: 'answered',
  stop: 'stopped',
  resume: 'resumed',
  retry: 'retrying',
};

type ChatCommand = Extract<SessionCommand, { action: ActionName }>;

const deed = (id: string, command: ChatCommand, what = ''): Command<ChatOwn> => ({
  do: 'call',
  run: async ({ api }) => {
    const { session } = await api.send(sessionRequest(id, command));
    return { is: 'done', deed: command.action, item: session, words: wordsOf(command.action, session, what) };
  },
  failed: (problem) => ({ is: 'refused', deed: command.action, problem }),
  late: (own) => receiptOf(own),
});

/** What became of it, in one line; null where that is nothing of a deed. */
function receiptOf(own: ChatOwn): { readonly text: string; readonly role: PaintRole } | null {
  if (own.is === 'done') return { text: own.words, role: 'good' };
  if (own.is !== 'refused') return null;
  const { message, next, code } = own.problem;
  return { text: `not done: ${message}. ${next} [${code}]`, role: 'bad' };
}

function wordsOf(name: ActionName, item: ManagedItem, what: string): string {
  const waits = name === 'send' && item.queued > 0 ? '; sent when the turn has ended' : '';
  const subject = what === '' ? '' : `: ${sanitizeLine(foreign(what), { columnsMax: 60 })}`;
  return `${doneWords[name]}${subject} · ${item.ref} ${machineLabel(item)}${waits}`;
}

/** Comes back when an ask has been on the screen for a moment. */
const readAsk = (ask_id: string, early: number): Command<ChatOwn> => ({
  do: 'call',
  run: async ({ sleep }) => {
    await sleep(limits.tuiAskSeenMs, new AbortController().signal);
    return { is: 'read', ask_id, early };
  },
  failed: () => ({ is: 'read', ask_id, early }),
});

export type ChatStep = Step<ChatModel, ChatOwn>;

const wheelLines = 3;

export function updateChat(message: Message<ChatOwn>, model: ChatModel, world: World): ChatStep | null {
  switch (message.is) {
    case 'key':
      return onKey(message.key, model, world);
    case 'mouse':
      if (message.what === 'press') return { model };
      return {
        model: scrolled(model, world, Math.max(0, model.up + (message.what === 'wheelup' ? wheelLines : -wheelLines))),
      };
    case 'paste':
      return isWriting(model)
        ? written(model, insert(model.field, message.text))
        : told(model, 'It accepts no text now.');
    case 'world':
    case 'back':
      return { model: onWorld(model, world) };
    case 'frame':
      return { model: { ...model, frame: model.frame + 1 } };
    case 'own':
      return onOwn(message.own, model, world);
  }
}

const told = (model: ChatModel, text: string): ChatStep => ({ model, commands: [{ do: 'say', text }] });

const written = (model: ChatModel, field: TextField): ChatStep => ({
  model: { ...model, field, writtenFor: openAsk(model.item)?.ask_id ?? null },
});

function onKey(key: Key, model: ChatModel, world: World): ChatStep | null {
  if (model.isRejecting) return onReason(key, model, world);
  const { item } = model;
  const done = onAnyKey(key, model, world) ?? (item === null ? null : onDeedKey(key, model, item));
  if (done !== null || item === null) return done;
  if (!item.view.inputEnabled) return onLetter(key, model, item);
  if (key === 'enter') return submitted(model, item);
  const field = fieldKey(model.field, key);
  return field === null ? null : written(model, field);
}

/** The keys that move, whatever the session does. */
function onAnyKey(key: Key, model: ChatModel, world: World): ChatStep | null {
  const page = Math.max(1, world.size.lines - 4);
  const isEmpty = model.field.text === '';
  switch (key) {
    case 'esc':
      return { model, commands: [{ do: 'back' }] };
    case 'ctrl+n':
      return { model, commands: [{ do: 'open', place: { screen: 'new' } }] };
    case 'ctrl+r':
      return background(model, world);
    case 'up':
      return { model: scrolled(model, world, 1) };
    case 'down':
      if (model.up === 0) return { model, commands: [{ do: 'open', place: { screen: 'shells' } }] };
      return { model: scrolled(model, world, -1) };
    case 'pageup':
      return { model: scrolled(model, world, page) };
    case 'pagedown':
      return { model: scrolled(model, world, -page) };
    case 'home':
      return isEmpty ? { model: scrolled(model, world, Number.MAX_SAFE_INTEGER) } : null;
    case 'end':
      return isEmpty || model.up > 0 ? { model: { ...model, up: 0, held: null } } : null;
    default:
      return null;
  }
}

/** Its own shell first; the frame looks for others. */
function background(model: ChatModel, world: World): ChatStep | null {
  const runtime = model.item?.runtime_id ?? null;
  const calls = backgroundForeground(world, ({ owner }) => owner.runtime_id === runtime);
  if (calls === null) return null;
  return { model, commands: calls.flatMap(said) };
}

function said(command: Command<string>): readonly Command<ChatOwn>[] {
  // It asks the daemon, and for nothing of the terminal.
  if (command.do === 'edit') return [];
  if (command.do !== 'call') return [command];
  const { run, failed } = command;
  return [
    {
      do: 'call',
      run: async (ports) => ({ is: 'said', text: await run(ports) }),
      failed: (problem) => ({ is: 'said', text: failed(problem) }),
    },
  ];
}

function scrolled(model: ChatModel, world: World, by: number): ChatModel {
  const held = model.held ?? model.messages;
  const up = Math.max(0, Math.min(model.up + by, scrollMax({ ...model, held }, world)));
  return { ...model, up, held: up === 0 ? null : held };
}

function doing(model: ChatModel, command: ChatCommand, what = ''): ChatStep {
  if (model.doing !== null) return told(model, `still waiting for the daemon (${model.doing})`);
  return { model: { ...model, doing: command.action }, commands: [deed(model.id, command, what)] };
}

/** What has a button: the same keys in every state, and only where the flags say so. */
function onDeedKey(key: Key, model: ChatModel, { view, is_resumable }: ManagedItem): ChatStep | null {
  const text = model.field.text.trim();
  switch (key) {
    case 'ctrl+x':
      if (view.showCancelButton || view.showDismissButton) return doing(model, { action: 'stop' });
      return told(model, 'Nothing to cancel: it is not working.');
    case 'ctrl+g':
      if (view.showResumeButton && is_resumable)
        return doing(model, { action: 'resume', ...(text === '' ? {} : { text }) });
      return told(model, 'Nothing to resume now.');
    default:
      return null;
  }
}

/** Letters are keys as long as nothing can be written. */
function onLetter(key: Key, model: ChatModel, item: ManagedItem): ChatStep | null {
  if (key === 't' && item.view.showRetryButton) return doing(model, { action: 'retry' });
  const ask = openAsk(item);
  if (ask === null) return null;
  const { ask_id, accepts, options, text } = ask;
  const option = /^[1-9]$/.test(key) ? options[Number(key) - 1] : undefined;
  const isKnown = option !== undefined || ['a', 'r', 'w'].includes(key);
  if (!isKnown) return isCharacter(key) && model.asked?.isRead === false ? early(model) : null;
  const wait = notYet(model);
  if (wait !== null) return wait;
  if (key === 'a' && accepts.includes('approve')) return doing(model, { action: 'approve', ask_id }, text);
  if (key === 'r' && accepts.includes('reject')) return doing(model, { action: 'reject', ask_id }, text);
  if (key === 'w' && accepts.includes('reject')) return { model: { ...model, isRejecting: true, field: emptyField } };
  if (option !== undefined && accepts.includes('option')) {
    return doing(model, { action: 'answer', ask_id, option: option.id }, option.label);
  }
  return told(model, 'This request does not accept that answer.');
}

/** Why an answer must wait: what it would answer is not on the screen, or has only just come. */
function notYet(model: ChatModel): ChatStep | null {
  if (model.up > 0) return told({ ...model, up: 0, held: null }, 'This is the request; press the key again.');
  return model.asked?.isRead === true ? null : early(model);
}

/** A key that was meant for what stood there before. */
function early(model: ChatModel): ChatStep {
  const text = 'This request has just appeared; read it and press the key again.';
  if (model.asked === null) return told(model, text);
  const asked = { ...model.asked, early: model.asked.early + 1 };
  return { model: { ...model, asked }, commands: [{ do: 'say', text }, readAsk(asked.ask_id, asked.early)] };
}

function onReason(key: Key, model: ChatModel, world: World): ChatStep | null {
  const ask = openAsk(model.item);
  const calm = { ...model, isRejecting: false, field: emptyField };
  if (key === 'esc' || ask === null) return { model: calm };
  if (key !== 'enter') {
    const field = fieldKey(model.field, key);
    return field === null ? onAnyKey(key, model, world) : { model: { ...model, field } };
  }
  const because = model.field.text.trim();
  return doing(calm, { action: 'reject', ask_id: ask.ask_id, ...(because === '' ? {} : { because }) }, ask.text);
}

function submitted(model: ChatModel, item: ManagedItem): ChatStep {
  const text = model.field.text.trim();
  if (text === '') {
    const resume = item.view.showResumeButton && item.is_resumable ? ', or Ctrl+G resumes it as it is' : '';
    return told(model, `Type a message first${resume}.`);
  }
  const ask = openAsk(item);
  if ((ask?.ask_id ?? null) !== model.writtenFor) {
    const words = 'The session has changed since you typed this; press Enter again to send it.';
    return told({ ...model, writtenFor: ask?.ask_id ?? null }, words);
  }
  if (ask === null) return doing(model, { action: 'send', text });
  const wait = notYet(model);
  if (wait !== null) return wait;
  const { ask_id, options, accepts } = ask;
  const option = /^[1-9]\d?$/.test(text) ? options[Number(text) - 1] : undefined;
  if (option !== undefined) return doing(model, { action: 'answer', ask_id, option: option.id }, option.label);
  if (accepts.includes('text')) return doing(model, { action: 'answer', ask_id, text }, text);
  return told(model, 'Choose one of the numbers above.');
}

/** What could not be followed is tried again when the daemon is back. */
function onWorld(model: ChatModel, world: World): ChatModel {
  const next = withCards(model, world);
  return isHopeful(model, world) ? { ...next, tries: model.tries + 1, trouble: null } : next;
}

/** Cards keep the place where they were first seen. */
function withCards(model: ChatModel, world: World): ChatModel {
  const rows = shellsOf(world, model.item?.runtime_id ?? null);
  const fresh = rows.filter(({ shell_id }) => !model.cards.has(shell_id));
  if (fresh.length === 0) return model;
  return {
    ...model,
    cards: new Map([...model.cards, ...fresh.map((row) => [row.shell_id, Date.parse(row.started_at)] as const)]),
  };
}

/** The daemon is there again: no need to wait until the connection tries by itself. */
function isHopeful({ trouble }: ChatModel, { link }: World): boolean {
  if (trouble === null || trouble.is === 'gone' || link.is !== 'up') return false;
  return trouble.is === 'lost' || errors[trouble.problem.code].retryable;
}

function onOwn(own: ChatOwn, model: ChatModel, world: World): ChatStep {
  switch (own.is) {
    case 'followed':
      return asking(model, withCards(onFollowed(own, model), world));
    case 'unfollowed':
      return { model: { ...model, trouble: { is: 'failed', problem: own.problem } } };
    case 'said':
      return told(model, own.text);
    case 'read':
      return {
        model:
          own.ask_id === model.asked?.ask_id && own.early === model.asked.early
            ? { ...model, asked: { ...model.asked, isRead: true } }
            : model,
      };
    case 'done': {
      const isText = own.deed === 'send' || own.deed === 'answer' || own.deed === 'resume';
      const next = { ...withItem(model, own.item), doing: null, ...(isText ? { field: emptyField } : {}) };
      return asking(model, next, receiptSaid(own));
    }
    case 'refused':
      return { model: { ...model, doing: null }, commands: receiptSaid(own) };
  }
}

function receiptSaid(own: ChatOwn): readonly Command<ChatOwn>[] {
  const receipt = receiptOf(own);
  return receipt === null ? [] : [{ do: 'say', ...receipt }];
}

function onFollowed({ event }: Extract<ChatOwn, { is: 'followed' }>, model: ChatModel): ChatModel {
  switch (event.type) {
    case 'messages': {
      const messages = joined(model.messages, event.data.messages);
      return { ...model, messages, truncated: model.truncated || event.data.truncated, trouble: null };
    }
    case 'session':
      return { ...withItem(model, event.data.session), trouble: null };
    case 'gone':
      return { ...model, trouble: { is: 'gone' } };
    case 'lost':
      return { ...model, trouble: { is: 'lost', words: event.error.message } };
  }
}

/** What is asked anew gets a moment to be read. */
function asking(before: ChatModel, model: ChatModel, commands: readonly Command<ChatOwn>[] = []): ChatStep {
  const { asked } = model;
  const isNew = asked !== null && asked.ask_id !== before.asked?.ask_id;
  return { model, commands: isNew ? [...commands, readAsk(asked.ask_id, asked.early)] : commands };
}

/** The newer of the two; another ask ends what was begun for the one before. */
function withItem(model: ChatModel, item: ManagedItem): ChatModel {
  if (model.item !== null && item.state_version < model.item.state_version) return model;
  const ask = openAsk(item);
  if (ask?.ask_id === model.asked?.ask_id) return { ...model, item };
  const asked = ask === null ? null : { ask_id: ask.ask_id, isRead: false, early: 0 };
  return { ...model, item, asked, isRejecting: false, field: model.isRejecting ? emptyField : model.field };
}
