// Messages that were accepted and of which the agent has not shown that it got them (SES5). They stand in the record, so on
// disk, from before they are acknowledged until then; whatever comes in between, each is said once or shown as not said.
// Pure: what becomes of a record, and what whoever reads the conversation is told.

import type { Delivery, Turn } from '../agents/protocol/adapter.ts';
import { clip } from '../agents/protocol/draft.ts';
import { limits } from '../model/limits.ts';
import type { SessionMessage } from '../model/sessions.ts';
import { FileError } from '../platform/files.ts';
import type { RunningSessionOptions } from './connection.ts';
import { type SessionAction, takesWordsForAnswer, turnEnds } from './machine-memory.ts';
import type { Outgoing, StoredSession } from './store.ts';

/** More than may wait for one agent. */
export const isTooMany = (queue: readonly string[]): boolean =>
  queue.length > limits.sessionQueueMax ||
  queue.reduce((sum, text) => sum + text.length, 0) > limits.sessionQueueBytesMax;

/** Why what was on its way did not get there. */
type Cut = 'daemon' | 'agent' | 'stopped' | 'disk';

interface Accounted {
  readonly record: StoredSession;
  /** Messages of the conversation that change with it. */
  readonly shown: readonly SessionMessage[];
}

/** Is about to be given to the adapter; what came from the queue leaves it in the same record. */
export const withOutgoing = (record: StoredSession, entry: Outgoing | null, isFromQueue: boolean): StoredSession =>
  entry === null
    ? record
    : {
        ...record,
        outgoing: [...record.outgoing, entry],
        queue: isFromQueue ? record.queue.slice(1) : record.queue,
      };

/** As far as a turn brings it. Without words there is nothing to keep. */
function entryOf(
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
  { outgoing, queue, prompt: before }: StoredSession,
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
const isTelling = ({ outgoing }: StoredSession, delivery: Delivery): boolean =>
  delivery === 'said' && outgoing.some(({ stage }) => stage === 'held');

/** After the adapter has said or heard something. `isTurnOver`: a turn ended, which is a sign as well. */
function accounted(record: StoredSession, delivery: Delivery, isTurnOver: boolean, at: number): Accounted {
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
const heldAgain = (record: StoredSession, untold: readonly Outgoing[]): StoredSession => ({
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
function cutOff(record: StoredSession, cut: Cut, at: number): Accounted {
  const { outgoing } = record;
  if (outgoing.length === 0) return { record, shown: [] };
  const left = outgoing.filter(({ stage, kind }) => stage === 'held' && kind === 'message');
  return {
    record: { ...record, outgoing: left },
    shown: outgoing.map((entry) => noticeOf(entry, cut, at, record.agent_session === null)),
  };
}

/** An agent that is joined again is told what it was not told yet, before what waited behind it. */
export const requeued = (record: StoredSession): StoredSession =>
  record.outgoing.length === 0
    ? record
    : { ...record, outgoing: [], queue: [...record.outgoing.map(({ text }) => text), ...record.queue] };

const causes: Readonly<Record<Cut, string>> = {
  daemon: 'agtmux was stopped',
  agent: 'the agent ended',
  stopped: 'the session was stopped, or the turn before it failed,',
  disk: 'the disk was full',
};

/** Stands where the message stood, so that nobody takes it for said. */
function noticeOf({ text, stage, kind, message }: Outgoing, cut: Cut, at: number, isFirst = false): SessionMessage {
  const isKept = stage === 'held' && kind === 'message' && cut !== 'stopped';
  const what = kind === 'answer' ? 'answer' : 'message';
  const again = isFirst ? '; a resume without a message starts with it' : '';
  const words =
    stage === 'said'
      ? `${causes[cut]} before the agent confirmed this ${what}. It may not have reached the agent, and is not sent again automatically${again}:`
      : `not sent: ${causes[cut]} before this ${what} could be sent to the agent. ${isKept ? 'It is sent when the session continues:' : 'Send it again if you still want it:'}`;
  return { id: message, role: 'notice', at, text: clip(`${words}\n${text}`), partial: false };
}

// Keeps account of the messages on their way to one agent, as its adapter goes on (SES5): what is written down before it is
// told, and what whoever reads along is shown when it does not get there.

export const textOf = (deed: SessionAction): string => ('text' in deed ? (deed.text ?? '') : '');

/** The session's record, as it is and as it is to be. */
interface Held {
  readonly record: () => StoredSession;
  readonly adopt: (record: StoredSession) => void;
}

export class Deliveries {
  readonly #parts: Pick<RunningSessionOptions, 'adapter' | 'handlers' | 'ports'>;
  readonly #notices: Notices;
  readonly #held: Held;

  constructor(parts: RunningSessionOptions, notices: Notices, held: Held) {
    this.#parts = parts;
    this.#notices = notices;
    this.#held = held;
  }

  /** What a deed says, as far as this turn brings it; null: it says nothing in words. */
  entryOf(deed: SessionAction, turn: Turn<unknown>): Outgoing | null {
    const isAnswer = deed.action === 'answer' || takesWordsForAnswer(this.#held.record());
    return this.#entry({ text: textOf(deed), kind: isAnswer ? 'answer' : 'message' }, turn);
  }

  /** The first words to a new process. Before its opening is known, nobody was told anything. */
  firstOf(text: string, opening: Turn<unknown> | null): readonly Outgoing[] {
    const entry = this.#entry({ text, kind: 'message' }, opening);
    return entry === null ? [] : [entry];
  }

  #entry(of: Pick<Outgoing, 'text' | 'kind'>, turn: Turn<unknown> | null): Outgoing | null {
    const delivery = turn === null ? 'held' : this.#parts.adapter.delivery(turn.memory);
    return entryOf(of, turn?.messages ?? [], delivery, () => this.#notices.nextId());
  }

  /** After each turn. Resolves when it is on disk that what was held is told now; null: nothing has to be. */
  account({ memory, events }: Turn<unknown>): Promise<boolean> | null {
    const { adapter, handlers, ports } = this.#parts;
    const delivery = adapter.delivery(memory);
    const before = this.#held.record();
    const isTurnOver = events.some(({ kind }) => turnEnds.includes(kind));
    const { record, shown } = accounted(before, delivery, isTurnOver, ports.now());
    this.#held.adopt(record);
    this.#notices.show(shown);
    if (!isTelling(before, delivery)) return null;
    return handlers.keep(record).then(
      () => true,
      (problem) => {
        if (!(problem instanceof FileError)) throw problem;
        this.#held.adopt(
          heldAgain(
            this.#held.record(),
            before.outgoing.filter(({ stage }) => stage === 'held'),
          ),
        );
        return false;
      },
    );
  }

  /** Whoever stops it does not want it to go on with the next message. */
  withoutQueue(record: StoredSession): StoredSession {
    if (record.state !== 'stopped' || record.queue.length === 0) return record;
    this.#notices.tell(droppedWords(record.queue, 'the session was stopped'));
    return { ...record, queue: [] };
  }

  /** There is nobody any more to tell what was on its way. */
  cut(cut: Cut): void {
    const { record, shown } = cutOff(this.#held.record(), cut, this.#parts.ports.now());
    this.#held.adopt(record);
    this.#notices.show(shown);
  }
}

// What agtmux itself has to tell whoever reads a conversation.

export class Notices {
  readonly #now: () => number;
  readonly #say: (messages: readonly SessionMessage[]) => void;
  #count = 0;

  constructor(now: () => number, say: (messages: readonly SessionMessage[]) => void) {
    this.#now = now;
    this.#say = say;
  }

  /** Changes of what was shown before. */
  show(messages: readonly SessionMessage[]): void {
    if (messages.length > 0) this.#say(messages);
  }

  /** An id for a message that has none yet. */
  nextId(): string {
    this.#count += 1;
    return `notice-${this.#now()}-${this.#count}`;
  }

  tell(text: string): void {
    this.#say([{ id: this.nextId(), role: 'notice', at: this.#now(), text, partial: false }]);
  }
}

/** Messages that will not be said, with their words: whoever wrote them was told that they wait. */
export const droppedWords = (texts: readonly string[], why: string): string =>
  clip(
    `${texts.length === 1 ? 'a queued message was' : `${texts.length} messages that waited were`} not sent: ${why}\n${texts.join('\n')}`,
  );
