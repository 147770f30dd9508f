// What agtmux itself has to tell whoever reads a conversation.

import type { SessionMessage } from '../model/sessions.ts';
import { clip } from './draft.ts';

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
    `${texts.length === 1 ? 'a message that waited was' : `${texts.length} messages that waited were`} not said: ${why}\n${texts.join('\n')}`,
  );
