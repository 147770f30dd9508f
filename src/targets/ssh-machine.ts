// The life of one machine behind ssh: connect, look around, watch for signs of life, and after a loss try again for ever
// with growing waits. Each machine has its own loop, queue and deadlines, so that none can hold up another (FED4).

import { type Failure, failure, ok, type Result } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Health } from '../model/records.ts';
import type { Clock } from '../platform/clock.ts';
import type { RandomSource } from '../platform/random.ts';
import { type ClockOffset, type ClockSample, clockOffsetOf } from './clock-offset.ts';
import { Collector } from './collector.ts';
import type { HostFacts } from './collector-answers.ts';
import { isSameChoice, type Machine, type MachineChange, type MachineView } from './machine.ts';
import { type ChosenSockets, chooseSockets } from './sockets.ts';
import type { SshExecutor } from './ssh.ts';
import { redialWaitMs } from './ssh-trouble.ts';

export interface SshMachineOptions {
  readonly machine: TargetId;
  readonly connectionRef: string;
  readonly executor: SshExecutor;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly processesScript?: string;
  readonly onChange: (change: MachineChange, view: MachineView) => void;
}

/** Three questions: one may meet a busy moment, three rarely do. */
const clockSamples = 3;

export class SshMachine implements Machine {
  readonly executor: SshExecutor;
  readonly collector: Collector;
  readonly #options: SshMachineOptions;
  #health: Health = 'down';
  #trouble: Failure | null;
  #lastSeenAt: number | null = null;
  #facts: HostFacts | null = null;
  #clockOffset: ClockOffset | null = null;
  #clockLeadMs = 0;
  #clockMeasuredMs = 0;
  #chosen: ChosenSockets = { sockets: [], unwatched: [] };
  #closed = false;
  /** Ends the wait under way, if any. */
  #wake: () => void = () => undefined;
  #waiters: ((result: Result<MachineView>) => void)[] = [];
  #life: Promise<void> = Promise.resolve();

  constructor(options: SshMachineOptions) {
    this.#options = options;
    const { executor, clock, random } = options;
    this.executor = executor;
    const script = options.processesScript === undefined ? {} : { processesScript: options.processesScript };
    this.collector = new Collector({ executor, clock, random, ...script });
    this.#trouble = failure('E_TARGET_DOWN', `${options.connectionRef}: not connected yet`, 'wait a moment');
  }

  view(): MachineView {
    const { machine, connectionRef } = this.#options;
    return {
      machine,
      kind: 'ssh',
      connectionRef,
      health: this.#health,
      trouble: this.#trouble,
      lastSeenAt: this.#lastSeenAt,
      facts: this.#facts,
      clockOffset: this.#clockOffset,
      ...this.#chosen,
    };
  }

  start(): void {
    this.#life = this.#live();
  }

  /** The outcome of an attempt that ends after this call: a person who asks wants news. */
  check(): Promise<Result<MachineView>> {
    if (this.#closed) return Promise.resolve({ ok: false, failure: this.#closedFailure() });
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      this.#wake();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.collector.close();
    this.#wake();
    this.#tell({ ok: false, failure: this.#closedFailure() });
    await this.executor.close();
    await this.#life;
  }

  async #live(): Promise<void> {
    let failures = 0;
    let downSinceMs = this.#now();
    while (!this.#closed) {
      const dialledMs = this.#now();
      const connected = await this.#lookAround();
      if (connected.ok) this.#set('ok', null);
      const sinceMs = this.#now();
      const lost = connected.ok ? await this.#watch() : connected.failure;
      if (this.#closed) return;
      // One that is lost as soon as it is had counts as one that was never had.
      const wasSteady = connected.ok && this.#now() - sinceMs >= limits.reconnectSteadyMs;
      failures = wasSteady ? 0 : failures + 1;
      if (wasSteady) downSinceMs = this.#now();
      this.executor.drop(lost);
      this.#set('down', lost);
      this.#tell({ ok: false, failure: lost });
      const trouble = this.executor.trouble ?? 'other';
      const past = { trouble, failures, downForMs: this.#now() - downSinceMs, attemptMs: this.#now() - dialledMs };
      await this.#sleep(redialWaitMs(past, this.#options.random.uint32() / 2 ** 32));
    }
  }

  async #lookAround(): Promise<Result<null>> {
    const connected = await this.executor.connect();
    if (!connected.ok) return connected;
    const facts = await this.collector.host();
    if (!facts.ok) return facts;
    this.#facts = facts.value;
    const sockets = await this.#scan();
    return sockets.ok ? this.#measureClock() : sockets;
  }

  /** Until the machine is lost; the reason is the value. */
  async #watch(): Promise<Failure> {
    let scanDueMs = this.#now() + limits.socketScanFarMs;
    let scanning = false;
    for (;;) {
      // Whatever comes from there is a sign of life; a person who asks wants one of this moment.
      const isHeard = this.#quietMs() < limits.heartbeatMs && this.#waiters.length === 0;
      const alive = isHeard ? ok(null) : await this.#heartbeat();
      if (!alive.ok) return alive.failure;
      this.#lastSeenAt = this.#options.clock.wallMs();
      this.#tell(ok(this.view()));
      if (!scanning && this.#now() >= scanDueMs) {
        scanning = true;
        void this.#refresh().then(() => {
          scanning = false;
          scanDueMs = this.#now() + limits.socketScanFarMs;
        });
      }
      await this.#sleep(Math.max(limits.heartbeatMs - (isHeard ? this.#quietMs() : 0), 0));
      if (this.#closed) return this.#closedFailure();
    }
  }

  /** Besides the heartbeat, never in its way: a slow answer is no loss of the connection. */
  async #refresh(): Promise<void> {
    const scanned = await this.#scan();
    // Our own wall clock was set, or this machine has slept: what was measured before says little now.
    const isMoved = Math.abs(this.#leadMs() - this.#clockLeadMs) > limits.wallJumpMs;
    const due = isMoved || this.#now() - this.#clockMeasuredMs >= limits.clockMeasureMs;
    const measured = scanned.ok && due ? await this.#measureClock() : scanned;
    if (this.#health === 'down' || this.#closed) return;
    if (measured.ok) this.#set('ok', null);
    else this.#set('degraded', measured.failure);
  }

  async #heartbeat(): Promise<Result<null>> {
    const { clock, connectionRef } = this.#options;
    const words = `${connectionRef}: no response`;
    const slow = failure('E_TARGET_DOWN', `${words} for ${limits.heartbeatDegradedMs} ms`);
    const lost = failure('E_TARGET_DOWN', `${words} for ${limits.heartbeatDownMs} ms`, 'agtmux retries automatically');
    let wasSlow = false;
    const cancelSlow = clock.after(limits.heartbeatDegradedMs, () => {
      wasSlow = true;
      this.#set('degraded', slow);
    });
    // The ping ends by this, not by a race: nothing is left waiting.
    const cancelLost = clock.after(limits.heartbeatDownMs, () => this.executor.drop(lost));
    const answer = await this.executor.ping();
    cancelSlow();
    cancelLost();
    if (!answer.ok) return answer;
    if (wasSlow) this.#set('ok', null);
    return answer;
  }

  async #scan(): Promise<Result<null>> {
    const found = await this.collector.sockets(this.#options.machine);
    if (!found.ok) return found;
    const chosen = chooseSockets(found.value, this.#chosen.sockets);
    if (this.#closed || isSameChoice(chosen, this.#chosen)) return ok(null);
    this.#chosen = chosen;
    this.#options.onChange('sockets', this.view());
    return ok(null);
  }

  /** How far the wall clock is ahead of the monotonic one. */
  #leadMs(): number {
    return this.#options.clock.wallMs() - this.#options.clock.monotonicMs();
  }

  async #measureClock(): Promise<Result<null>> {
    const samples: ClockSample[] = [];
    for (let count = 0; count < clockSamples; count += 1) {
      const sample = await this.collector.clock();
      if (!sample.ok) return sample;
      samples.push(sample.value);
    }
    this.#clockOffset = clockOffsetOf(samples);
    this.#clockMeasuredMs = this.#now();
    this.#clockLeadMs = this.#leadMs();
    // Whoever reads its stamps has to know, also when nothing else has changed.
    if (this.#health === 'ok' && !this.#closed) this.#options.onChange('health', this.view());
    this.#lastSeenAt = this.#options.clock.wallMs();
    return ok(null);
  }

  #set(health: Health, trouble: Failure | null): void {
    const same = health === this.#health && trouble?.message === this.#trouble?.message;
    this.#health = health;
    this.#trouble = trouble;
    if (!same && !this.#closed) this.#options.onChange('health', this.view());
  }

  #tell(result: Result<MachineView>): void {
    for (const tell of this.#waiters.splice(0)) tell(result);
  }

  #sleep(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(waitMs, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
      if (this.#closed) this.#wake();
    });
  }

  /** How long nothing came from there. */
  #quietMs(): number {
    return this.#now() - this.executor.heardAtMs;
  }

  #now(): number {
    return this.#options.clock.monotonicMs();
  }

  #closedFailure(): Failure {
    return failure('E_TARGET_DOWN', `${this.#options.connectionRef}: the target was removed or agtmux is stopping`);
  }
}
