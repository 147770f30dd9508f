// What the chat asks the daemon to do to its session, one request a deed. An answer names the ask it is for (ASK3); what is
// refused comes back in the daemon's own words.

import { sessionPath } from '../../api/client.ts';
import type { ManagedItem } from '../../api/schemas-sessions.ts';
import { foreign, gateLine } from '../../text/gate.ts';
import { machineLabel } from '../../view/sessions.ts';
import type { Command } from '../contract.ts';
import type { ChatOwn, DeedName } from './model.ts';

const doneWords: Readonly<Record<DeedName, string>> = {
  send: 'sent',
  approve: 'approved',
  reject: 'rejected',
  answer: 'answered',
  stop: 'stopped',
  resume: 'resumed',
  retry: 'trying again',
};

export const deed = (id: string, name: DeedName, more: object, what = ''): Command<ChatOwn> => ({
  do: 'call',
  run: async ({ api, pid, hops }) => {
    const { session } = await api.post(`${sessionPath(id)}/${name}`, { ...more, pid, hops });
    return { is: 'done', deed: name, item: session, words: wordsOf(name, session, what) };
  },
  failed: (problem) => ({ is: 'refused', deed: name, problem }),
});

function wordsOf(name: DeedName, item: ManagedItem, what: string): string {
  const waits = name === 'send' && item.queued > 0 ? '; it goes out when the turn has ended' : '';
  const subject = what === '' ? '' : `: ${gateLine(foreign(what), { columnsMax: 60 })}`;
  return `${doneWords[name]}${subject} · ${item.ref} ${machineLabel(item)}${waits}`;
}

/** Shorter than this nobody has read it: the key was meant for what stood there before. */
const askReadMs = 300;

/** Comes back when an ask has been on the screen for a moment. */
export const readAsk = (ask_id: string): Command<ChatOwn> => ({
  do: 'call',
  run: async ({ sleep }) => {
    await sleep(askReadMs, new AbortController().signal);
    return { is: 'read', ask_id };
  },
  failed: () => ({ is: 'read', ask_id }),
});
