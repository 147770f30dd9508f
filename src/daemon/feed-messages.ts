// The words of the feed: what a client is told, and how it says where it stands. Types only.

export interface FeedItem<Value> {
  readonly key: string;
  readonly value: Value;
}

export interface FeedChange<Value> {
  readonly version: number;
  readonly key: string;
  /** Null: it is gone. */
  readonly value: Value | null;
}

/** Where a client stands: enough to resume from. A version means nothing outside its epoch. */
export interface FeedCursor {
  readonly epoch: string;
  readonly version: number;
}

/** Why a subscriber gets nothing more: it could not keep up, it left, or the daemon leaves. */
export type CutReason = 'too_slow' | 'closed' | 'shutdown';

/** Replaces everything the client knows. */
export interface SnapshotMessage<Value> extends FeedCursor {
  readonly type: 'snapshot';
  /**
   * The version that the client had before, of whichever run of the daemon: versions never repeat. Null when it had none.
   * What happened since is in no snapshot, and is told apart.
   */
  readonly after: number | null;
  readonly items: readonly FeedItem<Value>[];
}

/** What happened after `from` up to and including `to`: of each key its last change, by version. */
export interface ChangesMessage<Value> {
  readonly type: 'changes';
  readonly from: number;
  readonly to: number;
  readonly changes: readonly FeedChange<Value>[];
}

/** The last message; it can be taken again and again. */
export interface CutMessage {
  readonly type: 'cut';
  readonly reason: CutReason;
}

export type FeedMessage<Value> = SnapshotMessage<Value> | ChangesMessage<Value> | CutMessage;

export interface Subscriber<Value> extends AsyncIterable<FeedMessage<Value>> {
  /** The next message, or null when there is nothing new. At most this many changes of the ring at once; all by default. */
  take(changesMax?: number): FeedMessage<Value> | null;
  /** The next message, waiting for it. One caller at a time. */
  next(): Promise<FeedMessage<Value>>;
  /** The version up to which everything was taken; null before the first snapshot. */
  version(): number | null;
  close(): void;
}
