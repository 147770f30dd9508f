// What agtmux itself has to tell whoever reads a conversation.

import type { SessionMessage } from '../model/sessions.ts';

export class Notices {
  readonly #now: () => number;
  readonly #say: (messages: readonly SessionMessage[]) => void;
  #count = 0;

  constructor(now: () => number, say: (messages: readonly SessionMessage[]) => void) {
    this.#now = now;
    this.#say = say;
  }

  tell(text: string): void {
    const at = this.#now();
    this.#count += 1;
    this.#say([{ id: `notice-${at}-${this.#count}`, role: 'notice', at, text, partial: false }]);
  }
}

/** Said or not when the daemon fell: sent once more it might be done twice (SES5). */
export const goingWords = (text: string): string =>
  `a message that waited may not have reached the agent, and is not sent again by itself:\n${text}`;
