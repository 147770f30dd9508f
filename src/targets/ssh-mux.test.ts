import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import { createRealClock } from '../platform/clock.ts';
import { type SessionEnd, SshMux } from './ssh-mux.ts';

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const text = (words: string | Uint8Array): Buffer =>
  Buffer.concat([number(Buffer.from(words).length), Buffer.from(words)]);
const framed = (...parts: Uint8Array[]): Buffer => text(Buffer.concat(parts));
const packet = (type: number, ...parts: Uint8Array[]): Buffer => framed(Buffer.from([0, type]), ...parts);
const hello = framed(number(1), number(4));
const proxy = framed(number(0x8000000f), number(0));

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** An ssh client as this side meets it: a socket that says what the test wants; `answer` gets each message it is sent. */
async function opened(answer: (type: number, body: Buffer, socket: Socket) => void, greeting = [hello, proxy]) {
  const folder = mkdtempSync(join(tmpdir(), 'agtmux-mux-'));
  const path = join(folder, 's');
  const server: Server = createServer((socket) => {
    let rest = Buffer.alloc(0);
    for (const part of greeting) socket.write(part);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE(0)) {
        const body = rest.subarray(4, 4 + rest.readUInt32BE(0));
        rest = rest.subarray(4 + body.length);
        // The two of the handshake have types of four bytes, of which the first is 0 or 16.
        if (body.length !== 8 || body[1] === 90) answer(body[1] ?? 0, body.subarray(2), socket);
      }
    });
    closers.push(() => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  closers.push(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return SshMux.open(path, createRealClock(), 60_000);
}

async function session(answer: (type: number, body: Buffer, socket: Socket) => void) {
  const mux = await opened((type, body, socket) => {
    if (type === 90) socket.write(packet(91, body.subarray(11, 15), number(7), number(10), number(32_768)));
    else answer(type, body, socket);
  });
  if (!mux.ok) throw new Error(mux.failure.message);
  let isOver = 0;
  const had = await mux.value.session(() => {
    isOver += 1;
  });
  if (had === 'refused' || !had.ok) throw new Error('no session');
  const heard = { output: '', stderr: '' };
  const end = new Promise<SessionEnd>((resolve) => {
    had.value.start('true', new Map([['LANG', 'C']]), {
      onData: (bytes) => {
        heard.output += Buffer.from(bytes).toString();
      },
      onStderr: (bytes) => {
        heard.stderr += Buffer.from(bytes).toString();
      },
      onEnd: resolve,
    });
  });
  return { mux: mux.value, session: had.value, heard, end, over: () => isOver };
}

describe('sessions over the socket of an ssh client', () => {
  it('a program is started, writes within its window, and leaves with its status', async () => {
    const seen: string[] = [];
    const told = await session((type, body, socket) => {
      seen.push(
        `${type} ${body
          .subarray(4)
          .toString('latin1')
          .replace(/[^ -~]/g, '')}`,
      );
      const own = number(1);
      if (type === 98 && body.includes('exec')) {
        socket.write(packet(99, own));
        socket.write(packet(94, own, text('out')));
        socket.write(packet(95, own, number(1), text('err')));
      }
      // The window of ten bytes is used up; the rest follows when more is allowed.
      if (type === 94 && seen.filter((one) => one.startsWith('94')).length === 1)
        socket.write(packet(93, own, number(100)));
      if (type === 96) {
        socket.write(packet(98, own, text('exit-status'), Buffer.from([0]), number(3)));
        socket.write(packet(97, own));
      }
    });
    told.session.write(Buffer.from('0123456789abc'));
    expect(told.session.writeBacklog).toBe(3);
    told.session.endInput();
    expect(await told.end).toEqual({ status: 3, signal: null, lost: null });
    expect(told.heard).toEqual({ output: 'out', stderr: 'err' });
    expect(told.over()).toBe(1);
    expect(seen.filter((one) => one.startsWith('94'))).toEqual(['94 0123456789', '94 abc']);
    expect(seen.some((one) => one.includes('env') && one.includes('LANG'))).toBe(true);
  });

  it.each([
    [
      'more than it was allowed to',
      (): Buffer[] =>
        Array.from({ length: limits.sshWindowBytes / 16_384 + 1 }, () =>
          packet(94, number(1), text('x'.repeat(16_384))),
        ),
    ],
    ['a message without end', () => [Buffer.concat([number(0xffffffff), Buffer.alloc(100)])]],
    ['a message that is cut short', () => [packet(94, number(1), number(500), Buffer.from('abc'))]],
    ['a message of no kind', () => [packet(90, number(1))]],
  ])('SEC5 a machine that sends %s ends its own connection and nothing else', async (_, lies) => {
    const told = await session((type, body, socket) => {
      if (type === 98 && body.includes('exec')) for (const lie of lies()) socket.write(lie);
    });
    // Not read, so that no window is opened again.
    told.session.pause();
    expect((await told.end).lost?.code).toBe('E_TARGET_DOWN');
    expect(told.over()).toBe(1);
    const next = await told.mux.session(() => undefined);
    expect(next !== 'refused' && next.ok).toBe(false);
  });

  it('a session that is refused, and a client that knows no proxy mode, are told apart', async () => {
    const full = await opened((type, body, socket) => {
      if (type === 90) socket.write(packet(92, body.subarray(11, 15), number(1), text('no'), text('')));
    });
    expect(full.ok && (await full.value.session(() => undefined))).toBe('refused');
    const old = await opened(() => undefined, [hello, framed(number(0x80000003), number(0), text('unsupported'))]);
    expect(old).toMatchObject({ ok: false, failure: { code: 'E_TARGET_DOWN' } });
    expect(old.ok ? '' : old.failure.next).toContain('OpenSSH');
  });
});
