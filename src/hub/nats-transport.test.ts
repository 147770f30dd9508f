// A hub process with others behind the same address, when a machine answers what NATS cannot carry.

import { expect, it, vi } from 'vitest';
import { ok } from '../model/errors.ts';
import { createRealRandom } from '../platform/random.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { NatsTransport } from './nats-transport.ts';
import { createSqlTable } from './sql-table.ts';
import { createSqliteDriver } from './sqlite-driver.ts';
import { StreamTransport } from './stream-transport.ts';

interface Call {
  json(): unknown;
  respond(said: string): void;
}
type Callback = (problem: Error | null, message: Call) => void;

const listening = vi.hoisted(() => ({ to: [] as unknown[] }));

vi.mock('@nats-io/transport-node', async (original) => ({
  ...(await original<typeof import('@nats-io/transport-node')>()),
  connect: async () => ({
    status: async function* () {
      await new Promise(() => undefined);
      yield { type: 'close' };
    },
    request: () => Promise.reject(new Error('nobody else')),
    subscribe: (_subject: string, { callback }: { callback: unknown }) => {
      listening.to.push(callback);
      return { unsubscribe: () => undefined };
    },
    close: async () => undefined,
  }),
}));
vi.mock('@nats-io/jetstream', async (original) => ({
  ...(await original<typeof import('@nats-io/jetstream')>()),
  jetstream: () => ({}),
  jetstreamManager: async () => ({}),
}));

it('HUB8 an answer that NATS does not carry, or that cannot be written, is a warning and ends no process', async () => {
  const table = createSqlTable(createSqliteDriver(':memory:'));
  const warned: string[] = [];
  const transport = new NatsTransport({
    ...{ clock: createSimulatedClock(), random: createRealRandom(), hubKey: 'k', table, url: 'nats://127.0.0.1:1' },
    warn: (words) => void warned.push(words),
  });
  await transport.start({
    onMessage: async () => null,
    onBatches: async () => true,
    onLost: async () => undefined,
    placeOf: async () => null,
    onGone: () => undefined,
  });
  vi.spyOn(StreamTransport.prototype, 'lifeOf').mockReturnValue('l');
  const asked = vi.spyOn(StreamTransport.prototype, 'ask').mockResolvedValue(ok([1e20]));
  await transport.claim({ tenant: 'main', daemon: 'd', life: 'l' });
  const [callback] = listening.to as Callback[];
  const json = (): unknown => ({ t: 'ask', kind: 'act', body: {} });
  callback?.(null, {
    json,
    respond: () => {
      throw new Error('max_payload');
    },
  });
  await expect.poll(() => warned).toEqual(['an answer could not be passed on']);
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  asked.mockResolvedValue(ok(deep));
  const said: string[] = [];
  callback?.(null, { json, respond: (words) => void said.push(words) });
  await expect.poll(() => [warned.length, said]).toEqual([2, []]);
  await transport.close();
  await table.close();
});
