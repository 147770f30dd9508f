import { createHash } from 'node:crypto';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Watch } from '../../../src/agents/contract.ts';
import { agentSessionId } from '../../../src/model/ids.ts';
import { limits } from '../../../src/model/limits.ts';
import { createSimulatedClock } from '../../../src/platform/simulated/clock.ts';
import { connectWebSocket } from '../../../src/platform/web-socket.ts';
import { runOf, saying, toyAgent, until, World, wordsOf } from './kit.ts';

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

function world(): World {
  const made = new World();
  ends.push(() => made.close());
  return made;
}

function follow(one: World, watch: Watch, send: readonly string[] = []): void {
  const agent = toyAgent('toy', {
    plan: () => [watch],
    take: (input) => ({ findings: [saying(wordsOf(input))], ...(input.kind === 'opened' ? { send } : {}) }),
  });
  one.sources.setRuns([{ agent, run: runOf('r1') }]);
}

const told = (one: World, line: string) => until(() => one.told.includes(`r1: ${line}`));
const health = (one: World) => one.sources.health()[0];

/** Unmasked, as a server sends them. */
function frame(opcode: number, payload: string | Buffer, final = true): Buffer {
  const body = Buffer.from(payload);
  const head = Buffer.alloc(body.length < 126 ? 2 : body.length < 65_536 ? 4 : 10);
  head[0] = (final ? 0x80 : 0) | opcode;
  head[1] = body.length < 126 ? body.length : body.length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(body.length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(body.length), 2);
  return Buffer.concat([head, body]);
}

/** Small masked frames only: what a test sends. */
function unmasked(bytes: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 0; at + 6 <= bytes.length; ) {
    const length = (bytes[at + 1] ?? 0) & 0x7f;
    const mask = bytes.subarray(at + 2, at + 6);
    const body = bytes.subarray(at + 6, at + 6 + length).map((byte, index) => byte ^ (mask[index & 3] ?? 0));
    texts.push(`${(bytes[at] ?? 0) & 0x0f} ${Buffer.from(body).toString()}`);
    at += 6 + length;
  }
  return texts;
}

class SocketServer {
  readonly sockets: Socket[] = [];
  received = Buffer.alloc(0);
  #server: Server | null = null;

  get heard(): string[] {
    return unmasked(this.received);
  }

  get last(): Socket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error('nobody is connected');
    return socket;
  }

  async listen(path: string, accept = true): Promise<void> {
    const server = createHttp((_request, response) => response.writeHead(404).end());
    this.#server = server;
    server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
      socket.on('error', () => undefined);
      const key = accept ? `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11` : 'wrong';
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${createHash('sha1').update(key).digest('base64')}\r\n\r\n`,
      );
      socket.on('data', (chunk: Buffer) => {
        this.received = Buffer.concat([this.received, chunk]);
      });
      this.sockets.push(socket);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    ends.push(() => this.stop());
  }

  stop(): void {
    for (const socket of this.sockets) socket.destroy();
    this.#server?.close();
  }
}

describe('a web socket behind a unix socket', () => {
  it('opens through a link, takes whole and fragmented messages, answers pings and sends', async () => {
    const one = world();
    const server = new SocketServer();
    await server.listen(one.path('real.sock'));
    symlinkSync(one.path('real.sock'), one.path('link.sock'));
    follow(one, { kind: 'websocket', socketPath: one.path('link.sock') }, ['hello', 'grüße']);
    await told(one, 'opened');
    server.last.write(frame(1, 'one'));
    const cut = Buffer.concat([frame(1, 'tw', false), frame(9, 'are you there'), frame(0, Buffer.from([0xc3]), false)]);
    for (const byte of cut) server.last.write(Buffer.of(byte));
    server.last.write(Buffer.concat([frame(0, Buffer.from([0xb6])), frame(1, 'three')]));
    await told(one, 'message three');
    expect(one.told).toEqual(['r1: opened', 'r1: message one', 'r1: message twö', 'r1: message three']);
    await until(() => server.heard.length === 3);
    expect(server.heard).toEqual(['1 hello', '1 grüße', '10 are you there']);
    expect(health(one)).toMatchObject({ state: 'ok', trouble: null, findings: 4 });
  });

  it('waits for a socket that is not there, and connects again when it was cut', async () => {
    const one = world();
    const path = one.path('s.sock');
    follow(one, { kind: 'websocket', socketPath: path });
    await until(() => health(one)?.trouble === 'ENOENT');
    expect(health(one)?.state).toBe('waiting');
    const server = new SocketServer();
    await server.listen(path);
    await told(one, 'opened');
    server.last.destroy();
    await told(one, 'closed');
    await until(() => server.sockets.length === 2);
    server.last.end(frame(8, ''));
    await until(() => server.sockets.length === 3);
    await until(() => one.told.length === 5);
    expect(one.told.map((line) => line.slice(4))).toEqual(['opened', 'closed', 'opened', 'closed', 'opened']);
  });

  it('is over when the server says so, also where that keeps the connection', async () => {
    const one = world();
    const server = new SocketServer();
    await server.listen(one.path('s'));
    follow(one, { kind: 'websocket', socketPath: one.path('s') });
    await told(one, 'opened');
    server.last.write(frame(8, ''));
    await told(one, 'closed');
    await until(() => server.sockets.length === 2);
  });

  it('is reached where its path has a colon in it', async () => {
    const one = world();
    const server = new SocketServer();
    await server.listen(one.path('a:b'));
    follow(one, { kind: 'websocket', socketPath: one.path('a:b') });
    await told(one, 'opened');
  });

  it('steps over what is too large or binary and counts it', async () => {
    const one = world();
    const server = new SocketServer();
    await server.listen(one.path('s'));
    follow(one, { kind: 'websocket', socketPath: one.path('s') });
    await told(one, 'opened');
    const large = 'x'.repeat(limits.streamMessageBytesMax / 2 + 1);
    server.last.write(Buffer.concat([frame(1, large, false), frame(0, large), frame(2, 'binary'), frame(1, 'small')]));
    await told(one, 'message small');
    expect(health(one)).toMatchObject({ dropped: 2, state: 'ok' });
    expect(server.sockets).toHaveLength(1);
  });

  it.each([
    ['garbage', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a masked frame', Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x61])],
    ['a frame without end', Buffer.from([0x81, 0x7f, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
    ['a text that is no UTF-8', frame(1, Buffer.from([0xff, 0xfe]))],
  ])('leaves a server that sends %s, and tries again', async (_words, bytes) => {
    const one = world();
    const server = new SocketServer();
    await server.listen(one.path('s'));
    follow(one, { kind: 'websocket', socketPath: one.path('s') });
    await told(one, 'opened');
    server.last.write(bytes);
    await told(one, 'closed');
    await until(() => server.sockets.length === 2);
    expect(one.told.filter((line) => line.includes('message'))).toEqual([]);
  });

  it('is refused by what is no web socket or no socket at all, and says why', async () => {
    const one = world();
    const wrong = new SocketServer();
    await wrong.listen(one.path('wrong'), false);
    const plain = createHttp((_request, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => plain.listen(one.path('plain'), resolve));
    ends.push(() => plain.close());
    writeFileSync(one.path('file'), '');
    const agent = toyAgent('toy', {
      plan: () =>
        ['wrong', 'plain', 'file'].map((name) => ({ kind: 'websocket' as const, socketPath: one.path(name) })),
    });
    one.sources.setRuns([{ agent, run: runOf('r1') }]);
    await until(() => one.sources.health().every((row) => row.state === 'failed'));
    expect(one.sources.health().map((row) => row.trouble)).toEqual([
      'the server is not a WebSocket server',
      'the server answered 404 instead of an upgrade',
      'ENOTSOCK',
    ]);
    expect(one.told).toEqual([]);
  });

  it('is given up when it answers nothing, not even pings', async () => {
    const one = world();
    const server = new SocketServer();
    await server.listen(one.path('s'));
    const clock = createSimulatedClock();
    const ended: string[] = [];
    let opened = false;
    const stream = connectWebSocket(clock, one.path('s'), {
      onOpen: () => {
        opened = true;
      },
      onText: () => undefined,
      onDropped: () => undefined,
      onEnd: (why) => ended.push(why),
    });
    ends.push(() => stream.close());
    await until(() => opened);
    clock.advance(limits.streamPingMs);
    await until(() => server.heard.length === 1);
    expect(server.heard).toEqual(['9 ']);
    clock.advance(limits.streamPingMs);
    expect(ended).toEqual([]);
    clock.advance(limits.streamPingMs);
    expect(ended).toEqual(['the server is silent']);
    expect(stream.send('too late')).toBe(false);
  });

  it('BND1 behind a server a conversation id is not taken for the only run', async () => {
    const one = world();
    const server = new SocketServer();
    await server.listen(one.path('s'));
    const agent = toyAgent('toy', {
      plan: () => [{ kind: 'websocket', socketPath: one.path('s') }],
      take: (input) => ({ findings: [saying(wordsOf(input), { agent_session: agentSessionId('t7') })] }),
    });
    one.sources.setRuns([{ agent, run: runOf('r1') }]);
    await until(() => one.told.includes('t7: opened'));
    one.sources.setRuns([]);
    await until(() => server.last.destroyed || server.last.readableEnded);
    renameSync(one.path('s'), one.path('gone'));
    rmSync(one.path('gone'));
  });
});

describe('server-sent events', () => {
  async function serve(answer: (response: ServerResponse, at: number) => void): Promise<number> {
    let count = 0;
    const server = createHttp((request, response) => {
      expect(request.headers.accept).toBe('text/event-stream');
      answer(response, count++);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }
  const stream = { 'content-type': 'text/event-stream; charset=utf-8' };

  it('are told one by one, and a stream that is cut in the middle is asked for again', async () => {
    const one = world();
    const port = await serve((response, at) => {
      response.writeHead(200, stream);
      if (at > 0) {
        response.write('data: again\n\n');
        return;
      }
      response.write(': hello\n\nevent: status\r\ndata: {"a":\r\ndata: 1}\r\n\r\n');
      response.write('data: half of an ev', () => response.destroy());
    });
    follow(one, { kind: 'sse', port, path: '/event' });
    await told(one, 'message again');
    expect(one.told.map((line) => line.slice(4))).toEqual([
      'opened',
      'message {"a":\n1}',
      'closed',
      'opened',
      'message again',
    ]);
    expect(health(one)).toMatchObject({ state: 'ok', watch: `events of 127.0.0.1:${port}/event` });
  });

  it('a redirect is not followed, and what sends no events is refused', async () => {
    const one = world();
    const moved = await serve((response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
    const page = await serve((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'));
    const agent = toyAgent('toy', { plan: () => [moved, page].map((port) => ({ kind: 'sse', port, path: '/e' })) });
    one.sources.setRuns([{ agent, run: runOf('r1') }]);
    await until(() => one.sources.health().every((row) => row.state === 'failed'));
    expect(one.sources.health().map((row) => row.trouble)).toEqual([
      'the server answered 302',
      'the server sends no events',
    ]);
  });

  it('nobody listens: waited for', async () => {
    const one = world();
    const server = createHttp();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    follow(one, { kind: 'sse', port, path: '/' });
    await until(() => health(one)?.trouble === 'ECONNREFUSED');
    expect(health(one)?.state).toBe('waiting');
  });
});
