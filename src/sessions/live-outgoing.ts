// Messages that were accepted and of which the agent has not shown that it got them (SES5). They stand in the record, so on
// disk, from before they are acknowledged until then; whatever comes in between, each is said once or shown as not said.
// Pure: what becomes of a record, and what whoever reads the conversation is told.

import { limits } from '../model/limits.ts';
import type { SessionMessage } from '../model/sessions.ts';
import type { Delivery } from './dialect.ts';
import { clip } from './draft.ts';
import type { KeptSession, Outgoing } from './store-record.ts';

/** More than may wait for one agent. */
export const isTooMany = (queue: readonly string[]): boolean =>
  queue.length > limits.sessionQueueMax ||
  queue.reduce((sum, text) => sum + text.length, 0) > limits.sessionQueueBytesMax;

/** Why what was on its way did not get there. */
export type Cut = 'daemon' | 'agent' | 'stopped' | 'disk';

interface Accounted {
  readonly record: KeptSession;
  /** Messages of the conversation that change with it. */
  readonly shown: readonly SessionMessage[];
}

/** Is about to be given to the dialect; what came from the queue leaves it in the same record. */
export const withOutgoing = (record: KeptSession, entry: Outgoing | null, isFromQueue: boolean): KeptSession =>
  entry === null
    ? record
    : {
        ...record,
        outgoing: [...record.outgoing, entry],
        queue: isFromQueue ? record.queue.slice(1) : record.queue,
      };

/** As far as a turn brings it. Without words there is nothing to keep. */
export function entryOf(
  { text, kind }: Pick<Outgoing, 'text' | 'kind'>,
  messages: readonly SessionMessage[],
  delivery: Delivery,
  freshId: () => string,
): Outgoing | null {
  if (text === '') return null;
  const message = messages.findLast(({ role }) => role === 'user')?.id ?? freshId();
  return { text, kind, stage: delivery === 'held' ? 'held' : 'said', message };
}

/** What a new process is told first, and what it is told after that: first of all what could not be said before. */
export function wordsToBegin(
  { outgoing, queue, prompt: before }: KeptSession,
  text: string,
  { isFromQueue, isFresh }: { readonly isFromQueue: boolean; readonly isFresh: boolean },
): { readonly prompt: string; readonly queue: readonly string[]; readonly isQueued: boolean } {
  const texts = [...outgoing.map((entry) => entry.text), ...(text === '' ? [] : [text])];
  const rest = isFromQueue ? queue.slice(1) : queue;
  // Without a conversation to go on with it begins anew, with what it was told before.
  const prompt = texts[0] ?? (isFresh ? before : '');
  return { prompt, queue: [...texts.slice(1), ...rest], isQueued: text !== '' && texts.length > 1 };
}

/** What was held until now is told from here on: to be on disk before it is. */
export const isTelling = ({ outgoing }: KeptSession, delivery: Delivery): boolean =>
  delivery === 'said' && outgoing.some(({ stage }) => stage === 'held');

/** After the dialect has said or heard something. `isTurnOver`: a turn ended, which is a sign as well. */
export function accounted(record: KeptSession, delivery: Delivery, isTurnOver: boolean, at: number): Accounted {
  const { outgoing } = record;
  if (outgoing.length === 0) return { record, shown: [] };
  if (delivery === 'dropped') {
    const dropped = outgoing.filter(({ stage }) => stage === 'held');
    const left = outgoing.filter(({ stage }) => stage === 'said');
    return { record: { ...record, outgoing: left }, shown: dropped.map((entry) => noticeOf(entry, 'stopped', at)) };
  }
  // What is held was given to nobody yet: no sign is about it.
  const open = delivery === 'taken' || isTurnOver ? outgoing.filter(({ stage }) => stage === 'held') : outgoing;
  const isTold = delivery === 'said' && open.some(({ stage }) => stage === 'held');
  const left = isTold ? open.map((entry) => ({ ...entry, stage: 'said' as const })) : open;
  return { record: left === outgoing ? record : { ...record, outgoing: left }, shown: [] };
}

/** They were not told after all. */
export const heldAgain = (record: KeptSession, untold: readonly Outgoing[]): KeptSession => ({
  ...record,
  outgoing: record.outgoing.map((entry) =>
    untold.some(({ text, message }) => text === entry.text && message === entry.message)
      ? { ...entry, stage: 'held' }
      : entry,
  ),
});

/**
 * The way to the agent is gone. What was certainly not told stays, to be said when the session goes on; an answer has lost
 * its question. Of what was told nobody knows whether it arrived: said again it might be done twice.
 */
export function cutOff(record: KeptSession, cut: Cut, at: number): Accounted {
  const { outgoing } = record;
  if (outgoing.length === 0) return { record, shown: [] };
  const left = outgoing.filter(({ stage, kind }) => stage === 'held' && kind === 'message');
  return {
    record: { ...record, outgoing: left },
    shown: outgoing.map((entry) => noticeOf(entry, cut, at, record.agent_session === null)),
  };
}

/** An agent that is joined again is told what it was not told yet, before what waited behind it. */
export const requeued = (record: KeptSession): KeptSession =>
  record.outgoing.length === 0
    ? record
    : { ...record, outgoing: [], queue: [...record.outgoing.map(({ text }) => text), ...record.queue] };

const causes: Readonly<Record<Cut, string>> = {
  daemon: 'agtmux was stopped',
  agent: 'the agent ended',
  stopped: 'the session was stopped, or the turn before it failed,',
  disk: 'the disk took no more',
};

/** Stands where the message stood, so that nobody takes it for said. */
function noticeOf({ text, stage, kind, message }: Outgoing, cut: Cut, at: number, isFirst = false): SessionMessage {
  const isKept = stage === 'held' && kind === 'message' && cut !== 'stopped';
  const what = kind === 'answer' ? 'answer' : 'message';
  const again = isFirst ? '; a resume without words begins anew with it' : '';
  const words =
    stage === 'said'
      ? `${causes[cut]} before the agent showed that it has this ${what}. It may not have reached the agent, and is not sent again by itself${again}:`
      : `not said: ${causes[cut]} before the agent could be told this ${what}. ${isKept ? 'It is said when the session goes on:' : 'Send it again if it is still wanted:'}`;
  return { id: message, role: 'notice', at, text: clip(`${words}\n${text}`), partial: false };
}
