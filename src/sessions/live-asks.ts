// What the open asks of all sessions hold together (SES10).

import { limits } from '../model/limits.ts';

export class AskRoom {
  #held = 0;

  /** What one more ask of whatever session may take. */
  get left(): number {
    return Math.max(0, limits.sessionsAsksBytesMax - this.#held);
  }

  change(bytes: number): void {
    this.#held += bytes;
  }
}
