// What the manager knows of a machine, whichever way it is reached; and this machine itself, which needs no connection:
// only its sockets come and go.

import type { Failure, Result } from '../model/errors.ts';
import { ok } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Health } from '../model/records.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { ClockOffset } from './clock-offset.ts';
import type { Collector } from './collector.ts';
import type { HostFacts } from './collector-answers.ts';
import type { Executor } from './executor.ts';
import { type ChosenSockets, chooseSockets, type TargetSocket } from './sockets.ts';

export interface MachineView {
  readonly machine: TargetId;
  readonly kind: 'local' | 'ssh';
  readonly connectionRef: string;
  readonly health: Health;
  /** Why it is not ok; null when it is. */
  readonly trouble: Failure | null;
  /** Wall time of the last sign of life. */
  readonly lastSeenAt: number | null;
  /** What it said of itself when it was connected last; null before, and for this machine. */
  readonly facts: HostFacts | null;
  readonly clockOffset: ClockOffset | null;
  /** Its targets. Kept while it is down: silence does not mean that they are gone (RSV6). */
  readonly sockets: readonly TargetSocket[];
  /** Servers that were found and are not watched, since there are too many. */
  readonly unwatched: readonly TargetSocket[];
}

export interface Machine {
  readonly executor: Executor;
  /** Null for this machine, whose facts are read directly. */
  readonly collector: Collector | null;
  view(): MachineView;
  start(): void;
  /** Looks now and tells what it found. */
  check(): Promise<Result<MachineView>>;
  close(): Promise<void>;
}

export type MachineChange = 'health' | 'sockets';

export interface LocalMachineOptions {
  readonly machine: TargetId;
  readonly connectionRef: string;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly find: () => Promise<readonly TargetSocket[]>;
  readonly onChange: (change: MachineChange, view: MachineView) => void;
}

export class LocalMachine implements Machine {
  readonly executor: Executor;
  readonly collector = null;
  readonly #options: LocalMachineOptions;
  #chosen: ChosenSockets = { sockets: [], unwatched: [] };
  #lastSeenAt: number | null = null;
  #cancel: Cancel | null = null;
  #closed = false;

  constructor(options: LocalMachineOptions) {
    this.#options = options;
    this.executor = options.executor;
  }

  view(): MachineView {
    const { machine, connectionRef } = this.#options;
    const still = { kind: 'local', health: 'ok', trouble: null, facts: null, clockOffset: null } as const;
    return { machine, connectionRef, ...still, lastSeenAt: this.#lastSeenAt, ...this.#chosen };
  }

  start(): void {
    void this.#scanOn();
  }

  async check(): Promise<Result<MachineView>> {
    await this.#scan();
    return ok(this.view());
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    await this.executor.close();
  }

  async #scanOn(): Promise<void> {
    await this.#scan();
    if (!this.#closed) this.#cancel = this.#options.clock.after(limits.socketScanMs, () => void this.#scanOn());
  }

  async #scan(): Promise<void> {
    const found = await this.#options.find();
    if (this.#closed) return;
    const chosen = chooseSockets(found, this.#chosen.sockets);
    const changed = !isSameChoice(chosen, this.#chosen);
    this.#chosen = chosen;
    this.#lastSeenAt = this.#options.clock.wallMs();
    if (changed) this.#options.onChange('sockets', this.view());
  }
}

export function isSameChoice(one: ChosenSockets, other: ChosenSockets): boolean {
  const keyOf = (socket: TargetSocket): string => `${socket.target}\0${socket.path}\0${socket.alive}`;
  const textOf = ({ sockets, unwatched }: ChosenSockets): string =>
    [sockets, unwatched].map((some) => some.map(keyOf).join('\n')).join('\n\n');
  return textOf(one) === textOf(other);
}
