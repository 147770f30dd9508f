// A hub put together and running: key, table, transport, server. Given everything by the command line; ends when it is told to.

import type { AddressInfo } from 'node:net';
import type { WireJoined } from '../api/hub-wire.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import type { RandomSource } from '../platform/random.ts';
import { type SigningKey, signingKeyOf } from '../platform/signing.ts';
import { type Assets, readAssets } from '../server/web/assets.ts';
import { Dispatcher } from './dispatcher.ts';
import { createHubServer } from './http.ts';
import { Hub } from './hub.ts';
import { metricsText } from './metrics.ts';
import type { NatsOptions, NatsTransport } from './nats-transport.ts';
import { addPeopleRoutes, type PeopleParts } from './people-routes.ts';
import { readProviders, SignIn } from './sign-in.ts';
import { addSignInRoutes } from './sign-in-routes.ts';
import { createSqlTable } from './sql-table.ts';
import { createSqliteDriver } from './sqlite-driver.ts';
import { StreamTransport } from './stream-transport.ts';
import type { HubTable } from './table.ts';

export interface HubPlaces {
  /** Private folder of the hub: its key, and the database where it is embedded. */
  readonly folder: string;
  /** The address of a PostgreSQL, instead of a file in the folder. */
  readonly postgres?: string;
}

/** What more than one process can be behind one address with. */
interface HubFleet {
  /** The address of a NATS with JetStream between the processes. */
  readonly nats?: string;
}

export interface HubOptions extends HubPlaces, HubFleet {
  /** Another table than the one in the folder. */
  readonly table?: () => Promise<HubTable>;
  /** The key of the database was lost: this one takes its place. */
  readonly isNewKey?: boolean;
  /** The one that is there from the beginning. */
  readonly tenant?: string;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly files: Files;
  readonly log: Log;
  readonly host: string;
  readonly port: number;
  /** Where the pages were built to. */
  readonly pagesFolder: string;
  /** How people reach it, where that is another address than the one it listens on. */
  readonly publicUrl?: string;
  readonly memoryBytes: () => number;
  readonly cpuSeconds: () => number;
}

export interface RunningHub {
  readonly hub: Hub;
  readonly dispatcher: Dispatcher;
  readonly table: HubTable;
  readonly url: string;
  close(): Promise<void>;
}

/** The tenant of whoever has only one. */
export const onlyTenant = 'main';

export async function openHubTable({ folder, postgres }: HubPlaces): Promise<HubTable> {
  if (postgres === undefined) return createSqlTable(createSqliteDriver(`${folder}/hub.db`));
  // Loaded only where it is used.
  const { createPostgresDriver } = await import('./postgres-driver.ts');
  return createSqlTable(await createPostgresDriver(postgres, () => undefined));
}

/** Loaded only where it is used. */
async function transportOf({ nats: url }: HubFleet, parts: Omit<NatsOptions, 'url'>) {
  if (url === undefined) return new StreamTransport(parts);
  const { NatsTransport } = await import('./nats-transport.ts');
  return new NatsTransport({ ...parts, url });
}

/** Whatever is wrong is told by a hub that does not run: neither a timer nor a table is left behind. */
export async function serveHub(options: HubOptions): Promise<RunningHub> {
  const { clock, random, log } = options;
  const warn: Log['warn'] = (words, fields) => log.warn(words, fields);
  const key = await hubKeyOf(options);
  const signIn = await signInOf(options);
  const assets = await readAssets(options.files, options.pagesFolder);
  const table = await (options.table?.() ?? openHubTable(options));
  let hub: Hub | null = null;
  try {
    await checkKey(table, key, options);
    const transport = await transportOf(options, { clock, random, hubKey: key.publicKey, warn, table });
    hub = new Hub({ clock, table, transport, warn });
    await hub.start();
    return await listen(options, { hub, table, transport, key, signIn, assets });
  } catch (problem) {
    await hub?.close().catch((trouble: unknown) => warn('the hub could not be closed', { problem: trouble }));
    await table.close();
    throw problem;
  }
}

interface StartedHub {
  readonly hub: Hub;
  readonly table: HubTable;
  readonly transport: StreamTransport | NatsTransport;
  readonly key: SigningKey;
  readonly signIn: SignIn | null;
  readonly assets: Assets;
}

async function listen(options: HubOptions, started: StartedHub): Promise<RunningHub> {
  const { clock, random, log, host, port, memoryBytes, cpuSeconds } = options;
  const { hub, table, transport, key, signIn, assets } = started;
  const warn: Log['warn'] = (words, fields) => log.warn(words, fields);
  const dispatcher = new Dispatcher({ clock, random, key, hub, transport });
  const isSecure = options.publicUrl?.startsWith('https:') ?? false;
  const people: PeopleParts = { clock, random, hub, table, dispatcher, assets, isSecure };
  // Paths are written behind it.
  let address = (options.publicUrl ?? '').replace(/\/+$/, '');
  const link: WireJoined['link'] = { kind: 'stream' };
  const server = createHubServer({
    ...{ clock, hub, table, transport, link },
    hubKey: key.publicKey,
    onUpgrade: (request, socket, head) => transport.upgrade(request, socket, head),
    metrics: () => metricsText({ hub, table, transport, clock, memoryBytes, cpuSeconds }),
    people: (app) => {
      addSignInRoutes(app, { ...people, signIn, warn, address: () => address });
      addPeopleRoutes(app, people);
    },
    onTrouble: (error) => log.error('a request failed', { error }),
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: Error) =>
      reject(
        new AgtmuxError('E_SOCKET', `the hub cannot listen on ${host}:${port}: ${cause.message}`, {
          next: 'choose another --listen',
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
  if (address === '') address = url;
  return {
    ...{ hub, dispatcher, table, url },
    async close() {
      server.close();
      await hub.close();
      server.closeAllConnections();
      await table.close();
    },
  };
}

/** Null: nobody signs in but by links. */
async function signInOf({ files, folder }: HubOptions): Promise<SignIn | null> {
  const providers = await readProviders(files, `${folder}/sign-in.toml`);
  return providers.length === 0 ? null : new SignIn(providers);
}

/** Behind one address every process has the same key: half of them would be refused by daemons, now and then. */
async function checkKey(table: HubTable, { publicKey }: SigningKey, { tenant = onlyTenant, isNewKey }: HubOptions) {
  await table.addTenant(tenant);
  if ((await table.of(tenant).keepKey(publicKey, isNewKey ?? false)) === publicKey) return;
  throw new AgtmuxError('E_CONFIG', 'daemons know the hub of this database by another hub.key', {
    next: 'copy it from the process that made it, or from your backup; where it is lost: --new-key, and all machines join anew',
  });
}

/** Made once. Daemons hold on to it: a hub that lost it is another hub. */
async function hubKeyOf({ files, folder, random }: HubOptions): Promise<SigningKey> {
  const path = `${folder}/hub.key`;
  const found = await files.read(path, { bytesMax: limits.hubFileBytesMax });
  const said = found === null ? null : Buffer.from(found.bytes).toString().trim();
  if (said !== null && !/^[0-9a-f]{64}$/.test(said)) {
    throw new AgtmuxError('E_FILE', `${path} holds no key`, { next: 'restore it from your backup' });
  }
  const seed = said ?? random.hex(32);
  if (said === null) await files.writeAtomic(path, Buffer.from(`${seed}\n`));
  return signingKeyOf(Buffer.from(seed, 'hex'));
}
