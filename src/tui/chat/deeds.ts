// What the chat asks the daemon to do to its session, one request a deed. An answer names the ask it is for (ASK3); what is
// refused comes back in the daemon's own words.

import { sessionPath } from '../../api/client.ts';
import type { ManagedItem } from '../../api/schemas-sessions.ts';
import { limits } from '../../model/limits.ts';
import { foreign, sanitizeLine } from '../../text/sanitize.ts';
import type { PaintRole } from '../../view/paint.ts';
import { machineLabel } from '../../view/sessions.ts';
import type { Command } from '../contract.ts';
import type { ActionName, ChatOwn } from './model.ts';

const doneWords: Readonly<Record<ActionName, string>> = {
  send: 'sent',
  approve: 'approved',
  reject: 'rejected',
  answer: 'answered',
  stop: 'stopped',
  resume: 'resumed',
  retry: 'retrying',
};

export const deed = (id: string, name: ActionName, more: object, what = ''): Command<ChatOwn> => ({
  do: 'call',
  run: async ({ api, pid, hops }) => {
    const { session } = await api.post(`${sessionPath(id)}/${name}`, { ...more, pid, hops });
    return { is: 'done', deed: name, item: session, words: wordsOf(name, session, what) };
  },
  failed: (problem) => ({ is: 'refused', deed: name, problem }),
  late: (own) => receiptOf(own),
});

/** What became of it, in one line; null where that is nothing of a deed. */
export function receiptOf(own: ChatOwn): { readonly text: string; readonly role: PaintRole } | null {
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
export const readAsk = (ask_id: string, early: number): Command<ChatOwn> => ({
  do: 'call',
  run: async ({ sleep }) => {
    await sleep(limits.tuiAskSeenMs, new AbortController().signal);
    return { is: 'read', ask_id, early };
  },
  failed: () => ({ is: 'read', ask_id, early }),
});
