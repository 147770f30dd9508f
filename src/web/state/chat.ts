// A conversation as it comes: messages replace earlier ones of the same id and keep their place; a session that is gone
// says so. Pure.

import type { SessionEvent } from '../../api/client-types.ts';
import type { ManagedItem, MessageItem } from '../../api/sessions.ts';

// The colour of each state of a session, as its list and its page show it.

export const machineRoles: Readonly<Record<ManagedItem['state'], string>> = {
  waiting_approval: 'attention',
  waiting_input: 'ask',
  error: 'bad',
  completed: 'good',
  creating: 'work',
  streaming: 'work',
  paused: 'quiet',
  stopped: 'quiet',
  idle: 'quiet',
};

export interface Chat {
  readonly session: ManagedItem | null;
  readonly messages: readonly MessageItem[];
  readonly isTruncated: boolean;
  readonly isGone: boolean;
  /** The connection is lost; what is shown may be old. */
  readonly isLost: boolean;
}

export const emptyChat: Chat = { session: null, messages: [], isTruncated: false, isGone: false, isLost: false };

/** So many stay on the page; older ones are in `agtmux session show`. */
const messagesMax = 1_000;

export function heard(chat: Chat, event: SessionEvent): Chat {
  switch (event.type) {
    case 'gone':
      return { ...chat, isGone: true };
    case 'lost':
      return { ...chat, isLost: true };
    case 'session':
      return { ...chat, session: event.data.session, isLost: false };
    case 'messages': {
      const messages = event.data.messages.reduce(withMessage, chat.messages);
      const isTruncated = chat.isTruncated || event.data.truncated || messages.length > messagesMax;
      return { ...chat, messages: messages.slice(-messagesMax), isTruncated, isLost: false };
    }
  }
}

function withMessage(messages: readonly MessageItem[], message: MessageItem): readonly MessageItem[] {
  // Nearly always it is one of the last.
  for (let place = messages.length - 1; place >= 0; place -= 1) {
    if (messages[place]?.id === message.id) return messages.with(place, message);
  }
  return [...messages, message];
}
