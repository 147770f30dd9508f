// A socket that somebody else put where ours would be: no client says a word to it, and none prints what it says. Root can
// make it another user's in earnest; everyone else makes what another user could have left open.

import { spawn } from 'node:child_process';
import { chmodSync, chownSync, lchownSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apiHeader, apiVersion } from '../../src/api/version.ts';

const program = fileURLToPath(new URL('../../bin/agtmux', import.meta.url));
const stranger = 65_534;
const isRoot = process.getuid?.() === 0;

let dir: string;
let server: Server;
/** Everything that anybody said to the socket. */
let heard: string;

const hostile = '\u001b]0;owned\u0007\u001b[2J\u009b31mEVIL';
const reply = `HTTP/1.1 200 OK\r\n${apiHeader}: ${apiVersion}\r\ncontent-length: ${Buffer.byteLength(hostile)}\r\n\r\n${hostile}`;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'agt-foreign-'));
  for (const name of ['home', 'run']) mkdirSync(join(dir, name), { mode: 0o700 });
  heard = '';
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      heard += bytes;
      socket.end(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(join(dir, 'run/agtmux.sock'), resolve));
  chmodSync(join(dir, 'run/agtmux.sock'), 0o600);
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true, force: true });
});

interface Told {
  readonly status: number | null;
  readonly text: string;
}

function run(argv: readonly string[], input = '', variables: NodeJS.ProcessEnv = {}): Promise<Told> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, HOME: join(dir, 'home'), AGTMUX_RUNTIME_DIR: join(dir, 'run'), ...variables };
    const child = spawn(process.execPath, [program, ...argv], { env });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (text += part));
    child.on('close', (status) => resolve({ status, text }));
    child.stdin.end(input);
  });
}

const hello = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
};
const call = {
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'shell_run', arguments: { command: 'echo hi' } },
};
const clients: readonly [string, readonly string[], string?][] = [
  ['list', ['list']],
  ['list as JSON', ['list', '--json']],
  ['send', ['send', '%1', '--text', 'a secret']],
  ['event', ['event'], '{"source":"hook"}\n'],
  ['status', ['status']],
  ['menubar', ['menubar']],
  ['web', ['web']],
  ['session list', ['session', 'list']],
  ['daemon stop', ['daemon', 'stop']],
  ['mcp', ['mcp'], `${JSON.stringify(hello)}\n${JSON.stringify(call)}\n`],
];

const there = (): string => join(dir, 'run');
/** What is made of the place, and whether it takes root to make it. */
const places: readonly [string, () => void, 'root'?][] = [
  ['is in a directory of another user', () => chownSync(there(), stranger, stranger), 'root'],
  [
    'is another user’s in a directory of ours',
    () => lchownSync(join(there(), 'agtmux.sock'), stranger, stranger),
    'root',
  ],
  ['is below a directory of another user', () => chownSync(dir, stranger, stranger), 'root'],
  ['is in a directory that others may enter', () => chmodSync(there(), 0o755)],
  ['is open to others itself', () => chmodSync(join(there(), 'agtmux.sock'), 0o666)],
  [
    'is in a directory behind a link',
    () => {
      renameSync(there(), join(dir, 'real'));
      symlinkSync(join(dir, 'real'), there());
    },
  ],
  [
    'is behind a link itself',
    () => {
      renameSync(join(there(), 'agtmux.sock'), join(there(), 'other.sock'));
      symlinkSync(join(there(), 'other.sock'), join(there(), 'agtmux.sock'));
    },
  ],
];

describe('a socket that may be another user’s', () => {
  const possible = places.filter(([, , who]) => who === undefined || isRoot);
  it.each(possible)('SEC1 is told nothing when it %s', async (_, make) => {
    make();
    for (const [name, argv, input] of clients) {
      const { status, text } = await run(argv, input);
      expect([name, heard]).toEqual([name, '']);
      // An MCP server whose input ends says no more.
      const told = name === 'mcp' ? 'agtmux' : 'E_UNSAFE_DIR';
      expect([name, text, status]).toEqual([name, expect.stringContaining(told), name === 'mcp' ? 0 : 6]);
      expect(text).not.toContain('a secret');
    }
  });

  it('SEC3 prints nothing with an effect, whatever our own socket answers', async () => {
    for (const [name, argv, input] of clients) {
      const { text } = await run(argv, input);
      expect([name, text.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g)]).toEqual([name, null]);
    }
    expect(heard).toContain('a secret');
  });
});
