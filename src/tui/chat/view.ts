// The chat of one session as lines: its head, as much of what was said as fits, and the field to write in where there is
// one.

import type { ManagedItem, MessageItem } from '../../api/sessions.ts';
import { isReasonCode, reasons } from '../../model/reasons.ts';
import { foreign, sanitizeBlock, sanitizeLine, sanitizeRevealed } from '../../text/sanitize.ts';
import type { PaintRole } from '../../view/paint.ts';
import { autoWarning, machineLabel, machineRole } from '../../view/sessions.ts';
import { shellCard, shellNotice } from '../../view/shells.ts';
import type { ScreenSize } from '../../view/shells-panel.ts';
import { cutLine, lineText, type SpanLine, span } from '../../view/shells-spans.ts';
import { wrapText } from '../../view/wrap.ts';
import type { KeyHelp, World } from '../contract.ts';
import { fieldLines } from '../message-field.ts';
import { type Entry, entriesOf, type NoticeWords, shellsOf } from './entries.ts';
import { type ChatModel, isWriting, openAsk } from './model.ts';
import { creatingWords, spinnerAt } from './spinner.ts';

// The lines of a chat: each entry as it reads on a screen, and at the end what the session is doing, what it asks, or what
// can be done now. Everything others wrote has passed the gate (SEC3); which buttons there are is told by the daemon (SES7).

const safe = (text: string): string => sanitizeLine(foreign(text));
const toolLinesMax = 6;

function entryLines(entry: Entry, columns: number): readonly SpanLine[] {
  switch (entry.is) {
    case 'message':
      return messageLines(entry.message, columns);
    case 'card':
      return shellCard(entry.row, { columns });
    case 'notice':
      return noticeLines(entry.notice, columns);
  }
}

/** Whole: who ended it stands at the end. */
function noticeLines(notice: NoticeWords, columns: number): readonly SpanLine[] {
  const line = lineText(shellNotice(notice, { columns: Number.POSITIVE_INFINITY }));
  return block(line.replace(/^· /, ''), columns, '· ', 'dim');
}

interface Wrapped {
  readonly columns: number;
  readonly lines: readonly SpanLine[];
}
/** A message never changes: another version of it is another one. */
const wrapped = new WeakMap<MessageItem, Wrapped>();

function messageLines(message: MessageItem, columns: number): readonly SpanLine[] {
  const known = wrapped.get(message);
  if (known?.columns === columns) return known.lines;
  const lines = freshLines(message, columns);
  wrapped.set(message, { columns, lines });
  return lines;
}

function freshLines({ role, text, tool }: MessageItem, columns: number): readonly SpanLine[] {
  const body = sanitizeBlock(foreign(text)).trimEnd();
  switch (role) {
    case 'user':
      return block(body, columns, '> ', 'title');
    case 'agent':
      return block(body, columns, '', null);
    case 'thought':
      return block(body, columns, '  ', 'dim');
    case 'notice':
      return block(body, columns, '· ', 'dim');
    case 'tool':
      return toolLines(tool, body, columns);
  }
}

function block(text: string, columns: number, lead: string, role: PaintRole | null): readonly SpanLine[] {
  const indent = ' '.repeat(lead.length);
  return wrapText(text, columns - lead.length).map((line, place) =>
    cutLine([span(`${place === 0 ? lead : indent}${line}`, role)], columns),
  );
}

const toolRoles: Readonly<Record<NonNullable<MessageItem['tool']>['status'], PaintRole>> = {
  pending: 'quiet',
  running: 'work',
  done: 'quiet',
  failed: 'bad',
};

function toolLines(tool: MessageItem['tool'], body: string, columns: number): readonly SpanLine[] {
  const head =
    tool === undefined
      ? span('▸ tool', 'quiet')
      : span(`▸ ${safe(tool.name)} (${tool.status})`, toolRoles[tool.status]);
  const lines = body === '' ? [] : block(body, columns, '    ', 'dim');
  const more = lines.length - toolLinesMax;
  const shown = more > 0 ? lines.slice(0, toolLinesMax) : lines;
  const rest: readonly SpanLine[] =
    more > 0 ? [[span(`    … ${more} more ${more === 1 ? 'line' : 'lines'}`, 'dim')]] : [];
  return [cutLine([head], columns), ...shown, ...rest];
}

/** The session in one line, and the warning while it approves for itself. */
function headLines(item: ManagedItem, columns: number): readonly SpanLine[] {
  const parts = [
    `${item.id} ${safe(item.agent)}`,
    safe(item.cwd.split('/').at(-1) || item.cwd),
    ...(item.worktree === null ? [] : [safe(item.worktree.branch)]),
    ...(item.model === null ? [] : [safe(item.model)]),
    ...(item.queued === 0 ? [] : [`${item.queued} waiting`]),
  ];
  const head: SpanLine = [
    span(machineLabel(item), machineRole(item.state)),
    ...(item.auto_approve ? [span(' [auto-approve]', 'attention')] : []),
    span(`  ${parts.join(' · ')}  `),
    span(safe(item.title), 'dim'),
  ];
  const warning = item.view.showAutoModeWarning ? block(autoWarning, columns, '▲ ', 'attention') : [];
  return [cutLine(head, columns), ...warning];
}

/** Reasons that say no more than the state does. */
const plainReasons: ReadonlySet<string> = new Set([
  'turn_running',
  'starting',
  'turn_completed',
  'prompt_ready',
  'paused',
  'stopped',
]);

const whyOf = ({ reason, words }: ManagedItem): string => {
  const isPlain = reason === null || plainReasons.has(reason);
  const known = isPlain ? null : isReasonCode(reason) ? reasons[reason].words : reason;
  return [known, words].filter((part) => part !== null && part !== '').join(': ');
};

interface TailOptions {
  readonly columns: number;
  readonly frame: number;
  readonly isRejecting: boolean;
}

/** What stands under the last message: a spinner, an ask, or what can be done now. */
function tailLines(item: ManagedItem, options: TailOptions): readonly SpanLine[] {
  const { columns, frame } = options;
  const { view, state } = item;
  const ask = openAsk(item);
  if (ask !== null) return askBlock(item, ask, options);
  if (view.showSpinner) {
    const words = state === 'creating' ? creatingWords : 'Working...';
    const why = whyOf(item);
    const line: SpanLine = [
      span(`${spinnerAt(frame)} ${words}`, 'work'),
      span(why === '' ? '' : ` ${safe(why)}`, 'dim'),
    ];
    return [cutLine(line, columns)];
  }
  const buttons = buttonsOf(item);
  const said = restWords(item);
  return [
    ...(said === '' ? [] : block(sanitizeBlock(foreign(said)), columns, '', machineRole(state))),
    ...wasAsked(item, columns),
    ...(buttons === '' ? [] : block(buttons, columns, '', 'title')),
  ];
}

function restWords(item: ManagedItem): string {
  const why = whyOf(item);
  const more = why === '' ? '' : `: ${why}`;
  switch (item.state) {
    case 'completed':
      return `✓ Done${more}. Write below to continue, or start a new agent.`;
    case 'paused':
      return `○ Paused${more}`;
    case 'stopped':
      return `○ Stopped${more}`;
    case 'error':
      return `✕ Error${more}`;
    default:
      return '';
  }
}

/** `[Resume] Ctrl+G   [Cancel] Ctrl+X`: what the table of derived flags gives, and nothing else. */
function buttonsOf({ view, state, is_resumable }: ManagedItem): string {
  const buttons = [
    ...(view.showRetryButton ? ['[Retry] t'] : []),
    ...(view.showResumeButton && is_resumable ? ['[Resume] Ctrl+G'] : []),
    ...(view.showCancelButton || view.showDismissButton ? ['[Cancel] Ctrl+X'] : []),
    ...(state === 'completed' ? ['[New] Ctrl+N'] : []),
  ];
  return buttons.join('   ');
}

/** Beside paused: what was asked is shown until it goes on, and cannot be answered. */
function wasAsked({ pending_ask, state }: ManagedItem, columns: number): readonly SpanLine[] {
  return pending_ask === null || state !== 'paused'
    ? []
    : block(`last request: ${safe(pending_ask.text)}`, columns, '· ', 'dim');
}

const bar = '▌ ';

/** Nothing of what is asked is hidden: it is decided on. */
function askBlock(
  { state }: ManagedItem,
  { kind, text, options, accepts }: NonNullable<ManagedItem['pending_ask']>,
  { columns, isRejecting }: TailOptions,
): readonly SpanLine[] {
  const isApproval = state === 'waiting_approval';
  const role: PaintRole = isApproval ? 'attention' : 'ask';
  const title = isApproval ? `▲ approval needed: ${kind}` : '? question';
  const lines = (words: string, own: PaintRole | null): readonly SpanLine[] =>
    wrapText(words, columns - bar.length).map((line) => [span(bar, role), span(line, own)]);
  const revealed = (words: string): string => sanitizeRevealed(foreign(words));
  const choices = options.map(({ label }, place) => `  ${place + 1}. ${revealed(label)}`);
  return [
    [span(`${bar}${title}`, role)],
    ...lines(revealed(text), 'title'),
    ...choices.flatMap((choice) => lines(choice, null)),
    ...lines(askKeys(isApproval, accepts, options.length, isRejecting), 'dim'),
  ].map((line) => cutLine(line, columns));
}

function askKeys(isApproval: boolean, accepts: readonly string[], optionCount: number, isRejecting: boolean): string {
  if (isRejecting) return 'Enter rejects with this reason · Esc cancels';
  const numbers = optionCount === 0 ? '' : optionCount === 1 ? '1' : `1-${Math.min(9, optionCount)}`;
  if (!isApproval) {
    return numbers === '' ? 'Enter answers' : `Enter answers: ${numbers} for an option, or your own text`;
  }
  const keys = [
    ...(accepts.includes('approve') ? ['a approve'] : []),
    ...(accepts.includes('reject') ? ['r reject', 'w reject with a reason'] : []),
    ...(accepts.includes('option') && numbers !== '' ? [`${numbers} choose`] : []),
  ];
  return keys.join(' · ');
}

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
