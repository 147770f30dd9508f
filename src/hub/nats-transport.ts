// The transport of a fleet: several hub processes behind one address, with NATS JetStream between them (HUB8). Daemons keep the one
// connection that they know; none speaks to NATS. A batch is taken when the stream has it, and one process at a time writes those of a
// tenant to the table; what is asked of a daemon finds the process that it is connected to, or nobody, at once.

import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type ConnectionOptions, connect, type Msg, type NatsConnection, RequestError } from '@nats-io/transport-node';
import { z } from 'zod';
import { askKindsOfHub, type HubAskKind } from '../api/hub-wire.ts';
import { AgtmuxError, errorCodes, type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Cancel } from '../platform/clock.ts';
import { ensureStream, feedSubject, NatsProjector } from './nats-projector.ts';
import { type OtherDoors, StreamTransport, type StreamTransportParts, twin } from './stream-transport.ts';
import type { HubTable } from './table.ts';
import type { EdgeMessage, HubTransport, TransportHandlers } from './transport.ts';

export interface NatsOptions extends Omit<StreamTransportParts, 'others'> {
  readonly table: HubTable;
  /** nats://user:password@host:port; tls:// where it has to be TLS. Several with commas. */
  readonly url: string;
}

/** What one process asks of whichever holds the connection of a daemon. */
const callSchema = z.discriminatedUnion('t', [
  z.strictObject({ t: z.literal('ask'), kind: z.enum(askKindsOfHub), body: z.unknown() }),
  z.strictObject({ t: z.literal('claim'), life: z.string() }),
  z.strictObject({ t: z.literal('cut') }),
]);
type Call = z.infer<typeof callSchema>;
const answerSchema = z.union([
  z.strictObject({ value: z.unknown() }),
  z.strictObject({
    failure: z.strictObject({ code: z.enum(errorCodes), message: z.string(), next: z.string() }),
  }),
]);

const isAway = fail('E_TARGET_DOWN', 'this machine is not connected to the hub');
const isCut = 'the NATS of this hub cannot be reached';

export class NatsTransport implements HubTransport, OtherDoors {
  readonly kind = 'nats';
  readonly #parts: NatsOptions;
  readonly #doors: StreamTransport;
  readonly #served = new Map<string, { unsubscribe(): void }>();
  readonly #projectors = new Map<string, NatsProjector>();
  #connection: NatsConnection | null = null;
  #stream: JetStreamClient | null = null;
  #manager: JetStreamManager | null = null;
  #isUp = false;
  #isClosed = false;
  #cancelLook: Cancel = () => undefined;

  constructor(parts: NatsOptions) {
    this.#parts = parts;
    this.#doors = new StreamTransport({ ...parts, others: this });
  }

  get upgrade(): StreamTransport['upgrade'] {
    return this.#doors.upgrade.bind(this.#doors);
  }

  async start(handlers: TransportHandlers): Promise<void> {
    await this.#connect();
    await this.#lookForTenants(handlers);
    await this.#doors.start({
      onMessage: (message) => (message.kind === 'feed' ? this.#publish(message) : handlers.onMessage(message)),
      onBatches: (...batches) => handlers.onBatches(...batches),
      onLost: (tenant) => handlers.onLost(tenant),
      placeOf: (tenant, daemon) => handlers.placeOf(tenant, daemon),
      onGone: (tenant, daemon) => {
        this.#unserve(tenant, daemon);
        handlers.onGone(tenant, daemon);
      },
    });
  }

  async ask(tenant: string, daemon: string, kind: HubAskKind, body: unknown): Promise<Result<unknown>> {
    if (this.#doors.lifeOf(tenant, daemon) !== null) return this.#doors.ask(tenant, daemon, kind, body);
    return this.#call(tenant, daemon, { t: 'ask', kind, body }, limits.hubAskMs);
  }

  connections(): number {
    return this.#doors.connections();
  }

  waiting(): ReadonlyMap<string, number> {
    const read = [...this.#projectors].flatMap(([tenant, { waiting }]) =>
      waiting === null ? [] : [[tenant, waiting] as const],
    );
    return new Map(read);
  }

  cut(tenant: string, daemon: string): void {
    this.#doors.cut(tenant, daemon);
    // A process that does not hear it finds it with its next look at the table.
    void this.#call(tenant, daemon, { t: 'cut' }, limits.hubLeaseBeatMs);
  }

  async check(): Promise<boolean> {
    if (this.#connection === null || !this.#isUp) return false;
    const isAnswered = this.#connection.rtt().then(
      () => true,
      () => false,
    );
    return Promise.race([isAnswered, this.#pause(limits.hubLeaseBeatMs).then(() => false)]);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook();
    await Promise.all([...this.#projectors.values()].map((one) => one.close()));
    await this.#doors.close();
    await this.#connection?.close();
  }

  /** Whoever holds another connection of this daemon gives it up, or says that it lives. */
  async claim({ tenant, daemon, life }: Parameters<OtherDoors['claim']>[0]): Promise<Failure | null> {
    if (!this.#isUp) return failure('E_HUB', isCut);
    // Other processes are asked, not this one: a connection that was here before is over.
    this.#unserve(tenant, daemon);
    const answer = await this.#call(tenant, daemon, { t: 'claim', life }, limits.hubLeaseBeatMs);
    if (answer.ok && answer.value === 'alive') return twin;
    if (this.#doors.lifeOf(tenant, daemon) === life) this.#serve(tenant, daemon);
    return null;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#parts.clock.after(ms, resolve));
  }

  async #connect(): Promise<void> {
    try {
      const connection = await connect(optionsOf(this.#parts.url));
      this.#connection = connection;
      this.#isUp = true;
      void this.#follow(connection);
      this.#stream = jetstream(connection, { timeout: limits.hubNatsMs });
      this.#manager = await jetstreamManager(connection, { timeout: limits.hubNatsMs });
    } catch (cause) {
      await this.#connection?.close();
      const words = cause instanceof Error ? cause.message : String(cause);
      throw new AgtmuxError('E_HUB', `the hub's NATS cannot be used: ${words}`, {
        next: 'check the address, and that the server was started with JetStream (-js)',
        cause,
      });
    }
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') this.#isUp = false;
      if (type === 'reconnect') this.#isUp = true;
      if (type === 'disconnect' || type === 'reconnect') this.#parts.warn(`NATS: ${type}`, {});
    }
    this.#isUp = false;
  }

  /** One reader for each tenant; those that a command has made are found with the next look. */
  async #lookForTenants(handlers: TransportHandlers): Promise<void> {
    try {
      for (const tenant of await this.#parts.table.tenants()) {
        if (this.#projectors.has(tenant) || this.#isClosed) continue;
        const { clock, random, table, warn } = this.#parts;
        const { manager, stream } = this.#live();
        const parts = { ...{ clock, random, table, warn, handlers, tenant }, manager, stream };
        this.#projectors.set(tenant, new NatsProjector(parts));
      }
    } catch (problem) {
      this.#parts.warn('tenants cannot be listed', { problem });
    }
    if (this.#isClosed) return;
    this.#cancelLook = this.#parts.clock.after(limits.hubBeatMs, () => void this.#lookForTenants(handlers));
  }

  #live(): { readonly manager: JetStreamManager; readonly stream: JetStreamClient } {
    if (this.#manager === null || this.#stream === null) throw new Error('NATS is not connected yet');
    return { manager: this.#manager, stream: this.#stream };
  }

  /** Taken when the stream has it. It has no id of its own: told twice it is the same rows, and the table knows them. */
  async #publish({ tenant, daemon, body }: EdgeMessage): Promise<null> {
    // Where nobody listens the client would keep it, and its daemon would not know.
    if (!this.#isUp) throw new Error(isCut);
    const { manager, stream } = this.#live();
    const put = () => stream.publish(feedSubject(tenant, daemon), JSON.stringify(body), { timeout: limits.hubNatsMs });
    try {
      await put();
    } catch (problem) {
      // A stream that somebody deleted.
      if (!isNobody(problem)) throw problem;
      await ensureStream(manager, tenant);
      await put();
    }
    return null;
  }

  #serve(tenant: string, daemon: string): void {
    const name = `${tenant}/${daemon}`;
    if (this.#connection === null || this.#served.has(name)) return;
    const callback = (problem: Error | null, message: Msg): void => {
      if (problem !== null) return;
      // What a daemon says may be more than NATS carries, or than can be written again: whoever asked waits in vain, and no process ends.
      this.#answer(tenant, daemon, message).catch((trouble: unknown) => {
        this.#parts.warn('an answer could not be passed on', { tenant, daemon, problem: trouble });
      });
    };
    this.#served.set(name, this.#connection.subscribe(callSubject(tenant, daemon), { callback }));
  }

  #unserve(tenant: string, daemon: string): void {
    this.#served.get(`${tenant}/${daemon}`)?.unsubscribe();
    this.#served.delete(`${tenant}/${daemon}`);
  }

  async #answer(tenant: string, daemon: string, message: Msg): Promise<void> {
    const checked = callSchema.safeParse(readJson(message));
    if (!checked.success) return;
    const call = checked.data;
    switch (call.t) {
      case 'ask': {
        const made = await this.#doors.ask(tenant, daemon, call.kind, call.body);
        message.respond(JSON.stringify(made.ok ? { value: made.value } : { failure: made.failure }));
        return;
      }
      case 'claim': {
        const held = this.#doors.lifeOf(tenant, daemon);
        const isAlive = held !== null && held !== call.life;
        message.respond(JSON.stringify({ value: isAlive ? 'alive' : 'gone' }));
        if (!isAlive) this.#doors.drop(tenant, daemon);
        return;
      }
      case 'cut':
        message.respond(JSON.stringify({ value: null }));
        this.#doors.cut(tenant, daemon);
        return;
    }
  }

  async #call(tenant: string, daemon: string, call: Call, timeout: number): Promise<Result<unknown>> {
    // Nothing is kept for a NATS that comes back later (HUB5).
    if (this.#connection === null || !this.#isUp) return fail('E_TARGET_DOWN', isCut);
    try {
      const said = await this.#connection.request(callSubject(tenant, daemon), JSON.stringify(call), { timeout });
      const checked = answerSchema.safeParse(readJson(said));
      if (!checked.success) return fail('E_TIMEOUT', 'another process of this hub answered something else');
      return 'failure' in checked.data ? { ok: false, failure: checked.data.failure } : ok(checked.data.value);
    } catch (problem) {
      if (isNobody(problem)) return isAway;
      // It went out, and whether it was done nobody knows.
      return fail('E_TIMEOUT', 'the machine did not answer in time');
    }
  }
}

const callSubject = (tenant: string, daemon: string): string => `agtmux.call.${tenant}.${daemon}`;

const isNobody = (problem: unknown): boolean => {
  const cause = problem instanceof Error && problem.cause instanceof RequestError ? problem.cause : problem;
  return cause instanceof RequestError && cause.isNoResponders();
};

function readJson(message: Msg): unknown {
  try {
    return message.json();
  } catch {
    return null;
  }
}

/** Name and password stand in the address, as everywhere else; the client wants them beside it. */
function optionsOf(said: string): ConnectionOptions {
  const urls = said.split(',').map((one) => new URL(one.trim()));
  const [first] = urls;
  const user = decodeURIComponent(first?.username ?? '');
  const pass = decodeURIComponent(first?.password ?? '');
  const secret = pass === '' ? (user === '' ? {} : { token: user }) : { user, pass };
  return {
    servers: urls.map(({ host }) => host),
    name: 'agtmux hub',
    maxReconnectAttempts: -1,
    reconnectTimeWait: limits.hubNatsRetryMs,
    reconnectJitter: limits.hubNatsRetryMs,
    pingInterval: limits.hubBeatMs,
    maxPingOut: 2,
    timeout: limits.hubNatsMs,
    ...secret,
    ...(first?.protocol === 'tls:' ? { tls: {} } : {}),
  };
}
