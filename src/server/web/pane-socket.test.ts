import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { ok } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { LivePane, LiveService, PaintedScreen } from '../../model/web.ts';
import { createSimulatedClock } from '../../platform/simulated/clock.ts';
import { PaneSocket } from './pane-socket.ts';
import type { Ticket } from './web-sessions.ts';

/** The page's end of the wire, which takes nothing. */
class DeafPage extends EventEmitter {
  bufferedAmount = 0;
  sent = 0;
  isTerminated = false;
  send(text: string): void {
    this.sent += 1;
    this.bufferedAmount += Buffer.byteLength(text);
  }
  terminate(): void {
    this.isTerminated = true;
    this.emit('close');
  }
  close(): void {
    this.emit('close');
  }
  says(said: object): void {
    this.emit('message', Buffer.from(JSON.stringify(said)), false);
  }
}

async function look() {
  const page = new DeafPage();
  let count = 0;
  let isClosed = false;
  let change: () => void = () => undefined;
  const screen = (): PaintedScreen => {
    count += 1;
    const rows = Array.from({ length: 50 }, (_, row) => `${count} ${row} ${'x'.repeat(20_000)}`);
    return { width: 100, height: 50, rows, cursorColumn: 0, cursorRow: 0, isCursorShown: true };
  };
  const pane = {
    screen,
    close: () => {
      isClosed = true;
    },
    setTyping: async () => null,
  } as unknown as LivePane;
  const live = {
    open: async (_ref: string, _claim: object, handlers: { onChange: () => void }) => {
      change = handlers.onChange;
      return ok(pane);
    },
  } as unknown as LiveService;
  const ticket = { ref: 'runtime:a', session: { read_only: false } } as unknown as Ticket;
  const parts = { clock: createSimulatedClock(), live, ticket };
  await new PaneSocket(page as unknown as WebSocket, parts).start();
  return { page, changed: () => change(), isClosed: () => isClosed };
}

describe('a page that never reads', () => {
  it('SEC2 gets no more pictures, whatever it says it has drawn', async () => {
    const { page, changed } = await look();
    for (let seq = 1; seq <= 200; seq += 1) {
      changed();
      page.says({ type: 'ack', seq });
    }
    expect(page.bufferedAmount).toBeLessThan(2 * limits.webPictureBacklogBytesMax + 1_048_576);
    expect(page.isTerminated).toBe(false);
    page.bufferedAmount = 0;
    const { sent } = page;
    changed();
    expect(page.sent).toBeGreaterThan(sent);
  });

  it('SEC2 is cut off when it goes on asking for answers', async () => {
    for (const ask of ['typing', 'ping'] as const) {
      const { page, isClosed } = await look();
      page.bufferedAmount = limits.webPaneBacklogBytesMax + 1;
      if (ask === 'ping') page.emit('ping');
      else page.says({ type: 'typing', on: true });
      await new Promise((resolve) => setImmediate(resolve));
      expect([ask, page.isTerminated, isClosed()]).toEqual([ask, true, true]);
    }
  });
});
