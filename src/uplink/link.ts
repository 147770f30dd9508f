// The way to a hub as the uplink sees it: the port, and its embedded form, one web socket to the hub's own server.

import { type HubAskKind, type HubFrame, readHubFrame, signedTexts, type WireApplied } from '../api/hub-wire.ts';
import { type Failure, failure } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { OpenRemoteSocket, RemoteSocket } from '../platform/remote.ts';
import type { SigningKey } from '../platform/signing.ts';

export interface LinkHandlers {
  /** How far the hub is; null where this way cannot tell. */
  readonly onOpen: (place: { readonly epoch: string | null; readonly version: number } | null) => void;
  readonly onAsk: (kind: HubAskKind, body: unknown) => Promise<unknown>;
  /** Called once and last; not after `close`. */
  readonly onEnd: (why: Failure) => void;
}

export interface EdgeLink {
  /** Resolves when it was taken for good, with what became of it where this way tells; null when it was not. */
  put(
    kind: 'feed' | 'log' | 'beat',
    id: string,
    body: unknown,
  ): Promise<{ readonly applied: WireApplied | null } | null>;
  close(): void;
}

export type OpenLink = (handlers: LinkHandlers) => EdgeLink;

export interface LinkIdentity {
  readonly url: string;
  readonly tenant: string;
  readonly daemon: string;
  /** The hub's own key: whoever answers with another one is another hub. */
  readonly hubKey: string;
  readonly key: SigningKey;
  /** Of the machine and of this run. */
  readonly life: string;
}

const down = (why: string): Failure => failure('E_HUB', `the hub cannot be reached: ${why}`);

export const streamLink =
  (clock: Clock, open: OpenRemoteSocket, identity: LinkIdentity): OpenLink =>
  (handlers) =>
    new StreamLink(clock, open, identity, handlers);

class StreamLink implements EdgeLink {
  readonly #clock: Clock;
  readonly #identity: LinkIdentity;
  readonly #handlers: LinkHandlers;
  readonly #socket: RemoteSocket;
  readonly #waiting = new Map<
    number,
    { readonly resolve: (done: { applied: WireApplied | null } | null) => void; readonly cancel: Cancel }
  >();
  #count = 0;
  #isOpen = false;
  #isOver = false;
  readonly #cancelOpen: Cancel;

  constructor(clock: Clock, open: OpenRemoteSocket, identity: LinkIdentity, handlers: LinkHandlers) {
    this.#clock = clock;
    this.#identity = identity;
    this.#handlers = handlers;
    this.#cancelOpen = clock.after(limits.hubConnectMs, () => this.#end(down('it did not answer in time')));
    const url = new URL('/edge/v1/stream', identity.url);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    this.#socket = open(url.href, { onText: (text) => this.#take(text), onEnd: (why) => this.#end(down(why)) });
  }

  put(
    kind: 'feed' | 'log' | 'beat',
    _id: string,
    body: unknown,
  ): Promise<{ readonly applied: WireApplied | null } | null> {
    return new Promise((resolve) => {
      this.#count += 1;
      const id = this.#count;
      if (!this.#isOpen || !this.#socket.send(JSON.stringify({ t: 'put', id, kind, body }))) {
        resolve(null);
        return;
      }
      // What is not answered is told again over another connection.
      const cancel = this.#clock.after(limits.hubPublishMs, () => this.#end(down('it takes nothing')));
      this.#waiting.set(id, { resolve, cancel });
    });
  }

  close(): void {
    if (this.#isOver) return;
    this.#release();
  }

  #release(): void {
    this.#isOver = true;
    this.#isOpen = false;
    this.#cancelOpen();
    this.#socket.close();
    for (const { resolve, cancel } of this.#waiting.values()) {
      cancel();
      resolve(null);
    }
    this.#waiting.clear();
  }

  #end(why: Failure): void {
    if (this.#isOver) return;
    this.#release();
    this.#handlers.onEnd(why);
  }

  #take(text: string): void {
    const frame = readHubFrame(text);
    if (frame === null) this.#end(down('it is no hub of this version'));
    else this.#frame(frame);
  }

  #frame(frame: HubFrame): void {
    const { hubKey, daemon, tenant, life, key } = this.#identity;
    switch (frame.t) {
      case 'challenge': {
        if (frame.hub_key !== hubKey) {
          this.#end(down('another hub answers at this address'));
          return;
        }
        const signature = key.sign(signedTexts.hello(hubKey, frame.nonce, daemon, life));
        this.#socket.send(JSON.stringify({ t: 'hello', tenant, daemon, life, signature }));
        return;
      }
      case 'welcome':
        this.#cancelOpen();
        this.#isOpen = true;
        this.#handlers.onOpen({ epoch: frame.epoch, version: frame.version });
        return;
      case 'taken': {
        const waiting = this.#waiting.get(frame.id);
        this.#waiting.delete(frame.id);
        waiting?.cancel();
        waiting?.resolve({ applied: frame.applied });
        return;
      }
      case 'ask':
        void this.#handlers
          .onAsk(frame.kind, frame.body)
          // It may have been done: this is no receipt, so the hub calls it unconfirmed.
          .catch(() => ({ failure: failure('E_INTERNAL', 'something failed at the machine', 'see its log') }))
          .then((body) => this.#socket.send(JSON.stringify({ t: 'answer', id: frame.id, body: body ?? null })));
        return;
      case 'refused':
        this.#end(failure(frame.code, frame.message, frame.next));
        return;
    }
  }
}
