// Many pages of one web server: those that read, those that never do, and what a change needs to reach the ones that read. For a
// test at a small size and for the benchmark at a large one.

import { copyFileSync, mkdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { until } from '../kit/live.ts';
import type { DaemonWorld, PaneView, Visitor } from './kit-server.ts';

/** Programs that are taken for agents and do nothing; all in one session, so that one rename changes all of them. */
export async function openAgents(world: DaemonWorld, count: number): Promise<void> {
  const { live } = world;
  mkdirSync(join(live.dir, 'bin'), { recursive: true });
  const program = join(live.dir, 'bin/claude');
  copyFileSync('/bin/sleep', program);
  live.tmux('new-session', '-d', '-s', 'crowd', '-n', 'w0', '-x', '80', '-y', '24', `${program} 100000`);
  for (let place = 1; place < count; place += 1) {
    live.tmux('new-window', '-d', '-t', 'crowd:', '-n', `w${place}`, `${program} 100000`);
  }
  await until(async () => (await live.client.get('/v1/panes', {})).items.length >= count, 60_000);
}

/** A page that follows the feed; `waitFor` resolves when a text came in a change. */
export class Reader {
  readonly #leaving = new AbortController();
  readonly #waiting = new Map<string, () => void>();
  #tail = '';

  static async open(visitor: Visitor): Promise<Reader> {
    const reader = new Reader();
    const reply = await visitor.open('/v1/feed', { signal: reader.#leaving.signal });
    const ready = new Promise<void>((resolve) => reader.#waiting.set('event: snapshot', resolve));
    void reader.#read(reply);
    await ready;
    return reader;
  }

  async #read(reply: Response): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const part of reply.body ?? []) {
        const text = this.#tail + decoder.decode(part, { stream: true });
        for (const [wanted, found] of this.#waiting) {
          if (!text.includes(wanted)) continue;
          this.#waiting.delete(wanted);
          found();
        }
        this.#tail = text.slice(-64);
      }
    } catch (problem) {
      if (!this.#leaving.signal.aborted) throw problem;
    }
  }

  waitFor(text: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(text, resolve));
  }

  close(): void {
    this.#leaving.abort();
  }
}

/** A page that asked for the feed and sleeps: its socket is open, and nobody takes what comes. */
export function openSleeper({ base, headers }: Visitor): Promise<Socket> {
  const { hostname, port, host } = new URL(base);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.pause();
      socket.on('error', () => undefined);
      socket.write(`GET /v1/feed HTTP/1.1\r\n${lines.join('')}\r\n`);
      resolve(socket);
    });
  });
}

export interface CrowdSize {
  readonly readers: number;
  readonly sleepers: number;
  /** Changes of one agent that are timed, and changes of all of them that make the sleepers fall behind. */
  readonly changes: number;
  readonly storms: number;
}

export interface CrowdFigures {
  /** From the command that changes something to each page that reads, ms. */
  readonly delays: readonly number[];
  readonly grownMb: number;
}

/** A name that was given before changes nothing. */
let names = 0;

const memoryMb = async ({ live }: DaemonWorld): Promise<number> =>
  (await live.client.get('/v1/status')).memory_bytes / 2 ** 20;

export async function measureCrowd(world: DaemonWorld, visitor: Visitor, size: CrowdSize): Promise<CrowdFigures> {
  const { live } = world;
  const readers = await Promise.all(Array.from({ length: size.readers }, () => Reader.open(visitor)));
  const before = await memoryMb(world);
  const sleepers = await Promise.all(Array.from({ length: size.sleepers }, () => openSleeper(visitor)));
  const views = await sleepingViews(world, visitor, size.sleepers);
  let mostMb = before;
  let session = 'crowd';
  for (let turn = 0; turn < size.storms; turn += 1) {
    const name = `crowd-${turn}-${'x'.repeat(32)}`;
    const arrived = Promise.all(readers.map((reader) => reader.waitFor(name)));
    live.tmux('rename-session', '-t', session, name);
    session = name;
    await arrived;
    mostMb = Math.max(mostMb, await memoryMb(world));
  }
  const delays: number[] = [];
  for (let turn = 0; turn < size.changes; turn += 1) {
    names += 1;
    const name = `turn-${names}-of-it`;
    const began = performance.now();
    const arrived = readers.map((reader) => reader.waitFor(name).then(() => delays.push(performance.now() - began)));
    live.tmux('rename-window', '-t', `${session}:${turn % 10}`, name);
    await Promise.all(arrived);
    mostMb = Math.max(mostMb, await memoryMb(world));
  }
  for (const reader of readers) reader.close();
  for (const socket of sleepers) socket.destroy();
  for (const view of views) view.close();
  live.tmux('rename-session', '-t', session, 'crowd');
  return { delays, grownMb: mostMb - before };
}

/** The same pane in many pages, none of which says that it has drawn anything. */
async function sleepingViews({ live }: DaemonWorld, visitor: Visitor, count: number): Promise<readonly PaneView[]> {
  const [item] = (await live.client.get('/v1/panes', {})).items;
  return Promise.all(
    Array.from({ length: count }, () =>
      visitor.pane(item?.ref ?? '', (view) => {
        view.isSlow = true;
      }),
    ),
  );
}
