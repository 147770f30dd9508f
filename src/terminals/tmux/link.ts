// The link to one tmux server: finds it, keeps a control connection to it, sweeps without one when tmux refuses it, and
// comes back for ever. Tells topology, screens, health and the end of a server; acts on nothing by itself.

import { AgtmuxError } from '../../model/errors.ts';
import type { PaneId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RandomSource } from '../../platform/random.ts';
import type { TerminalWatch } from '../../platform/terminal-watch.ts';
import { type TmuxAddress, tmuxArgv } from './address.ts';
import type { TmuxCapabilities } from './capabilities.ts';
import type { ClientRecords } from './client-records.ts';
import { turnsOf } from './client-turns.ts';
import type { ReplyBlocks } from './command-client.ts';
import { ControlConnection } from './connection.ts';
import { HealthWatch, type LinkHealth } from './health.ts';
import { canDieWithParent, type Probe, probeServer, versionsApart } from './probe.ts';
import { spawnLook } from './spawn-sweep.ts';
import type { PaneWatch } from './stream.ts';
import { linesOf, SweepState } from './sweep-state.ts';
import { isSameServer } from './topology.ts';
import { optionCommand, type UserOption } from './user-options.ts';
import type { PaneScreen, TmuxServer, Topology } from './view.ts';
import { PaneWatches, type WatchHandlers } from './watches.ts';

export interface TmuxLinkHandlers {
  /** Only when something changed. */
  readonly onTopology: (topology: Topology) => void;
  /** Only for wanted panes whose lines changed; after the topology of the same sweep. */
  readonly onScreen: (screen: PaneScreen) => void;
  /** A sweep was answered in full: everything told so far is still true at this time. */
  readonly onRefresh: (at: number) => void;
  readonly onHealth: (health: LinkHealth) => void;
  /** The server itself said it is gone, or another one answers in its place. Silence is not an end (RSV6). */
  readonly onServerGone: (server: TmuxServer) => void;
  /** Nothing that was told has to be looked at again soon. Left out: nobody knows. */
  readonly isSettled?: () => boolean;
}

export interface TmuxLinkOptions {
  readonly address: TmuxAddress;
  readonly clock: Clock;
  readonly random: RandomSource;
  /** The daemon's timeline, in milliseconds. */
  readonly now: () => number;
  readonly handlers: TmuxLinkHandlers;
  /** For the machine the daemon runs on. */
  readonly ledger?: ClientRecords;
  readonly sweepMs?: number;
  /** For the machine the daemon runs on, where its system tells of terminals. */
  readonly terminals?: TerminalWatch | null;
}

const optionsPerRequestMax = 256;

export class TmuxLink {
  readonly #options: TmuxLinkOptions;
  readonly #state = new SweepState();
  readonly #health: HealthWatch;
  #connection: ControlConnection | null = null;
  #capabilities: TmuxCapabilities | null = null;
  #server: TmuxServer | null = null;
  #dieWithParent: boolean | null = null;
  #isStopped = true;
  #running: Promise<void> = Promise.resolve();
  #backoffMs: number = limits.reconnectMsMin;
  #wake: (() => void) | null = null;
  readonly #watches: PaneWatches;

  constructor(options: TmuxLinkOptions) {
    this.#options = options;
    this.#watches = new PaneWatches(options);
    this.#health = new HealthWatch(options.clock, options.handlers.onHealth);
  }

  get capabilities(): TmuxCapabilities | null {
    return this.#capabilities;
  }

  get isControlled(): boolean {
    return this.#connection !== null;
  }

  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    this.#running = this.#run();
  }

  /** Takes our hooks and clients away; what was told stays told. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake?.();
    await this.#connection?.close();
    await this.#running;
  }

  /** The panes whose screens are told from now on. */
  wantScreens(panes: Iterable<PaneId>): void {
    this.#state.want(panes);
    this.#connection?.lookSoon();
  }

  /** The next sweep tells the screen of this pane, also when it looks as the last sweep saw it. */
  tellAgain(pane: PaneId): void {
    this.#state.tellAgain(pane);
  }

  /** Look again now instead of at the next sweep. */
  lookNow(): void {
    this.#connection?.nudge();
    this.#wake?.();
  }

  /** Resolves when everything printed up to now was looked at, or cannot be. */
  async looked(): Promise<void> {
    await this.#connection?.looked();
  }

  /** A state changed: a look at its screen may have to follow sooner than nothing moves. */
  stir(): void {
    this.#connection?.stir();
  }

  /** One tmux command line, quoted by the caller, with explicit `-t`. Rejects with E_TARGET_DOWN without a connection. */
  command(text: string, deadlineMs?: number): Promise<ReplyBlocks> {
    const connection = this.#connection;
    if (connection === null) return Promise.reject(new AgtmuxError('E_TARGET_DOWN', 'there is no connection to tmux'));
    return connection.request([text], deadlineMs);
  }

  /** Runs what opens, moves or shows windows or sessions of this server, by whatever way: never while we attach to it (FED6). */
  change<Value>(work: () => Promise<Value>): Promise<Value> {
    return turnsOf(this.#options.address).change(work, this.#options.clock);
  }

  /** The screen and `lines` rows of history above it, as foreign text; with `colours` including its escape sequences. */
  async capture(pane: PaneId, wanted: { readonly lines?: number; readonly colours?: boolean } = {}): Promise<string[]> {
    const history = Math.min(wanted.lines ?? 0, limits.captureLinesMax);
    const words = [
      'capture-pane',
      '-p',
      ...(wanted.colours === true ? ['-e'] : []),
      '-S',
      String(-history),
      '-t',
      pane,
    ];
    if (this.#connection !== null) {
      const [block] = await this.#connection.request([words.join(' ')]);
      if (block !== undefined && !block.isError) return linesOf(block.body);
      throw new AgtmuxError('E_REF_NOT_FOUND', `pane ${pane} no longer exists`);
    }
    const { address } = this.#options;
    const bounds = { deadlineMs: limits.tmuxRequestMs, outputBytesMax: limits.controlReplyBytesMax };
    const result = await address.executor.run([...tmuxArgv(address), ...words], bounds);
    if (result.status !== 0) throw new AgtmuxError('E_TARGET_DOWN', `tmux did not show pane ${pane}`);
    return linesOf(result.stdout.subarray(0, -1));
  }

  /** Sets user options in as few requests as possible. An id that is gone is passed over. */
  async setOptions(changes: readonly UserOption[]): Promise<void> {
    const connection = this.#connection;
    if (connection === null) return;
    const commands = changes.map(optionCommand);
    for (let start = 0; start < commands.length; start += optionsPerRequestMax) {
      await connection.request(commands.slice(start, start + optionsPerRequestMax));
    }
  }

  /** Follows a pane live until it is closed. Needs the connection: beside it no stuck stream can freeze the pane. */
  async watch(pane: PaneId, handlers: WatchHandlers): Promise<PaneWatch> {
    const session = this.#state.topology?.panes.get(pane)?.sessionId;
    if (this.#connection === null) throw new AgtmuxError('E_TARGET_DOWN', 'there is no connection to tmux');
    if (session === undefined) throw new AgtmuxError('E_REF_NOT_FOUND', `there is no pane ${pane}`);
    return this.#watches.open({ pane, session, dieWithParent: this.#dieWithParent === true }, handlers);
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const probe = await this.#health.watch(probeServer(this.#options.address));
      if (this.#isStopped) return;
      await this.#live(probe);
    }
  }

  async #live(probe: Probe): Promise<void> {
    switch (probe.kind) {
      case 'server':
        this.#capabilities = probe.capabilities;
        return this.#serve(probe.session, probe.capabilities);
      case 'none':
        this.#loseServer();
        this.#health.answer('no tmux server is running');
        return this.#rest(
          this.#options.address.executor.kind === 'local' ? limits.serverAppearsMs : limits.reconnectMsMax,
        );
      case 'trouble':
        if (probe.isLasting) this.#health.refuse(probe.words, probe.code);
        else this.#health.miss(probe.words, probe.code);
        return this.#rest(limits.reconnectMsMax);
    }
  }

  async #serve(session: string, { version }: TmuxCapabilities): Promise<void> {
    const trouble = await this.#control(session);
    if (this.#isStopped || trouble === null) return;
    const apart = await this.#health.watch(versionsApart(this.#options.address, version));
    await this.#spawnSweeps(apart ?? trouble);
  }

  /** Null when the connection lived for a while and is over; the reason when tmux never gave one. */
  async #control(session: string): Promise<string | null> {
    const { address, clock, random, ledger, now } = this.#options;
    let connection: ControlConnection | null = null;
    let hasSwept = false;
    try {
      this.#dieWithParent ??= await this.#health.watch(canDieWithParent(address));
      connection = await this.#health.watch(
        ControlConnection.open({
          address,
          clock,
          random,
          session,
          now,
          ledger: ledger ?? null,
          dieWithParent: this.#dieWithParent === true,
          sweepMs: this.#options.sweepMs ?? limits.sweepMs,
          state: this.#state,
          health: this.#health,
          terminals: this.#options.terminals ?? null,
          isSettled: this.#options.handlers.isSettled ?? (() => false),
          onSwept: (server, screens) => {
            hasSwept = true;
            this.#backoffMs = limits.reconnectMsMin;
            this.#tell(server, screens);
          },
        }),
      );
      this.#meet(connection.server);
      this.#connection = connection;
      if (!this.#isStopped) await connection.run();
      return null;
    } catch (error) {
      if (!(error instanceof AgtmuxError)) throw error;
      return hasSwept ? null : error.message;
    } finally {
      this.#connection = null;
      this.#watches.endAll('the connection to tmux ended');
      if (this.#isStopped) await connection?.close();
      else connection?.abandon();
      if (hasSwept) await this.#rest(limits.reconnectMsMax);
    }
  }

  /** Until it is time to try control mode again, each look is a process of its own. */
  async #spawnSweeps(trouble: string): Promise<void> {
    const { clock, address, random, now } = this.#options;
    const untilMs = clock.monotonicMs() + this.#backoffMs;
    this.#backoffMs = Math.min(this.#backoffMs * 2, limits.reconnectMsMax);
    do {
      const due = this.#state.capturesDue();
      const look = await this.#health.watch(spawnLook(address, due, random.hex(8)));
      if (this.#isStopped) return;
      if (look === null) {
        this.#health.miss(trouble);
        return;
      }
      this.#meet(look.server);
      this.#state.takeFull(look.rows);
      const screens = [...look.captures].map(([pane, body]) => this.#state.takeCapture(pane, body, now(), look.time));
      this.#tell(
        look.server,
        screens.filter((screen) => screen !== null),
      );
      this.#health.answer(`without control mode: ${trouble}`);
      await this.#sleep(Math.max(this.#options.sweepMs ?? 0, limits.sweepSpawnMs));
    } while (!this.#isStopped && clock.monotonicMs() < untilMs);
  }

  #tell(server: TmuxServer, screens: readonly PaneScreen[]): void {
    const { handlers, now } = this.#options;
    const topology = this.#state.news(server);
    if (topology !== null) {
      this.#watches.check(topology);
      handlers.onTopology(topology);
    }
    for (const screen of screens) handlers.onScreen(screen);
    handlers.onRefresh(now());
  }

  /** Pane ids restart with the server, so nothing known of another one may be compared with what this one says (IDN2). */
  #meet(server: TmuxServer): void {
    if (this.#server !== null && !isSameServer(this.#server, server)) this.#loseServer();
    this.#server = server;
  }

  #loseServer(): void {
    const server = this.#server;
    this.#server = null;
    this.#state.forget();
    if (server !== null) this.#options.handlers.onServerGone(server);
  }

  /** The pause before the next attempt: longer each time, up to `msMax`. */
  async #rest(msMax: number): Promise<void> {
    const delayMs = Math.min(this.#backoffMs, msMax);
    this.#backoffMs = Math.min(this.#backoffMs * 2, limits.reconnectMsMax);
    await this.#sleep(delayMs);
  }

  #sleep(delayMs: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#wake = null;
        cancel();
        resolve();
      };
      const cancel = this.#options.clock.after(delayMs, done);
      this.#wake = done;
    });
  }
}
