// Leading an agent through a server of the user's own, over a web socket behind a unix socket: a frame is a line. Nothing
// is started and nothing is ended here; the program outlives us (SES5).

import type { TextStream } from '../platform/web-socket.ts';
import type { Said } from './dialect.ts';
import type { Runner, RunnerHandlers, RunnerPorts } from './runner-parts.ts';

export class SocketRunner implements Runner {
  readonly pid = null;
  readonly address = null;
  readonly #ports: RunnerPorts;
  readonly #path: string;
  readonly #handlers: RunnerHandlers;
  #stream: TextStream | null = null;
  #isOpen = false;
  /** Said before it was open. */
  readonly #waiting: string[] = [];

  constructor(ports: RunnerPorts, path: string, handlers: RunnerHandlers) {
    this.#ports = ports;
    this.#path = path;
    this.#handlers = handlers;
  }

  begin(): void {
    this.#stream = this.#ports.openSocket(this.#ports.clock, this.#path, {
      onOpen: () => {
        this.#isOpen = true;
        for (const line of this.#waiting.splice(0)) this.#stream?.send(line);
      },
      onText: (line) => this.#handlers.onHeard({ from: 'stdout', line }),
      onDropped: (bytes) => this.#handlers.onNotice(`a message of ${bytes} bytes was dropped: it is too long`),
      onEnd: (why) => this.#ended(why),
    });
  }

  say(said: Said): boolean {
    if (said.to !== 'stdin') return said.to === 'process';
    if (this.#isOpen) return this.#stream?.send(said.line) ?? false;
    this.#waiting.push(said.line);
    return true;
  }

  /** Leaves the server; it goes on. */
  endInput(): void {
    this.#stream?.close();
    this.#ended(null);
  }

  signal(): void {
    this.endInput();
  }

  release(): void {
    this.#stream?.close();
    this.#stream = null;
  }

  gone(): Promise<void> {
    return Promise.resolve();
  }

  #ended(why: string | null): void {
    if (this.#stream === null) return;
    this.#stream = null;
    // One that never answered is no end of a conversation but a start that failed.
    const words = this.#isOpen || why === null ? null : `its server does not answer at ${this.#path} (${why})`;
    this.#isOpen = false;
    this.#handlers.onEnd({ code: null, signal: null, words });
  }
}
