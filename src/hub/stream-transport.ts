// The embedded transport: every daemon opens one web socket to the hub's own HTTP server, proves that it holds its key, and both
// sides talk over that. A batch is answered when it is in the table.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type EdgeFrame, type HubAskKind, type HubFrame, readEdgeFrame, signedTexts } from '../api/hub-wire.ts';
import { type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { RandomSource } from '../platform/random.ts';
import { isSignedBy } from '../platform/signing.ts';
import type { EdgeMessage, HubTransport, TransportHandlers } from './transport.ts';

/** What else has to be asked, where there are more doors than this one. */
export interface OtherDoors {
  /** A daemon has proved who it is. A failure: another life of it speaks elsewhere. */
  claim(connection: Pick<EdgeMessage, 'tenant' | 'daemon'> & { readonly life: string }): Promise<Failure | null>;
}

export interface StreamTransportParts {
  readonly others?: OtherDoors;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly hubKey: string;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

export const twin = failure(
  'E_TWIN',
  'another machine with the same key is connected',
  'run `agtmux hub leave` here, then join with a code of its own',
);

export class StreamTransport implements HubTransport {
  readonly kind = 'stream';
  readonly #parts: StreamTransportParts;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.hubMessageBytesMax,
    perMessageDeflate: false,
  });
  readonly #connections = new Set<EdgeConnection>();
  /** By tenant and daemon: the one that speaks for it. */
  readonly #known = new Map<string, EdgeConnection>();
  #handlers: TransportHandlers | null = null;

  constructor(parts: StreamTransportParts) {
    this.#parts = parts;
  }

  async start(handlers: TransportHandlers): Promise<void> {
    this.#handlers = handlers;
  }

  /** A request for a web socket that the HTTP server got. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const handlers = this.#handlers;
    if (handlers === null || this.#connections.size >= limits.hubConnectionsMax) {
      socket.destroy();
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (open) => {
      const connection = new EdgeConnection(open, this.#parts, handlers, {
        onKnown: (one) => this.#claim(one),
        onEnd: (one) => this.#forget(one),
      });
      this.#connections.add(connection);
    });
  }

  async ask(tenant: string, daemon: string, kind: HubAskKind, body: unknown): Promise<Result<unknown>> {
    const connection = this.#known.get(`${tenant}/${daemon}`);
    return connection === undefined
      ? fail('E_TARGET_DOWN', 'this machine is not connected to the hub')
      : connection.ask(kind, body);
  }

  connections(): number {
    return this.#known.size;
  }

  /** A batch is taken when it is in the table. */
  waiting(): ReadonlyMap<string, number> {
    return new Map();
  }

  /** The life that speaks for this daemon here; null when none does. */
  lifeOf(tenant: string, daemon: string): string | null {
    const held = this.#known.get(`${tenant}/${daemon}`);
    return held?.isAlive() === true ? held.life : null;
  }

  /** It came back elsewhere: what is open here is over. */
  drop(tenant: string, daemon: string): void {
    this.#known.get(`${tenant}/${daemon}`)?.end();
  }

  cut(tenant: string, daemon: string): void {
    this.#known
      .get(`${tenant}/${daemon}`)
      ?.refuse(failure('E_ROLE', 'this machine was removed from the hub', 'join it anew'));
  }

  check(): Promise<boolean> {
    return Promise.resolve(this.#handlers !== null);
  }

  async close(): Promise<void> {
    for (const one of this.#connections) one.end();
    this.#server.close();
  }

  /** The same life comes back over a new connection; another life with the same key while the first one lives is a copy. */
  #claim(connection: EdgeConnection): Failure | null {
    const held = this.#known.get(connection.name);
    if (held !== undefined && held.life !== connection.life && held.isAlive()) return twin;
    this.#known.set(connection.name, connection);
    held?.end();
    return null;
  }

  #forget(connection: EdgeConnection): void {
    this.#connections.delete(connection);
    if (this.#known.get(connection.name) !== connection) return;
    this.#known.delete(connection.name);
    this.#handlers?.onGone(connection.tenant, connection.daemon);
  }
}

interface ConnectionOwner {
  /** A failure: it is turned away. */
  readonly onKnown: (connection: EdgeConnection) => Failure | null;
  readonly onEnd: (connection: EdgeConnection) => void;
}

class EdgeConnection {
  readonly #socket: WebSocket;
  readonly #parts: StreamTransportParts;
  readonly #handlers: TransportHandlers;
  readonly #owner: ConnectionOwner;
  readonly #nonce: string;
  readonly #waiting = new Map<
    number,
    { readonly resolve: (result: Result<unknown>) => void; readonly cancel: Cancel }
  >();
  #asked = 0;
  #heardAt: number;
  #cancel: Cancel;
  #isKnown = false;
  #isOver = false;
  /** Messages of one daemon are taken one after the other. */
  #turn: Promise<void> = Promise.resolve();
  #unread = 0;
  tenant = '';
  daemon = '';
  life = '';

  constructor(socket: WebSocket, parts: StreamTransportParts, handlers: TransportHandlers, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#parts = parts;
    this.#handlers = handlers;
    this.#owner = owner;
    this.#nonce = parts.random.hex(16);
    this.#heardAt = parts.clock.monotonicMs();
    this.#cancel = parts.clock.after(limits.hubConnectMs, () => this.end());
    socket.on('message', (data, isBinary) => this.#take(isBinary ? null : String(data)));
    socket.on('ping', () => this.#heard());
    socket.on('pong', () => this.#heard());
    socket.on('error', () => this.end());
    socket.on('close', () => this.end());
    this.#send({ t: 'challenge', nonce: this.#nonce, hub_key: parts.hubKey });
  }

  get name(): string {
    return `${this.tenant}/${this.daemon}`;
  }

  isAlive(): boolean {
    return !this.#isOver && this.#parts.clock.monotonicMs() - this.#heardAt <= limits.hubSilentMs;
  }

  ask(kind: HubAskKind, body: unknown): Promise<Result<unknown>> {
    return new Promise((resolve) => {
      this.#asked += 1;
      const id = this.#asked;
      if (!this.#send({ t: 'ask', id, kind, body })) {
        resolve(fail('E_TARGET_DOWN', 'this machine is not connected to the hub'));
        return;
      }
      const cancel = this.#parts.clock.after(limits.hubAskMs, () => {
        this.#waiting.delete(id);
        resolve(fail('E_TIMEOUT', 'the machine did not answer in time'));
      });
      this.#waiting.set(id, { resolve, cancel });
    });
  }

  refuse({ code, message, next }: Failure): void {
    this.#send({ t: 'refused', code, message, next });
    this.#socket.close();
    this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancel();
    for (const { resolve, cancel } of this.#waiting.values()) {
      cancel();
      // It went out, and whether it was done nobody knows.
      resolve(fail('E_TIMEOUT', 'the connection to the machine was cut before it answered'));
    }
    this.#waiting.clear();
    this.#owner.onEnd(this);
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.terminate();
  }

  #send(frame: HubFrame): boolean {
    if (this.#isOver || this.#socket.readyState !== this.#socket.OPEN) return false;
    if (this.#socket.bufferedAmount > limits.hubMessageBytesMax) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  #heard(): void {
    this.#heardAt = this.#parts.clock.monotonicMs();
  }

  #take(said: string | null): void {
    this.#heard();
    const frame = said === null ? null : readEdgeFrame(said);
    // A daemon waits for each answer before it says more; whoever does not is none.
    if (frame === null || this.#unread > unreadMax) {
      this.refuse(failure('E_INPUT', 'this is no message of a daemon'));
      return;
    }
    this.#unread += 1;
    this.#turn = this.#turn
      .then(() => this.#frame(frame))
      .catch((problem: unknown) => {
        this.#parts.warn('a message of a daemon failed', { daemon: this.daemon, problem });
        this.end();
      })
      .finally(() => {
        this.#unread -= 1;
      });
  }

  async #frame(frame: EdgeFrame): Promise<void> {
    if (this.#isOver) return;
    if (frame.t === 'hello') return this.#hello(frame);
    if (!this.#isKnown) return this.refuse(failure('E_INPUT', 'a daemon says who it is first'));
    if (frame.t === 'answer') {
      const waiting = this.#waiting.get(frame.id);
      this.#waiting.delete(frame.id);
      waiting?.cancel();
      waiting?.resolve(ok(frame.body));
      return;
    }
    const { tenant, daemon, life } = this;
    const applied = await this.#handlers.onMessage({ tenant, daemon, life, kind: frame.kind, body: frame.body });
    this.#send({ t: 'taken', id: frame.id, applied });
  }

  async #hello({ tenant, daemon, life, signature }: Extract<EdgeFrame, { t: 'hello' }>): Promise<void> {
    const place = this.#isKnown ? null : await this.#handlers.placeOf(tenant, daemon);
    const text = signedTexts.hello(this.#parts.hubKey, this.#nonce, daemon, life);
    if (place === null || !isSignedBy(place.public_key, text, signature)) {
      this.refuse(
        failure('E_ROLE', 'the hub does not know this machine, or has removed it', 'join it with a new code'),
      );
      return;
    }
    this.tenant = tenant;
    this.daemon = daemon;
    this.life = life;
    const problem = this.#owner.onKnown(this) ?? (await this.#parts.others?.claim({ tenant, daemon, life })) ?? null;
    if (problem !== null) return this.refuse(problem);
    this.#isKnown = true;
    this.#cancel();
    this.#send({ t: 'welcome', epoch: place.epoch, version: place.version });
  }
}

/** One batch, some audit rows, a sign of life and answers. */
const unreadMax = 64;
