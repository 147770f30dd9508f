// The live pane over its socket: a ticket for each connection, an answer for each screen, and again by itself when the
// connection was lost for a reason that may pass.

import type { PageSays, PaneSays } from '../../api/web.ts';
import { type Failure, failure } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { PasteDoubt } from '../../model/web.ts';
import { clock, socketUrl } from '../port.ts';
import { send, webRequests } from '../requests.ts';
import type { ScreenFrame } from './screen.ts';

export type WireEvent =
  | { readonly type: 'open' }
  | { readonly type: 'screen'; readonly frame: ScreenFrame; readonly shown: () => void }
  | { readonly type: 'typing'; readonly on: boolean; readonly failure: Failure | null }
  /** Not pasted yet: a person has to decide. */
  | { readonly type: 'doubt'; readonly text: string; readonly doubt: PasteDoubt }
  | { readonly type: 'tooLarge'; readonly failure: Failure }
  | { readonly type: 'ended'; readonly failure: Failure; readonly isFinal: boolean };

export interface Wire {
  typing(on: boolean): void;
  keys(data: string): void;
  /** One paste. `isSure`: the person was told that lines of it may be submitted one by one. */
  paste(text: string, isSure: boolean): void;
  again(): void;
  end(): void;
}

const retryMs = { first: 500, most: 8_000 } as const;
/** Reasons that pass by themselves. */
const passing: ReadonlySet<string> = new Set(['E_TARGET_DOWN', 'E_DAEMON_DOWN', 'E_TIMEOUT', 'E_SNAPSHOT_EXPIRED']);

const lost = failure('E_DAEMON_DOWN', 'the connection to the pane was lost', 'it is retried automatically');

const tooLarge = failure('E_TOO_LARGE', 'the text is too long for one paste', 'send it as a message');

/** Pastes that were not answered yet, by their numbers. */
function createPastes(say: (words: PageSays) => void, heard: (event: WireEvent) => void) {
  const waiting = new Map<number, string>();
  let count = 0;
  return {
    paste(text: string, isSure: boolean): void {
      if (text.length > limits.webPasteCharsMax) {
        heard({ type: 'tooLarge', failure: tooLarge });
        return;
      }
      count += 1;
      if (!isSure) waiting.set(count, text);
      say({ type: 'paste', id: count, data: text, sure: isSure });
    },
    answered({ id, doubt }: Extract<PaneSays, { type: 'paste' }>): void {
      const text = waiting.get(id);
      waiting.delete(id);
      if (text !== undefined && doubt !== null) heard({ type: 'doubt', text, doubt });
    },
    clear: () => waiting.clear(),
  };
}

export function openWire(ref: string, heard: (event: WireEvent) => void): Wire {
  let socket: WebSocket | null = null;
  let isOver = false;
  let delayMs: number = retryMs.first;
  let cancel = (): void => undefined;
  const say = (words: PageSays): void => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(words));
  };
  const pastes = createPastes(say, heard);

  function take(said: PaneSays): Failure | null {
    if (said.type === 'end') return failure(said.code, said.message, said.next);
    if (said.type === 'typing') heard(said);
    if (said.type === 'paste') pastes.answered(said);
    if (said.type === 'screen') {
      delayMs = retryMs.first;
      heard({ type: 'screen', frame: said, shown: () => say({ type: 'ack', seq: said.seq }) });
    }
    return null;
  }

  function ended(why: Failure): void {
    if (isOver) return;
    socket = null;
    pastes.clear();
    const isFinal = !passing.has(why.code);
    heard({ type: 'ended', failure: why, isFinal });
    if (isFinal) return;
    cancel = clock.after(delayMs, () => void connect());
    delayMs = Math.min(delayMs * 2, retryMs.most);
  }

  async function connect(): Promise<void> {
    const ticket = await send(webRequests.ticket(ref));
    if (isOver) return;
    if (!ticket.ok) return ended(ticket.failure);
    const mine = new WebSocket(socketUrl(`/ws/pane?ticket=${encodeURIComponent(ticket.value.ticket)}`));
    socket = mine;
    let why: Failure = lost;
    mine.onopen = () => heard({ type: 'open' });
    mine.onmessage = ({ data }) => {
      why = take(JSON.parse(String(data)) as PaneSays) ?? why;
    };
    mine.onclose = () => {
      if (socket === mine) ended(why);
    };
  }

  void connect();
  return {
    typing: (on) => say({ type: 'typing', on }),
    keys(data) {
      for (let at = 0; at < data.length; at += limits.webKeysCharsMax)
        say({ type: 'keys', data: data.slice(at, at + limits.webKeysCharsMax) });
    },
    paste: pastes.paste,
    again() {
      cancel();
      delayMs = retryMs.first;
      if (socket === null) void connect();
    },
    end() {
      isOver = true;
      cancel();
      socket?.close();
    },
  };
}
