// The played pane: shows a screen over the socket as the real web server does, waits for the answer to each, and remembers the
// keys that came.
import type { WebSocket } from 'ws';

export interface PlayedLive {
  readonly keys: string[];
  readonly acks: number[];
  join(socket: WebSocket): void;
  show(data: string): void;
  cut(): void;
}

const esc = '\u001b[';
export const firstScreen = [
  `${esc}H${esc}38;5;173m● ${esc}0mI will build it again from nothing.`,
  '',
  `  ${esc}1mBash${esc}0m command`,
  '',
  '    rm -rf build && npm run build',
  `    ${esc}2mRemove the build and make it again${esc}0m`,
  '',
  '  Do you want to proceed?',
  `  ${esc}36m❯ 1. Yes${esc}0m`,
  '    2. Yes, and do not ask again for this command',
  '    3. No, and tell Claude what to do differently',
  '',
  `  ${esc}2mEsc to cancel${esc}0m`,
].join('\r\n');

export function playedLive(): PlayedLive {
  const sockets = new Set<WebSocket>();
  let seq = 0;
  const say = (socket: WebSocket, words: object): void => socket.send(JSON.stringify(words));
  const screen = (full: boolean, data: string): object => {
    seq += 1;
    return { type: 'screen', seq, full, width: 100, height: 28, data };
  };
  const live: PlayedLive = {
    keys: [],
    acks: [],
    join(socket) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('message', (text) => {
        const said = JSON.parse(String(text)) as { type: string; on?: boolean; data?: string; seq?: number };
        if (said.type === 'ack') live.acks.push(said.seq ?? 0);
        if (said.type === 'typing') say(socket, { type: 'typing', on: said.on, failure: null });
        if (said.type === 'keys') live.keys.push(said.data ?? '');
      });
      say(socket, screen(true, firstScreen));
    },
    show(data) {
      for (const socket of sockets) say(socket, screen(false, data));
    },
    cut() {
      for (const socket of sockets) socket.terminate();
    },
  };
  return live;
}
