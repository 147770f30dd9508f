// All machines agtmux knows: adds, removes and connects them, keeps what must survive a restart in the store, and says
// which targets there are now. Keeps aliases and nothing secret. `host` is always among them (IDN1).

import { type Failure, fail, ok, type Result } from '../model/errors.ts';
import { type TargetId, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Health, TargetRecord } from '../model/records.ts';
import type { Channels } from '../platform/channel.ts';
import type { Clock } from '../platform/clock.ts';
import type { Exec } from '../platform/exec.ts';
import type { Files } from '../platform/files.ts';
import type { RandomSource } from '../platform/random.ts';
import { checkHostAlias } from '../text/quote.ts';
import { findGuard } from './guard.ts';
import { createLocalExecutor } from './local.ts';
import { LocalMachine, type Machine, type MachineChange, type MachineView } from './machine.ts';
import { checkTargetName, defaultSocketName, hostTarget, isSocketName } from './names.ts';
import { findSockets, type SocketSearch, socketDirectoryOf, type TargetSocket } from './sockets.ts';
import { createSshExecutor } from './ssh.ts';
import { SshMachine } from './ssh-machine.ts';

/** What survives a restart; the store is one. */
export interface TargetStore {
  targets(): Promise<readonly TargetRecord[]>;
  putTarget(record: TargetRecord): Promise<void>;
  removeTarget(target: TargetId): Promise<void>;
}

export type TargetEvent =
  | { readonly kind: MachineChange; readonly view: MachineView }
  | { readonly kind: 'added'; readonly view: MachineView }
  | { readonly kind: 'removed'; readonly machine: TargetId };

export interface ManagerOptions {
  readonly book: TargetStore;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly exec: Exec;
  readonly channels: Channels;
  readonly files: Files;
  readonly runtimeDir: string;
  readonly uid: number;
  /** The daemon's own environment; AGTMUX_SSH_CONFIG names another ssh configuration. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Sockets of `host` by name or path instead of a search. */
  readonly hostSockets?: readonly string[];
  /** Writes what the collector tells of processes; whoever reads it brings it. */
  readonly processesScript?: string;
  readonly onEvent: (event: TargetEvent) => void;
}

/** One target as an observer needs it. */
export interface TargetView {
  readonly target: TargetId;
  readonly machine: TargetId;
  readonly kind: 'local' | 'ssh';
  readonly socket: TargetSocket;
  readonly health: Health;
  readonly trouble: Failure | null;
  readonly lastSeenAt: number | null;
}

export class TargetManager {
  readonly #options: ManagerOptions;
  readonly #machines = new Map<TargetId, Machine>();
  #saving: Promise<void> = Promise.resolve();
  #guard: readonly string[] = [];

  constructor(options: ManagerOptions) {
    this.#options = options;
  }

  /** Starts every known machine; what cannot be read from the book is told and left alone. */
  async start(): Promise<readonly Failure[]> {
    const ignored: Failure[] = [];
    this.#guard = await findGuard(this.#options.exec, this.#options.variables);
    const host = recordOf(hostTarget, 'local', '', this.#options.clock.wallMs());
    const records = (await this.#options.book.targets()).filter((record) => record.target !== hostTarget);
    for (const record of [host, ...records]) {
      const machine = this.#machineOf(record);
      if (machine.ok) this.#begin(record.target, machine.value);
      else ignored.push(machine.failure);
    }
    await this.#save(host);
    return ignored;
  }

  /**
   * For ssh the reference is an alias of the user's ssh configuration; for a local one a tmux socket by name or path. Left
   * empty it is the name of the target itself.
   */
  async add(name: string, kind: 'local' | 'ssh', connectionRef: string): Promise<Result<MachineView>> {
    const checked = checkTargetName(name);
    if (!checked.ok) return checked;
    const target = checked.value;
    if (this.#machines.has(target))
      return fail('E_INPUT', `there is already a target ${target}`, 'choose another name');
    if (this.#machines.size >= limits.targetsMax)
      return fail('E_INPUT', `there are already ${limits.targetsMax} targets`);
    const ref = connectionRef === '' ? name : connectionRef;
    const record = recordOf(target, kind, ref, this.#options.clock.wallMs());
    const machine = this.#machineOf(record);
    if (!machine.ok) return machine;
    // Taken before the wait, so that two who add one name at once cannot both have it.
    this.#machines.set(target, machine.value);
    try {
      await this.#options.book.putTarget(record);
    } catch (error) {
      this.#machines.delete(target);
      throw error;
    }
    this.#begin(target, machine.value);
    this.#options.onEvent({ kind: 'added', view: machine.value.view() });
    return ok(machine.value.view());
  }

  async remove(name: string): Promise<Result<null>> {
    if (name === hostTarget) return fail('E_INPUT', '`host` is this machine and cannot be removed');
    const machine = this.machine(name);
    if (machine === null) return notKnown(name);
    const target = targetId(name);
    this.#machines.delete(target);
    await this.#saving;
    await this.#options.book.removeTarget(target);
    await machine.close();
    this.#options.onEvent({ kind: 'removed', machine: target });
    return ok(null);
  }

  /** Tests the connection now and tells the outcome. */
  async connect(name: string): Promise<Result<MachineView>> {
    return this.machine(name)?.check() ?? notKnown(name);
  }

  machine(name: string): Machine | null {
    return this.#machines.get(targetId(name)) ?? null;
  }

  machines(): readonly MachineView[] {
    return [...this.#machines.values()].map((machine) => machine.view());
  }

  /** Every target of every machine, also of those that are down (RSV6, FED4). */
  targets(): readonly TargetView[] {
    const views = this.machines();
    // A socket that a person gave a name is that target alone, and not found a second time beside it.
    const named = new Set(
      views.flatMap(({ kind, machine, sockets }) =>
        kind === 'local' && machine !== hostTarget ? sockets.map(({ path }) => path) : [],
      ),
    );
    const isTwice = (machine: TargetId, { path }: TargetSocket): boolean => machine === hostTarget && named.has(path);
    return views.flatMap((view) =>
      view.sockets
        .filter((socket) => !isTwice(view.machine, socket))
        .map((socket) => ({
          target: socket.target,
          machine: view.machine,
          kind: view.kind,
          socket,
          health: view.health,
          trouble: view.trouble,
          lastSeenAt: view.lastSeenAt,
        })),
    );
  }

  /** Servers that were found and are not watched: there are more than one machine may have targets. */
  unwatched(): readonly (Pick<TargetView, 'target' | 'kind' | 'machine'> & { readonly left: number })[] {
    return this.machines().flatMap(({ machine, kind, unwatched }) => {
      const named = unwatched.slice(0, limits.targetSocketsToldMax);
      return named.map(({ target }, place) => ({
        target,
        kind,
        machine,
        // Of those that are not named, behind the last that is.
        left: place === named.length - 1 ? unwatched.length - named.length : 0,
      }));
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#machines.values()].map((machine) => machine.close()));
    await this.#saving;
  }

  #begin(target: TargetId, machine: Machine): void {
    this.#machines.set(target, machine);
    machine.start();
  }

  #machineOf(record: TargetRecord): Result<Machine> {
    switch (record.kind) {
      case 'local':
        return this.#localMachine(record);
      case 'ssh':
        return this.#sshMachine(record);
    }
  }

  #localMachine(record: TargetRecord): Result<Machine> {
    const { clock, exec, channels, files, uid, variables, hostSockets } = this.#options;
    const { target, connection_ref: ref } = record;
    const isHost = target === hostTarget;
    if (!isHost && !ref.startsWith('/') && !isSocketName(ref)) {
      return fail(
        'E_INPUT',
        'a local target needs a tmux socket, by name or full path',
        'use --tmux-socket with a name as for `tmux -L`, or a full path',
      );
    }
    const pathOf = (socket: string): string =>
      socket.startsWith('/') ? socket : `${socketDirectoryOf({ uid, variables })}/${socket}`;
    const other = this.machines().find(
      ({ kind, machine, connectionRef }) =>
        kind === 'local' && machine !== target && pathOf(connectionRef || defaultSocketName) === pathOf(ref),
    );
    if (!isHost && other !== undefined)
      return fail('E_INPUT', `that tmux server is already watched as ${other.machine}`, 'run `agtmux target list`');
    const search: SocketSearch = { machine: target, files, clock, uid, variables };
    const explicit = isHost ? hostSockets : [ref];
    const find = async (): Promise<readonly TargetSocket[]> => {
      const found = await findSockets(explicit === undefined ? search : { ...search, explicit });
      // A socket that was given a name by a person is called by that name alone.
      return isHost ? found : found.map((socket) => ({ ...socket, target }));
    };
    const executor = createLocalExecutor({ target, exec, channels, variables });
    return ok(
      new LocalMachine({
        machine: target,
        connectionRef: ref,
        executor,
        clock,
        find,
        onChange: this.#onChange(record),
      }),
    );
  }

  #sshMachine(record: TargetRecord): Result<Machine> {
    const alias = checkHostAlias(record.connection_ref);
    if (!alias.ok) return alias;
    const { clock, random, variables } = this.#options;
    const configured = variables.AGTMUX_SSH_CONFIG;
    const configFile = configured === undefined || configured === '' ? null : configured;
    const way = { target: record.target, alias: alias.value, configFile, guard: this.#guard };
    const executor = createSshExecutor({ ...this.#options, ...way });
    const { processesScript } = this.#options;
    const onChange = this.#onChange(record);
    return ok(
      new SshMachine({
        machine: record.target,
        connectionRef: alias.value,
        executor,
        clock,
        random,
        ...(processesScript === undefined ? {} : { processesScript }),
        onChange,
      }),
    );
  }

  #onChange(record: TargetRecord): (change: MachineChange, view: MachineView) => void {
    return (kind, view) => {
      if (!this.#machines.has(record.target)) return;
      if (kind === 'health') {
        const updated_at = this.#options.clock.wallMs();
        void this.#save({ ...record, health: view.health, last_seen_at: view.lastSeenAt, updated_at });
      }
      this.#options.onEvent({ kind, view });
    };
  }

  /** One after the other, the newest last. A full disk must not stop the watch: the next change is written again. */
  #save(record: TargetRecord): Promise<void> {
    this.#saving = this.#saving
      .then(() => (this.#machines.has(record.target) ? this.#options.book.putTarget(record) : undefined))
      .catch(() => undefined);
    return this.#saving;
  }
}

function recordOf(target: TargetId, kind: 'local' | 'ssh', ref: string, now: number): TargetRecord {
  const health: Health = kind === 'local' ? 'ok' : 'down';
  const is_default = target === hostTarget;
  return { target, kind, connection_ref: ref, is_default, health, last_seen_at: null, updated_at: now };
}

function notKnown(name: string): Result<never> {
  const shown = checkTargetName(name).ok ? name : 'of that name';
  return fail('E_REF_NOT_FOUND', `there is no target ${shown}`, 'run `agtmux target list`');
}
