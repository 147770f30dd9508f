// One session that is led: the machine's record and the line to its agent, kept in step. What is said to an agent is on
// disk before it is said, so that no ask is ever answered twice (SES5).

import type { Incoming, Turn, Wakeful } from '../agents/protocol/adapter.ts';
import { type ErrorCode, type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { MachineEvent, MachineState } from '../model/sessions.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { FileError } from '../platform/files.ts';
import type { ManagedSignal } from '../platform/managed-process.ts';
import {
  AgentConnection,
  type Begun,
  endIfOver,
  endLeft,
  freshRun,
  openingOf,
  openRunner,
  type Planned,
  planRun,
  type RunningSessionOptions,
  rejoinRunner,
  type SessionHandlers,
  StartedProcesses,
} from './connection.ts';
import { dueOf, exitKind, heard, type Step, step, tick } from './machine.ts';
import { type SessionAction, turnEnds, wantOf } from './machine-memory.ts';
import {
  Deliveries,
  droppedWords,
  isTooMany,
  Notices,
  requeued,
  textOf,
  withOutgoing,
  wordsToBegin,
} from './outgoing.ts';
import { isResting, RestClock, type SleepCause, sleepWords } from './rest.ts';
import type { Runner, RunnerEnd } from './runner.ts';
import type { StoredSession } from './store.ts';

export type Done = 'done' | 'queued';

export class RunningSession {
  readonly #parts: RunningSessionOptions;
  readonly #line: AgentConnection;
  readonly #lane = new SerialQueue(() => this.#serveQueue());
  #record: StoredSession;
  #runner: Runner | null = null;
  /** Rejoined, and nothing heard of it yet. */
  #isDoubtful = false;
  #isClosed = false;
  /** It was told to stop its turn and has not said yet that it has. */
  #isCancelling = false;
  /** A person stopped it: nothing that it started stays. */
  #isStopped = false;
  /** The first of what waits could not be said: not before something has changed. */
  #isQueueHeld = false;
  readonly #kept: KeptFirst;
  readonly #notices: Notices;
  readonly #deliveries: Deliveries;
  readonly #rest: RestClock;
  readonly #started: StartedProcesses;
  #cancelDue: Cancel | null = null;

  constructor(parts: RunningSessionOptions) {
    this.#parts = parts;
    this.#record = parts.record;
    const { clock, now } = parts.ports;
    this.#kept = new KeptFirst(parts.handlers.keep);
    this.#notices = new Notices(now, parts.handlers.say);
    this.#deliveries = new Deliveries(parts, this.#notices, {
      record: () => this.#record,
      adopt: (record) => this.#adopt(record),
    });
    this.#rest = new RestClock(clock, now, this.#notices, () => void this.sleep('rested'));
    this.#started = new StartedProcesses(parts.ports, (words) => this.#notices.tell(words));
    this.#started.begin(parts.record.process ?? parts.record.last_process, parts.record.mark);
    this.#line = new AgentConnection(parts, {
      isAsked: () => this.#record.pending_ask !== null,
      onTurn: (turn, what) => this.#heard(turn, what),
      onNotice: (words) => this.#notices.tell(words),
      onTrouble: (words) => this.#trouble(words),
      onEnd: (end) => this.#ended(end),
    });
  }

  get record(): StoredSession {
    return this.#record;
  }

  get isManagedProcess(): boolean {
    return this.#line.isOpen;
  }

  get isActive(): boolean {
    return activeStates.includes(this.#record.state);
  }

  /** Why its process stays; null: it may go (SES11). */
  get wakeful(): Wakeful | null {
    const isOff = !this.#line.isAlive || this.#isDoubtful || this.#isCancelling || this.#isClosed;
    if (isOff || !isResting(this.#record)) return 'busy';
    return this.#line.wakeful ?? (this.#record.agent_session === null ? 'no_resume' : null);
  }

  /** The first start. Where it fails, nothing was started. */
  start(prompt: string): Promise<Result<Done>> {
    return this.#lane.run(() => {
      const { at, wall } = this.#moment();
      // One that goes on with a conversation of the agent's own is not the beginning of it.
      const kind = this.#record.agent_session === null ? 'start_session' : 'resume_session';
      return this.#spawn(step(this.#record, { kind, at, said_at: wall, is_alive: false }), prompt, wall);
    });
  }

  do(deed: SessionAction): Promise<Result<Done>> {
    return this.#lane.run(() => this.#do(deed));
  }

  /** Stops the turn and nothing else; how it ended is the agent's to say. */
  interrupt(): Promise<Result<Done>> {
    return this.#lane.run(async () => {
      if (!this.#line.isAlive || !this.isActive) return fail('E_STATE_CHANGED', 'nothing to interrupt');
      const turn = this.#line.try({ kind: 'cancel' });
      if (!turn.ok) return turn;
      this.#take(turn.value);
      this.#settle();
      return ok('done');
    });
  }

  /** To its process; false when it has none. */
  signal(signal: ManagedSignal): boolean {
    this.#line.signal(signal);
    return this.#line.isOpen;
  }

  /**
   * After the daemon was gone: rejoined, or paused (SES5). Resolves when that is so; whatever was left of its processes is
   * ended or named behind it, before anything else is done to the session.
   */
  recover(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#lane.run(() => this.#recover(resolve)).catch(reject);
    });
  }

  /** Ends its process, if it has one, and what that started. Resolves when these are gone; the session stays as it is. */
  end(): Promise<void> {
    return this.#lane.run(async () => {
      await this.#started.look();
      await this.#line.end(limits.sessionEndStepMs);
      await this.#started.end();
      this.#withoutProcess();
      this.#settle();
    });
  }

  /** Lets its process go, to be started again for the next word; false: it stays (SES11). */
  sleep(cause: SleepCause): Promise<boolean> {
    return this.#lane.run(async () => {
      const why = this.wakeful;
      if (why !== null) {
        this.#rest.stay(why);
        this.#settle();
        return false;
      }
      await this.#line.end(limits.sessionEndStepMs);
      this.#adopt({ ...this.#record, asleep_since: this.#parts.ports.now() });
      this.#withoutProcess();
      this.#notices.tell(sleepWords[cause]);
      this.#settle();
      this.#parts.handlers.slept(this.#record, cause);
      return true;
    });
  }

  /** The daemon leaves: an agent on stdio ends with it, one that lives on is let go. */
  leave(): Promise<void> {
    return this.#lane.run(async () => {
      this.#isClosed = true;
      this.#cancelDue?.();
      this.#rest.stop();
      if (this.#parts.adapter.livesOn) this.#line.letGo();
      else await this.#line.end(limits.sessionLeaveStepMs);
    });
  }

  async #do(deed: SessionAction, isFromQueue = false): Promise<Result<Done>> {
    if (deed.action === 'stop') await this.#started.look();
    // What is said before the agent has confirmed a stop would be taken for part of what was stopped.
    await untilQuiet(this.#parts.ports.clock, () => this.#isCancelling && this.#line.isAlive);
    this.#isCancelling = false;
    const tried = this.#tried(deed);
    if (!tried.ok) return tried;
    const { stepped, turn, wall } = tried.value;
    const text = textOf(deed);
    if (stepped.effect === 'spawn') return this.#spawn(stepped, text, wall, isFromQueue);
    // From the queue: it is still the first of those that wait.
    if (stepped.effect === 'queue') return isFromQueue ? ok('queued') : this.#enqueue(text);
    if (turn !== null) return this.#deliver(deed, { stepped, turn }, isFromQueue);
    this.#adopt(stepped.record);
    this.#isStopped ||= deed.action === 'stop';
    // One that has finished has nothing to stop but its process.
    if (deed.action === 'stop') this.#line.endAfter(0);
    this.#settle();
    return ok('done');
  }

  /** On disk first; then looked at once more, since the agent may have gone on meanwhile. */
  async #deliver(
    deed: SessionAction,
    decided: Pick<Tried, 'stepped'> & { turn: Turn<unknown> },
    isFromQueue: boolean,
  ): Promise<Result<Done>> {
    const entry = this.#deliveries.entryOf(deed, decided.turn);
    const problem = await this.#kept.keep(withOutgoing(decided.stepped.record, entry, isFromQueue));
    if (problem !== null) return { ok: false, failure: problem };
    const again = this.#tried(deed);
    const turn = again.ok ? again.value.turn : null;
    if (!again.ok || turn === null) {
      this.#settle();
      return again.ok ? fail('E_STATE_CHANGED', 'the agent has continued meanwhile') : again;
    }
    this.#adopt(withOutgoing(this.#deliveries.withoutQueue(again.value.stepped.record), entry, isFromQueue));
    if ('text' in deed && deed.text !== undefined) this.#adopt({ ...this.#record, prompt: deed.text });
    this.#isCancelling = deed.action === 'stop';
    this.#isStopped ||= deed.action === 'stop';
    this.#take(turn);
    this.#settle();
    return ok('done');
  }

  #tried(deed: SessionAction): Result<Tried> {
    return triedOf(this.#record, deed, this.#line, this.#moment());
  }

  async #enqueue(text: string): Promise<Result<Done>> {
    const queue = [...this.#record.queue, text];
    if (isTooMany(queue)) {
      return fail(
        'E_QUEUE_FULL',
        'too many messages are queued for this session',
        'wait until it takes one, or stop it',
      );
    }
    const problem = await this.#kept.keep({ ...this.#record, queue });
    if (problem !== null) return { ok: false, failure: problem };
    // Added to what waits by now: something may have come to it while this was written.
    this.#adopt({ ...this.#record, queue: [...this.#record.queue, text] });
    this.#settle();
    return ok('queued');
  }

  async #spawn(stepped: Step<StoredSession>, text: string, wall: number, isFromQueue = false): Promise<Result<Done>> {
    const resume = stepped.record.agent_session;
    const plan = await planRun(this.#parts, stepped.record, resume);
    if (!plan.ok) return plan;
    // The one before makes room; it is ended beside the new one.
    if (this.#line.isOpen) this.#deliveries.cut('agent');
    void this.#line.end(limits.sessionEndStepMs);
    this.#isStopped = false;
    const before = this.#record;
    const { prompt, queue, isQueued } = wordsToBegin(before, text, { isFromQueue, isFresh: resume === null });
    const opening = { prompt, resume, spawned_at: wall, rejoin: null };
    const outgoing = this.#deliveries.firstOf(prompt, null);
    const said = prompt === '' ? before.prompt : prompt;
    this.#adopt({ ...stepped.record, ...freshRun(plan.value), outgoing, queue, prompt: said });
    const problem = await this.#startGated(plan.value, opening);
    if (problem !== null) {
      void this.#line.end(0);
      this.#adopt({ ...before, is_led: false, process: null });
      this.#settle();
      return { ok: false, failure: problem };
    }
    this.#open(opening);
    return ok(isQueued ? 'queued' : 'done');
  }

  /** Its gate stays closed until it could be found again by whoever comes after us. */
  async #startGated(plan: Planned, opening: Begun): Promise<Failure | null> {
    const { handlers, ports, secrets, adapter } = this.#parts;
    if (plan.launch.auth !== undefined) await handlers.keepSecrets({ ...secrets(), secret: plan.secret });
    const problem = await this.#kept.keep(this.#record);
    if (problem !== null) return problem;
    this.#runner = this.#line.connect((of) => openRunner(this.#parts, plan, of));
    const { pid } = this.#runner;
    const process = pid === null ? null : await ports.processes.identityOf(pid);
    // It may have failed to start meanwhile, which was told already.
    if (!this.#line.isOpen) return null;
    // As far as the first words will come when the gate opens.
    const turn = adapter.open(openingOf(this.#record, opening), ports.now());
    const outgoing = this.#deliveries.firstOf(this.#record.outgoing[0]?.text ?? '', turn);
    this.#adopt({ ...this.#record, process, outgoing });
    this.#started.begin(process, this.#record.mark);
    return this.#kept.keep(this.#record);
  }

  #open(begun: Begun): void {
    const runner = this.#runner;
    if (runner === null || !this.#line.isOpen) return;
    this.#take(this.#line.open(runner, openingOf(this.#record, begun)));
    this.#settle();
  }

  async #recover(onKnown: () => void): Promise<void> {
    const { ports } = this.#parts;
    this.#deliveries.cut('daemon');
    const before = this.#record;
    const way = await rejoinRunner(this.#parts, before);
    if (way !== null) {
      this.#isDoubtful = true;
      this.#runner = this.#line.connect(way);
      const { agent_session: resume, rejoin } = before;
      this.#open({ prompt: '', resume, spawned_at: ports.clock.wallMs(), rejoin: rejoin ?? {} });
      onKnown();
      return;
    }
    if (before.is_led || this.isActive) this.#step({ kind: 'daemon_restarted', at: ports.now() });
    this.#settle();
    onKnown();
    if (!before.is_led) return;
    // Until it is gone it stays written down: we may fall as well.
    await endLeft(ports, before, (words) => this.#notices.tell(words));
    this.#withoutProcess();
    this.#settle();
  }

  #withoutProcess(): void {
    const last_process = this.#record.process ?? this.#record.last_process;
    this.#adopt({ ...this.#record, process: null, last_process, address: null, is_led: false });
  }

  #heard(turn: Turn<unknown>, what: Incoming): void {
    if (what.from !== 'clock' && what.from !== 'exit') {
      if (this.#isDoubtful) this.#adopt(requeued(this.#record));
      this.#isDoubtful = false;
      this.#adopt(heard(this.#record, this.#parts.ports.now()));
    }
    this.#take(turn, what.from === 'exit');
    // How it ended follows at once.
    if (what.from !== 'exit') this.#settle();
  }

  #trouble(words: string): void {
    this.#step({ kind: 'process_error', at: this.#parts.ports.now(), words });
    this.#settle();
  }

  #ended({ code, signal, words }: RunnerEnd): void {
    const isLost = this.#isDoubtful;
    this.#isDoubtful = false;
    const at = this.#parts.ports.now();
    const exit = { code, signal };
    if (isLost) this.#step({ kind: 'daemon_restarted', at });
    else this.#step(words === null ? { kind: exitKind(exit), at, exit } : { kind: 'process_error', at, words });
    this.#deliveries.cut(isLost ? 'daemon' : 'agent');
    this.#withoutProcess();
    this.#settle();
  }

  /** `isLast`: it has ended, which decides what becomes of messages on their way. */
  #take(turn: Turn<unknown>, isLast = false): void {
    if (turn.messages.length > 0) this.#parts.handlers.say(turn.messages);
    // What it was rejoined in is older than a stop that was said since (SES4).
    for (const event of turn.events) if (event.kind !== 'rejoined' || !this.#isCancelling) this.#step(event);
    this.#line.take(turn, isLast ? null : this.#deliveries.account(turn));
    if (turn.events.some(({ kind }) => turnEnds.includes(kind))) {
      this.#isCancelling = false;
      void this.#started.look();
    }
    const { rejoin, tokens } = turn;
    if (rejoin !== undefined) this.#adopt({ ...this.#record, rejoin: { ...this.#record.rejoin, ...rejoin } });
    if (tokens !== undefined) this.#adopt({ ...this.#record, tokens });
    const address = this.#line.address ?? this.#record.address;
    if (address !== this.#record.address) this.#adopt({ ...this.#record, address });
  }

  #step(event: MachineEvent): void {
    this.#adopt(step(this.#record, event).record);
  }

  #adopt(record: StoredSession): void {
    this.#record = record;
  }

  /** After every change: what is due, whether the process has to go, what waits, and that others have to be told. */
  #settle(): void {
    if (this.#isClosed) return;
    this.#isQueueHeld = false;
    const { clock, now } = this.#parts.ports;
    this.#cancelDue?.();
    const due = dueOf(this.#record);
    this.#cancelDue = due === null ? null : clock.after(Math.max(0, due - now()), () => this.#tick());
    endIfOver(this.#line, this.#record);
    if (this.#isStopped && !this.#line.isOpen) void this.#started.end();
    this.#rest.watch(this.#record, this.#line.isAlive);
    if (!this.#kept.isHolding) this.#parts.handlers.changed(this.#record);
    this.#serveQueue();
  }

  #tick(): void {
    this.#adopt(tick(this.#record, this.#parts.ports.now()).record);
    this.#settle();
  }

  /** Messages never answer what is asked, and never wake what somebody put aside. */
  #serveQueue(): void {
    const { state, queue } = this.#record;
    const takes = state === 'completed' || (state === 'paused' && this.#line.isAlive);
    if (!takes || queue.length === 0 || this.#isQueueHeld || this.#lane.isBusy || this.#isClosed) return;
    void this.#lane.run(async () => {
      const [text] = this.#record.queue;
      if (text === undefined) return;
      const done = await this.#do({ action: 'send', text, is_plain: true }, true);
      if (done.ok && done.value === 'done') return;
      const isDropped = !done.ok && !passingRefusals.includes(done.failure.code);
      if (isDropped) {
        this.#adopt({ ...this.#record, queue: this.#record.queue.slice(1) });
        this.#notices.tell(droppedWords([text], done.failure.message));
      }
      this.#settle();
      // It has begun something by itself, or the disk is full: the message is still the first of those that wait.
      this.#isQueueHeld = !isDropped;
    });
  }

  #moment(): { readonly at: number; readonly wall: number } {
    return { at: this.#parts.ports.now(), wall: this.#parts.ports.clock.wallMs() };
  }
}

// States, events and refusals in the groups that leading a session asks for.

const activeStates: readonly MachineState[] = ['creating', 'streaming', 'waiting_approval', 'waiting_input'];

/** Another moment may lift them: a message that waits goes on waiting. */
const passingRefusals: readonly ErrorCode[] = ['E_STATE_CHANGED', 'E_DIALOG', 'E_STORE_IO'];

// Writing down what is about to be done. What comes in meanwhile must not be written over it.

class KeptFirst {
  readonly #keep: SessionHandlers['keep'];
  #isHolding = false;

  constructor(keep: SessionHandlers['keep']) {
    this.#keep = keep;
  }

  /** Something was written down that is not done yet. */
  get isHolding(): boolean {
    return this.#isHolding;
  }

  /** Null when it is on disk. */
  async keep(record: StoredSession): Promise<Failure | null> {
    this.#isHolding = true;
    try {
      await this.#keep(record);
      return null;
    } catch (problem) {
      if (problem instanceof FileError) return failure('E_STORE_IO', problem.message);
      throw problem;
    } finally {
      this.#isHolding = false;
    }
  }
}

// One wish at a time: two that change a session at once would decide on what the other one changes.

class SerialQueue {
  readonly #onFree: () => void;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(onFree: () => void) {
    this.#onFree = onFree;
  }

  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  run<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#waiting += 1;
    const done = this.#last.then(work).finally(() => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#onFree();
    });
    this.#last = done.catch(() => undefined);
    return done;
  }
}

// Waiting until an agent that was told to stop says that it has, and no longer than that is worth.

async function untilQuiet(clock: Clock, isBusy: () => boolean): Promise<void> {
  const deadline = clock.monotonicMs() + limits.sessionQuietMs;
  while (isBusy() && clock.monotonicMs() < deadline) {
    await new Promise<void>((resolve) => void clock.after(limits.effectLookMs, resolve));
  }
}

// What a wish would lead to, in the machine and in the adapter; nothing is changed or said.

interface Tried {
  readonly stepped: Step<StoredSession>;
  /** Null: there is nobody to tell. */
  readonly turn: Turn<unknown> | null;
  readonly wall: number;
}

function triedOf(
  record: StoredSession,
  deed: SessionAction,
  line: Pick<AgentConnection, 'isAlive' | 'try'>,
  { at, wall }: { readonly at: number; readonly wall: number },
): Result<Tried> {
  const { isAlive } = line;
  const want = wantOf(record, deed, at, isAlive);
  if (!want.ok) return want;
  const stepped = step(record, { ...want.value.event, said_at: wall });
  if (stepped.refusal !== null) return { ok: false, failure: stepped.refusal };
  if (stepped.effect !== 'deliver' || !isAlive) return ok({ stepped, turn: null, wall });
  const turn = line.try(want.value.deed);
  return turn.ok ? ok({ stepped, turn: turn.value, wall }) : turn;
}
