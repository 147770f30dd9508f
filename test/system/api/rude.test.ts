// Clients without manners: whatever they do to the socket, the next polite request is answered.

import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { ask, startServer, type TestServer } from './kit.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
  server.daemon.put({ id: 1 });
});
afterEach(async () => {
  await server.close();
});

const open = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(server.path, () => {
      socket.off('error', reject);
      socket.on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', reject);
  });

const garbage: readonly (string | Buffer | null)[] = [
  null,
  Buffer.from([0, 1, 2, 255, 254, 10, 13]),
  Buffer.from('160301020001', 'hex'),
  'GET /v1/panes HTTP/1.1\r\n',
  'GET /v1/panes HTTP/1.1\r\nhost: a\r\n\r\n',
  `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
  'POST /v1/events HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n[',
  'POST /v1/events HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
  'GET /v1/feed HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET /v1/feed HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  'POST /v1/stop HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1',
];

describe('rude clients', () => {
  it('500 that connect, say something or nothing, and leave', async () => {
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          const socket = await open();
          const words = garbage[index % garbage.length];
          if (words !== null && words !== undefined) socket.write(words);
          if (index % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
          socket.destroy();
        }),
      );
      expect((await ask(server, { path: '/v1/panes' })).status).toBe(200);
    }
    await expect.poll(() => server.connections()).toBe(0);
    expect(server.daemon.feed.stats().subscribers).toBe(0);
    expect(server.daemon.stops).toBe(0);
    expect(server.daemon.taken).toEqual([]);
  });

  /** Says this, and hears what is said until the connection ends. */
  async function said(words: string): Promise<{ readonly head: string; readonly error: { readonly code: string } }> {
    const socket = await open();
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    socket.write(words);
    await new Promise((resolve) => socket.once('close', resolve));
    const [head = '', body = ''] = Buffer.concat(parts).toString().split('\r\n\r\n');
    return { head, error: JSON.parse(body).error };
  }

  it('garbage is answered with a refusal, and the connection ends', async () => {
    const { head, error } = await said('hello?\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(error.code).toBe('E_INPUT');
  });

  it('who does not come to the end of a request is told so by a daemon that says who it is', async () => {
    const { head, error } = await said('GET /v1/panes HTTP/1.1\r\nhost: a\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 504 /);
    expect(head).toContain('agtmux-api: 1');
    expect(error.code).toBe('E_TIMEOUT');
  });

  it('those who hold a connection and say nothing are sent away in time', async () => {
    const silent = await Promise.all(Array.from({ length: limits.connectionsMax }, open));
    await expect.poll(() => server.connections()).toBe(limits.connectionsMax);
    const patience = { timeout: limits.requestReadMs * 4, interval: 200 };
    await expect.poll(() => server.connections(), patience).toBe(0);
    expect((await ask(server, { path: '/v1/panes' })).status).toBe(200);
    for (const socket of silent) socket.destroy();
  });
});
