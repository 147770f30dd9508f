// What the agent says and does, as messages that grow: the parts of its answers, from their beginning over their pieces to
// their end.

import { type Fields, fieldsIn, idOf, textOf } from '../../agents/fields.ts';
import { limits } from '../../model/limits.ts';
import type { SessionMessage } from '../../model/sessions.ts';
import { clip, keep, note, own, tell, write } from '../draft.ts';
import { hearTaken } from '../watch.ts';
import type { HttpDraft, Item, Seen } from './memory.ts';

type Status = NonNullable<SessionMessage['tool']>['status'];

export const see = (draft: HttpDraft, seen: Partial<Seen>): void =>
  keep(draft, { seen: { ...draft.memory.seen, ...seen } });

/** A part as it is now, of one of the messages of the conversation. */
export function hearPart(draft: HttpDraft, part: Fields): void {
  const id = idOf(part.id);
  // What the program puts in by itself: its notes to the model, and signs of its own work that it takes back.
  if (id === null || part.synthetic === true || part.ignored === true) return;
  if (own(draft.memory.speakers, idOf(part.messageID) ?? '') === 'user') {
    if (part.type === 'text') hearPrompt(draft, id, textOf(part.text));
    return;
  }
  hearRetried(draft);
  switch (part.type) {
    case 'text':
      hearWords(draft, id, 'agent', part);
      return;
    case 'reasoning':
      hearWords(draft, id, 'thought', part);
      return;
    case 'tool':
      hearTool(draft, id, part);
      return;
    case 'compaction':
      note(draft, id, 'the conversation was compacted');
      return;
    default:
      return;
  }
}

/** What somebody else typed into the conversation; what we said ourselves is written already. */
function hearPrompt(draft: HttpDraft, id: string, text: string | null): void {
  if (text === null) return;
  const { unrepeated } = draft.memory;
  const at = unrepeated.indexOf(clip(text));
  if (at >= 0) hearTaken(draft);
  if (at >= 0) keep(draft, { unrepeated: unrepeated.toSpliced(at, 1) });
  else write(draft, { id, role: 'user', text });
}

/** The model answers again. */
function hearRetried(draft: HttpDraft): void {
  if (!draft.memory.isRetrying) return;
  keep(draft, { isRetrying: false });
  tell(draft, 'api_retried');
}

const isOpen = (draft: HttpDraft): boolean => draft.memory.watch.isTurnOpen;

function hearWords(draft: HttpDraft, id: string, role: 'agent' | 'thought', part: Fields): void {
  const text = typeof part.text === 'string' ? part.text : '';
  const isEnd = fieldsIn(part.time).end !== undefined || !isOpen(draft);
  if (isEnd) {
    forget(draft, id);
    if (text !== '') write(draft, { id, role, text });
  } else remember(draft, id, { role, name: '', text: clip(text), output: '' });
  if (text !== '') spoke(draft, role, !isEnd);
}

function spoke(draft: HttpDraft, role: Item['role'], partial: boolean): void {
  if (!isOpen(draft)) return;
  if (role === 'agent') see(draft, { hasOutput: true });
  tell(draft, 'say:text', { partial });
}

/** One more piece of something that is being said. */
export function hearPiece(draft: HttpDraft, { partID, field, delta }: Fields): void {
  const id = idOf(partID);
  const item = id === null ? undefined : own(draft.memory.items, id);
  if (id === null || item === undefined || item.role === 'tool' || field !== 'text' || typeof delta !== 'string')
    return;
  if (item.text === '') spoke(draft, item.role, true);
  if (item.text.length >= limits.sessionMessageCharsMax) return;
  const grown = { ...item, text: clip(item.text + delta) };
  remember(draft, id, grown);
  write(draft, { id, role: item.role, text: grown.text, partial: true });
}

function hearTool(draft: HttpDraft, id: string, part: Fields): void {
  const state = fieldsIn(part.state);
  const output = textOf(state.output) ?? textOf(state.error) ?? textOf(fieldsIn(state.metadata).output) ?? '';
  const tool: Item = { role: 'tool', ...callIn(part, state), output: clip(output, limits.sessionOutputCharsMax) };
  const status = statusOf(state.status, isOpen(draft));
  if (status === 'done' || status === 'failed') forget(draft, id);
  else remember(draft, id, tool);
  writeTool(draft, id, tool, status);
  if (!isOpen(draft) || output === '') return;
  see(draft, { hasOutput: true });
  // Beside an open ask it would look like the answer to it.
  if (draft.memory.asks.length === 0) tell(draft, 'command_output');
}

function statusOf(said: unknown, isTurnOpen: boolean): Status {
  if (said === 'completed') return 'done';
  if (said === 'error' || !isTurnOpen) return 'failed';
  return said === 'pending' ? 'pending' : 'running';
}

/** What it is called and what it does, in one line. */
function callIn(part: Fields, state: Fields): Pick<Item, 'name' | 'text'> {
  const name = clip(textOf(part.tool) ?? 'tool', limits.detailCharsMax);
  const input = fieldsIn(state.input);
  const about = [input.command, input.filePath, input.pattern, input.url, input.query, state.title, input.description];
  return { name, text: clip(about.flatMap((one) => textOf(one) ?? [])[0] ?? name) };
}

function writeTool(draft: HttpDraft, id: string, { name, text, output }: Item, status: Status): void {
  const words = output === '' ? text : `${text}\n${output}`;
  const isEnd = status === 'done' || status === 'failed';
  write(draft, { id, role: 'tool', text: words, partial: !isEnd, tool: { name, status } });
}

/** Taken back by the agent: nothing more will be heard of it. */
export function hearRemoved(draft: HttpDraft, id: string | null): void {
  const item = id === null ? undefined : own(draft.memory.items, id);
  if (id === null || item === undefined) return;
  forget(draft, id);
  endItem(draft, id, item, 'failed');
}

function endItem(draft: HttpDraft, id: string, item: Item, status: 'done' | 'failed'): void {
  if (item.role === 'tool') writeTool(draft, id, item, status);
  else if (item.text !== '') write(draft, { id, role: item.role, text: item.text });
}

/** The turn is over: nothing grows any more. `status` is for tools of which nothing more was told. */
export function endItems(draft: HttpDraft, status: 'done' | 'failed'): void {
  for (const [id, item] of Object.entries(draft.memory.items)) endItem(draft, id, item, status);
  keep(draft, { items: {} });
}

function remember(draft: HttpDraft, id: string, item: Item): void {
  const { items } = draft.memory;
  if (!Object.hasOwn(items, id) && Object.keys(items).length >= limits.sessionToolsMax) return;
  keep(draft, { items: { ...items, [id]: item } });
}

function forget(draft: HttpDraft, id: string): void {
  if (!Object.hasOwn(draft.memory.items, id)) return;
  const { [id]: _ended, ...items } = draft.memory.items;
  keep(draft, { items });
}
