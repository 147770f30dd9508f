// The hub when its table is away.

import { expect, it } from 'vitest';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { Hub } from './hub.ts';
import { createSqlTable } from './sql-table.ts';
import { createSqliteDriver } from './sqlite-driver.ts';
import type { HubTransport } from './transport.ts';

const nobody: HubTransport = {
  kind: 'stream',
  start: async () => undefined,
  ask: () => Promise.reject(new Error('nobody is asked')),
  connections: () => 0,
  waiting: () => new Map(),
  cut: () => undefined,
  check: async () => true,
  close: async () => undefined,
};

it('HUB4 a machine that goes while the table is away is a warning, and ends no process', async () => {
  const table = createSqlTable(createSqliteDriver(':memory:'));
  const warned: string[] = [];
  const hub = new Hub({
    clock: createSimulatedClock(),
    table: { ...table, of: (tenant) => ({ ...table.of(tenant), rows: () => Promise.reject(new Error('away')) }) },
    transport: nobody,
    warn: (words) => void warned.push(words),
  });
  hub.onGone('main', 'd');
  await expect.poll(() => warned).toEqual(['telling that a machine has gone failed']);
  await hub.close();
  await table.close();
});
