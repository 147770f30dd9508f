// A hub that cannot start says why and leaves nothing behind; and how people reach one that did.

import { createServer } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import type { Log } from '../platform/log.ts';
import { createRealRandom } from '../platform/random.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedFiles } from '../platform/simulated/files.ts';
import { type HubOptions, serveHub } from './serve.ts';
import { SignIn } from './sign-in.ts';
import { createSqlTable } from './sql-table.ts';
import { createSqliteDriver } from './sqlite-driver.ts';
import { StreamTransport } from './stream-transport.ts';

const quiet: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => quiet,
};
const signInText = `[[provider]]
tenant = "main"
issuer = "https://sign-in.example.com"
client_id = "agtmux"
roles = [{ role = "look" }]
`;

async function ground(signIn: string | null = null) {
  const clock = createSimulatedClock();
  const files = createSimulatedFiles({ clock });
  await files.mkdirPrivate('/hub');
  if (signIn !== null) await files.writeAtomic('/hub/sign-in.toml', Buffer.from(signIn));
  const tables = { opened: 0, closed: 0 };
  const table: HubOptions['table'] = async () => {
    tables.opened += 1;
    const made = createSqlTable(createSqliteDriver(':memory:'));
    return {
      ...made,
      close: async () => {
        tables.closed += 1;
        await made.close();
      },
    };
  };
  const options: HubOptions = {
    ...{ clock, files, random: createRealRandom(), log: quiet, folder: '/hub', pagesFolder: '/pages', table },
    ...{ host: '127.0.0.1', port: 0, memoryBytes: () => 0, cpuSeconds: () => 0 },
  };
  return { clock, tables, options };
}

afterEach(() => {
  vi.restoreAllMocks();
});

it('HUB10 does not start with a mistake in sign-in.toml: nothing is left that keeps the process alive', async () => {
  const { clock, tables, options } = await ground(signInText.replace('client_id', 'client'));
  await expect(serveHub(options)).rejects.toMatchObject({ code: 'E_CONFIG' });
  expect([clock.pending(), tables.opened - tables.closed]).toEqual([0, 0]);
});

it('does not start either where another program listens, or where what carries messages fails', async () => {
  const { clock, tables, options } = await ground();
  const closing = vi.spyOn(StreamTransport.prototype, 'close');
  const other = createServer();
  const port = await new Promise<number>((resolve) => {
    other.listen(0, '127.0.0.1', () => {
      const address = other.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  await expect(serveHub({ ...options, port })).rejects.toMatchObject({ code: 'E_SOCKET' });
  other.close();
  expect([clock.pending(), tables.closed, closing.mock.calls.length]).toEqual([0, 1, 1]);
  vi.spyOn(StreamTransport.prototype, 'start').mockRejectedValue(new Error('no way'));
  await expect(serveHub(options)).rejects.toThrow('no way');
  expect([clock.pending(), tables.closed, closing.mock.calls.length]).toEqual([0, 2, 2]);
});

it('HUB10 people come back to one address, whether or not the one that was given ends with a slash', async () => {
  const { options } = await ground(signInText);
  const begun = vi.spyOn(SignIn.prototype, 'begin').mockRejectedValue(new Error('nobody is there'));
  for (const publicUrl of ['https://hub.example.com', 'https://hub.example.com/']) {
    const running = await serveHub({ ...options, publicUrl });
    await fetch(`${running.url}/hub/v1/sign-in`);
    await running.close();
  }
  const address = 'https://hub.example.com/hub/v1/signed-in';
  expect(begun.mock.calls.map(([, callback]) => callback)).toEqual([address, address]);
});
