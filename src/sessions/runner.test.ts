// Lines of a pipe, real programs behind their gate, and a server that is found by the address it prints.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../test/kit/live.ts';
import type { Incoming } from '../agents/protocol/adapter.ts';
import { createRealClock } from '../platform/clock.ts';
import { createAskLoopback } from '../platform/loopback-http.ts';
import { createManagedPrograms } from '../platform/managed-process.ts';
import { openEventStream } from '../platform/sse.ts';
import { connectWebSocket } from '../platform/web-socket.ts';
import {
  Lines,
  type ProcessChecks,
  ProcessRunner,
  type RunnerEnd,
  type RunnerHandlers,
  type RunnerPorts,
  type RunPlan,
} from './runner.ts';
import { FoundRunner, HttpRunner, placeOfAddress, SocketRunner } from './server-runner.ts';

describe('lines', () => {
  it('SES10 nothing of what came in is held on to but the bytes of the line', () => {
    const heard: string[] = [];
    const lines = new Lines(
      1_000,
      (line) => heard.push(line),
      () => undefined,
    );
    const chunk = Buffer.from('a');
    lines.push(chunk);
    chunk[0] = 0x62;
    lines.push(chunk);
    lines.push(Buffer.from('\n'));
    expect([heard, lines.held]).toEqual([['ab'], 0]);
  });

  it('SES2 however bytes are cut, the lines are the same', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n]/.test(text))),
        fc.array(fc.nat(20)),
        (texts, cuts) => {
          const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
          const heard: string[] = [];
          const lines = new Lines(
            1_000,
            (line) => heard.push(line),
            () => undefined,
          );
          let at = 0;
          for (const cut of [...cuts, bytes.length]) {
            lines.push(bytes.subarray(at, at + cut));
            at = Math.min(bytes.length, at + cut);
          }
          lines.end();
          expect(heard).toEqual(texts.map((text) => Buffer.from(text).toString()));
        },
      ),
    );
  });

  it('SES10 a line that is too long is passed over and counted, and the next one is heard', () => {
    const heard: string[] = [];
    const dropped: number[] = [];
    const lines = new Lines(
      4,
      (line) => heard.push(line),
      (bytes) => dropped.push(bytes),
    );
    lines.push(Buffer.from('abcdefgh'));
    expect(lines.held).toBe(0);
    lines.push(Buffer.from('ij\nok\r\nlast'));
    lines.end();
    expect([heard, dropped]).toEqual([['ok', 'last'], [10]]);
  });
});

const clock = createRealClock();
const nobody: ProcessChecks = {
  identityOf: async () => null,
  isAlive: async () => true,
  signal: async () => false,
  members: async () => ({ isLeaderThere: false, members: [] }),
  marked: async () => [],
};
const ports: RunnerPorts = {
  clock,
  programs: createManagedPrograms(clock),
  processes: nobody,
  askLoopback: createAskLoopback(clock),
  openEvents: openEventStream,
  openSocket: connectWebSocket,
};

let folder: string;
let heard: Incoming[];
let notices: string[];
let ends: RunnerEnd[];
let handlers: RunnerHandlers;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agtmux-runner-'));
  heard = [];
  notices = [];
  ends = [];
  handlers = {
    onHeard: (one) => heard.push(one),
    onNotice: (words) => notices.push(words),
    onEnd: (end) => ends.push(end),
  };
});
afterEach(() => rmSync(folder, { recursive: true }));

const plan = (script: string, more: Partial<RunPlan> = {}): RunPlan => ({
  launch: { command: ['sh', '-c', script], env: {}, address: null },
  program: '/bin/sh',
  cwd: folder,
  env: { PATH: process.env.PATH ?? '', A: 'b' },
  secret: 'hush',
  outputPath: null,
  ...more,
});

const linesHeard = (): readonly string[] => heard.flatMap((one) => ('line' in one ? [`${one.from} ${one.line}`] : []));

describe('a program', () => {
  it('SES5 does nothing before its gate is opened, and never runs when that is closed', async () => {
    const runner = new ProcessRunner(ports, plan('echo ran > ran'), handlers);
    runner.endInput();
    await until(() => ends.length === 1);
    expect(() => readFileSync(join(folder, 'ran'))).toThrow('ENOENT');
  });

  it('SES2 it has its directory and environment, hears what is said and is heard, to the last half line', async () => {
    const runner = new ProcessRunner(
      ports,
      plan('pwd; echo "$A"; read a; echo "got $a"; echo bad >&2; printf half; exit 3'),
      handlers,
    );
    runner.begin();
    expect(runner.say({ to: 'stdin', line: 'hello' })).toBe(true);
    await until(() => ends.length === 1);
    expect(linesHeard().filter((line) => line.startsWith('stdout'))).toEqual([
      `stdout ${folder}`,
      'stdout b',
      'stdout got hello',
      'stdout half',
    ]);
    expect(linesHeard()).toContain('stderr bad');
    expect(ends).toEqual([{ code: 3, signal: null, words: null }]);
    expect(runner.say({ to: 'stdin', line: 'late' })).toBe(false);
  });

  it('IDN3 a signal reaches everything in its group', async () => {
    const runner = new ProcessRunner(ports, plan('sleep 1000 & echo $!; wait'), handlers);
    runner.begin();
    await until(() => heard.length === 1);
    const child = Number(linesHeard()[0]?.split(' ')[1]);
    runner.signal('TERM');
    await until(() => ends.length === 1);
    expect(ends[0]).toMatchObject({ signal: 'SIGTERM' });
    await until(() => {
      try {
        return /^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${child}/stat`, 'utf8'));
      } catch {
        return true;
      }
    });
  });

  it('SES2 what was released is not heard any more, and its end is still known', async () => {
    const runner = new ProcessRunner(ports, plan('read a; echo "$a"'), handlers);
    runner.begin();
    runner.release();
    runner.say({ to: 'stdin', line: 'hello' });
    await runner.gone();
    expect([heard, ends]).toEqual([[], []]);
  });
});

describe('a server', () => {
  let server: Server;
  let asked: { method: string | undefined; url: string | undefined; login: string | undefined; body: string }[];
  let streams: ServerResponse[];

  beforeEach(async () => {
    asked = [];
    streams = [];
    server = createServer((request: IncomingMessage, response: ServerResponse) => {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        asked.push({ method: request.method, url: request.url, login: request.headers.authorization, body });
        if (request.url === '/api/events') {
          setTimeout(() => {
            asked.push({ method: 'open', url: request.url, login: undefined, body: '' });
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            response.write(': hello\n\n');
            streams.push(response);
          }, 50);
        } else response.end('{"fine":true}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  const withServer = (script: string, more: Partial<RunPlan> = {}): RunPlan =>
    plan(script, {
      launch: { command: ['sh', '-c', script], env: {}, address: /listening on (\S+)/, events: '/events', auth: 'me' },
      ...more,
    });
  const get = (request: string) => ({ to: 'server', request, method: 'PATCH', path: '/x', body: '{"a":1}' }) as const;

  it.each([null, 'file'])(
    'SES5 is found by what it prints (%s); requests wait until its events are heard',
    async (output) => {
      const outputPath = output === null ? null : join(folder, 'output');
      const runner = new HttpRunner(
        ports,
        withServer(`sleep 0.2; echo listening on ${address()}; sleep 1000`, { outputPath }),
        handlers,
      );
      runner.begin();
      expect(runner.say(get('first'))).toBe(true);
      await until(() => heard.some(({ from }) => from === 'reply'));
      expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
        'GET /api/events',
        'open /api/events',
        'PATCH /api/x',
      ]);
      const login = `Basic ${Buffer.from('me:hush').toString('base64')}`;
      expect(asked.map((one) => one.login)).toEqual([login, undefined, login]);
      expect(heard.at(-1)).toEqual({ from: 'reply', request: 'first', status: 200, body: '{"fine":true}' });
      expect(runner.address).toBe(address());
      streams[0]?.write('data: {"type":"busy"}\n\n');
      await until(() => heard.some((one) => one.from === 'stream' && one.data === '{"type":"busy"}'));
      // Its connection breaks: it is opened again, and the adapter is told to ask for what it missed.
      streams[0]?.destroy();
      await until(() => heard.some(({ from }) => from === 'reconnect'));
      runner.endInput();
      await until(() => ends.length === 1);
      expect(ends[0]).toMatchObject({ signal: 'SIGTERM', words: null });
    },
  );

  it('SES6 a request that nobody answers is told as one', async () => {
    const runner = new HttpRunner(ports, withServer(`echo listening on ${address()}; sleep 1000`), handlers);
    runner.begin();
    await until(() => streams.length === 1);
    server.removeAllListeners('request');
    server.on('request', (_, response: ServerResponse) => response.destroy());
    runner.say(get('lost'));
    await until(() => heard.some(({ from }) => from === 'reply'));
    expect(heard.find(({ from }) => from === 'reply')).toMatchObject({ request: 'lost', status: 0 });
    runner.signal('KILL');
    await until(() => ends.length === 1);
  });

  it('SEC5 an address on another machine is not asked', async () => {
    const runner = new HttpRunner(ports, withServer('echo listening on http://192.0.2.1:80; sleep 1000'), handlers);
    runner.begin();
    await until(() => ends.length === 1);
    expect(ends[0]?.words).toContain('not on this machine');
    expect(placeOfAddress('http://127.0.0.1:9/a/')).toEqual({ port: 9, base: '/a' });
    for (const text of ['https://127.0.0.1:9', 'http://evil.example', 'nonsense', 'file:///x'])
      expect(placeOfAddress(text)).toBeNull();
  });

  it('SES5 one that lived on is heard again, and its end is noticed', async () => {
    let isAlive = true;
    const signals: string[] = [];
    const found = {
      address: address(),
      place: placeOfAddress(address()) ?? { port: 0, base: '' },
      identity: { boot: 'b', pid: 7, start: '1' },
    };
    const processes = {
      ...nobody,
      isAlive: async () => isAlive,
      signal: async (_: unknown, signal: string) => {
        signals.push(signal);
        return true;
      },
    };
    const outputPath = join(folder, 'output');
    writeFileSync(outputPath, 'what nobody reads any more');
    const runner = new FoundRunner({ ...ports, processes }, withServer('', { outputPath }), found, handlers);
    runner.begin();
    runner.say(get('again'));
    await until(() => heard.some(({ from }) => from === 'reply'));
    await until(() => readFileSync(outputPath, 'utf8') === '');
    runner.endInput();
    expect(signals).toEqual(['TERM']);
    isAlive = false;
    await until(() => ends.length === 1);
    expect(ends).toEqual([{ code: null, signal: null, words: null }]);
  });

  it('SES5 a shared server that does not answer is a start that failed', async () => {
    const runner = new SocketRunner(ports, join(folder, 'none.sock'), handlers);
    runner.begin();
    expect(runner.say({ to: 'stdin', line: 'hello' })).toBe(true);
    await until(() => ends.length === 1);
    expect(ends[0]?.words).toContain('does not respond');
  });
});
