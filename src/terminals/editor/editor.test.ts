// The terminals of an editor over a real socket: questions with the secret, and answers that nobody believes blindly.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRealClock } from '../../platform/clock.ts';
import { createEditorTerminals } from './editor.ts';

const surface = { id: '1', terminalPid: 40, rootPid: 41, title: 'bash' };
let folder: string;
let server: Server;
let answer: (question: Readonly<Record<string, unknown>>) => string;
let asked: Readonly<Record<string, unknown>>[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agt-editor-'));
  asked = [];
  server = createServer((socket) => {
    socket.once('data', (data) => {
      const question = JSON.parse(String(data)) as Readonly<Record<string, unknown>>;
      asked.push(question);
      socket.end(answer(question));
    });
  });
  await new Promise<void>((resolve) => server.listen(join(folder, 's'), resolve));
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const terminals = (parentOf: (pid: number) => number | null = () => 40) =>
  createEditorTerminals({ clock: createRealClock(), socket: join(folder, 's'), secret: 'abc', parentOf });

it('EDI9a lists terminals whose shells run, and asks with the secret', async () => {
  answer = () =>
    `${JSON.stringify({ terminals: [{ id: '1', pid: 41, title: 'bash' }, { id: '2', pid: 42 }, { id: 3, pid: 43 }, { id: '4', pid: '44' }, null] })}\n`;
  expect(await terminals((pid) => (pid === 42 ? null : 40)).list()).toEqual([surface]);
  expect(asked).toEqual([{ secret: 'abc', ask: 'list' }]);
});

it('EDI9a ACT9 reads, types and shows the one that was named', async () => {
  answer = ({ ask }) =>
    `${JSON.stringify(ask === 'capture' ? { lines: ['plain'], styled: ['\u001b[1mplain'] } : { done: true })}\n`;
  const { capture, send, focus } = terminals();
  expect(await capture(surface, false)).toEqual(['plain']);
  expect(await capture(surface, true)).toEqual(['\u001b[1mplain']);
  expect([await send?.(surface, 'hello\r'), await focus(surface)]).toEqual([true, true]);
  expect(asked.at(-2)).toEqual({ secret: 'abc', ask: 'send', id: '1', text: 'hello\r' });
});

it('EDI9 what answers nothing, or something else, tells nothing', async () => {
  for (const said of [
    '{}\n',
    'null\n',
    '[]\n',
    'no\n',
    '{"terminals":7,"lines":[1],"done":"yes"}\n',
    '{"done":true}',
  ]) {
    answer = () => said;
    const { list, capture, send, focus } = terminals();
    expect([await list(), await capture(surface, false)]).toEqual([null, null]);
    expect([await send?.(surface, 'x'), await focus(surface)]).toEqual([false, false]);
  }
  server.close();
  rmSync(join(folder, 's'), { force: true });
  expect(await terminals().list()).toBeNull();
});
