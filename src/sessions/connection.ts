// The line to one agent: the process that is led, what the adapter remembers of it, the timer it asked for, and the end it
// is given. What any of it means for the session is not decided here.

import type {
  Incoming,
  Opening,
  Outgoing,
  ProtocolAdapter,
  Turn,
  UserAction,
  Wakeful,
} from '../agents/protocol/adapter.ts';
import type { AskBudget } from '../agents/protocol/draft.ts';
import type { Launch, LaunchRequest, SessionLauncher } from '../agents/protocol/launch.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { AgentSessionId, ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { SessionMessage } from '../model/sessions.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { ManagedSignal } from '../platform/managed-process.ts';
import type { SleepCause } from './rest.ts';
import {
  ProcessRunner,
  type ProgramRun,
  type Runner,
  type RunnerEnd,
  type RunnerHandlers,
  type RunnerPorts,
  type RunPlan,
} from './runner.ts';
import { FoundRunner, HttpRunner, placeOfAddress, SocketRunner } from './server-runner.ts';
import type { SessionSecrets, StoredSession } from './store.ts';

export interface ConnectionHandlers {
  /** Something is shown to a person to be answered. */
  readonly isAsked: () => boolean;
  /** Something came in; `turn` is what it means, null when it could not be understood. */
  readonly onTurn: (turn: Turn<unknown>, what: Incoming) => void;
  readonly onNotice: (words: string) => void;
  /** It cannot be led any further, though it is still there. */
  readonly onTrouble: (words: string) => void;
  readonly onEnd: (end: RunnerEnd) => void;
}

interface Unsaid {
  readonly said: readonly Outgoing[];
  readonly kept: Promise<boolean> | null;
}

export class AgentConnection {
  readonly #parts: Pick<RunningSessionOptions, 'ports' | 'adapter' | 'handlers' | 'record' | 'asks'>;
  readonly #handlers: ConnectionHandlers;
  #memory: unknown = null;
  #runner: Runner | null = null;
  #ending: Ending | null = null;
  #cancelWake: Cancel | null = null;
  /** What its open asks hold, as it was told to all. */
  #held = 0;
  /** What is said when something is on disk, in its order; each waits for its own, and for all before it. */
  #unsaid: Unsaid[] = [];

  constructor(parts: RunningSessionOptions, handlers: ConnectionHandlers) {
    this.#parts = parts;
    this.#handlers = handlers;
  }

  get isOpen(): boolean {
    return this.#runner !== null;
  }

  /** It is there and was not told to go. */
  get isAlive(): boolean {
    return this.#runner !== null && this.#ending?.isBegun !== true;
  }

  /** As the adapter sees it; null: its process may go. */
  get wakeful(): Wakeful | null {
    return this.#parts.adapter.wakeful(this.#memory);
  }

  get pid(): number | null {
    return this.#runner?.pid ?? null;
  }

  get address(): string | null {
    return this.#runner?.address ?? null;
  }

  /** The one before was let go: nothing is heard of it any more. */
  connect(make: (handlers: RunnerHandlers) => Runner): Runner {
    const runner = make({
      onHeard: (what) => this.#hear(what),
      onNotice: (words) => this.#handlers.onNotice(words),
      onEnd: (end) => {
        this.#forget();
        this.#hear({ from: 'exit', code: end.code, signal: end.signal });
        this.#stopWaking();
        this.#handlers.onEnd(end);
      },
    });
    this.#runner = runner;
    return runner;
  }

  /** The first words. */
  open(runner: Runner, opening: Opening): Turn<unknown> {
    runner.begin();
    return this.#parts.adapter.open(opening, this.#parts.ports.now());
  }

  /** What a deed would lead to; nothing is said yet. */
  try(deed: UserAction): Result<Turn<unknown>> {
    return this.#parts.adapter.do(this.#memory, deed, this.#parts.ports.now());
  }

  /** Says what a turn has to say: at once, or when `kept` says that it is on disk. Nothing overtakes what waits for that. */
  take(turn: Turn<unknown>, kept: Promise<boolean> | null = null): void {
    this.#memory = turn.memory;
    this.#hold(this.#parts.adapter.asksBytes(turn.memory));
    if (turn.wakeMs !== undefined) this.#wakeAfter(turn.wakeMs);
    const isIdle = this.#unsaid.length === 0;
    if (isIdle && kept === null) {
      this.#sayAll(turn.said);
      return;
    }
    this.#unsaid.push({ said: turn.said, kept });
    if (isIdle) void this.#sayKept(this.#unsaid);
  }

  async #sayKept(unsaid: Unsaid[]): Promise<void> {
    const runner = this.#runner;
    for (let [next] = unsaid; next !== undefined; [next] = unsaid) {
      const isKept = (await next.kept) ?? true;
      // It was let go meanwhile, and what it was to be told with it.
      if (this.#unsaid !== unsaid) return;
      if (this.#runner !== runner || !isKept) {
        this.#unsaid = [];
        if (!isKept && this.#runner === runner)
          this.#giveUp('the message could not be sent, because it could not be stored first');
        return;
      }
      this.#sayAll(next.said);
      unsaid.shift();
    }
  }

  #sayAll(all: readonly Outgoing[]): void {
    const isTold = all.every((said) => this.#runner?.say(said) ?? true);
    if (!isTold && this.isAlive) this.#giveUp('the agent does not read its input');
  }

  signal(signal: ManagedSignal): void {
    this.#runner?.signal(signal);
  }

  /** Told to go after a while, unless it is called back before. */
  endAfter(delayMs: number): void {
    if (this.#runner === null || this.#ending !== null) return;
    this.#ending = new Ending(this.#parts.ports.clock, this.#runner, limits.sessionEndStepMs, delayMs);
  }

  callBack(): void {
    if (this.#ending?.isBegun !== false) return;
    this.#ending.stop();
    this.#ending = null;
  }

  /** Nothing is heard of it any more, and it is ended. Resolves when it is gone. */
  async end(stepMs: number): Promise<void> {
    const runner = this.#runner;
    this.#drop();
    if (runner === null) return;
    runner.release();
    const ending = new Ending(this.#parts.ports.clock, runner, stepMs, 0);
    await runner.gone();
    ending.stop();
  }

  /** Nothing is heard of it any more; it goes on. */
  letGo(): void {
    const runner = this.#runner;
    this.#drop();
    runner?.release();
  }

  #hold(bytes: number): void {
    this.#parts.asks.change(bytes - this.#held);
    this.#held = bytes;
  }

  /** For good: what it asked goes with it. */
  #drop(): void {
    this.#forget();
    this.#stopWaking();
    this.#memory = null;
    this.#hold(0);
  }

  #forget(): void {
    this.#runner = null;
    this.#unsaid = [];
    this.#ending?.stop();
    this.#ending = null;
  }

  #hear(what: Incoming): void {
    const { adapter, ports, handlers, record, asks } = this.#parts;
    let turn: Turn<unknown>;
    try {
      turn = adapter.hear(this.#memory, what, ports.now(), asks.left);
    } catch (problem) {
      // A defect in how one agent is understood must not end the sessions of all others.
      handlers.warn('output of an agent could not be processed', {
        session: record.id,
        driver: adapter.name,
        problem: String(problem),
      });
      this.#giveUp('agtmux failed to process its output: internal error, see `agtmux logs`');
      return;
    }
    this.#handlers.onTurn(turn, what);
  }

  #giveUp(words: string): void {
    this.endAfter(0);
    this.#handlers.onTrouble(words);
  }

  #wakeAfter(delayMs: number | null): void {
    this.#stopWaking();
    if (delayMs !== null)
      this.#cancelWake = this.#parts.ports.clock.after(delayMs, () =>
        this.#hear({ from: 'clock', isAsked: this.#handlers.isAsked() }),
      );
  }

  #stopWaking(): void {
    this.#cancelWake?.();
    this.#cancelWake = null;
  }
}

// What one led session is given: the ports it stands on, how it is launched, and whom it tells.

export interface SessionPorts extends RunnerPorts {
  /** The daemon's timeline. */
  readonly now: () => number;
  readonly random: { hex(bytes: number): string };
  readonly home: string;
  /** The program of a launch in this environment; null when there is none. */
  readonly findProgram: (name: string, env: Readonly<Record<string, string>>) => Promise<string | null>;
  readonly isDirectory: (path: string) => Promise<boolean>;
  readonly isSocket: (path: string) => Promise<boolean>;
  /** Stands in front of every mark: processes of another state directory are not ours. */
  readonly markPrefix: string;
}

export interface SessionHandlers {
  /** Resolves when it is on disk; rejects with a FileError. */
  readonly keep: (record: StoredSession) => Promise<void>;
  /** Something changed that is worth keeping and telling, in no hurry. */
  readonly changed: (record: StoredSession) => void;
  readonly say: (messages: readonly SessionMessage[]) => void;
  readonly keepSecrets: (secrets: SessionSecrets) => Promise<void>;
  /** Its process was let go by ourselves: nobody asked for it. */
  readonly slept: (record: StoredSession, cause: SleepCause) => void;
  readonly outputPath: string;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

export interface RunningSessionOptions {
  readonly ports: SessionPorts;
  readonly handlers: SessionHandlers;
  readonly way: SessionLauncher;
  readonly adapter: ProtocolAdapter<unknown>;
  readonly secrets: () => SessionSecrets;
  readonly record: StoredSession;
  /** Shared by all sessions. */
  readonly asks: AskBudget;
}

// Ending a process in good order: its input is closed, then TERM, then KILL, with time between the steps. What comes first
// may be taken back, as long as nothing was done.

class Ending {
  readonly #clock: Clock;
  readonly #runner: Runner;
  readonly #stepMs: number;
  #cancel: Cancel | null = null;
  #step = 0;

  constructor(clock: Clock, runner: Runner, stepMs: number, delayMs: number) {
    this.#clock = clock;
    this.#runner = runner;
    this.#stepMs = stepMs;
    if (delayMs === 0) this.#next();
    else this.#cancel = clock.after(delayMs, () => this.#next());
  }

  /** It was told; there is no way back. */
  get isBegun(): boolean {
    return this.#step > 0;
  }

  stop(): void {
    this.#cancel?.();
  }

  #next(): void {
    this.#step += 1;
    if (this.#step === 1) this.#runner.endInput();
    else this.#runner.signal(this.#step === 2 ? 'TERM' : 'KILL');
    if (this.#step < 3) this.#cancel = this.#clock.after(this.#stepMs, () => this.#next());
  }
}

/** One that was stopped has a moment to finish, and can be called back in it; one that never spoke has had its time. */
export function endIfOver(
  line: { endAfter(delayMs: number): void; callBack(): void },
  { state, reason }: Pick<StoredSession, 'state' | 'reason'>,
): void {
  if (state === 'stopped') line.endAfter(limits.sessionEndStepMs);
  else if (state === 'error' && reason === 'creation_timeout') line.endAfter(0);
  else line.callBack();
}

// From a session to a program that can be led: how its agent is launched, whether that is there, and by what it is led.

/** The name that `callers` knows agents by: whoever has it was started by one. */
const markName = 'AGTMUX_AGENT';
/** The session is in no pane, whoever started it. */
const paneVariables = ['TMUX', 'TMUX_PANE'];

export interface Planned extends RunPlan {
  readonly mark: string;
}

function launchOf(
  parts: RunningSessionOptions,
  record: StoredSession,
  resume: AgentSessionId | null,
  secret: string,
): Launch {
  const { env } = parts.secrets();
  const { cwd, model, auto_approve } = record;
  const wish: LaunchRequest = { cwd, model, auto_approve, resume, home: env.HOME ?? parts.ports.home, env, secret };
  return parts.way.launch(wish);
}

function environmentOf(
  parts: RunningSessionOptions,
  launch: Launch,
  cwd: string,
  mark: string,
): Readonly<Record<string, string>> {
  const own = Object.entries(parts.secrets().env).filter(([name]) => !paneVariables.includes(name));
  return { ...Object.fromEntries(own), ...launch.env, PWD: cwd, [markName]: mark };
}

/** Everything that can be known to fail before anything is started. */
export async function planRun(
  parts: RunningSessionOptions,
  record: StoredSession,
  resume: AgentSessionId | null,
): Promise<Result<Planned>> {
  const { ports, handlers, way, adapter } = parts;
  const secret = ports.random.hex(16);
  const launch = launchOf(parts, record, resume, secret);
  const mark = `${ports.markPrefix}.${record.id}.${ports.random.hex(4)}`;
  const env = environmentOf(parts, launch, record.cwd, mark);
  const plan = { launch, cwd: record.cwd, env, secret, mark, outputPath: adapter.livesOn ? handlers.outputPath : null };
  if (launch.socket !== undefined) {
    if (await ports.isSocket(launch.socket)) return ok({ ...plan, program: null, outputPath: null });
    const words = `the shared server of ${record.agent} is not running: there is no ${launch.socket}`;
    return fail('E_AGENT_MISSING', words, `install or start it: ${way.install}`);
  }
  const name = launch.command[0] ?? '';
  if (!(await ports.isDirectory(record.cwd))) {
    return fail('E_INPUT', `there is no directory ${record.cwd}`, 'create it, or use --cwd for another one');
  }
  const program = await ports.findProgram(name, env);
  if (program === null) {
    return fail(
      'E_AGENT_MISSING',
      `${name} is not in the PATH, so ${record.agent} cannot be started`,
      `install it: ${way.install}`,
    );
  }
  return ok({ ...plan, program });
}

/** What is new about a start. */
export type Begun = Pick<Opening, 'prompt' | 'resume' | 'spawned_at' | 'rejoin'>;

export const openingOf = ({ cwd, model, auto_approve }: StoredSession, begun: Begun): Opening => ({
  cwd,
  model,
  auto_approve,
  ...begun,
});

/** Nothing of the process before holds for the one that is started now. */
export const freshRun = ({ mark }: Planned) =>
  ({ process: null, address: null, rejoin: null, is_led: true, mark, asleep_since: null }) as const;

export function openRunner({ ports }: RunningSessionOptions, plan: Planned, handlers: RunnerHandlers): Runner {
  const { launch } = plan;
  if (launch.socket !== undefined) return new SocketRunner(ports, launch.socket, handlers);
  return launch.address === null ? new ProcessRunner(ports, plan, handlers) : new HttpRunner(ports, plan, handlers);
}

/** The way back to one that lived on; null when there is nobody any more (SES5). */
export async function rejoinRunner(
  parts: RunningSessionOptions,
  record: StoredSession,
): Promise<((handlers: RunnerHandlers) => Runner) | null> {
  const { ports, handlers: kept } = parts;
  const secrets = parts.secrets();
  if (!parts.adapter.livesOn || !record.is_led) return null;
  const launch = launchOf(parts, record, record.agent_session, secrets.secret);
  const { socket } = launch;
  if (socket !== undefined) return (handlers) => new SocketRunner(ports, socket, handlers);
  const { address, process } = record;
  const place = address === null ? null : placeOfAddress(address);
  if (address === null || place === null || process === null || !(await ports.processes.isAlive(process))) return null;
  const { outputPath } = kept;
  const plan = { launch, program: null, cwd: record.cwd, env: {}, secret: secrets.secret, outputPath };
  return (handlers) => new FoundRunner(ports, plan, { address, place, identity: process }, handlers);
}

// What a daemon left behind that did not leave by itself: the process it led is ended, by who it is and not by its number
// (IDN3); what that process had started is named to whoever reads along, and left alone (SES5). And what an agent's program
// leaves behind when it goes: a stop reaches that too.

const looksMax = 20;

export async function endLeft(
  { processes, clock }: Pick<SessionPorts, 'processes' | 'clock'>,
  { process, mark }: Pick<StoredSession, 'process' | 'mark'>,
  tell: (words: string) => void,
): Promise<void> {
  if (process !== null && (await processes.isAlive(process))) {
    for (const signal of ['TERM', 'KILL'] as const) {
      await processes.signal(process, signal);
      for (let looks = 0; looks < looksMax && (await processes.isAlive(process)); looks += 1) {
        await new Promise<void>((resolve) => void clock.after(limits.sessionReadMs, resolve));
      }
    }
    const isGone = !(await processes.isAlive(process));
    tell(`its process (${process.pid}) outlived the daemon and ${isGone ? 'was ended' : 'cannot be ended'}`);
  }
  for (const { identity, command } of mark === null ? [] : await processes.marked(mark)) {
    tell(`${command} (process ${identity.pid}), which it had started, is still running`);
  }
}

const keyOf = ({ boot, pid, start }: ProcessIdentity): string => `${boot} ${pid} ${start}`;

/** The processes that one session's programs started, the present one and those before it. */
export class StartedProcesses {
  readonly #ports: Pick<SessionPorts, 'processes' | 'clock'>;
  readonly #tell: (words: string) => void;
  #runs: readonly ProgramRun[] = [];

  constructor(ports: Pick<SessionPorts, 'processes' | 'clock'>, tell: (words: string) => void) {
    this.#ports = ports;
    this.#tell = tell;
  }

  begin(leader: ProcessIdentity | null, mark: string | null): void {
    if (leader === null || this.#runs.some((run) => keyOf(run.leader) === keyOf(leader))) return;
    this.#runs = [...this.#runs, { leader, mark, known: [] }].slice(-limits.sessionRunsMax);
  }

  /** Remembers who belongs to the program while it is there: of what leaves its group nobody can tell afterwards. */
  async look(): Promise<void> {
    const run = this.#runs.at(-1);
    if (run === undefined) return;
    const { isLeaderThere, members } = await this.#ports.processes.members(run);
    if (!isLeaderThere) return;
    this.#runs = this.#runs.map((one) => (one.leader === run.leader ? { ...one, known: members } : one));
  }

  /** Ends them all, TERM and then KILL. For programs that are gone; one that is not is ended by its own line. */
  async end(): Promise<void> {
    const runs = this.#runs;
    this.#runs = [];
    await Promise.all(runs.map((run) => this.#endRun(run)));
  }

  async #endRun(first: ProgramRun): Promise<void> {
    const { processes, clock } = this.#ports;
    let run = first;
    let ended = 0;
    for (const signal of ['TERM', 'KILL'] as const) {
      const told = new Set<string>();
      for (let waitedMs = 0; waitedMs <= limits.sessionEndStepMs; waitedMs += limits.sessionReadMs) {
        const { members } = await processes.members(run);
        if (members.length === 0) return this.#tellEnded(run, ended);
        run = { ...run, known: members };
        for (const member of members.filter((one) => !told.has(keyOf(one)))) {
          told.add(keyOf(member));
          if (await processes.signal(member, signal)) ended += signal === 'TERM' ? 1 : 0;
        }
        await new Promise<void>((resolve) => void clock.after(limits.sessionReadMs, resolve));
      }
    }
    const { members } = await processes.members(run);
    if (members.length === 0) return this.#tellEnded(run, ended);
    this.#tell(`processes that it had started cannot be ended: ${members.map(({ pid }) => pid).join(', ')}`);
  }

  async #tellEnded({ mark }: ProgramRun, count: number): Promise<void> {
    if (count > 0)
      this.#tell(`${count === 1 ? 'a process' : `${count} processes`} that it had left running were ended`);
    for (const { identity, command } of mark === null ? [] : await this.#ports.processes.marked(mark)) {
      this.#tell(`${command} (process ${identity.pid}), which it had started separately, is still running`);
    }
  }
}
