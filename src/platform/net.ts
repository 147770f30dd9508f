// The daemon's socket, which only its owner can open, and how one connects to it. Works for any server made of
// node:net, so also for HTTP. What is said over the connection is the business of api/.

import { lstat, unlink } from 'node:fs/promises';
import { connect, type Server, type Socket } from 'node:net';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from './clock.ts';
import { errorCodeOf } from './files.ts';

export interface Listener {
  readonly path: string;
  connections(): number;
  /** Stops listening, ends every connection and removes the socket. */
  close(): Promise<void>;
}

export interface ListenOptions {
  /** Troubles of the server or of one connection; none of them may end the daemon. */
  readonly onTrouble: (error: Error) => void;
  readonly connectionsMax?: number;
}

/** The room for a path in the system's own structure, without its closing NUL. */
const socketPathBytesMax = { linux: 107, darwin: 103 } as const;

/** Longer paths are cut off or refused by the system with words that do not help. */
export function checkSocketPath(path: string, platform: string): Result<string> {
  const bytesMax = platform === 'linux' ? socketPathBytesMax.linux : socketPathBytesMax.darwin;
  const bytes = Buffer.byteLength(path);
  if (bytes <= bytesMax) return ok(path);
  return fail(
    'E_SOCKET',
    `the socket path ${path} has ${bytes} bytes, the system allows ${bytesMax}`,
    'set AGTMUX_RUNTIME_DIR to a shorter path',
  );
}

/**
 * Listens with the socket 0600 from its first moment. A socket that nobody answers at is a leftover and is
 * replaced: the caller must hold the lock of the single instance, or two starters could replace each other's.
 */
export async function listenPrivate(server: Server, path: string, options: ListenOptions): Promise<Result<Listener>> {
  const fitting = checkSocketPath(path, process.platform);
  if (!fitting.ok) return fitting;
  const open = guardConnections(server, options);
  const first = await listenOnce(server, path);
  if (first !== null) {
    const cleared = first === 'EADDRINUSE' ? await clearLeftover(path) : failOfListen(path, first);
    if (!cleared.ok) return cleared;
    const second = await listenOnce(server, path);
    if (second !== null) return failOfListen(path, second);
  }
  server.on('error', options.onTrouble);
  const listener = { path, connections: () => open.size, close: () => closeServer(server, open) };
  // Seen, not assumed: some file systems have rights of their own.
  const mode = (await lstat(path)).mode & 0o777;
  if ((mode & 0o177) === 0) return ok(listener);
  await listener.close();
  return fail('E_UNSAFE_DIR', `the socket ${path} came out with mode 0${mode.toString(8)}, not 0600`);
}

/** Every socket gets its error handler at birth: a client that leaves at once must not end the daemon. */
function guardConnections(server: Server, options: ListenOptions): Set<Socket> {
  const open = new Set<Socket>();
  server.maxConnections = options.connectionsMax ?? limits.connectionsMax;
  server.prependListener('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', options.onTrouble);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}

/** Null when it listens, else the system's code. */
function listenOnce(server: Server, path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const settle = (code: string | null): void => {
      server.off('listening', listening);
      server.off('error', failed);
      resolve(code);
    };
    const listening = (): void => settle(null);
    const failed = (error: Error): void => settle(errorCodeOf(error) ?? 'EUNKNOWN');
    server.once('listening', listening);
    server.once('error', failed);
    // The socket file is made inside this call; nothing else of the process can run under the narrow mask.
    const before = process.umask(0o177);
    try {
      server.listen(path);
    } finally {
      process.umask(before);
    }
  });
}

async function clearLeftover(path: string): Promise<Result<null>> {
  const stat = await lstat(path).catch(() => null);
  if (stat !== null && !stat.isSocket()) return fail('E_SOCKET', `${path} is in the way and is not a socket`);
  const answer = await knock(path);
  if (answer.ok) {
    answer.value.destroy();
    return fail('E_SOCKET', `another process listens at ${path}`, 'stop it with `agtmux daemon stop`');
  }
  if (answer.code !== 'ECONNREFUSED' && answer.code !== 'ENOENT') return failOfListen(path, answer.code);
  await unlink(path).catch(() => undefined);
  return ok(null);
}

function failOfListen(path: string, code: string): ReturnType<typeof fail> {
  return fail('E_SOCKET', `cannot listen at ${path}: ${code}`);
}

async function closeServer(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of open) socket.destroy();
  await closed;
}

export type PrivateSocket = Socket;

/** Connects, or says why not: E_DAEMON_DOWN when nobody listens, E_SOCKET for the rest. */
export async function connectPrivate(
  path: string,
  options: { clock: Clock; deadlineMs: number; onTrouble: (error: Error) => void },
): Promise<Result<PrivateSocket>> {
  const fitting = checkSocketPath(path, process.platform);
  if (!fitting.ok) return fitting;
  const answer = await knock(path, (timeUp) => options.clock.after(options.deadlineMs, timeUp));
  if (!answer.ok) {
    if (answer.code === 'ENOENT' || answer.code === 'ECONNREFUSED') {
      return fail('E_DAEMON_DOWN', `no daemon listens at ${path}`);
    }
    return fail('E_SOCKET', `cannot connect to ${path}: ${answer.code}`);
  }
  answer.value.on('error', options.onTrouble);
  return ok(answer.value);
}

type Answer = { readonly ok: true; readonly value: Socket } | { readonly ok: false; readonly code: string };

function knock(path: string, arm: (timeUp: () => void) => () => void = () => () => undefined): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const disarm = arm(() => {
      socket.destroy();
      resolve({ ok: false, code: 'ETIMEDOUT' });
    });
    // Stays for good: an error after the answer must find a handler too.
    socket.on('error', (error) => {
      disarm();
      resolve({ ok: false, code: errorCodeOf(error) ?? 'EUNKNOWN' });
    });
    socket.once('connect', () => {
      disarm();
      resolve({ ok: true, value: socket });
    });
  });
}
