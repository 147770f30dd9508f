// The screens of one target's agents: each look is read by the agent's rules, told when it says something new, and held
// against what is believed. Where a better witness is wrong for longer than a moment, the reconciler says so (RSV2, RSV3).

import type { SeenAsk } from '../agents/contract.ts';
import { classify, type Reading } from '../agents/screen/classify.ts';
import type { RuleFile } from '../agents/screen/rule-file.ts';
import { canonical, hashText } from '../engine/canonical.ts';
import { contradicts, type Doubt, reconcile } from '../engine/contradict.ts';
import type { EventEnvelope, StateFact } from '../model/events.ts';
import {
  type AgentName,
  type AskId,
  askId,
  mainScope,
  type PaneId,
  type RuntimeId,
  type TargetId,
} from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { ReasonCode } from '../model/reasons.ts';
import type { StateRecord } from '../model/records.ts';
import { rankOf } from '../model/sources.ts';
import { classOf, type StateName } from '../model/states.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Seen } from './explain.ts';
import { outputOf } from './screen-output.ts';

/** An agent whose screen is looked at. */
export interface ScreenRun {
  readonly runtime_id: RuntimeId;
  readonly pane: PaneId;
  readonly agent: AgentName;
  readonly version: string | null;
  /** Seen behind a door only: what it seems to do is told with this reason and low confidence (IDN7). */
  readonly inside: ReasonCode | null;
}

export interface ScreensParts {
  readonly target: TargetId;
  readonly clock: Clock;
  /** The daemon's timeline, ms. */
  readonly now: () => number;
  readonly rulesOf: (agent: AgentName) => RuleFile | null;
  /** What is published of a runtime now. */
  readonly published: (runtime: RuntimeId) => StateRecord | null;
  readonly offer: (events: readonly EventEnvelope[]) => void;
  /** One look at a pane's screen outside of the sweep. */
  readonly capture: (pane: PaneId) => Promise<readonly string[]>;
  /** The title tmux shows for a pane. */
  readonly titleOf: (pane: PaneId) => string;
  /** For whoever has to find out which agent is which by what they do. */
  readonly onLook: (runtime: RuntimeId, state: StateName) => void;
}

/** What is remembered of one agent's screen. */
interface Memory {
  readonly run: ScreenRun;
  lines: readonly string[];
  title: string;
  /** What was told last, and when. */
  told: Reading | null;
  toldAt: number;
  /** Since when no rule fits; null while one does. */
  unreadSince: number | null;
  doubt: Doubt | null;
  /** The version of the published state that the screen has confirmed once. */
  agreedOn: number | null;
  ask: AskId | null;
  output: string;
  outputAt: number;
  confirm: Cancel | null;
  current: Reading | null;
}

export class Screens {
  readonly #parts: ScreensParts;
  readonly #byPane = new Map<PaneId, Memory>();

  constructor(parts: ScreensParts) {
    this.#parts = parts;
  }

  /** The agents to look at from now on. */
  follow(runs: readonly ScreenRun[]): void {
    const panes = new Set(runs.map((run) => run.pane));
    for (const [pane, memory] of this.#byPane) if (!panes.has(pane)) this.#drop(pane, memory);
    for (const run of runs) {
      const known = this.#byPane.get(run.pane);
      if (known?.run.runtime_id === run.runtime_id) continue;
      if (known !== undefined) this.#drop(run.pane, known);
      const memory = newMemory(run, this.#parts.now());
      this.#byPane.set(run.pane, memory);
      // The sweep tells only what changed; what was there before this run was known has to be fetched.
      if (known !== undefined || run.inside !== null) void this.#fetch(memory);
    }
  }

  async #fetch(memory: Memory): Promise<void> {
    const lines = await this.#parts.capture(memory.run.pane).catch(() => null);
    if (lines !== null && this.#byPane.get(memory.run.pane) === memory)
      this.onScreen(memory.run.pane, lines, this.#parts.now());
  }

  get panes(): readonly PaneId[] {
    return [...this.#byPane.keys()];
  }

  stop(): void {
    for (const [pane, memory] of this.#byPane) this.#drop(pane, memory);
  }

  /** The screen of a runtime as it was looked at last. */
  seenOf(runtime: RuntimeId): Seen | null {
    for (const { run, current, lines, title } of this.#byPane.values()) {
      if (run.runtime_id === runtime && current !== null) return { lines, title, version: run.version };
    }
    return null;
  }

  /** What the dialog on the screen of a runtime asks. */
  askOf(runtime: RuntimeId): SeenAsk | null {
    for (const { run, current } of this.#byPane.values()) if (run.runtime_id === runtime) return current?.ask ?? null;
    return null;
  }

  onScreen(pane: PaneId, lines: readonly string[], at: number): void {
    const memory = this.#byPane.get(pane);
    if (memory === undefined) return;
    memory.lines = lines;
    memory.title = this.#parts.titleOf(pane);
    const output = outputOf(lines);
    if (output !== memory.output) [memory.output, memory.outputAt] = [output, at];
    this.#read(memory, at);
  }

  /** Titles come with the topology, not with the screen. */
  onTopology(at: number): void {
    for (const [pane, memory] of this.#byPane) {
      const title = this.#parts.titleOf(pane);
      if (title === memory.title) continue;
      memory.title = title;
      if (memory.current !== null) this.#read(memory, at);
    }
  }

  /** Rules were changed: every screen is read again. */
  onRules(at: number): void {
    for (const memory of this.#byPane.values()) if (memory.lines.length > 0) this.#read(memory, at);
  }

  /** A sweep was answered: what every screen showed before, it still shows. */
  onRefresh(at: number): void {
    for (const memory of this.#byPane.values()) {
      const { current } = memory;
      if (current === null) continue;
      if (current.state === 'unknown') this.#read(memory, at);
      else if (memory.confirm === null) this.#hold(memory, current, at);
      if (current.state === 'running' && at - memory.toldAt >= limits.screenRepeatMs && memory.told !== null)
        this.#repeat(memory, at);
    }
  }

  #read(memory: Memory, at: number): void {
    const rules = this.#parts.rulesOf(memory.run.agent);
    if (rules === null) return;
    const { lines, title, run } = memory;
    const reading = classify(rules, { lines, title, command: null }, run.version);
    const before = memory.current;
    memory.current = reading;
    if (reading.state === 'unknown') {
      this.#onUnread(memory, reading, at);
      return;
    }
    memory.unreadSince = null;
    if (before === null || before.state !== reading.state) this.#parts.onLook(run.runtime_id, reading.state);
    const isSame = memory.told !== null && classOf(memory.told.state) === classOf(reading.state);
    // Work is believed at once: it is never drawn by accident. Everything else may be a piece of a screen on its way.
    if (isSame || reading.state === 'running') {
      memory.confirm?.();
      memory.confirm = null;
      this.#tell(memory, reading, at);
    } else if (memory.confirm === null) {
      memory.confirm = this.#parts.clock.after(limits.screenConfirmMs, () => void this.#lookAgain(memory, reading, at));
    }
    this.#hold(memory, reading, at);
  }

  async #lookAgain(memory: Memory, first: Reading, at: number): Promise<void> {
    const { run } = memory;
    const lines = await this.#parts.capture(run.pane).catch(() => null);
    if (lines === null || this.#byPane.get(run.pane) !== memory) {
      memory.confirm = null;
      return;
    }
    memory.confirm = null;
    const rules = this.#parts.rulesOf(run.agent);
    if (rules === null) return;
    const title = this.#parts.titleOf(run.pane);
    const reading = classify(rules, { lines, title, command: null }, run.version);
    [memory.lines, memory.title] = [lines, title];
    if (classOf(reading.state) !== classOf(first.state)) {
      memory.current = null;
      this.#read(memory, this.#parts.now());
      return;
    }
    memory.current = reading;
    // What was told meanwhile is later than the first look: with its time this would come too late for the engine.
    this.#tell(memory, reading, memory.toldAt >= at ? this.#parts.now() : at);
  }

  /** A screen on its way from one state to another fits no rule for a moment; that is no news yet. */
  #onUnread(memory: Memory, reading: Reading, at: number): void {
    memory.unreadSince ??= at;
    if (at - memory.unreadSince < limits.screenUnreadMs && memory.told !== null) return;
    if (memory.told?.state === 'unknown' && memory.told.reason === reading.reason) return;
    this.#say(memory, reading, at, { state: 'unknown', reason: reading.reason });
  }

  #tell(memory: Memory, reading: Reading, at: number): void {
    const { told } = memory;
    const known = told !== null && told.state === reading.state && told.reason === reading.reason;
    const isSameAsk = canonical(told?.ask ?? null) === canonical(reading.ask);
    if (known && isSameAsk) {
      const isOtherDetail = told.detail !== reading.detail && at - memory.toldAt >= limits.screenDetailMs;
      if (!isOtherDetail) {
        this.#tellBackground(memory, reading, at);
        return;
      }
    }
    this.#say(memory, reading, at, this.#stateOf(memory, reading));
    this.#tellAsk(memory, reading, at);
    this.#tellBackground(memory, reading, at);
  }

  /** After work a prompt without a sign of interruption or error means that the turn is done (RSV1). */
  #stateOf({ told, run }: Memory, reading: Reading): Pick<StateFact, 'state' | 'reason'> {
    const { state, reason } = reading;
    const record = this.#parts.published(run.runtime_id);
    const wasDone = record?.state === 'completed' || (record?.state === 'idle' && record.reason === 'completed_aged');
    // A better witness that has seen the end of the turn and does not call it done knows more than the screen.
    const isKnown =
      record?.state === 'idle' && record.decided_by !== null && rankOf(record.decided_by) > rankOf('screen');
    const hasWorked = (told?.state === 'running' && !isKnown) || (wasDone && told?.state !== 'idle');
    return state === 'idle' && reason === 'prompt_ready' && hasWorked
      ? { state: 'completed', reason: 'turn_completed' }
      : { state, reason };
  }

  #say(memory: Memory, reading: Reading, at: number, said: Pick<StateFact, 'state' | 'reason'>): void {
    memory.told = reading;
    memory.toldAt = at;
    const { inside } = memory.run;
    const fact = { ...factOf(reading), ...said };
    const detail = reading.ask === null ? {} : { detail: reading.ask.text };
    const isDoubt = inside !== null && said.state !== 'unknown';
    const seen = isDoubt ? ({ ...fact, ...detail, reason: inside, confidence: 'low' } as const) : fact;
    this.#offer(memory.run, at, 'screen', seen);
  }

  #offer({ runtime_id }: ScreenRun, at: number, source: 'screen' | 'reconciler', fact: Omit<StateFact, 'kind'>): void {
    this.#parts.offer([this.#event(runtime_id, at, source, 'state.observed', { ...fact })]);
  }

  #event(
    runtime_id: RuntimeId,
    at: number,
    source: EventEnvelope['source'],
    kind: EventEnvelope['kind'],
    payload: EventEnvelope['payload'],
  ): EventEnvelope {
    return { evidence: { target: this.#parts.target, runtime_id }, source, kind, event_time: at, payload };
  }

  /** What the dialog asks, unless the agent itself has told it already: one dialog is one ask. */
  #tellAsk(memory: Memory, reading: Reading, at: number): void {
    const { runtime_id, inside } = memory.run;
    // An ask is something to act on; behind a door nobody knows on whom.
    if (inside !== null) return;
    const known = this.#parts.published(runtime_id)?.ask ?? null;
    const isToldByAgent = known !== null && known.ask_id !== memory.ask;
    const id = reading.ask === null || isToldByAgent ? null : screenAskId(reading.ask, runtime_id, at);
    if (memory.ask !== null) {
      this.#parts.offer([
        this.#event(runtime_id, at, 'screen', 'ask.settled', { ask_id: memory.ask, how: 'withdrawn' }),
      ]);
    }
    memory.ask = id;
    if (id === null || reading.ask === null) return;
    const { kind, text, options } = reading.ask;
    const ask = { ask_id: id, kind, scope: mainScope, text, options };
    this.#parts.offer([this.#event(runtime_id, at, 'screen', 'ask.opened', { ask })]);
  }

  #tellBackground(memory: Memory, { background }: Reading, at: number): void {
    const known = this.#parts.published(memory.run.runtime_id)?.background;
    const counted = background ?? (memory.told?.background !== null ? { shells: 0, agents: 0 } : null);
    if (counted === null || (known?.shells === counted.shells && known.agents === counted.agents)) return;
    this.#parts.offer([this.#event(memory.run.runtime_id, at, 'screen', 'background.counted', counted)]);
  }

  /** It still shows work: fresh, or stalled when nothing was printed for minutes (RSV9). */
  #repeat(memory: Memory, at: number): void {
    memory.toldAt = at;
    const isStalled = at - memory.outputAt >= limits.stalledMs;
    const { runtime_id } = memory.run;
    const record = this.#parts.published(runtime_id);
    if (record?.state === 'running' && (record.reason === 'stalled') !== isStalled) {
      const said = isStalled ? ({ state: 'running', reason: 'stalled' } as const) : {};
      // Whoever decides is outdone only by a word of its own rank.
      const source = record.decided_by === 'screen' ? 'screen' : 'reconciler';
      this.#offer(memory.run, at, source, { ...factOf(memory.current), ...said });
    } else {
      this.#parts.offer([this.#event(runtime_id, at, 'screen', 'state.repeated', {})]);
    }
  }

  /** Held against what is believed. Only a better witness can be wrong here: the screen's own word is already told. */
  #hold(memory: Memory, reading: Reading, at: number): void {
    const record = this.#parts.published(memory.run.runtime_id);
    if (record === null || record.decided_by === null || rankOf(record.decided_by) <= rankOf('screen')) {
      memory.doubt = null;
      return;
    }
    const fact: StateFact = { kind: 'state.observed', ...factOf(reading) };
    const observation = { time: at, fact };
    if (!contradicts(record, observation)) memory.agreedOn = record.state_version;
    // The agent's word leads its screen: a claim that was never drawn yet gets the time to be.
    const followsMs = isDialog(record.state) ? limits.dialogFollowsMs : limits.screenFollowsMs;
    if (memory.agreedOn !== record.state_version && at - record.since < followsMs) return;
    const { doubt, correction } = reconcile(memory.doubt, record, observation);
    memory.doubt = doubt;
    if (correction === null) return;
    const { kind: _, ...said } = correction;
    this.#offer(memory.run, at, 'reconciler', said);
    this.#tellAsk(memory, reading, at);
  }

  #drop(pane: PaneId, memory: Memory): void {
    memory.confirm?.();
    this.#byPane.delete(pane);
  }
}

function newMemory(run: ScreenRun, now: number): Memory {
  return {
    run,
    lines: [],
    title: '',
    told: null,
    toldAt: 0,
    unreadSince: null,
    doubt: null,
    agreedOn: null,
    ask: null,
    output: '',
    outputAt: now,
    confirm: null,
    current: null,
  };
}

function factOf(reading: Reading | null): Omit<StateFact, 'kind'> {
  const { state, reason, confidence, detail } = reading ?? {
    state: 'unknown',
    reason: 'unsupported_signal',
    confidence: 'low',
    detail: null,
  };
  const dialog = state === 'unknown' ? {} : { dialog: isDialog(state) };
  return { state, reason, confidence, ...dialog, ...(detail === null ? {} : { detail }) };
}

const isDialog = (state: StateName): boolean => state === 'waiting_approval' || state === 'waiting_input';

/** The same words asked again later are another ask. */
function screenAskId(ask: NonNullable<Reading['ask']>, runtime: RuntimeId, at: number): AskId {
  return askId(`screen:${hashText(canonical([ask, runtime, at]))}`);
}
