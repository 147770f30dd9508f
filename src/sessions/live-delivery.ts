// Keeps account of the messages on their way to one agent, as its dialect goes on (SES5): what is written down before it is
// told, and what whoever reads along is shown when it does not get there.

import { FileError } from '../platform/files.ts';
import type { Turn } from './dialect.ts';
import { turnEnds } from './live-kinds.ts';
import { droppedWords, type Notices } from './live-notices.ts';
import { accounted, type Cut, cutOff, entryOf, heldAgain, isTelling } from './live-outgoing.ts';
import type { LiveParts } from './live-parts.ts';
import { type MachineDeed, takesWordsForAnswer } from './machine-deeds.ts';
import type { KeptSession, Outgoing } from './store-record.ts';

export const textOf = (deed: MachineDeed): string => ('text' in deed ? (deed.text ?? '') : '');

/** The session's record, as it is and as it is to be. */
interface Held {
  readonly record: () => KeptSession;
  readonly adopt: (record: KeptSession) => void;
}

export class Deliveries {
  readonly #parts: Pick<LiveParts, 'dialect' | 'handlers' | 'ports'>;
  readonly #notices: Notices;
  readonly #held: Held;

  constructor(parts: LiveParts, notices: Notices, held: Held) {
    this.#parts = parts;
    this.#notices = notices;
    this.#held = held;
  }

  /** What a deed says, as far as this turn brings it; null: it says nothing in words. */
  entryOf(deed: MachineDeed, turn: Turn<unknown>): Outgoing | null {
    const isAnswer = deed.action === 'answer' || takesWordsForAnswer(this.#held.record());
    return this.#entry({ text: textOf(deed), kind: isAnswer ? 'answer' : 'message' }, turn);
  }

  /** The first words to a new process. Before its opening is known, nobody was told anything. */
  firstOf(text: string, opening: Turn<unknown> | null): readonly Outgoing[] {
    const entry = this.#entry({ text, kind: 'message' }, opening);
    return entry === null ? [] : [entry];
  }

  #entry(of: Pick<Outgoing, 'text' | 'kind'>, turn: Turn<unknown> | null): Outgoing | null {
    const delivery = turn === null ? 'held' : this.#parts.dialect.delivery(turn.memory);
    return entryOf(of, turn?.messages ?? [], delivery, () => this.#notices.nextId());
  }

  /** After each turn. Resolves when it is on disk that what was held is told now; null: nothing has to be. */
  account({ memory, events }: Turn<unknown>): Promise<boolean> | null {
    const { dialect, handlers, ports } = this.#parts;
    const delivery = dialect.delivery(memory);
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
  withoutQueue(record: KeptSession): KeptSession {
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
