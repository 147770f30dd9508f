// Leading an agent through a server that it brings along: started here and found by the address it prints, or found again
// after the daemon was gone (SES5).

import type { Outgoing } from '../agents/protocol/adapter.ts';
import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Cancel } from '../platform/clock.ts';
import type { Login } from '../platform/loopback-http.ts';
import type { ManagedSignal } from '../platform/managed-process.ts';
import type { TextStream } from '../platform/web-socket.ts';
import { ProcessRunner, type Runner, type RunnerHandlers, type RunnerPorts, type RunPlan } from './runner.ts';

const loginOf = ({ launch, secret }: RunPlan): Login | null =>
  launch.auth === undefined ? null : { user: launch.auth, password: secret };

/** A server of its own, from its first line on. */
export class HttpRunner implements Runner {
  readonly #process: ProcessRunner;
  readonly #ports: RunnerPorts;
  readonly #plan: RunPlan;
  readonly #handlers: RunnerHandlers;
  readonly #waiting: Extract<Outgoing, { readonly to: 'server' }>[] = [];
  #talk: ServerTalk | null = null;
  #address: string | null = null;
  #trouble: string | null = null;
  #isRunning = true;
  #cancel: Cancel | null = null;

  constructor(ports: RunnerPorts, plan: RunPlan, handlers: RunnerHandlers) {
    this.#ports = ports;
    this.#plan = plan;
    this.#handlers = {
      ...handlers,
      onEnd: (end) => {
        this.#isRunning = false;
        this.#cancel?.();
        this.#talk?.close();
        handlers.onEnd(end);
      },
    };
    this.#process = new ProcessRunner(ports, plan, this.#handlers, {
      onLine: (line) => this.#look(line),
      wordsOf: () => this.#trouble,
    });
  }

  get pid(): number | null {
    return this.#process.pid;
  }

  get address(): string | null {
    return this.#address;
  }

  begin(): void {
    this.#process.begin();
    this.#cancel = this.#ports.clock.after(limits.sessionAddressMs, () =>
      this.#giveUp('its server did not report where it listens'),
    );
  }

  say(said: Outgoing): boolean {
    if (said.to !== 'server') return this.#process.say(said);
    if (this.#talk !== null) return this.#talk.say(said);
    if (this.#waiting.length >= limits.sessionCallsMax) return false;
    this.#waiting.push(said);
    return true;
  }

  endInput(): void {
    this.#process.endInput();
    // Its input is nothing to a server: only a signal ends it.
    this.#process.signal('TERM');
  }

  signal(signal: ManagedSignal): void {
    this.#process.signal(signal);
  }

  release(): void {
    this.#cancel?.();
    this.#talk?.close();
    this.#process.release();
  }

  gone(): Promise<void> {
    return this.#process.gone();
  }

  #look(line: string): void {
    if (this.#address !== null || this.#plan.launch.address === null) return;
    const found = this.#plan.launch.address.exec(line)?.[1];
    if (found === undefined) return;
    const place = placeOfAddress(found);
    this.#cancel?.();
    if (place === null) {
      this.#giveUp(`its server is not on this machine: ${found}`);
      return;
    }
    this.#address = found;
    const options = {
      place,
      events: this.#plan.launch.events ?? null,
      login: loginOf(this.#plan),
      isStill: () => this.#isRunning,
    };
    this.#talk = new ServerTalk(this.#ports, options, this.#handlers);
    for (const said of this.#waiting.splice(0)) this.#talk.say(said);
  }

  #giveUp(words: string): void {
    this.#trouble = words;
    this.#process.signal('KILL');
  }
}

/** A server that lived on. It is no child of ours: whether it is still there has to be looked at. */
export class FoundRunner implements Runner {
  readonly pid = null;
  readonly address: string;
  readonly #ports: RunnerPorts;
  readonly #identity: ProcessIdentity;
  readonly #handlers: RunnerHandlers;
  readonly #talk: ServerTalk;
  readonly #outputPath: string | null;
  #isOver = false;
  #cancel: Cancel | null = null;

  constructor(
    ports: RunnerPorts,
    plan: RunPlan,
    found: {
      readonly address: string;
      readonly place: { readonly port: number; readonly base: string };
      readonly identity: ProcessIdentity;
    },
    handlers: RunnerHandlers,
  ) {
    this.#ports = ports;
    this.#identity = found.identity;
    this.#outputPath = plan.outputPath;
    this.#handlers = handlers;
    this.address = found.address;
    const options = {
      place: found.place,
      events: plan.launch.events ?? null,
      login: loginOf(plan),
      isStill: () => !this.#isOver,
    };
    this.#talk = new ServerTalk(ports, options, handlers);
    this.#lookLater();
  }

  begin(): void {
    // It began long ago.
  }

  say(said: Outgoing): boolean {
    if (said.to === 'server') return this.#talk.say(said);
    if (said.to === 'process') this.signal(said.signal);
    return said.to === 'process';
  }

  endInput(): void {
    this.signal('TERM');
  }

  signal(signal: ManagedSignal): void {
    void this.#ports.processes.signal(this.#identity, signal);
  }

  release(): void {
    this.#isOver = true;
    this.#cancel?.();
    this.#talk.close();
  }

  async gone(): Promise<void> {
    while (await this.#ports.processes.isAlive(this.#identity)) {
      await new Promise<void>((resolve) => void this.#ports.clock.after(limits.sessionReadMs, resolve));
    }
  }

  #lookLater(): void {
    this.#cancel = this.#ports.clock.after(limits.sessionLookMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const isAlive = await this.#ports.processes.isAlive(this.#identity);
    if (this.#isOver) return;
    if (isAlive) {
      // What it prints nobody reads any more; it must not fill the disk.
      if (this.#outputPath !== null) void this.#ports.programs.cut(this.#outputPath);
      this.#lookLater();
      return;
    }
    this.release();
    this.#handlers.onEnd({ code: null, signal: null, words: null });
  }
}

// The conversation with an agent's own server on loopback: its events, heard again after every loss, and requests that
// wait until somebody listens for what they cause.

type Call = Extract<Outgoing, { readonly to: 'server' }>;

interface ServerPlace {
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

interface TalkOptions {
  readonly place: ServerPlace;
  /** Null: it has no events of its own. */
  readonly events: string | null;
  readonly login: Login | null;
  /** Whether its process is still there: another program may have its port by now. */
  readonly isStill: () => boolean;
}

class ServerTalk {
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

// Leading an agent through a server of the user's own, over a web socket behind a unix socket: a frame is a line. Nothing
// is started and nothing is ended here; the program outlives us (SES5).

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

  say(said: Outgoing): boolean {
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
    const words = this.#isOpen || why === null ? null : `its server does not respond at ${this.#path} (${why})`;
    this.#isOpen = false;
    this.#handlers.onEnd({ code: null, signal: null, words });
  }
}
