// One session that is led: the machine's record and the line to its agent, kept in step. What is said to an agent is on
// disk before it is said, so that no ask is ever answered twice (SES5).

import { type Failure, fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { MachineEvent } from '../model/sessions.ts';
import type { Cancel } from '../platform/clock.ts';
import type { LedSignal } from '../platform/led-process.ts';
import type { Heard, Opening, Turn, Wakeful } from './dialect.ts';
import { endIfOver } from './live-ending.ts';
import { KeptFirst } from './live-kept.ts';
import { activeStates, passingRefusals, turnEnds } from './live-kinds.ts';
import { Lane } from './live-lane.ts';
import { openRunner, type Planned, planRun, rejoinRunner } from './live-launch.ts';
import { endLeft } from './live-left.ts';
import { AgentLine } from './live-line.ts';
import { goingWords, Notices } from './live-notices.ts';
import type { LiveParts } from './live-parts.ts';
import { untilQuiet } from './live-quiet.ts';
import { isResting, RestClock, type SleepCause, sleepWords } from './live-rest.ts';
import { type Tried, triedOf } from './live-tried.ts';
import { dueOf, exitKind, heard, type Step, step, tick } from './machine.ts';
import type { MachineDeed } from './machine-deeds.ts';
import type { Runner, RunnerEnd } from './runner-parts.ts';
import type { KeptSession } from './store-record.ts';

export type Done = 'done' | 'queued';

export class LiveSession {
  readonly #parts: LiveParts;
  readonly #line: AgentLine;
  readonly #lane = new Lane(() => this.#serveQueue());
  #record: KeptSession;
  #runner: Runner | null = null;
  /** Rejoined, and nothing heard of it yet. */
  #isDoubtful = false;
  #isClosed = false;
  /** It was told to stop its turn and has not said yet that it has. */
  #isCancelling = false;
  /** The first of what waits could not be said: not before something has changed. */
  #isQueueHeld = false;
  readonly #kept: KeptFirst;
  readonly #notices: Notices;
  readonly #rest: RestClock;
  #cancelDue: Cancel | null = null;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#record = parts.record;
    const { clock, now } = parts.ports;
    this.#kept = new KeptFirst(parts.handlers.keep);
    this.#notices = new Notices(now, parts.handlers.say);
    this.#rest = new RestClock(clock, now, this.#notices, () => void this.sleep('rested'));
    this.#line = new AgentLine(parts, {
      isAsked: () => this.#record.pending_ask !== null,
      onTurn: (turn, what) => this.#heard(turn, what),
      onNotice: (words) => this.#notices.tell(words),
      onTrouble: (words) => this.#trouble(words),
      onEnd: (end) => this.#ended(end),
    });
  }

  get record(): KeptSession {
    return this.#record;
  }

  get isLed(): boolean {
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

  do(deed: MachineDeed): Promise<Result<Done>> {
    return this.#lane.run(() => this.#do(deed));
  }

  /** Stops the turn and nothing else; how it ended is the agent's to say. */
  interrupt(): Promise<Result<Done>> {
    return this.#lane.run(async () => {
      if (!this.#line.isAlive || !this.isActive) return fail('E_STATE_CHANGED', 'there is nothing to interrupt');
      const turn = this.#line.try({ kind: 'cancel' });
      if (!turn.ok) return turn;
      this.#take(turn.value);
      this.#settle();
      return ok('done');
    });
  }

  /** To its process; false when it has none. */
  signal(signal: LedSignal): boolean {
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

  /** Ends its process, if it has one. Resolves when that is gone; the session stays as it is. */
  end(): Promise<void> {
    return this.#lane.run(async () => {
      await this.#line.end(limits.sessionEndStepMs);
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
      if (this.#parts.dialect.livesOn) this.#line.letGo();
      else await this.#line.end(limits.sessionLeaveStepMs);
    });
  }

  async #do(deed: MachineDeed): Promise<Result<Done>> {
    // What is said before the agent has confirmed a stop would be taken for part of what was stopped.
    await untilQuiet(this.#parts.ports.clock, () => this.#isCancelling && this.#line.isAlive);
    this.#isCancelling = false;
    const tried = this.#tried(deed);
    if (!tried.ok) return tried;
    const { stepped, turn, wall } = tried.value;
    const text = 'text' in deed ? (deed.text ?? '') : '';
    if (stepped.effect === 'spawn') return this.#spawn(stepped, text, wall);
    if (stepped.effect === 'queue') return this.#enqueue(text);
    if (turn !== null) return this.#deliver(deed, stepped.record);
    this.#adopt(stepped.record);
    // One that has finished has nothing to stop but its process.
    if (deed.action === 'stop') this.#line.endAfter(0);
    this.#settle();
    return ok('done');
  }

  /** On disk first; then looked at once more, since the agent may have gone on meanwhile. */
  async #deliver(deed: MachineDeed, decided: KeptSession): Promise<Result<Done>> {
    const problem = await this.#kept.keep(decided);
    if (problem !== null) return { ok: false, failure: problem };
    const again = this.#tried(deed);
    const turn = again.ok ? again.value.turn : null;
    if (!again.ok || turn === null) {
      this.#settle();
      return again.ok ? fail('E_STATE_CHANGED', 'the agent has gone on meanwhile') : again;
    }
    this.#adopt(this.#withoutQueue(again.value.stepped.record));
    if ('text' in deed && deed.text !== undefined) this.#adopt({ ...this.#record, prompt: deed.text });
    this.#isCancelling = deed.action === 'stop';
    this.#take(turn);
    this.#settle();
    return ok('done');
  }

  /** Whoever stops it does not want it to go on with the next message. */
  #withoutQueue(record: KeptSession): KeptSession {
    if (record.state !== 'stopped' || record.queue.length === 0) return record;
    this.#notices.tell(`messages that waited were dropped: ${record.queue.length}`);
    return { ...record, queue: [] };
  }

  #tried(deed: MachineDeed): Result<Tried> {
    return triedOf(this.#record, deed, this.#line, this.#moment());
  }

  async #enqueue(text: string): Promise<Result<Done>> {
    const queue = [...this.#record.queue, text];
    const chars = queue.reduce((sum, one) => sum + one.length, 0);
    if (queue.length > limits.sessionQueueMax || chars > limits.sessionQueueBytesMax) {
      return fail('E_QUEUE_FULL', 'too many messages wait for this session', 'wait until it takes one, or stop it');
    }
    const problem = await this.#kept.keep({ ...this.#record, queue });
    if (problem !== null) return { ok: false, failure: problem };
    this.#adopt({ ...this.#record, queue });
    this.#settle();
    return ok('queued');
  }

  async #spawn(stepped: Step<KeptSession>, text: string, wall: number): Promise<Result<Done>> {
    const before = this.#record;
    const resume = stepped.record.agent_session;
    // Without a conversation to go on with it begins anew, with what it was told before.
    const prompt = text === '' && resume === null ? before.prompt : text;
    const plan = await planRun(this.#parts, stepped.record, resume);
    if (!plan.ok) return plan;
    // The one before makes room; it is ended beside the new one.
    void this.#line.end(limits.sessionEndStepMs);
    const fresh = {
      process: null,
      address: null,
      rejoin: null,
      is_led: true,
      mark: plan.value.mark,
      asleep_since: null,
    };
    this.#adopt({ ...stepped.record, ...fresh, prompt: text === '' ? before.prompt : text });
    const problem = await this.#startGated(plan.value);
    if (problem !== null) {
      void this.#line.end(0);
      this.#adopt({ ...before, is_led: false, process: null });
      this.#settle();
      return { ok: false, failure: problem };
    }
    return ok(this.#open({ prompt, resume, spawned_at: wall, rejoin: null }));
  }

  /** Its gate stays closed until it could be found again by whoever comes after us. */
  async #startGated(plan: Planned): Promise<Failure | null> {
    const { handlers, ports, secrets } = this.#parts;
    if (plan.launch.auth !== undefined) await handlers.keepSecrets({ ...secrets(), secret: plan.secret });
    const problem = await this.#kept.keep(this.#record);
    if (problem !== null) return problem;
    this.#runner = this.#line.connect((of) => openRunner(this.#parts, plan, of));
    const { pid } = this.#runner;
    const process = pid === null ? null : await ports.processes.identityOf(pid);
    // It may have failed to start meanwhile, which was told already.
    if (!this.#line.isOpen) return null;
    this.#adopt({ ...this.#record, process });
    return this.#kept.keep(this.#record);
  }

  #open(parts: Pick<Opening, 'prompt' | 'resume' | 'spawned_at' | 'rejoin'>): Done {
    const { cwd, model, auto_approve } = this.#record;
    const runner = this.#runner;
    if (runner !== null && this.#line.isOpen) {
      this.#take(this.#line.open(runner, { cwd, model, auto_approve, ...parts }));
      this.#settle();
    }
    return 'done';
  }

  async #recover(onKnown: () => void): Promise<void> {
    const { ports } = this.#parts;
    const { going } = this.#record;
    if (going !== null) this.#notices.tell(goingWords(going));
    if (going !== null) this.#adopt({ ...this.#record, going: null });
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
    this.#adopt({ ...this.#record, process: null, address: null, is_led: false, going: null });
  }

  #heard(turn: Turn<unknown>, what: Heard): void {
    if (what.from !== 'clock' && what.from !== 'exit') {
      this.#isDoubtful = false;
      this.#adopt(heard(this.#record, this.#parts.ports.now()));
      if (this.#record.going !== null) this.#adopt({ ...this.#record, going: null });
    }
    this.#take(turn);
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
    this.#withoutProcess();
    this.#settle();
  }

  #take(turn: Turn<unknown>): void {
    if (turn.messages.length > 0) this.#parts.handlers.say(turn.messages);
    this.#line.take(turn);
    for (const event of turn.events) this.#step(event);
    if (turn.events.some(({ kind }) => turnEnds.includes(kind))) this.#isCancelling = false;
    const { rejoin, tokens } = turn;
    if (rejoin !== undefined) this.#adopt({ ...this.#record, rejoin: { ...this.#record.rejoin, ...rejoin } });
    if (tokens !== undefined) this.#adopt({ ...this.#record, tokens });
    const address = this.#line.address ?? this.#record.address;
    if (address !== this.#record.address) this.#adopt({ ...this.#record, address });
  }

  #step(event: MachineEvent): void {
    this.#adopt(step(this.#record, event).record);
  }

  #adopt(record: KeptSession): void {
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
      const [text, ...rest] = this.#record.queue;
      if (text === undefined) return;
      this.#adopt({ ...this.#record, queue: rest, going: text });
      const done = await this.#do({ action: 'send', text, is_plain: true });
      if (done.ok && done.value === 'done') return;
      this.#adopt({ ...this.#record, going: null });
      if (!done.ok && !passingRefusals.includes(done.failure.code))
        return this.#notices.tell(`a waiting message was dropped: ${done.failure.message}`);
      // It has begun something by itself, or the disk is full: the message is still the first of those that wait.
      const { queue } = this.#record;
      this.#adopt({ ...this.#record, queue: [text, ...(done.ok ? queue.slice(0, -1) : queue)] });
      this.#settle();
      this.#isQueueHeld = true;
    });
  }

  #moment(): { readonly at: number; readonly wall: number } {
    return { at: this.#parts.ports.now(), wall: this.#parts.ports.clock.wallMs() };
  }
}
