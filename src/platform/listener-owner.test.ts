// Who listens at a port of this machine's loopback.

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ownsListener } from './listener-owner.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

describe('who listens', () => {
  it('IDN3 is told by the socket itself: this process, no other, and nobody when nobody does', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    expect(ownsListener(process.pid, port)).toBe(process.platform === 'linux');
    expect(ownsListener(process.ppid, port)).toBe(false);
    expect(ownsListener(2 ** 22 + 1, port)).toBe(false);
    await new Promise((resolve) => server.close(resolve));
    expect(ownsListener(process.pid, port)).toBe(false);
  });

  it('is everyone who could be reached: with two of them, neither', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ port: 0, host: '::', ipv6Only: true }, resolve));
    ends.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    expect(ownsListener(process.pid, port)).toBe(process.platform === 'linux');
    const program = `require('node:http').createServer().listen(${port}, '127.0.0.1', () => console.log('on'))`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
    ends.push(() => child.kill('SIGKILL'));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    expect([process.pid, child.pid ?? 0].map((pid) => ownsListener(pid, port))).toEqual([false, false]);
  });
});
