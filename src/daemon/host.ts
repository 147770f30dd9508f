// This machine: its tmux sockets, found again and again, each watched as a target of its own (IDN1).

import { identifyAgent } from '../agents/registry.ts';
import { AgtmuxError } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';
import { openProc, type ProcSource } from '../observe/process/proc.ts';
import { parsePsReport, psScript } from '../observe/process/ps.ts';
import { createClientLedger } from '../observe/tmux/client-ledger.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import { createRealProcesses } from '../platform/processes.ts';
import type { RandomSource } from '../platform/random.ts';
import type { Executor } from '../targets/executor.ts';
import { hostTarget } from '../targets/names.ts';
import { findSockets } from '../targets/sockets.ts';
import type { Config } from './config.ts';
import type { Ledger } from './ledger.ts';
import type { RawEvent } from './sightings.ts';
import { type ProcessSight, TargetWatch } from './watch.ts';

export interface HostParts {
  readonly clock: Clock;
  readonly files: Files;
  readonly random: RandomSource;
  readonly executor: Executor;
  readonly uid: number;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Sockets named by the user instead of a search. */
  readonly sockets: readonly string[] | undefined;
  readonly clientsFile: string;
  readonly config: Config;
  readonly ledger: Ledger;
  readonly now: () => number;
  readonly toTimeline: (wallMs: number) => number;
  readonly offer: (events: readonly RawEvent[]) => void;
  readonly onChange: () => void;
}

/** Between two searches for sockets: a new server is a rare thing, and its first session says so itself soon after. */
const searchMs = 1_000;
const glanceMs = 2_000;

export class HostWatch {
  readonly #parts: HostParts;
  readonly #watches = new Map<TargetId, TargetWatch>();
  readonly #sight: ProcessSight;
  #timer: Cancel | null = null;
  #isStopped = false;

  constructor(parts: HostParts) {
    this.#parts = parts;
    const proc = openProc(createRealProcesses());
    this.#sight = proc.ok ? sightOfProc(proc.value) : sightOfPs(parts.executor);
  }

  watches(): Iterable<TargetWatch> {
    return this.#watches.values();
  }

  async start(): Promise<void> {
    const { executor, files, clientsFile } = this.#parts;
    await createClientLedger({ files, executor, path: clientsFile }).endLeftovers();
    await this.#search();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.();
    await Promise.all([...this.#watches.values()].map((watch) => watch.stop()));
    await this.#parts.executor.close();
  }

  async #search(): Promise<void> {
    const { files, clock, uid, variables, sockets } = this.#parts;
    const explicit = sockets === undefined ? {} : { explicit: sockets };
    const found = await findSockets({ machine: hostTarget, files, clock, uid, variables, ...explicit });
    for (const socket of found) {
      if (!this.#watches.has(socket.target) && !this.#isStopped) this.#watch(socket.target, socket.path);
    }
    const isThere = new Set(found.map((socket) => socket.target));
    for (const [target, watch] of this.#watches) {
      // The default socket stays listed; another one leaves with its server.
      if (isThere.has(target) || watch.topology !== null) continue;
      this.#watches.delete(target);
      await watch.stop();
      this.#parts.onChange();
    }
    if (!this.#isStopped) this.#timer = clock.after(searchMs, () => void this.#search());
  }

  #watch(target: TargetId, path: string): void {
    const { executor, files, clientsFile, config, clock, random } = this.#parts;
    const watch = new TargetWatch({
      ...this.#parts,
      target,
      kind: 'local',
      link: {
        address: { executor, socket: { kind: 'path', path } },
        random,
        ledger: createClientLedger({ files, executor, path: clientsFile }),
        sweepMs: config.observe.sweep_ms,
      },
      clock,
      sight: this.#sight,
      identify: identifyAgent,
      glanceMs,
      aliveMs: config.observe.alive_ms,
    });
    this.#watches.set(target, watch);
    watch.start();
  }
}

function sightOfProc(proc: ProcSource): ProcessSight {
  return {
    read: (panePids) => Promise.resolve(proc.read(panePids)),
    glance: (panePid) => proc.glance(panePid),
    isAlive: (process) => proc.seemsAlive(process),
  };
}

/** macOS, and Linux without a readable /proc. */
function sightOfPs(executor: Executor): ProcessSight {
  return {
    read: async () => {
      const told = await executor.run(['sh', '-c', psScript], { deadlineMs: 5_000, outputBytesMax: 8_388_608 });
      const table = parsePsReport(Buffer.from(told.stdout).toString('latin1'));
      if (!table.ok) throw new AgtmuxError(table.failure.code, table.failure.message);
      return table.value;
    },
    glance: null,
    isAlive: null,
  };
}
