// The screens of one target's agents: each look is read by the agent's rules, told when it says something new, and held
// against what is believed. Where a better witness is wrong for longer than a moment, the reconciler says so (RSV2, RSV3).

import type { Keys, SeenAsk, SeenPrompt } from '../agents/contract.ts';
import { plainLines } from '../agents/keys/styled-text.ts';
import { classify, type Reading } from '../agents/screen/classify.ts';
import type { RuleFile } from '../agents/screen/rule-file.ts';
import { type ClaimNow, followClaim, followScreen, isLate, isUndrawn, reconcile } from '../engine/contradict.ts';
import type { EventEnvelope, StateFact } from '../model/events.ts';
import type { AgentName, PaneId, RuntimeId, TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { isCut } from '../model/reasons.ts';
import type { StateRecord } from '../model/records.ts';
import { rankOf } from '../model/sources.ts';
import { classOf, type StateName } from '../model/states.ts';
import type { Clock } from '../platform/clock.ts';
import type { Seen } from './explain.ts';
import { wordsOf } from './screen-asks.ts';
import { factOf, isDialog, type Memory, newMemory, type ScreenRun } from './screen-memory.ts';

export interface ScreenReconcilerParts {
  readonly target: TargetId;
  readonly clock: Clock;
  /** The daemon's timeline, ms. */
  readonly now: () => number;
  readonly rulesOf: (agent: AgentName) => RuleFile | null;
  /** What is published of a runtime now. */
  readonly published: (runtime: RuntimeId) => StateRecord | null;
  /** The same with what better witnesses than the screen said last. */
  readonly claimed: (runtime: RuntimeId) => ClaimNow | null;
  /** False when it was turned away, because the inbox is full: it has to be told again. */
  readonly offer: (events: readonly EventEnvelope[]) => Promise<boolean>;
  /** One look at a pane's screen outside of the sweep. */
  readonly capture: (pane: PaneId, colours?: boolean) => Promise<readonly string[]>;
  /** Makes the next sweep tell the screen of a pane, also when it looks as the last sweep saw it. */
  readonly tellAgain: (pane: PaneId) => void;
  /** How the marked option of a dialog and unsent text in a prompt are read, which only colours tell. */
  readonly keysOf?: (agent: AgentName) => Pick<Keys, 'marked' | 'prompt'> | null;
  /** The title tmux shows for a pane. */
  readonly titleOf: (pane: PaneId) => string;
  /** For whoever has to find out which agent is which by what they do. */
  readonly onLook: (runtime: RuntimeId, state: StateName) => void;
}

/** With the prompt as it is at that moment; left out where nobody knows its looks. */
export type PromptReading = Reading & { readonly lines: readonly string[]; readonly prompt?: SeenPrompt | null };

/** A turn that was cut short leaves its mark on the screen. */
const cutWords = ({ reason }: Reading): string => (isCut(reason) ? reason : '');

export class ScreenReconciler {
  readonly #parts: ScreenReconcilerParts;
  readonly #byPane = new Map<PaneId, Memory>();

  constructor(parts: ScreenReconcilerParts) {
    this.#parts = parts;
  }

  /** The agents to look at from now on. */
  follow(runs: readonly ScreenRun[]): void {
    const panes = new Set(runs.map((run) => run.pane));
    for (const [pane, memory] of this.#byPane) if (!panes.has(pane)) this.#drop(pane, memory);
    for (const run of runs) {
      const known = this.#byPane.get(run.pane);
      if (known?.run.runtime_id === run.runtime_id) {
        known.run = run;
        continue;
      }
      if (known !== undefined) this.#drop(run.pane, known);
      const memory = newMemory(run, this.#parts.now());
      this.#byPane.set(run.pane, memory);
      // The sweep tells only what changed; what was there before this run was known has to be fetched.
      void this.#fetch(memory);
    }
  }

  async #fetch(memory: Memory): Promise<void> {
    const { pane } = memory.run;
    const lines = await this.#parts.capture(pane).catch(() => []);
    const isBlank = lines.every((line) => line.trim() === '');
    if (isBlank || this.#byPane.get(pane) !== memory || memory.current !== null) return;
    this.onScreen(pane, lines, this.#parts.now());
    this.#parts.tellAgain(pane);
  }

  /** Every screen was told as it stands, and none of them is waited for or doubted: another look would say nothing new. */
  get isSettled(): boolean {
    return [...this.#byPane.values()].every(({ current, told, confirm, doubt, isLate }) => {
      if (current === null) return true;
      if (confirm !== null || told === null) return false;
      if (current.state === 'unknown') return told.state === 'unknown' && told.reason === current.reason;
      return doubt === null && !isLate && classOf(told.state) === classOf(current.state);
    });
  }

  /** A screen shows something that a second look in a moment may confirm. */
  get isConfirming(): boolean {
    for (const { confirm } of this.#byPane.values()) if (confirm !== null) return true;
    return false;
  }

  get panes(): readonly PaneId[] {
    return [...this.#byPane.keys()];
  }

  stop(): void {
    for (const [pane, memory] of this.#byPane) this.#drop(pane, memory);
  }

  /** The screen of a runtime as it was looked at last. */
  seenOf(runtime: RuntimeId): Seen | null {
    const memory = this.#memoryOf(runtime);
    if (memory === null || memory.current === null) return null;
    return { lines: memory.lines, title: memory.title, version: memory.run.version };
  }

  /** What the dialog on the screen of a runtime asks. */
  askOf(runtime: RuntimeId): SeenAsk | null {
    return this.#memoryOf(runtime)?.current?.ask ?? null;
  }

  /** A look at this very moment; null when its screen cannot be looked at. */
  async look(runtime: RuntimeId): Promise<PromptReading | null> {
    const memory = this.#memoryOf(runtime);
    const rules = memory === null ? null : this.#parts.rulesOf(memory.run.agent);
    if (memory === null || rules === null) return null;
    const { pane, version } = memory.run;
    const keys = this.#parts.keysOf?.(memory.run.agent) ?? null;
    const hasColours = keys !== null && (keys.marked ?? keys.prompt) !== undefined;
    // One look for all: a mark in another dialog than the one that was read would be worse than none.
    const seen = await this.#parts.capture(pane, hasColours).catch(() => null);
    if (seen === null) return null;
    const lines = hasColours ? plainLines(seen) : seen;
    const title = this.#parts.titleOf(pane);
    const reading = classify(rules, { lines, title, command: null, isAlive: true }, version);
    const { ask } = reading;
    return {
      ...reading,
      lines,
      ask: ask === null || keys?.marked === undefined ? ask : { ...ask, marked: keys.marked(seen) },
      ...(keys?.prompt === undefined ? {} : { prompt: keys.prompt(seen) }),
    };
  }

  #memoryOf(runtime: RuntimeId): Memory | null {
    for (const memory of this.#byPane.values()) if (memory.run.runtime_id === runtime) return memory;
    return null;
  }

  onScreen(pane: PaneId, lines: readonly string[], at: number): void {
    const memory = this.#byPane.get(pane);
    if (memory === undefined) return;
    memory.lines = lines;
    memory.title = this.#parts.titleOf(pane);
    this.#noteOutput(memory, at);
    this.#read(memory, at);
  }

  /** What is printed counts in minutes (RSV9): it is not looked at as often as spinners turn. */
  #noteOutput(memory: Memory, at: number): void {
    if (at - memory.outputLookedAt < limits.outputLookMs) return;
    memory.outputLookedAt = at;
    const output = outputOf(memory.lines);
    if (output !== memory.output) [memory.output, memory.outputAt] = [output, at];
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
      const { current, told } = memory;
      if (current === null || memory.confirm !== null) continue;
      if (current.state === 'unknown') {
        this.#onUnread(memory, current, at);
        continue;
      }
      if (this.#isLate(memory, current, at)) continue;
      // A second look that failed, or an event that was turned away: what the screen says is still to be told.
      if (told === null || classOf(told.state) !== classOf(current.state)) this.#believe(memory, current, at);
      else this.#tell(memory, current, at);
      this.#hold(memory, current, at);
      if (current.state === 'running' && at - memory.toldAt >= limits.screenRepeatMs) this.#repeat(memory, current, at);
    }
  }

  #read(memory: Memory, at: number): void {
    const reading = this.#classify(memory);
    if (reading === null) return;
    const before = memory.current;
    memory.current = reading;
    if (reading.state === 'unknown') {
      this.#onUnread(memory, reading, at);
      return;
    }
    memory.unreadSince = null;
    if (before?.state !== reading.state) this.#parts.onLook(memory.run.runtime_id, reading.state);
    if (this.#isLate(memory, reading, at)) return;
    this.#believe(memory, reading, at);
    this.#hold(memory, reading, at);
  }

  #classify({ run, lines, title }: Memory): Reading | null {
    const rules = this.#parts.rulesOf(run.agent);
    return rules === null ? null : classify(rules, { lines, title, command: null, isAlive: true }, run.version);
  }

  /** A picture from before the last claim says nothing about it: neither state nor ask (RSV2). */
  #isLate(memory: Memory, reading: Reading, at: number): boolean {
    memory.isLate = this.#isBehind(memory, reading, at);
    return memory.isLate;
  }

  #isBehind(memory: Memory, reading: Reading, at: number): boolean {
    const claim = this.#parts.claimed(memory.run.runtime_id);
    if (claim === null) return false;
    const shows = classOf(reading.state);
    const picture = { shows, words: reading.ask === null ? cutWords(reading) : wordsOf(reading.ask) };
    memory.trail = followScreen(followClaim(memory.trail, claim, at), picture);
    const isAgreed = shows === classOf(claim.state) && !isDialog(reading.state);
    if (isAgreed || !isLate(memory.trail, picture, at)) return false;
    memory.confirm?.();
    memory.confirm = null;
    memory.doubt = null;
    // Our own ask was seen on an earlier picture than this one.
    if (!isDialog(reading.state)) this.#offerAsks(memory, memory.asks.close(), at);
    return true;
  }

  /** Work is believed at once: it is never drawn by accident. Everything else may be a piece of a screen on its way. */
  #believe(memory: Memory, reading: Reading, at: number): void {
    const isSame = memory.told !== null && classOf(memory.told.state) === classOf(reading.state);
    if (isSame || reading.state === 'running') {
      memory.confirm?.();
      memory.confirm = null;
      this.#tell(memory, reading, at);
    } else if (memory.confirm === null) {
      const cancel = this.#parts.clock.after(
        limits.screenConfirmMs,
        () => void this.#lookAgain(memory, reading, at, cancel),
      );
      memory.confirm = cancel;
    }
  }

  async #lookAgain(memory: Memory, first: Reading, at: number, token: Memory['confirm']): Promise<void> {
    const { pane } = memory.run;
    const lines = await this.#parts.capture(pane).catch(() => null);
    // Meanwhile a sweep may have seen more than this look.
    if (memory.confirm !== token || this.#byPane.get(pane) !== memory) return;
    memory.confirm = null;
    if (lines === null) return;
    [memory.lines, memory.title] = [lines, this.#parts.titleOf(pane)];
    // The sweep has not seen this picture: when the one before it is back, that has to be told.
    this.#parts.tellAgain(pane);
    const reading = this.#classify(memory);
    if (reading === null || classOf(reading.state) !== classOf(first.state)) {
      this.#read(memory, this.#parts.now());
      return;
    }
    memory.current = reading;
    if (this.#isLate(memory, reading, this.#parts.now())) return;
    // What was told meanwhile is later than the first look: with its time this would come too late for the engine.
    this.#tell(memory, reading, memory.toldAt >= at ? this.#parts.now() : at);
  }

  /** A screen on its way from one state to another fits no rule for a moment; that is no news yet. */
  #onUnread(memory: Memory, reading: Reading, at: number): void {
    memory.unreadSince ??= at;
    if (at - memory.unreadSince < limits.screenUnreadMs && memory.told !== null) return;
    if (memory.told?.state === 'unknown' && memory.told.reason === reading.reason) return;
    this.#say(memory, reading, at, { state: 'unknown', reason: reading.reason, confidence: reading.confidence });
    // What nobody can read asks nothing either (RSV4).
    this.#offerAsks(memory, memory.asks.close(), at);
  }

  #tell(memory: Memory, reading: Reading, at: number): void {
    const { told } = memory;
    if (this.#isBlind(memory, reading)) return;
    if (told === null && this.#isDoneAlready(memory, reading)) {
      memory.told = reading;
      memory.toldAt = at;
    }
    const isKnown = memory.told?.state === reading.state && memory.told.reason === reading.reason;
    const isOtherDetail = memory.told?.detail !== reading.detail && at - memory.toldAt >= limits.screenDetailMs;
    if (!isKnown || isOtherDetail || this.#isUnseenWork(memory))
      this.#say(memory, reading, at, this.#stateOf(memory, reading));
    this.#tellAsk(memory, reading, at);
    this.#tellBackground(memory, reading, at);
  }

  /** A prompt with nothing of the talk in sight, as in a low window, does not deny the error that was seen (RSV7). */
  #isBlind({ run }: Memory, { state, confidence }: Reading): boolean {
    return state === 'idle' && confidence === 'low' && this.#parts.published(run.runtime_id)?.state === 'error';
  }

  /** A better witness told that work began and ended since the last word of the screen, and not how it went. */
  #isUnseenWork({ run, toldAt }: Memory): boolean {
    if (this.#parts.published(run.runtime_id)?.state !== 'unknown') return false;
    const claim = this.#parts.claimed(run.runtime_id);
    return claim !== null && claim.workedAt > toldAt && claim.turnEndedAt >= claim.workedAt;
  }

  /**
   * The first look of this daemon at one whose turn is known to be done, and is: the one before has told it, and to tell it
   * again would make news of it, or make it young again.
   */
  #isDoneAlready({ run }: Memory, { state, reason }: Reading): boolean {
    const record = this.#parts.published(run.runtime_id);
    const isDone = record?.state === 'completed' || (record?.state === 'idle' && record.reason === 'completed_aged');
    return isDone && (state === 'completed' || (state === 'idle' && reason === 'prompt_ready'));
  }

  /** After work a prompt means that the turn is done, if nothing in sight says otherwise (RSV1, RSV13). */
  #stateOf(memory: Memory, reading: Reading): Pick<StateFact, 'state' | 'reason' | 'confidence'> {
    const { told, run } = memory;
    const { state, reason, confidence } = reading;
    const record = this.#parts.published(run.runtime_id);
    const wasDone = record?.state === 'completed';
    // A better witness that has seen the end of the turn and does not call it done knows more than the screen.
    const isKnown =
      record?.state === 'idle' && record.decided_by !== null && rankOf(record.decided_by) > rankOf('screen');
    const isWork = (told?.state === 'running' && told.reason !== 'starting') || this.#isUnseenWork(memory);
    const isDone = (isWork && !reading.unfinished && !isKnown) || (wasDone && told?.state !== 'idle');
    const said =
      state === 'idle' && reason === 'prompt_ready' && isDone
        ? ({ state: 'completed', reason: 'turn_completed', confidence: 'medium' } as const)
        : { state, reason, confidence };
    return { ...said, ...this.#unproved(memory, said) };
  }

  #say(memory: Memory, reading: Reading, at: number, said: Pick<StateFact, 'state' | 'reason' | 'confidence'>): void {
    memory.told = reading;
    memory.toldAt = at;
    const { inside } = memory.run;
    const fact = { ...factOf(reading), ...said };
    const detail = reading.ask === null ? {} : { detail: reading.ask.text };
    const isDoubt = inside !== null && said.state !== 'unknown';
    const seen = isDoubt ? ({ ...fact, ...detail, reason: inside, confidence: 'low' } as const) : fact;
    this.#offer(memory, at, 'screen', 'state.observed', { ...seen });
  }

  #offer(
    memory: Memory,
    at: number,
    source: EventEnvelope['source'],
    kind: EventEnvelope['kind'],
    payload: EventEnvelope['payload'],
  ): void {
    const evidence = { target: this.#parts.target, runtime_id: memory.run.runtime_id };
    void this.#parts.offer([{ evidence, source, kind, event_time: at, payload }]).then((isTaken) => {
      if (isTaken) return;
      memory.told = null;
      memory.counted = null;
      memory.asks.forget();
    });
  }

  #tellAsk(memory: Memory, reading: Reading, at: number): void {
    // An ask is something to act on; behind a door nobody knows on whom.
    if (memory.run.inside !== null) return;
    const record = this.#parts.published(memory.run.runtime_id);
    this.#offerAsks(memory, memory.asks.step(reading.ask, record, at), at);
  }

  #offerAsks(memory: Memory, events: ReturnType<Memory['asks']['close']>, at: number): void {
    for (const { source, kind, payload } of events) this.#offer(memory, at, source, kind, payload);
  }

  #tellBackground(memory: Memory, { background }: Reading, at: number): void {
    memory.counted ??= this.#parts.published(memory.run.runtime_id)?.background ?? { shells: 0, agents: 0 };
    const { shells, agents } = background ?? { shells: 0, agents: 0 };
    if (memory.counted.shells === shells && memory.counted.agents === agents) return;
    memory.counted = { shells, agents };
    this.#offer(memory, at, 'screen', 'background.counted', { shells, agents });
  }

  /** It still shows work: fresh, or stalled when nothing was printed for minutes (RSV9). */
  #repeat(memory: Memory, reading: Reading, at: number): void {
    memory.toldAt = at;
    const isStalled = at - memory.outputAt >= limits.stalledMs;
    const record = this.#parts.published(memory.run.runtime_id);
    if (record?.state !== 'running' || (record.reason === 'stalled') === isStalled) {
      this.#offer(memory, at, 'screen', 'state.repeated', {});
      return;
    }
    // Whoever decides is outdone only by a word of its own rank.
    const source = record.decided_by === 'screen' ? 'screen' : 'reconciler';
    const said = isStalled ? ({ state: 'running', reason: 'stalled' } as const) : {};
    this.#offer(memory, at, source, 'state.observed', { ...factOf(reading), ...said });
  }

  /** Held against what is believed. Only a better witness can be wrong here: the screen's own word is already told. */
  #hold(memory: Memory, reading: Reading, at: number): void {
    const record = this.#parts.published(memory.run.runtime_id);
    if (record === null || record.decided_by === null || rankOf(record.decided_by) <= rankOf('screen')) {
      memory.doubt = null;
      return;
    }
    const observation = { time: at, fact: { kind: 'state.observed', ...factOf(reading) } as const };
    // What was doubted before this claim says nothing about this claim.
    const before = memory.doubt !== null && memory.doubt.since < record.since ? null : memory.doubt;
    const { doubt, correction } = reconcile(before, record, observation);
    memory.doubt = doubt;
    if (correction === null) return;
    const { kind, ...said } = correction;
    this.#offer(memory, at, 'reconciler', kind, { ...said, ...this.#unproved(memory, said) });
  }

  /** What was finished on a picture from before the claim was finished before it: nobody says that it is done (RSV3). */
  #unproved({ trail }: Memory, { state }: Pick<StateFact, 'state'>): Partial<StateFact> {
    return state === 'completed' && isUndrawn(trail) ? { state: 'idle', reason: 'prompt_ready' } : {};
  }

  #drop(pane: PaneId, memory: Memory): void {
    memory.confirm?.();
    memory.confirm = null;
    this.#byPane.delete(pane);
  }
}

/** Spinners, counters and clocks; a line with an ellipsis says what is going on. */
const moving = /[\d⠀-⣿◐◑◒◓✢✶✻✽✳·*•○●◉⬝■]/gu;

/** Lines at the bottom that belong to the prompt and its footers. */
const chromeLines = 6;

/** What an agent has printed, apart from the parts of its screen that move by themselves. */
function outputOf(lines: readonly string[]): string {
  const filled = lines.filter((line) => line.trim() !== '');
  return filled
    .slice(0, -chromeLines)
    .filter((line) => !line.includes('…'))
    .map((line) => line.replace(moving, ''))
    .join('\n');
}
