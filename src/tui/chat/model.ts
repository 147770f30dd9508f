// What the chat of one session remembers: the session as it was told last, what was said in it, what the person writes,
// and how far they have scrolled back.

import type { SessionEvent } from '../../api/client-types.ts';
import type { ManagedItem, MessageItem } from '../../api/sessions.ts';
import type { AgtmuxError } from '../../model/errors.ts';
import type { ShellId } from '../../model/shells.ts';
import { emptyField, type TextField } from '../message-field.ts';

export const actionNames = ['send', 'approve', 'reject', 'answer', 'stop', 'resume', 'retry'] as const;
export type ActionName = (typeof actionNames)[number];

/** Why there is nothing to be seen of it, or nothing new. */
export type Trouble =
  | { readonly is: 'lost'; readonly words: string }
  | { readonly is: 'gone' }
  | { readonly is: 'failed'; readonly problem: AgtmuxError };

export interface ChatModel {
  readonly id: string;
  readonly item: ManagedItem | null;
  /** In the order in which they first came. */
  readonly messages: readonly MessageItem[];
  readonly truncated: boolean;
  /** When each of its shells was first seen: its card stays there, whatever becomes of it. */
  readonly cards: ReadonlyMap<ShellId, number>;
  readonly field: TextField;
  /** The ask that was open when it was written; null: none was. It is sent to no other without a second look. */
  readonly writtenFor: string | null;
  /** The person says why they reject. */
  readonly isRejecting: boolean;
  /** Lines below the window. */
  readonly up: number;
  /** What was there when they scrolled back: it does not move away from under their eyes. */
  readonly held: readonly MessageItem[] | null;
  /**
   * The ask that is open, whether it has been on the screen for long enough to be read, and how many keys came before it
   * was: each of them makes that moment begin anew, since whoever types on has not looked.
   */
  readonly asked: { readonly ask_id: string; readonly isRead: boolean; readonly early: number } | null;
  /** Under way: nothing is asked for twice. */
  readonly doing: ActionName | null;
  readonly trouble: Trouble | null;
  /** Counts up to follow it anew. */
  readonly tries: number;
  readonly frame: number;
}

export type ChatOwn =
  | { readonly is: 'followed'; readonly event: SessionEvent }
  | { readonly is: 'unfollowed'; readonly problem: AgtmuxError }
  | { readonly is: 'done'; readonly deed: ActionName; readonly item: ManagedItem; readonly words: string }
  | { readonly is: 'refused'; readonly deed: ActionName; readonly problem: AgtmuxError }
  | { readonly is: 'said'; readonly text: string }
  | { readonly is: 'read'; readonly ask_id: string; readonly early: number };

export const firstChat = (id: string): ChatModel => ({
  id,
  item: null,
  messages: [],
  truncated: false,
  cards: new Map(),
  field: emptyField,
  writtenFor: null,
  isRejecting: false,
  up: 0,
  held: null,
  asked: null,
  doing: null,
  trouble: null,
  tries: 0,
  frame: 0,
});

/** The ask that waits for this person; beside other states it is only shown (SES5). */
export function openAsk(item: ManagedItem | null): NonNullable<ManagedItem['pending_ask']> | null {
  if (item === null || item.pending_ask === null) return null;
  return item.state === 'waiting_approval' || item.state === 'waiting_input' ? item.pending_ask : null;
}

/** Whether what is written belongs to the person: the flag of the derived table, or the words of a rejection. */
export const isWriting = ({ item, isRejecting }: ChatModel): boolean =>
  isRejecting || (item?.view.inputEnabled ?? false);

/** Messages by their id: the same id replaces, a new one goes behind the others. */
export function joined(old: readonly MessageItem[], fresh: readonly MessageItem[]): readonly MessageItem[] {
  const places = new Map(old.map(({ id }, place) => [id, place]));
  const next = [...old];
  for (const message of fresh) {
    const place = places.get(message.id);
    if (place === undefined) places.set(message.id, next.push(message) - 1);
    else next[place] = message;
  }
  return next.slice(-messagesMax);
}

/** As many as the daemon keeps (SES10). */
const messagesMax = 2_000;
