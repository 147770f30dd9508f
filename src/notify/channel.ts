// What a notification channel is: it shows a message, says what came of it, and takes it back where it can. Whatever a channel
// does takes bounded time and never throws; the daemon does not wait for it.

import type { NoticeChannel, NoticeRow } from '../model/notices.ts';

export interface Message {
  /** Of the notice, or of a sum of several. */
  readonly id: string;
  readonly title: string;
  /** Everything there is to say; a channel may show less. */
  readonly body: string;
  /** Without a word of what is asked, for channels that others can see. */
  readonly plain: string;
  readonly isUrgent: boolean;
  /** What the notice is about; null for a sum and for a test. */
  readonly notice: NoticeRow | null;
  /** For channels that let a message wait: false once it was answered elsewhere. */
  readonly isWanted?: () => boolean;
}

export type NotifyResult =
  /**
   * `handle` is how it is found again to be taken back, also by another run of the daemon. `isTooLate`: it was answered
   * before its turn came, so nobody was told.
   */
  | { readonly ok: true; readonly handle: string | null; readonly isTooLate?: true }
  | { readonly ok: false; readonly problem: string };

export interface NotificationChannel {
  readonly name: NoticeChannel;
  tell(message: Message): Promise<NotifyResult>;
  /**
   * Shows it in the place of what an earlier run of the daemon has shown, if it has buttons: nobody listens to those any
   * more. Left out where there are no buttons.
   */
  renew?(message: Message, handle: string): Promise<NotifyResult>;
  /** `handle` is what `tell` or `renew` gave for it, also in an earlier run; null when it gave none. */
  withdraw(id: string, handle: string | null): Promise<void>;
  close(): void;
}

export type Press = 'approve' | 'reject';

/** A button of a notification that this channel has shown was pressed. */
export type OnPress = (channel: NoticeChannel, id: string, press: Press) => void;
