// One request to a server on loopback: what is sent, what is taken for an answer, and what never leaves.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import { createRealClock } from './clock.ts';
import { createAskLoopback, type LoopbackCall } from './loopback-http.ts';
import { createSimulatedClock } from './simulated/clock.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const ask = createAskLoopback(createRealClock());
const post = (port: number): LoopbackCall => ({ method: 'POST', port, path: '/x', body: '{"a":"ü"}' });
const yes = (): boolean => true;

describe('a request to loopback', () => {
  it('is sent whole, and its answer is told', async () => {
    const seen: unknown[] = [];
    const port = await serve(async (request, response) => {
      let text = '';
      for await (const piece of request) text += piece;
      seen.push(request.method, request.url, request.headers['content-type'], text);
      response.writeHead(404).end('gone');
    });
    expect(await ask(post(port), yes)).toEqual({ kind: 'answered', status: 404, text: 'gone' });
    expect(seen).toEqual(['POST', '/x', 'application/json', '{"a":"ü"}']);
  });

  it('does not follow a redirect', async () => {
    let count = 0;
    const port = await serve((_, response) => {
      count += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect(await ask(post(port), yes)).toMatchObject({ kind: 'answered', status: 302 });
    expect(count).toBe(1);
  });

  it('does not leave when the server is another one by then, or is not there', async () => {
    let count = 0;
    const port = await serve((_, response) => {
      count += 1;
      response.end();
    });
    expect(await ask(post(port), () => false)).toMatchObject({ kind: 'unsent' });
    expect(count).toBe(0);
    for (const end of ends.splice(0)) end();
    expect(await ask(post(port), yes)).toEqual({ kind: 'unsent', why: 'ECONNREFUSED' });
  });

  it('is lost without a whole answer, with one that is too long, and with none in time', async () => {
    const cut = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    expect(await ask(post(cut), yes)).toMatchObject({ kind: 'lost' });
    const long = await serve((_, response) => void response.end(Buffer.alloc(limits.streamMessageBytesMax + 1, 32)));
    expect(await ask(post(long), yes)).toEqual({ kind: 'lost', why: 'its answer is too long' });
    const clock = createSimulatedClock();
    const never = await serve(() => clock.advance(limits.streamConnectMs));
    expect(await createAskLoopback(clock)(post(never), yes)).toEqual({ kind: 'lost', why: 'ETIMEDOUT' });
  });
});
