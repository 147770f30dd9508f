// The chat of one session as lines: its head, as much of what was said as fits, and the field to write in where there is
// one.

import type { ManagedItem } from '../../api/schemas-sessions.ts';
import { foreign, sanitizeLine } from '../../text/sanitize.ts';
import type { ScreenSize } from '../../view/shells-panel.ts';
import { cutLine, type SpanLine, span } from '../../view/shells-spans.ts';
import type { KeyHelp, World } from '../contract.ts';
import { type Entry, entriesOf, shellsOf } from './entries.ts';
import { entryLines, headLines, tailLines } from './lines.ts';
import { type ChatModel, isWriting, openAsk } from './model.ts';
import { fieldLines } from './text-field.ts';

const fieldLinesMax = 6;

interface Layout {
  readonly head: readonly SpanLine[];
  readonly body: readonly SpanLine[];
  readonly foot: readonly SpanLine[];
  /** Lines for the body. */
  readonly room: number;
}

export function viewChat(model: ChatModel, world: World, size: ScreenSize): readonly SpanLine[] {
  const { head, body, foot, room } = layoutOf(model, world, size);
  const end = Math.max(Math.min(room, body.length), body.length - model.up);
  const shown = body.slice(Math.max(0, end - room), end);
  const blank: readonly SpanLine[] = Array.from({ length: Math.max(0, room - shown.length) }, () => []);
  return [...head, ...shown, ...blank, ...foot].slice(0, size.lines);
}

/** As far as one can scroll back. */
export function scrollMax(model: ChatModel, world: World): number {
  const { body, room } = layoutOf({ ...model, up: 1 }, world, world.size);
  return Math.max(0, body.length - room);
}

function layoutOf(model: ChatModel, world: World, { columns, lines }: ScreenSize): Layout {
  const { item } = model;
  const head = [...(item === null ? [] : headLines(item, columns)), ...troubleLines(model, world, columns), []];
  const foot = footLines(model, columns, Math.max(1, Math.min(fieldLinesMax, Math.floor(lines / 3))));
  const body = item === null ? [] : bodyLines(model, item, world, columns);
  return { head, body, foot, room: Math.max(0, lines - head.length - foot.length) };
}

/** That the daemon is gone is told by the frame, above every screen. */
function troubleLines({ trouble, item, id }: ChatModel, { link }: World, columns: number): readonly SpanLine[] {
  if (link.is === 'lost' && trouble?.is !== 'gone') return [];
  if (trouble === null) return item === null ? [[span(`Loading session ${id}...`, 'dim')]] : [];
  const safe = (text: string): string => sanitizeLine(foreign(text));
  switch (trouble.is) {
    case 'gone':
      return [cutLine([span('This session was removed. Esc goes back.', 'bad')], columns)];
    case 'lost':
      return [
        cutLine([span(`The daemon stopped; this is the last known state. ${safe(trouble.words)}`, 'bad')], columns),
      ];
    case 'failed': {
      const { message, next, code } = trouble.problem;
      return [cutLine([span(`${safe(message)}. ${safe(next)} [${code}]`, 'bad')], columns)];
    }
  }
}

/** Cards, tools and notices stand close together; what was said stands apart. */
const isClose = (entry: Entry): boolean =>
  entry.is === 'notice' ||
  (entry.is === 'message' && (entry.message.role === 'tool' || entry.message.role === 'notice'));

function bodyLines(model: ChatModel, item: ManagedItem, world: World, columns: number): readonly SpanLine[] {
  const entries = entriesOf({
    messages: model.up > 0 ? (model.held ?? model.messages) : model.messages,
    rows: shellsOf(world, item.runtime_id),
    events: world.shellEvents,
    cards: model.cards,
  });
  const lines: SpanLine[] = [];
  if (model.truncated) lines.push([span('· older messages were dropped', 'dim')]);
  let isBeforeClose = false;
  for (const entry of entries) {
    const isThisClose = isClose(entry);
    if (lines.length > 0 && !(isBeforeClose && isThisClose)) lines.push([]);
    lines.push(...entryLines(entry, columns));
    isBeforeClose = isThisClose;
  }
  const { frame, isRejecting } = model;
  const tail = tailLines(item, { columns, frame, isRejecting });
  return [...lines, ...(lines.length > 0 && tail.length > 0 ? [[]] : []), ...tail];
}

function footLines(model: ChatModel, columns: number, linesMax: number): readonly SpanLine[] {
  const isFocused = isWriting(model);
  const below = model.up > 0 ? `─ ${model.up} more ${model.up === 1 ? 'line' : 'lines'} below, End shows them ` : '';
  const rule: SpanLine = cutLine([span(below + '─'.repeat(Math.max(0, columns - below.length)), 'dim')], columns);
  if (!isFocused) return below === '' ? [] : [rule];
  const field = fieldLines(model.field, { columns, lines: linesMax, isFocused, prompt: '> ', hint: hintOf(model) });
  return [rule, ...field];
}

function hintOf({ item, isRejecting }: ChatModel): string {
  if (isRejecting) return 'reason';
  switch (item?.state) {
    case 'waiting_input':
      return 'your answer';
    case 'completed':
      return 'next message';
    default:
      return 'message to resume with';
  }
}

/** What the footer says: only what the flags of the session give (SES7). */
export function chatKeys(model: ChatModel): readonly KeyHelp[] {
  const { item } = model;
  const ask = openAsk(item);
  const view = item?.view;
  const isAnswer = item?.state === 'waiting_input';
  const isApproval = ask !== null && !isWriting(model);
  const when = (isShown: boolean | undefined, keys: string, words: string): readonly KeyHelp[] =>
    isShown === true ? [{ keys, words }] : [];
  return [
    ...when(isApproval && ask.accepts.includes('approve'), 'a', 'approve'),
    ...when(isApproval && ask.accepts.includes('reject'), 'r', 'reject'),
    ...when(isApproval && ask.accepts.includes('reject'), 'w', 'reject with a reason'),
    ...when(isApproval && ask.accepts.includes('option') && ask.options.length > 0, '1-9', 'choose'),
    ...when(isWriting(model), 'enter', isAnswer ? 'answer' : 'send'),
    ...when(view?.showRetryButton, 't', 'retry'),
    ...when(view?.showResumeButton && item?.is_resumable, 'ctrl+g', 'resume'),
    ...when(view?.showCancelButton || view?.showDismissButton, 'ctrl+x', 'cancel'),
    { keys: 'ctrl+n', words: 'new' },
    { keys: 'alt+enter', words: 'new line', isRare: true },
    { keys: 'pageup/pagedown', words: 'scroll (also ↑)', isRare: true },
    { keys: '↓', words: 'shells' },
    { keys: 'esc', words: 'back' },
  ];
}
