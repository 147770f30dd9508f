// What the daemon is told of the terminals of a window, by an editor that has nothing but terminals.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type { ApiClient } from '../../../src/api/client.ts';
import { Terminals } from './terminals.ts';

const editor = vi.hoisted(() => {
  const nothing = () => undefined;
  const event = () => ({ dispose: nothing });
  const terminals: object[] = [];
  return {
    window: {
      terminals,
      onDidOpenTerminal: event,
      onDidCloseTerminal: event,
      onDidStartTerminalShellExecution: event,
      onDidEndTerminalShellExecution: event,
    },
  };
});
vi.mock('vscode', () => editor);

const folder = mkdtempSync(join(tmpdir(), 'agtmux-terminals-'));
let terminals: Terminals | null = null;
afterEach(() => {
  terminals?.end();
  rmSync(folder, { recursive: true, force: true });
});

const terminal = (pid: number) => ({ name: 'bash', processId: Promise.resolve(pid) });

it('EDI9 listens once, also where it tells of several terminals at the same time', async () => {
  const told: { socket: string; terminals: readonly object[] }[] = [];
  const warned: string[] = [];
  const places = [join(folder, 'missing'), folder];
  let more: Promise<void> | undefined;
  const post = async (_: string, body: (typeof told)[number]) => {
    told.push(body);
  };
  const all = new Terminals({
    client: { post } as unknown as ApiClient,
    folder: () => {
      const place = places.shift();
      if (place !== folder) return place ?? folder;
      // Before it listens another one is opened.
      editor.window.terminals.push(terminal(101));
      more = all.report();
      return place;
    },
    mayType: () => false,
    warn: (words) => warned.push(words),
  });
  terminals = all;
  editor.window.terminals.push(terminal(100));
  all.become(true);
  await vi.waitFor(() => expect(warned).toHaveLength(1));
  // After a failure it is tried again.
  await all.report();
  await more;
  expect(told.map((one) => one.terminals.length)).toEqual([1, 2]);
  const sockets = readdirSync(folder).map((name) => join(folder, name));
  expect([...new Set(told.map(({ socket }) => socket))]).toEqual(sockets);
  all.end();
  expect(readdirSync(folder)).toEqual([]);
});
