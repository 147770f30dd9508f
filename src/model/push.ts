// Web Push: what a browser is told while no page of it is open, what its service worker is given, and what may come back
// from a button (NOT9).

import type { CallerClaim, Receipt } from './actions.ts';
import type { Result } from './errors.ts';

/** Where a browser can be reached, and by which keys it alone can read what comes there. */
export interface PushAddress {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

/** What the service worker is given, encrypted for its browser. */
export type PushDocument =
  | {
      readonly type: 'notice';
      readonly id: string;
      readonly title: string;
      readonly body: string;
      /** Where a press leads; null for what is about no agent. */
      readonly runtime_id: string | null;
      /** Opens the answer to what is shown, once; null where it must be looked at first. */
      readonly answer: string | null;
      readonly is_urgent: boolean;
    }
  | {
      readonly type: 'withdrawn';
      readonly id: string;
      /** Shown in its place where a browser must show something for every push; null: it is just closed. */
      readonly words: string | null;
    };

export type PushPress = 'approve' | 'reject';

export interface PushAnswer {
  readonly notice_id: string;
  readonly press: PushPress;
  readonly answer: string;
}

/** By web session: who is signed out is told nothing any more. */
export interface PushService {
  /** Of this daemon, as browsers ask for it. */
  readonly publicKey: string;
  has(session: string): boolean;
  /** `hasButtons`: its page may act, so its notifications have buttons; who presses one is authorized then. */
  subscribe(session: string, address: PushAddress, hasButtons: boolean): Promise<Result<null>>;
  unsubscribe(session: string): Promise<void>;
  /** After a restart: the others were signed out meanwhile. */
  keepOnly(sessions: ReadonlySet<string>): Promise<void>;
  /** Answers what was shown, under the guard of every action. */
  answer(session: string, answer: PushAnswer, claim: CallerClaim): Promise<Result<Receipt>>;
}
