// What carries messages between daemons and a hub: the port with its two implementations. It carries and knows who speaks; what is
// said is nobody's business here.

import type { HubAskKind, WireApplied } from '../api/hub-wire.ts';
import type { Result } from '../model/errors.ts';
import type { CursorMove } from './table.ts';

export type MessageKind = 'feed' | 'log' | 'beat';

export interface EdgeMessage {
  readonly tenant: string;
  readonly daemon: string;
  readonly kind: MessageKind;
  readonly body: unknown;
  /** Of two that hold one key at once; null where the message itself says it. */
  readonly life: string | null;
}

export interface TransportHandlers {
  /** What became of it goes back to the daemon, where it waits for that. */
  onMessage(message: EdgeMessage): Promise<WireApplied | null>;
  /** Several of one stream, in their order, and its place in the table moves with them. False: another one has moved it. */
  onBatches(tenant: string, messages: readonly EdgeMessage[], move: CursorMove): Promise<boolean>;
  /** What was in a stream is gone, or part of it. */
  onLost(tenant: string): Promise<void>;
  /** How far the rows of this daemon are, for one that comes. Null: it is not one of ours. */
  placeOf(
    tenant: string,
    daemon: string,
  ): Promise<{ readonly public_key: string; readonly epoch: string | null; readonly version: number } | null>;
  onGone(tenant: string, daemon: string): void;
}

export interface HubTransport {
  readonly kind: 'stream' | 'nats';
  start(handlers: TransportHandlers): Promise<void>;
  /** E_TARGET_DOWN at once when nobody is there; E_TIMEOUT when it went out and no answer came. */
  ask(tenant: string, daemon: string, kind: HubAskKind, body: unknown): Promise<Result<unknown>>;
  /** Connections, as far as they are known here. */
  connections(): number;
  /** Batches on their way to the table, of each tenant that this process reads. */
  waiting(): ReadonlyMap<string, number>;
  /** It must not go on talking to this daemon. */
  cut(tenant: string, daemon: string): void;
  /** Whether it can carry anything now. */
  check(): Promise<boolean>;
  close(): Promise<void>;
}
