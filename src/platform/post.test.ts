import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createRealClock } from './clock.ts';
import { createPost } from './post.ts';
import { createSimulatedClock } from './simulated/clock.ts';

let server: Server | null = null;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(
  status: number | null,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ url: string; paths: string[] }> {
  const paths: string[] = [];
  const made = createServer((request, response) => {
    paths.push(`${request.method} ${request.url} ${request.headers['x-a']} ${request.headers['content-type']}`);
    request.resume();
    if (status !== null) response.writeHead(status, headers).end('x'.repeat(100_000));
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(made.address() as AddressInfo).port}`, paths };
}

const post = (url: string) => ({ url: `${url}/secret-path`, headers: { 'X-A': 'b' }, body: '{}', deadlineMs: 5_000 });

describe('a POST to an address of the user', () => {
  it('NOT6 is taken or not, told without the address, and follows no redirect', async () => {
    for (const [status, expected] of [
      [204, null],
      [500, 'it answered with 500'],
      [302, 'it answered with 302'],
    ] as const) {
      const { url, paths } = await serve(status, { location: '/other' });
      expect((await createPost(createRealClock())(post(url))).problem).toBe(expected);
      expect(paths).toEqual(['POST /secret-path b application/json']);
      server?.closeAllConnections();
      server?.close();
    }
  });

  it('NOT6 headers that nobody can send are told, not thrown', async () => {
    const { url } = await serve(204);
    const told = await createPost(createRealClock())({ ...post(url), headers: { Trailer: 'x' } });
    expect(told.problem).toBe('it cannot be sent (ERR_HTTP_TRAILER_INVALID)');
  });

  it('NOT6 ends at its deadline, and says when nobody is there', async () => {
    const { url, paths } = await serve(null);
    const clock = createSimulatedClock();
    const asked = createPost(clock)(post(url));
    await new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (paths.length === 0) return;
        clearInterval(look);
        resolve();
      }, 5);
    });
    clock.advance(5_000);
    expect((await asked).problem).toBe('it did not answer in time');
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
    expect((await createPost(createRealClock())(post(url))).problem).toBe('it cannot be reached (ECONNREFUSED)');
  });
});
