// The conversation with an agent's own server on loopback: its events, heard again after every loss, and requests that
// wait until somebody listens for what they cause.

import { limits } from '../model/limits.ts';
import type { Cancel } from '../platform/clock.ts';
import type { Login } from '../platform/loopback-http.ts';
import type { TextStream } from '../platform/web-socket.ts';
import type { Said } from './dialect.ts';
import type { RunnerHandlers, RunnerPorts } from './runner-parts.ts';

type Call = Extract<Said, { readonly to: 'server' }>;

export interface ServerPlace {
  readonly port: number;
  /** In front of every path. */
  readonly base: string;
}

/** An address as a server prints it; null for one that is not on this machine. */
export function placeOfAddress(address: string): ServerPlace | null {
  if (!URL.canParse(address)) return null;
  const { protocol, hostname, port, pathname } = new URL(address);
  const isHere = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0'].includes(hostname);
  if (protocol !== 'http:' || !isHere) return null;
  return { port: port === '' ? 80 : Number(port), base: pathname.replace(/\/+$/, '') };
}

export interface TalkOptions {
  readonly place: ServerPlace;
  /** Null: it has no events of its own. */
  readonly events: string | null;
  readonly login: Login | null;
  /** Whether its process is still there: another program may have its port by now. */
  readonly isStill: () => boolean;
}

export class ServerTalk {
  readonly #ports: RunnerPorts;
  readonly #options: TalkOptions;
  readonly #handlers: RunnerHandlers;
  readonly #waiting: Call[] = [];
  #open = 0;
  #stream: TextStream | null = null;
  #isListening = false;
  #wasListening = false;
  #isOver = false;
  #cancel: Cancel | null = null;

  constructor(ports: RunnerPorts, options: TalkOptions, handlers: RunnerHandlers) {
    this.#ports = ports;
    this.#options = options;
    this.#handlers = handlers;
    if (options.events === null) this.#isListening = true;
    else this.#listen(options.events);
  }

  /** False when too many are on their way: the server does not answer. */
  say(call: Call): boolean {
    if (this.#isOver || this.#waiting.length + this.#open >= limits.sessionCallsMax) return false;
    if (this.#isListening) void this.#ask(call);
    else this.#waiting.push(call);
    return true;
  }

  close(): void {
    this.#isOver = true;
    this.#cancel?.();
    this.#stream?.close();
  }

  #login(): { readonly login?: Login } {
    return this.#options.login === null ? {} : { login: this.#options.login };
  }

  #listen(path: string): void {
    const { port, base } = this.#options.place;
    this.#stream = this.#ports.openEvents(
      this.#ports.clock,
      { port, path: `${base}${path}`, ...this.#login() },
      {
        onOpen: () => {
          this.#isListening = true;
          if (this.#wasListening) this.#hear({ from: 'reconnect' });
          this.#wasListening = true;
          for (const call of this.#waiting.splice(0)) void this.#ask(call);
        },
        onText: (data) => this.#hear({ from: 'stream', data }),
        onDropped: (chars) => this.#handlers.onNotice(`an event of ${chars} characters was dropped: it is too long`),
        onEnd: () => this.#again(path),
      },
    );
  }

  #again(path: string): void {
    this.#isListening = false;
    if (this.#isOver) return;
    this.#cancel = this.#ports.clock.after(limits.sessionReopenMs, () => this.#listen(path));
  }

  #hear(heard: Parameters<RunnerHandlers['onHeard']>[0]): void {
    if (!this.#isOver) this.#handlers.onHeard(heard);
  }

  async #ask({ request, method, path, body }: Call): Promise<void> {
    const { place, isStill } = this.#options;
    this.#open += 1;
    const call = { method, port: place.port, path: `${place.base}${path}`, body, deadlineMs: limits.answerMs };
    const answer = await this.#ports.askLoopback({ ...call, ...this.#login() }, isStill);
    this.#open -= 1;
    const isAnswer = answer.kind === 'answered';
    this.#hear({
      from: 'reply',
      request,
      status: isAnswer ? answer.status : 0,
      body: isAnswer ? answer.text : answer.why,
    });
  }
}
