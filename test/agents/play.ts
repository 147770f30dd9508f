// Plays one step of a scenario: provokes something, waits until the agent itself shows that it happened, and looks when
// and whether the daemon told it, and whether it then held on to it.

import type { PaneItem } from '../../src/api/panes.ts';
import type { ReasonCode } from '../../src/model/reasons.ts';
import type { StateName } from '../../src/model/states.ts';
import type { ActionExecutor, StepName } from './actor.ts';
import type { Stage } from './stage.ts';
import type { StateStream, Told } from './state-stream.ts';

/** not sure: not told, and what was told instead did not claim to be sure, as it is where hooks alone speak. */
type StepVerdict = 'seen' | 'late' | 'unstable' | 'missed' | 'not sure' | 'not provoked' | 'n/a';

export interface StepResult {
  readonly step: StepName;
  readonly verdict: StepVerdict;
  /** What the daemon told, as state/reason. */
  readonly told: string;
  /** From the moment the agent showed it to the moment the feed told it; 0 when the feed was first. */
  readonly afterTruthMs: number | null;
  /** The same from the key, the file or the signal that provoked it. */
  readonly afterActMs: number | null;
  /** What was asked of the person, where something was. */
  readonly ask: string | null;
  /** What was told on the way, from the provocation on. */
  readonly path: readonly string[];
  readonly note: string | null;
}

export interface Step {
  readonly name: StepName;
  /** Brings the agent to where the step begins. */
  prepare?(): Promise<void>;
  act(): void | Promise<void>;
  /** Waits for the agent itself; gives the moment. */
  truth(): Promise<number>;
  readonly states: readonly StateName[];
  /** Reasons that fit; all when it is left out. */
  readonly reasons?: readonly ReasonCode[];
  /** What must not be told at any moment from the provocation on: a turn that was not finished is never completed. */
  readonly never?: readonly StateName[];
  /** Whether the run is over. */
  readonly isEnd?: boolean;
  readonly limitMs?: number;
  /** How long nothing else may be told afterwards, while the truth stays what it is. */
  readonly holdMs?: number;
}

/** Until the screen of an agent is drawn whole. */
const drawnMs = 700;
/** How long a step waits for the daemon to tell it. */
const toldLimitMs = 15_000;
/** The same of an agent in no pane: what no hook tells is told by nobody, so nothing is gained by patience. */
const outsideLimitMs = 4_000;
/** What was right until a moment ago is not wrong yet. */
const correctedMs = 1_000;
const wordsOf = ({ state, reason_code: reason }: PaneItem): string => `${state}/${reason}`;

export class Play {
  readonly results: StepResult[] = [];
  readonly actor: ActionExecutor;
  readonly stage: Stage;
  readonly stream: StateStream;

  readonly #isRecording: boolean;

  /** Recording keeps what every step shows and does not ask what was told of it. */
  constructor(actor: ActionExecutor, stage: Stage, stream: StateStream, isRecording = false) {
    this.actor = actor;
    this.stage = stage;
    this.stream = stream;
    this.#isRecording = isRecording;
  }

  async step(step: Step): Promise<void> {
    const missing = this.actor.missing[step.name];
    if (missing !== undefined) {
      this.#add(step.name, 'n/a', { note: missing });
      return;
    }
    try {
      await step.prepare?.();
      const before = Date.now();
      await step.act();
      const actedAt = Date.now();
      const trueAt = await step.truth();
      if (this.#isRecording) {
        await new Promise((resolve) => setTimeout(resolve, drawnMs));
        this.stage.capture(step.name);
        process.stdout.write(`  recorded     ${step.name}\n`);
        return;
      }
      await this.#compare(step, before, actedAt, trueAt);
    } catch (problem) {
      this.stage.capture(`${step.name}-trouble`);
      this.#add(step.name, 'not provoked', { note: problem instanceof Error ? problem.message : String(problem) });
      throw problem;
    }
  }

  #fits(step: Step, row: PaneItem): boolean {
    if ((row.ended !== null) !== (step.isEnd ?? false) || row.state === null || row.reason_code === null) return false;
    return step.states.includes(row.state) && (step.reasons?.includes(row.reason_code) ?? true);
  }

  async #compare(step: Step, before: number, actedAt: number, trueAt: number): Promise<void> {
    const { told, slips: lost } = await this.#settle(step, before, trueAt);
    const wrong = this.stream.since(before).filter(({ row }) => row.state !== null && step.never?.includes(row.state));
    const slips = [...lost, ...wrong.map(({ row }) => wordsOf(row))];
    this.stage.capture(step.name);
    const path = this.stream.since(before).map((one) => wordsOf(one.row));
    const note = slips.length === 0 ? null : `in between ${slips.join(', ')}`;
    if (told === null) {
      const current = this.stream.current();
      const verdict = slips.length === 0 ? 'missed' : 'unstable';
      this.#add(step.name, this.#judged(verdict, step, trueAt), {
        told: current === null ? 'nothing' : wordsOf(current.row),
        path,
        note,
      });
      return;
    }
    // Read at the end: the reason often becomes more exact, and an ask fills up.
    const row = this.stream.current()?.row ?? told.row;
    const ask = row.ask === null ? null : `${row.ask.kind}: ${row.ask.options.map(({ label }) => label).join(' | ')}`;
    const afterTruthMs = Math.max(0, told.time - trueAt);
    const isLate = step.limitMs !== undefined && afterTruthMs > step.limitMs;
    const times = { afterTruthMs, afterActMs: Math.max(0, told.time - actedAt) };
    const verdict = wrong.length > 0 ? 'unstable' : isLate ? 'late' : 'seen';
    this.#add(step.name, this.#judged(verdict, step, trueAt), { told: wordsOf(row), ...times, ask, path, note });
  }

  /** When the right thing was told for good, and what else was told after it had been told before. */
  async #settle(step: Step, before: number, trueAt: number): Promise<{ told: Told | null; slips: readonly string[] }> {
    const slips: string[] = [];
    let from = before;
    const until = trueAt + (this.stage.isOutside ? outsideLimitMs : toldLimitMs);
    while (Date.now() < until) {
      const told = await this.stream.fits(from, (row) => this.#fits(step, row), until - Date.now());
      if (told === null) return { told, slips };
      const held = Math.max(told.time, trueAt) + (step.holdMs ?? 0) - Date.now();
      const lost = await this.stream.fits(told.time, (row) => !this.#fits(step, row), held);
      if (lost === null) return { told, slips };
      slips.push(wordsOf(lost.row));
      from = lost.time;
    }
    return { told: null, slips };
  }

  /** Another state was told for certain, long enough after the truth; reasons are finer than what hooks tell. */
  #wasSure(step: Step, trueAt: number): boolean {
    // A menu that a person opened asks nothing: whether the turn is over is what was told.
    if (step.name === 'menu below the quote') return false;
    const after = this.stream.since(trueAt + correctedMs).map(({ row }) => row);
    const at = this.stream.told.findLast(({ time }) => time <= trueAt + correctedMs)?.row;
    return [...(at === undefined ? [] : [at]), ...after].some(
      ({ state, confidence, ended }) =>
        confidence === 'high' &&
        state !== null &&
        !step.states.includes(state) &&
        (ended === null || step.isEnd === true),
    );
  }

  /** Where only hooks tell, silence is no mistake; certainty about something else is. */
  #judged(verdict: StepVerdict, step: Step, trueAt: number): StepVerdict {
    const isTold = verdict === 'seen' || !this.stage.isOutside || this.#wasSure(step, trueAt);
    return isTold ? verdict : 'not sure';
  }

  #add(step: StepName, verdict: StepVerdict, more: Partial<StepResult>): void {
    const empty = { told: '', afterTruthMs: null, afterActMs: null, ask: null, path: [], note: null };
    const result = { ...empty, ...more, step, verdict };
    this.results.push(result);
    const times = result.afterTruthMs === null ? '' : ` ${result.afterTruthMs} ms`;
    const note = result.note === null ? '' : ` (${result.note})`;
    process.stdout.write(`  ${verdict.padEnd(13)}${step.padEnd(24)}${result.told}${times}${note}\n`);
    if (!['seen', 'not sure', 'n/a'].includes(verdict)) this.#keepEvidence(result);
  }

  /** Why the daemon says what it says, for whoever looks into it. */
  #keepEvidence(result: StepResult): void {
    this.stage.note(JSON.stringify(result));
    const ref = this.stream.current()?.row.ref;
    if (ref !== undefined) this.stage.note(this.stage.agtmux('explain', ref));
  }

  /** Steps that could not be played because an earlier one could not. */
  giveUp(names: readonly StepName[]): void {
    const done = new Set(this.results.map(({ step }) => step));
    for (const name of names.filter((one) => !done.has(one)))
      this.#add(name, 'not provoked', { note: 'an earlier step failed' });
  }
}
