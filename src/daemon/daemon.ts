// The daemon: log, engine, inbox, feed and watches wired together, and what its doors are given of them. Everything that
// decides something lives elsewhere; this file only connects.

import type { DaemonService, DaemonStatus, NewTarget } from '../api/service.ts';
import { AgtmuxError, fail, type Result } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Health } from '../model/records.ts';
import type { PaneRow, TargetRow } from '../model/rows.ts';
import type { Verdict } from '../model/verdicts.ts';
import type { Topology } from '../observe/tmux/view.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Places } from '../platform/environment.ts';
import type { Log } from '../platform/log.ts';
import { createFeed, type Feed } from './feed.ts';
import { type HostParts, HostWatch } from './host.ts';
import { Inbox } from './inbox.ts';
import { RowBook } from './rows.ts';
import type { RawEvent } from './sightings.ts';
import { type Ground, layGround } from './start.ts';
import type { TargetWatch } from './watch.ts';

export interface DaemonParts {
  readonly version: string;
  readonly pid: number;
  readonly places: Places;
  readonly clock: Clock;
  readonly log: Log;
  readonly memoryBytes: () => number;
  /** Asked to end; called at most once. */
  readonly onStop: () => void;
  readonly host: Pick<
    HostParts,
    'files' | 'random' | 'executor' | 'uid' | 'variables' | 'sockets' | 'config' | 'clientsFile'
  >;
}

/** Changes within this time are told together: a spinner in a title rings ten times a second. */
const publishMs = 20;

export class Daemon implements DaemonService {
  readonly #parts: DaemonParts;
  readonly #ground: Ground;
  readonly #inbox: Inbox;
  readonly #book: RowBook;
  readonly #host: HostWatch;
  readonly #startedAt: number;
  readonly feed: Feed<PaneRow | TargetRow>;
  #publishTimer: Cancel | null = null;
  #tickTimer: Cancel | null = null;
  #isStopped = false;

  private constructor(parts: DaemonParts, ground: Ground) {
    this.#parts = parts;
    this.#ground = ground;
    this.#startedAt = parts.clock.monotonicMs();
    this.#inbox = new Inbox(ground.ledger, parts.clock);
    this.#book = new RowBook({
      ledger: ground.ledger,
      topologies: this.#topologies(),
      healthOf: (target) => this.#healthOf(target),
      targets: () => this.targets(),
    });
    this.feed = createFeed({
      epoch: ground.epoch,
      // Each run begins a block of its own: what was told but not yet committed when the last one ended never repeats.
      firstVersion: ground.loaded.feed_version + limits.feedVersionsPerRun,
      snapshot: () => this.#book.snapshot(),
    });
    this.#host = new HostWatch({
      ...parts.host,
      clock: parts.clock,
      ledger: ground.ledger,
      now: () => ground.timeline.now(),
      toTimeline: (wallMs) => ground.timeline.fromLocalWall(wallMs),
      offer: (events) => this.#offer(events),
      onChange: () => this.#publishSoon(),
    });
  }

  /** Ready when it resolves: the log is replayed and this machine is being watched. */
  static async start(parts: DaemonParts): Promise<Daemon> {
    let daemon: Daemon | null = null;
    const onChange = (): number => {
      daemon?.changed();
      return daemon?.feed.version() ?? 0;
    };
    const ground = await layGround({
      stateDir: parts.places.stateDir,
      clock: parts.clock,
      random: parts.host.random,
      onChange,
    });
    const { damage, setAside } = ground.loaded;
    if (damage !== null) parts.log.warn('the log was damaged and begins anew', { damage, setAside });
    daemon = new Daemon(parts, ground);
    await daemon.#host.start();
    daemon.#tick();
    return daemon;
  }

  async close(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#tickTimer?.();
    this.#publishTimer?.();
    await this.#host.stop();
    await this.#inbox.drain();
    this.feed.close();
    await this.#ground.loaded.store.close();
  }

  /** The ledger has committed something. */
  changed(): void {
    this.#publishSoon();
    this.#tick();
  }

  rows(): readonly PaneRow[] {
    return this.#book.rows();
  }

  targets(): readonly TargetRow[] {
    return [...this.#watches()].map((watch) => {
      const { health, trouble, lastSeenAt } = watch.health;
      return {
        target: watch.target,
        kind: watch.kind,
        health,
        trouble,
        tmux_version: watch.topology?.server.version ?? null,
        last_seen_at: lastSeenAt === null ? null : Math.floor(lastSeenAt / 1000) * 1000,
        panes: watch.topology?.panes.size ?? 0,
      };
    });
  }

  status(): DaemonStatus {
    const { places, version, pid, clock, memoryBytes } = this.#parts;
    const { failure } = this.#inbox;
    return {
      version,
      pid,
      up_ms: Math.round(clock.monotonicMs() - this.#startedAt),
      ready: true,
      state_dir: places.stateDir,
      socket_path: places.socketPath,
      trouble: failure instanceof Error ? failure.message : null,
      events: this.#ground.ledger.counters(),
      feed_version: this.feed.version(),
      memory_bytes: memoryBytes(),
    };
  }

  now(): number {
    return this.#ground.timeline.now();
  }

  toWall(time: number): number {
    return this.#ground.timeline.toWall(time);
  }

  takeEvents(raws: readonly unknown[]): Promise<readonly Verdict[]> {
    return Promise.all(raws.map((raw) => this.#inbox.offer(raw)));
  }

  addTarget(_target: NewTarget): Promise<Result<TargetRow>> {
    return Promise.resolve(fail('E_USAGE', 'targets on other machines come with a later version'));
  }

  connectTarget(target: TargetId): Promise<Result<TargetRow>> {
    const row = this.targets().find((one) => one.target === target);
    return Promise.resolve(
      row === undefined ? fail('E_REF_NOT_FOUND', `there is no target ${target}`) : { ok: true, value: row },
    );
  }

  removeTarget(target: TargetId): Promise<Result<null>> {
    return Promise.resolve(fail('E_USAGE', `${target} is part of this machine and cannot be removed`));
  }

  stop(): void {
    this.#parts.onStop();
  }

  *#watches(): Iterable<TargetWatch> {
    yield* this.#host?.watches() ?? [];
  }

  #topologies(): ReadonlyMap<TargetId, Topology> {
    const watches = (): Iterable<TargetWatch> => this.#watches();
    return {
      get: (target: TargetId) => [...watches()].find((watch) => watch.target === target)?.topology ?? undefined,
      *[Symbol.iterator]() {
        for (const watch of watches()) if (watch.topology !== null) yield [watch.target, watch.topology];
      },
    } as ReadonlyMap<TargetId, Topology>;
  }

  #healthOf(target: TargetId): Health {
    return [...this.#watches()].find((watch) => watch.target === target)?.health.health ?? 'ok';
  }

  #offer(events: readonly RawEvent[]): void {
    for (const event of events) {
      this.#inbox.offer(event).catch((problem: unknown) => {
        // A full inbox: the next look sees the same and offers it again.
        if (!(problem instanceof AgtmuxError)) throw problem;
        this.#parts.log.warn('an observation was not taken', { code: problem.code });
      });
    }
  }

  #publishSoon(): void {
    if (this.#publishTimer !== null || this.#isStopped) return;
    this.#publishTimer = this.#parts.clock.after(publishMs, () => {
      this.#publishTimer = null;
      this.feed.publish(this.#book.changes());
    });
  }

  /** Wakes when the next state ages by time alone. */
  #tick(): void {
    this.#tickTimer?.();
    const due = this.#ground.ledger.world.nextDue();
    if (due === null || this.#isStopped) return;
    const delay = Math.max(0, due - this.now());
    this.#tickTimer = this.#parts.clock.after(delay, () => {
      this.#tickTimer = null;
      void this.#inbox.tick().then(() => this.#tick());
    });
  }
}
