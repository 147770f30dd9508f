// A session as a chat: what stands in it, what can be pressed and why, from the session and its messages alone. Pure; a page
// draws it and sends back what was pressed.

import type { AgentDiffReply } from '../api/git.ts';
import type { ManagedItem, MessageItem } from '../api/sessions.ts';
import { isReasonCode, reasons } from '../model/reasons.ts';
import { foreign, sanitizeBlock, sanitizeLine, sanitizeRevealed } from '../text/sanitize.ts';
import { diffFileLines, patchLines } from './diff-text.ts';
import { autoWarning, machineLabel } from './sessions.ts';

export interface ChatLine {
  readonly id: string;
  readonly role: MessageItem['role'];
  readonly text: string;
  readonly isPartial: boolean;
  readonly note: string;
}

export interface ChatAsk {
  readonly ask_id: string;
  readonly text: string;
  readonly options: readonly { readonly id: string; readonly words: string }[];
  /** A plain yes or no is taken. */
  readonly canApprove: boolean;
  readonly canReject: boolean;
  readonly takesText: boolean;
}

export interface ChatPage {
  readonly title: string;
  readonly state: string;
  readonly why: string;
  readonly warning: string;
  readonly lines: readonly ChatLine[];
  readonly ask: ChatAsk | null;
  readonly showSpinner: boolean;
  readonly showStop: boolean;
  readonly showResume: boolean;
  readonly showRetry: boolean;
  readonly inputEnabled: boolean;
  readonly inputHint: string;
}

const block = (text: string): string => sanitizeBlock(foreign(text));

export function chatPage(item: ManagedItem, messages: Iterable<MessageItem>): ChatPage {
  const { view, state, words, reason } = item;
  const why = words ?? (reason !== null && isReasonCode(reason) ? reasons[reason].words : '');
  return {
    title: sanitizeLine(foreign(item.title)),
    state: sanitizeLine(foreign(machineLabel(item))),
    why: state === 'error' || state === 'paused' ? sanitizeLine(foreign(why)) : '',
    warning: view.showAutoModeWarning ? autoWarning : '',
    lines: [...messages].map(lineOf),
    ask: askOf(item),
    showSpinner: view.showSpinner,
    showStop: view.showCancelButton,
    showResume: view.showResumeButton && item.is_resumable,
    showRetry: view.showRetryButton,
    inputEnabled: view.inputEnabled || state === 'streaming',
    inputHint: hintOf(item),
  };
}

const lineOf = ({ id, role, text, partial, tool }: MessageItem): ChatLine => ({
  id,
  role,
  text: block(text),
  isPartial: partial,
  note: tool === undefined ? '' : sanitizeLine(foreign(`${tool.name}, ${tool.status}`)),
});

function askOf({ pending_ask, state }: ManagedItem): ChatAsk | null {
  if (pending_ask === null || (state !== 'waiting_approval' && state !== 'waiting_input')) return null;
  const { ask_id, text, options, accepts } = pending_ask;
  return {
    ask_id,
    text: text
      .split('\n')
      .map((line) => sanitizeRevealed(foreign(line)))
      .join('\n'),
    options: accepts.includes('option')
      ? options.map(({ id, label }) => ({ id, words: sanitizeRevealed(foreign(label)) }))
      : [],
    canApprove: accepts.includes('approve'),
    canReject: accepts.includes('reject'),
    takesText: accepts.includes('text'),
  };
}

function hintOf({ state, pending_ask, view }: ManagedItem): string {
  if (state === 'waiting_input') return pending_ask?.accepts.includes('text') === true ? 'Your answer' : 'Choose above';
  if (state === 'streaming') return 'A message for after this turn';
  if (state === 'waiting_approval') return 'Approve or reject first';
  if (view.inputEnabled) return 'Your next message';
  return 'Nothing can be written now';
}

/** What has changed since its turn began, as a document to read. */
export function changesText(diff: AgentDiffReply): string {
  const patch = patchLines(diff).map(({ text }) => text);
  const lines = [...diffFileLines(diff).map(({ text }) => text), ...(patch.length === 0 ? [] : ['', ...patch])];
  return `${lines.join('\n')}\n`;
}

/** The same id again replaces a message; the place stays. */
export function messagesAfter(
  known: ReadonlyMap<string, MessageItem>,
  more: readonly MessageItem[],
): ReadonlyMap<string, MessageItem> {
  const all = new Map(known);
  for (const message of more) all.set(message.id, message);
  return all;
}
