// Leading an agent through a server that it brings along: started here and found by the address it prints, or found again
// after the daemon was gone (SES5).

import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Cancel } from '../platform/clock.ts';
import type { LedSignal } from '../platform/led-process.ts';
import type { Login } from '../platform/loopback-http.ts';
import type { Said } from './dialect.ts';
import { ProcessRunner } from './runner.ts';
import type { Runner, RunnerHandlers, RunnerPorts, RunPlan } from './runner-parts.ts';
import { placeOfAddress, ServerTalk } from './runner-server.ts';

const loginOf = ({ launch, secret }: RunPlan): Login | null =>
  launch.auth === undefined ? null : { user: launch.auth, password: secret };

/** A server of its own, from its first line on. */
export class HttpRunner implements Runner {
  readonly #process: ProcessRunner;
  readonly #ports: RunnerPorts;
  readonly #plan: RunPlan;
  readonly #handlers: RunnerHandlers;
  readonly #waiting: Extract<Said, { readonly to: 'server' }>[] = [];
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
      this.#giveUp('its server did not say where it listens'),
    );
  }

  say(said: Said): boolean {
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

  signal(signal: LedSignal): void {
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

  say(said: Said): boolean {
    if (said.to === 'server') return this.#talk.say(said);
    if (said.to === 'process') this.signal(said.signal);
    return said.to === 'process';
  }

  endInput(): void {
    this.signal('TERM');
  }

  signal(signal: LedSignal): void {
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
