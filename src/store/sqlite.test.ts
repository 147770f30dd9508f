import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { sampleTime } from './samples.contract.ts';
import { openSqliteStore } from './sqlite.ts';
import { storeContract } from './store.contract.ts';

const root = mkdtempSync(join(tmpdir(), 'agtmux-store-'));
let stores = 0;

afterAll(() => rmSync(root, { recursive: true, force: true }));

storeContract('SqliteStore', () => {
  stores += 1;
  return openSqliteStore({ dir: join(root, String(stores)), now: () => sampleTime, ballastBytes: 0 });
});
