// One machine with its daemon, other machines, and a clock for each, in memory: everything that reads a clock on the way
// of a fact is the real code (timeline, spools, hook calls, native streams, inbox, ledger, engine); the disk, the link to
// the other machines and the agents are simulated.

import { agent as claude } from '../../src/agents/claude/agent.ts';
import { agent as opencode } from '../../src/agents/opencode/agent.ts';
import { Loader } from '../../src/engine/load.ts';
import { World } from '../../src/engine/world.ts';
import { EventProcessor } from '../../src/ingest/event-processor.ts';
import { Inbox } from '../../src/ingest/inbox.ts';
import {
  createTimeline,
  type KeptClocks,
  readKeptClocks,
  type Timeline,
  writeKeptClocks,
} from '../../src/ingest/timeline.ts';
import { failure, ok } from '../../src/model/errors.ts';
import type { EventEnvelope, RuntimeIdentity } from '../../src/model/events.ts';
import { type RuntimeId, type TargetId, targetId } from '../../src/model/ids.ts';
import { limits } from '../../src/model/limits.ts';
import type { Verdict } from '../../src/model/verdicts.ts';
import { TargetSources } from '../../src/observe/target-sources.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createSimulatedClock } from '../../src/platform/simulated/clock.ts';
import { createSimulatedFiles } from '../../src/platform/simulated/files.ts';
import type { SimulatedRandom } from '../../src/platform/simulated/random.ts';
import type { FollowHandlers, Reach } from '../../src/sources/native/follower.ts';
import { RemoteSpool } from '../../src/sources/spool/remote-spool.ts';
import { Spool } from '../../src/sources/spool/spool.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import { type ClockOffset, clockOffsetOf } from '../../src/targets/clock-offset.ts';
import type { RemoteFile } from '../../src/targets/collector-files.ts';
import { hostTarget } from '../../src/targets/names.ts';
import type { Script, Step, Words } from './clock-script.ts';

/** What a planted bug may replace. */
export interface ClockParts {
  readonly timeline: typeof createTimeline;
  readonly offsetOf: typeof clockOffsetOf;
  /** What is left of what a run wrote down for the next one. */
  readonly kept: (kept: KeptClocks) => KeptClocks;
  /** Whether the clocks of other machines are measured again. */
  readonly measuresAgain: boolean;
  readonly keepsSince: boolean;
  /** Whether a spool over there is read only when the clock there was measured. */
  readonly waitsForClock: boolean;
}

export const soundClockParts: ClockParts = {
  timeline: createTimeline,
  offsetOf: clockOffsetOf,
  kept: (kept) => kept,
  measuresAgain: true,
  keepsSince: true,
  waitsForClock: true,
};

export interface Fact {
  readonly runtime: string;
  readonly time: number;
  /** What the wall showed when it arose, null where another machine's did. */
  readonly wallMs: number | null;
  readonly verdict: string;
  readonly isFar: boolean;
}

export interface Probe {
  readonly runtime: string;
  readonly words: string;
  readonly since: number;
}

export interface Played {
  readonly facts: ReadonlyMap<string, Fact>;
  readonly probes: readonly Probe[];
  /** Agents of which something was said while this machine slept and nobody looked: its place is known, not its time. */
  readonly loose: ReadonlySet<string>;
  /** Runtimes whose calls were not handed over in their order: since when a state is shown depends on that (CNV1). */
  readonly reordered: ReadonlySet<string>;
  /** Promises that broke, whatever the steady run says. */
  readonly broken: readonly string[];
}

const wallMs = 1_700_000_000_000;
const spoolFolder = '/state/spool';
const streamPort = 4_096;
const encoder = new TextEncoder();

interface Call {
  readonly agent: number;
  readonly number: number;
  readonly wallMs: number;
  readonly isFar: boolean;
}

interface FarMachine {
  readonly name: TargetId;
  readonly files: Map<string, RemoteFile>;
  offsetMs: number;
  isUp: boolean;
  /** By the daemon that runs, since the link stands. */
  isMeasured: boolean;
}

interface Life {
  isOver: boolean;
}

/** A daemon that runs. */
interface Daemon {
  readonly timeline: Timeline;
  readonly ledger: EventProcessor;
  readonly inbox: Inbox;
  readonly hearings: readonly TargetSources[];
  readonly stop: () => Promise<void>;
}

export async function play(
  script: Script,
  isSteady: boolean,
  random: SimulatedRandom,
  parts: ClockParts,
): Promise<Played> {
  return new ClockWorld(script, isSteady, random, parts).run();
}

class ClockWorld {
  readonly #script: Script;
  readonly #isSteady: boolean;
  readonly #random: SimulatedRandom;
  readonly #parts: ClockParts;
  readonly #clock = createSimulatedClock({ wallMs, monotonicMs: 5_000 });
  readonly #files = createSimulatedFiles({ clock: this.#clock });
  readonly #store = new MemoryStore();
  readonly #fars: FarMachine[];
  readonly #facts = new Map<string, Fact>();
  readonly #probes: Probe[] = [];
  readonly #broken: string[] = [];
  /** Wall time at which each call was made, by its file. */
  readonly #calls = new Map<string, Call>();
  /** The last call of each agent that was taken, by number. */
  readonly #taken = new Map<number, number>();
  #kept: string | null = null;
  #daemon: Daemon | null = null;
  #stream: FollowHandlers | null = null;
  #boot = 0;
  #bootedMs = 0;
  #sleptMs = 0;
  #asks = 0;
  #streamed = 0;
  #isBegun = false;
  #isAsleep = false;
  readonly #loose = new Set<number>();
  readonly #reordered = new Set<string>();

  constructor(script: Script, isSteady: boolean, random: SimulatedRandom, parts: ClockParts) {
    this.#script = script;
    this.#isSteady = isSteady;
    this.#random = random;
    this.#parts = parts;
    this.#fars = script.fars.map(({ offsetMs }, far) => ({
      name: targetId(`vm${far}`),
      files: new Map(),
      offsetMs: isSteady ? 0 : offsetMs,
      isUp: true,
      isMeasured: false,
    }));
  }

  async run(): Promise<Played> {
    await this.#files.mkdirPrivate(spoolFolder);
    await this.#start();
    for (const step of this.#script.steps) await this.#do(step);
    for (const file of this.#calls.keys()) {
      const isHeard = [...this.#facts.keys()].some((key) => key.startsWith(`${file}:`));
      if (!isHeard) this.#broken.push(`${file} was never heard of`);
    }
    await this.#daemon?.stop();
    const loose = new Set([...this.#loose].map((agent) => `r${agent}`));
    return {
      facts: this.#facts,
      probes: this.#probes,
      loose,
      reordered: this.#reordered,
      broken: [...new Set(this.#broken)],
    };
  }

  async #do(step: Step): Promise<void> {
    if (step.kind === 'sleep') this.#isAsleep = true;
    else if (step.kind !== 'hook') this.#isAsleep = false;
    switch (step.kind) {
      case 'pass':
        await this.#clock.advanceSettled(step.ms);
        this.#drift(step.ms);
        break;
      case 'stall':
        this.#clock.stall(step.ms);
        this.#drift(step.ms);
        break;
      case 'hook':
        await this.#hook(step.agent, step.words);
        break;
      case 'screen':
        this.#screen(step.agent, step.state);
        break;
      case 'stream':
        this.#say(step.word, step.reconnects);
        break;
      case 'daemon':
        await this.#startOrStop(step.runs, step.reboots);
        break;
      case 'link':
        Object.assign(this.#fars[step.far] as FarMachine, { isUp: step.up, isMeasured: false });
        break;
      case 'probe':
        this.#probe();
        break;
      case 'set':
      case 'sleep':
      case 'zone':
        if (!this.#isSteady) this.#disturb(step);
        break;
    }
  }

  #disturb(step: Extract<Step, { kind: 'set' | 'sleep' | 'zone' }>): void {
    if (step.kind === 'zone') process.env.TZ = step.name;
    else if (step.kind === 'sleep') {
      this.#clock.suspend(step.ms);
      this.#sleptMs += step.ms;
    } else if (step.of < 0) this.#clock.jumpWall(step.byMs);
    else (this.#fars[step.of] as FarMachine).offsetMs += step.byMs;
  }

  /** Every clock has a rate of its own. */
  #drift(passedMs: number): void {
    if (this.#isSteady) return;
    this.#clock.jumpWall((passedMs * this.#script.drift) / 1e6);
    this.#fars.forEach((far, place) => {
      far.offsetMs += (passedMs * (this.#script.fars[place]?.drift ?? 0)) / 1e6;
    });
  }

  /** The time that nobody sets, as the clock of another machine shows it. */
  #farWallMs({ offsetMs }: FarMachine): number {
    return Math.floor(wallMs - 5_000 + this.#clock.monotonicMs() + this.#sleptMs + offsetMs);
  }

  #identityOf(agent: number): RuntimeIdentity {
    const machine = this.#script.agents[agent] ?? -1;
    const target = machine < 0 ? hostTarget : (this.#fars[machine] as FarMachine).name;
    return {
      runtime_id: `r${agent}` as RuntimeId,
      target,
      agent: agent === 0 ? opencode.name : claude.name,
      server: null,
      pane: null,
      pane_epoch: 0,
      process: { boot: 'b', pid: 100 + agent, start: '1' },
      parent: null,
      started_at: wallMs,
    };
  }

  /** Agent 0 tells by its stream; its calls are those of another one. */
  async #hook(asked: number, words: Words): Promise<void> {
    const agent = asked === 0 ? 1 : asked;
    const machine = this.#script.agents[agent] ?? -1;
    const number = this.#calls.size;
    const file = `${1_000 + number}-${5_000 + number}-0`;
    const payload = JSON.stringify(payloadOf(words, agent, this.#askOf(words)));
    const text = `agtmux1 agent=claude event=${eventNames[words]} pane= socket= pid=${5_000 + number} ppid=1 up=${100 + agent}:1 body=stdin\n${payload}`;
    const far = this.#fars[machine];
    // When in the time that nobody looked the machine slept, nobody knows.
    if (this.#isAsleep && (this.#daemon === null || far?.isUp !== true)) this.#loose.add(agent);
    this.#calls.set(file, { agent, number, wallMs: this.#clock.wallMs(), isFar: far !== undefined });
    if (far === undefined) await this.#files.append(`${spoolFolder}/${file}`, encoder.encode(text), { sync: false });
    else {
      const bytes = encoder.encode(text);
      far.files.set(file, { name: file, sizeBytes: bytes.length, mtimeMs: this.#farWallMs(far), bytes });
    }
  }

  #askOf(words: Words): string {
    if (words === 'ask') this.#asks += 1;
    return `toolu_${this.#asks}`;
  }

  #screen(agent: number, state: 'running' | 'idle'): void {
    if (this.#daemon === null) return;
    const { target, runtime_id } = this.#identityOf(agent);
    const reason = state === 'running' ? 'turn_running' : 'prompt_ready';
    const time = this.#daemon.timeline.now();
    void this.#take([
      {
        evidence: { target, runtime_id },
        source: 'screen',
        kind: 'state.observed',
        event_time: time,
        payload: { state, reason, confidence: 'high' },
      },
    ]);
  }

  #say(word: 'busy' | 'retry' | 'idle', reconnects: boolean): void {
    if (this.#stream === null) return;
    if (reconnects) {
      this.#stream.onInput({ kind: 'closed' });
      this.#stream.onInput({ kind: 'opened' });
    }
    const event = { type: 'session.status', properties: { sessionID: 'ses', status: { type: word } } };
    this.#stream.onInput({ kind: 'message', text: `data: ${JSON.stringify(event)}` });
  }

  async #startOrStop(runs: boolean, reboots: boolean): Promise<void> {
    if (!runs) {
      await this.#daemon?.stop();
      this.#daemon = null;
      this.#stream = null;
      return;
    }
    if (reboots) {
      this.#boot += 1;
      this.#bootedMs = this.#clock.monotonicMs();
    }
    await this.#start();
  }

  async #start(): Promise<void> {
    const clock = this.#processClock();
    const loader = new Loader(new World());
    const { feed_version } = await this.#store.replay((row) => loader.visit(row));
    const timeline = this.#parts.timeline(clock, this.#isBegun ? loader.newest : null, {
      kept: this.#parts.kept(readKeptClocks(this.#kept)),
      boot: `boot-${this.#boot}`,
      keep: (clocks) => {
        this.#kept = writeKeptClocks(clocks);
      },
    });
    const ledger = await EventProcessor.from({ store: this.#store, now: () => timeline.now() }, loader, feed_version);
    const inbox = new Inbox(ledger, clock);
    const life = { isOver: false };
    const fars = this.#fars.map((far) => this.#hearFar(far, clock, timeline, ledger, life));
    const hearings = [this.#hearHere(clock, timeline, ledger), ...fars];
    const stop = async (): Promise<void> => {
      life.isOver = true;
      await Promise.all(hearings.map((one) => one.stop()));
      await inbox.drain();
    };
    this.#daemon = { timeline, ledger, inbox, hearings, stop };
    if (!this.#isBegun) await this.#begin();
    for (const hearing of hearings) hearing.start();
    hearings[0]?.setRuns(hostTarget, [{ agent: opencode, run: streamRun }]);
    const tick = (): void => {
      if (life.isOver) return;
      void inbox.between(() => ledger.tick());
      clock.after(1_000, tick);
    };
    clock.after(1_000, tick);
  }

  async #begin(): Promise<void> {
    this.#isBegun = true;
    const starts = this.#script.agents.map((_, agent): EventEnvelope => {
      const runtime = this.#identityOf(agent);
      const evidence = { target: runtime.target };
      return {
        evidence,
        source: 'process',
        kind: 'runtime.started',
        event_time: wallMs,
        dedupe_key: `start:${agent}`,
        payload: { runtime },
      };
    });
    await Promise.all(starts.map((one) => this.#daemon?.inbox.offer(one)));
  }

  /** As a process sees it: its monotonic time begins with it. */
  #processClock(): Clock {
    const beganMs = this.#clock.monotonicMs();
    return {
      wallMs: () => this.#clock.wallMs(),
      monotonicMs: () => this.#clock.monotonicMs() - beganMs,
      originMs: beganMs - this.#bootedMs,
      after: (delayMs, callback) => this.#clock.after(delayMs, callback),
    };
  }

  #hearHere(clock: Clock, timeline: Timeline, ledger: EventProcessor): TargetSources {
    const reach: Reach = {
      isRemote: false,
      follow: (_, handlers) => {
        this.#stream = handlers;
        handlers.onInput({ kind: 'opened' });
        return { send: () => false, finish: () => undefined, close: () => undefined };
      },
      close: () => undefined,
    };
    return this.#hear(hostTarget, ledger, timeline, {
      reach,
      openSpool: (take) =>
        new Spool({
          folder: spoolFolder,
          uid: 1_000,
          files: this.#files,
          watch: { hint: () => ({ close: () => undefined }) },
          clock,
          take: (call) => take(this.#parts.keepsSince ? call : { ...call, sinceMs: null }),
        }),
      now: () => clock.wallMs(),
      toTimeline: (ms, notBeforeMs) => timeline.fromLocalWall(ms, notBeforeMs),
    });
  }

  #hearFar(far: FarMachine, clock: Clock, timeline: Timeline, ledger: EventProcessor, life: Life): TargetSources {
    const down = { ok: false, failure: failure('E_TARGET_DOWN', 'no answer') } as const;
    const collector = {
      spool: async () => (far.isUp ? ok([...far.files.values()]) : down),
      spoolDone: async (done: readonly string[], refused: readonly string[] = []) => {
        if (!far.isUp) return down;
        for (const name of done) far.files.delete(name);
        for (const name of refused) this.#broken.push(`${name} was refused over there`);
        return ok(null);
      },
    };
    this.#measure(far, clock, timeline, life);
    const reach: Reach = {
      isRemote: true,
      follow: () => ({ send: () => false, finish: () => undefined, close: () => undefined }),
      close: () => undefined,
    };
    return this.#hear(far.name, ledger, timeline, {
      reach,
      openSpool: (take) =>
        new RemoteSpool({
          collector,
          clock,
          isReady: () => !this.#parts.waitsForClock || far.isMeasured,
          take: (call) => take(this.#parts.keepsSince ? call : { ...call, sinceMs: null }),
        }),
      now: () => timeline.targetNow(far.name) ?? clock.wallMs(),
      toTimeline: (ms, notBeforeMs) => timeline.fromTarget(far.name, ms, notBeforeMs) ?? timeline.now(),
    });
  }

  /** When a connection stands, when our own clock has moved, and now and then: as `targets/ssh-machine` does it. */
  #measure(far: FarMachine, clock: Clock, timeline: Timeline, life: Life): void {
    const leadMs = (): number => clock.wallMs() - clock.monotonicMs();
    far.isMeasured = false;
    let measured: { leadMs: number; atMs: number } | null = null;
    const look = (): void => {
      if (life.isOver) return;
      if (!far.isMeasured) measured = null;
      const isDue =
        measured === null ||
        Math.abs(leadMs() - measured.leadMs) > limits.wallJumpMs ||
        clock.monotonicMs() - measured.atMs >= limits.clockMeasureMs;
      if (far.isUp && isDue && (measured === null || this.#parts.measuresAgain)) {
        const offset = this.#sampleOf(far, clock);
        if (offset !== null) timeline.setTargetOffset(far.name, offset.offsetMs);
        measured = { leadMs: leadMs(), atMs: clock.monotonicMs() };
        far.isMeasured = true;
      }
      clock.after(measured === null ? limits.heartbeatMs : limits.socketScanMs, look);
    };
    look();
  }

  #sampleOf(far: FarMachine, clock: Clock): ClockOffset | null {
    const samples = [1, 2, 3].map(() => {
      const roundTripMs = this.#isSteady ? 0 : this.#random.int(1, 80);
      const thereMs = this.#isSteady ? 0 : this.#random.int(0, roundTripMs);
      const askedMs = clock.wallMs();
      return { askedMs, answeredMs: askedMs + roundTripMs, remoteMs: this.#farWallMs(far) + thereMs, precisionMs: 1 };
    });
    return this.#parts.offsetOf(samples);
  }

  #hear(
    machine: TargetId,
    ledger: EventProcessor,
    timeline: Timeline,
    ports: Pick<ConstructorParameters<typeof TargetSources>[0], 'reach' | 'openSpool' | 'now' | 'toTimeline'>,
  ): TargetSources {
    return new TargetSources({
      machine,
      ledger,
      timelineNow: () => timeline.now(),
      fromMonotonic: (ms) => timeline.fromMonotonic(ms),
      ...ports,
      calls: {
        boot: () => 'b',
        agentOf: (name) => (name === claude.name ? claude : null),
        identify: () => null,
        programOf: () => null,
        socketOf: () => null,
        targetOf: () => machine,
        onPending: () => undefined,
        meet: null,
        originOf: () => 'possible',
        isOff: () => false,
        isManagedProcess: () => false,
      },
      offer: (events) => void this.#take(events),
      take: (events) => this.#take(events),
    });
  }

  async #take(events: readonly EventEnvelope[]): Promise<readonly Verdict[]> {
    const { inbox } = this.#daemon as Daemon;
    const wall = this.#clock.wallMs();
    const verdicts = await Promise.all(events.map((one) => inbox.offer(one)));
    events.forEach((one, place) => {
      const [file = '', part = ''] = one.source === 'hook' ? (one.dedupe_key ?? '').split(/@[\d.]+:/) : [];
      const call = this.#calls.get(file);
      this.#streamed += call === undefined ? 1 : 0;
      const key = call === undefined ? `${one.source} ${this.#streamed}` : `${file}:${part}`;
      const runtime = `r${call?.agent ?? 0}`;
      const words = (verdicts[place] as Verdict).verdict;
      // A clock that was set back makes the newer file the older one: it is handed over first, and the other one is late.
      const newest = this.#taken.get(call?.agent ?? -1) ?? -1;
      const isLate = words === 'late' && call !== undefined && newest > call.number;
      if (words !== 'applied' && !isLate)
        this.#broken.push(`${key} (${one.kind}) is ${words}: ${verdicts[place]?.reason}`);
      if (call !== undefined) this.#noteTaken(call, newest);
      const isFar = call?.isFar ?? one.evidence.target !== hostTarget;
      this.#facts.set(key, {
        runtime,
        time: one.event_time,
        wallMs: call?.isFar ? null : (call?.wallMs ?? wall),
        verdict: words,
        isFar,
      });
    });
    return verdicts;
  }

  /** One that is handed over too late cuts the batches of its whole machine in other places. */
  #noteTaken({ agent, number }: Call, newest: number): void {
    this.#taken.set(agent, Math.max(newest, number));
    const machine = this.#script.agents[agent] ?? -1;
    const others = [...this.#script.agents.keys()].filter((other) => this.#script.agents[other] === machine);
    if (others.every((other) => (this.#taken.get(other) ?? -1) <= number)) return;
    for (const other of others) this.#reordered.add(`r${other}`);
  }

  #probe(): void {
    if (this.#daemon === null) return;
    const { ledger, timeline } = this.#daemon;
    // In which order runtimes are listed depends on the order of arrival.
    const states = [...ledger.states()].sort((one, other) => (one.runtime_id < other.runtime_id ? -1 : 1));
    for (const { runtime_id, state, reason, ask, since } of states) {
      this.#probes.push({ runtime: runtime_id, words: `${state}/${reason} ${ask?.ask_id ?? '-'}`, since });
    }
    const tolerance = limits.wallDriftMs + (this.#script.isTrimmed ? 2 * limits.wallJumpMs : 0) + 1;
    const offMs = Math.abs(timeline.toWall(timeline.now()) - this.#clock.wallMs());
    if (offMs > tolerance) this.#broken.push(`now is shown ${offMs} ms off`);
    for (const [key, fact] of this.#facts) {
      if (fact.wallMs === null) continue;
      const shownOffMs = Math.abs(timeline.toWall(fact.time) - fact.wallMs);
      // Trimming and drift are followed, not remembered.
      if (shownOffMs > tolerance + 1_000) this.#broken.push(`${key} is shown ${shownOffMs} ms off`);
    }
  }
}

const streamRun = {
  runtime_id: 'r0' as RuntimeId,
  version: null,
  programs: [{ pid: 100, start: '1', argv: ['opencode', '--port', String(streamPort)] }],
  home: '/home/user',
  cwd: '/home/user',
  env: {},
  openFiles: [],
  title: '',
  startedAt: wallMs,
};

const eventNames: Readonly<Record<Words, string>> = {
  prompt: 'UserPromptSubmit',
  tool: 'PreToolUse',
  ask: 'PermissionRequest',
  settle: 'PostToolUse',
  stop: 'Stop',
  failure: 'StopFailure',
};

function payloadOf(words: Words, agent: number, tool_use_id: string): Record<string, unknown> {
  const tool = { tool_name: 'Bash', tool_input: { command: `make ${tool_use_id}` }, tool_use_id };
  const session = { session_id: `clock-${agent}`, hook_event_name: eventNames[words] };
  switch (words) {
    case 'tool':
    case 'ask':
    case 'settle':
      return { ...session, ...tool };
    case 'failure':
      return { ...session, error: 'server_error' };
    case 'prompt':
    case 'stop':
      return session;
  }
}
