import { chmod, lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, request } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRealClock } from './clock.ts';
import { checkSocketPath, connectPrivate, type Listener, listenPrivate } from './net.ts';

const clock = createRealClock();
let directory = '';
let path = '';
let troubles: string[] = [];
const listeners: Listener[] = [];
const onTrouble = (error: Error): void => void troubles.push(error.message);

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agtmux-net-'));
  path = join(directory, 'agtmux.sock');
  troubles = [];
});
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close();
  await rm(directory, { recursive: true, force: true });
});

async function listen(server: Server, connectionsMax?: number): Promise<Listener> {
  const options = connectionsMax === undefined ? { onTrouble } : { onTrouble, connectionsMax };
  const result = await listenPrivate(server, path, options);
  if (!result.ok) throw new Error(result.failure.message);
  listeners.push(result.value);
  return result.value;
}
const knock = () => connectPrivate(path, { clock, deadlineMs: 10_000, onTrouble });
async function socketOf(): Promise<Socket> {
  const result = await knock();
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
}
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
const echo = (): Server => createServer((socket) => void socket.pipe(socket));
const said = (socket: Socket): Promise<string> =>
  new Promise((resolve) => socket.once('data', (data) => resolve(String(data))));

describe('net', () => {
  it('SEC1 the socket is 0600 whatever the umask, and the umask is left as it was', async () => {
    const before = process.umask(0);
    try {
      await listen(echo());
      expect((await lstat(path)).mode & 0o777).toBe(0o600);
      expect(process.umask()).toBe(0);
    } finally {
      process.umask(before);
    }
  });

  it('carries bytes both ways and removes its socket when closed', async () => {
    const listener = await listen(echo());
    const socket = await socketOf();
    socket.write('hello');
    expect(await said(socket)).toBe('hello');
    expect(listener.connections()).toBe(1);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await listener.close();
    await closed;
    expect(await lstat(path).catch(() => null)).toBeNull();
    listeners.length = 0;
  });

  it('nobody there is E_DAEMON_DOWN, with and without a leftover socket', async () => {
    const none = await knock();
    expect(!none.ok && none.failure.code).toBe('E_DAEMON_DOWN');
    await leaveSocket();
    const leftover = await knock();
    expect(!leftover.ok && leftover.failure.code).toBe('E_DAEMON_DOWN');
  });

  it('a leftover socket is replaced', async () => {
    await leaveSocket();
    await listen(echo());
    const socket = await socketOf();
    socket.write('x');
    expect(await said(socket)).toBe('x');
    socket.destroy();
  });

  it('a socket that answers is not replaced', async () => {
    await listen(echo());
    const second = await listenPrivate(echo(), path, { onTrouble });
    expect(!second.ok && second.failure.code).toBe('E_SOCKET');
    expect(!second.ok && second.failure.message).toContain('another process listens');
    (await socketOf()).destroy();
  });

  it('what is no socket is never removed', async () => {
    await writeFile(path, 'precious');
    const result = await listenPrivate(echo(), path, { onTrouble });
    expect(!result.ok && result.failure.message).toContain('not a socket');
    expect((await lstat(path)).isFile()).toBe(true);
  });

  it('a missing directory is told', async () => {
    const result = await listenPrivate(echo(), join(directory, 'none', 'a.sock'), { onTrouble });
    expect(!result.ok && result.failure.code).toBe('E_SOCKET');
  });

  it('paths the system would cut are refused with the way out', async () => {
    const deep = join(directory, 'd'.repeat(110));
    await mkdir(deep);
    const long = join(deep, 'agtmux.sock');
    const result = await listenPrivate(echo(), long, { onTrouble });
    expect(!result.ok && result.failure.next).toContain('AGTMUX_RUNTIME_DIR');
    const knocked = await connectPrivate(long, { clock, deadlineMs: 1_000, onTrouble });
    expect(!knocked.ok && knocked.failure.code).toBe('E_SOCKET');
    for (const [platform, bytesMax] of [
      ['linux', 107],
      ['darwin', 103],
    ] as const) {
      expect(checkSocketPath('/'.padEnd(bytesMax, 'a'), platform).ok).toBe(true);
      expect(checkSocketPath('/'.padEnd(bytesMax + 1, 'a'), platform).ok).toBe(false);
      // Bytes count, not characters.
      expect(checkSocketPath('/'.padEnd(bytesMax - 1, 'é'), platform).ok).toBe(false);
    }
  });

  it('the longest path that passes the check really works', async () => {
    const room = (process.platform === 'linux' ? 107 : 103) - Buffer.byteLength(directory) - 1;
    path = join(directory, 's'.repeat(room));
    await listen(echo());
    (await socketOf()).destroy();
  });

  it('500 clients that connect and leave at once change nothing', async () => {
    // Writing to each at once makes the server write to sockets that are gone.
    const server = createServer((socket) => {
      socket.write('x'.repeat(100_000));
      socket.write('y');
    });
    const listener = await listen(server, 1_000);
    const slams = Array.from({ length: 500 }, () => {
      const socket = connect(path);
      socket.on('error', () => undefined);
      socket.once('connect', () => socket.destroy());
      return new Promise((resolve) => socket.once('close', resolve));
    });
    await Promise.all(slams);
    await until(() => listener.connections() === 0);
    const socket = await socketOf();
    expect(await said(socket)).toContain('x');
    socket.destroy();
  });

  it('an error on one connection is handed over and ends nothing else', async () => {
    const births: Socket[] = [];
    await listen(createServer((socket) => void births.push(socket)));
    const first = await socketOf();
    await until(() => births.length === 1);
    births[0]?.destroy(new Error('broken by hand'));
    await until(() => troubles.length > 0);
    expect(troubles).toEqual(['broken by hand']);
    first.destroy();
    (await socketOf()).destroy();
  });

  it('connections over the bound are refused, those inside live on', async () => {
    const listener = await listen(echo(), 2);
    const kept = [await socketOf(), await socketOf()];
    const third = connect(path);
    third.on('error', () => undefined);
    await new Promise((resolve) => third.once('close', resolve));
    expect(listener.connections()).toBe(2);
    kept[0]?.write('still here');
    expect(await said(kept[0] as Socket)).toBe('still here');
    for (const socket of kept) socket.destroy();
  });

  it('serves HTTP as well', async () => {
    await listen(createHttpServer((_request, response) => response.end('fine')));
    const answer = await new Promise<string>((resolve, reject) => {
      request({ socketPath: path, path: '/' }, (response) => {
        let body = '';
        response.on('data', (chunk) => {
          body += chunk;
        });
        response.on('end', () => resolve(body));
      })
        .on('error', reject)
        .end();
    });
    expect(answer).toBe('fine');
  });
});

/** A socket file whose owner is gone: bound in a process that was killed before it could clean up. */
async function leaveSocket(): Promise<void> {
  const { execFileSync } = await import('node:child_process');
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  try {
    execFileSync(process.execPath, ['-e', script], { stdio: 'ignore' });
  } catch {
    // Ended by its own signal, as meant.
  }
  expect((await lstat(path)).isSocket()).toBe(true);
  await chmod(path, 0o600);
}
