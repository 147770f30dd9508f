// The words that the client and its reader of the feed share. Types only.

import type { AgtmuxError } from '../model/errors.ts';
import type { FeedChanges, FeedList, FeedScope, FeedSnapshot } from './feed.ts';
import type { ManagedReply, MessagePageReply } from './sessions.ts';

export interface FeedRequest {
  readonly scope?: FeedScope;
  /** Where to go on, `epoch:version`; from the whole state when it is left out or too old. */
  readonly since?: string;
  readonly signal?: AbortSignal;
}

/** `cursor` is what to pass as `since` to go on from behind this event. */
export type FeedEvent =
  /** The connection stands, for the first time or again. What is known is current once more, or about to be. */
  | { readonly type: 'connected' }
  | { readonly type: 'snapshot'; readonly cursor: string; readonly data: FeedSnapshot }
  | { readonly type: 'changes'; readonly cursor: string; readonly data: FeedChanges }
  | { readonly type: 'list'; readonly cursor: string; readonly data: FeedList }
  /** The daemon is gone; what is known grows old until the next `connected`. Told once for each loss. */
  | { readonly type: 'lost'; readonly error: AgtmuxError };

export interface SessionRequest {
  /** Messages after this cursor; all of them when it is left out. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

export type SessionEvent =
  | { readonly type: 'messages'; readonly data: MessagePageReply }
  | { readonly type: 'session'; readonly data: ManagedReply }
  /** It was removed. */
  | { readonly type: 'gone' }
  /** The daemon is gone; told once for each loss. */
  | { readonly type: 'lost'; readonly error: AgtmuxError };

/** Who asks: the daemon looks at that process itself (ACT6). */
export interface Caller {
  readonly pid: number;
  /** How many agents the message passed through so far. */
  readonly hops?: number;
}

export interface SendOptions {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly caller?: Caller;
  /** Also from a daemon of another API: for what must work across an upgrade. */
  readonly isAnyVersion?: boolean;
  /** Nothing heard for this long: given up. */
  readonly silenceMs?: number;
  readonly signal?: AbortSignal;
}
