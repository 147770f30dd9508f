// One agent in one pane whose screen is looked at over simulated time, and a real engine behind it: for tests of what is
// told of screens. Commits can be slow, the inbox full, second looks can fail, and the watch can begin anew.

import { readRuleFile } from '../../src/agents/screen/rule-file.ts';
import { claimOf } from '../../src/engine/contradict.ts';
import type { EventEnvelope } from '../../src/model/events.ts';
import { agentName, paneId, runtimeId, targetId } from '../../src/model/ids.ts';
import { limits } from '../../src/model/limits.ts';
import { createSimulatedClock, type SimulatedClock } from '../../src/platform/simulated/clock.ts';
import { ScreenReconciler } from '../../src/reconcile/screen-reconciler.ts';
import { oneAgent, type TestWorld, t0 } from './engine.ts';

const rules = readRuleFile({
  schema: 1,
  agent: 'claude',
  regions: { last: { bottom: 1 } },
  rules: [
    {
      id: 'running',
      priority: 3,
      where: [{ in: 'last', all: ['^busy'] }],
      proves: { state: 'running', reason: 'turn_running' },
      shells: { in: 'screen', match: '^(\\d+) shells' },
    },
    {
      id: 'approval',
      priority: 3,
      where: [{ in: 'last', all: ['^allow'] }],
      proves: { state: 'waiting_approval', reason: 'approval_asked' },
      ask: { kind: 'command', text: { in: 'last', match: '^allow (.*)' } },
    },
    {
      id: 'interrupted',
      priority: 2,
      where: [{ in: 'screen', all: ['^stopped'] }],
      proves: { state: 'idle', reason: 'interrupted' },
    },
    {
      id: 'finished',
      priority: 2,
      where: [{ in: 'screen', all: ['^done'] }],
      proves: { state: 'completed', reason: 'turn_completed' },
    },
    {
      id: 'failed',
      priority: 2,
      where: [{ in: 'screen', all: ['^failed'] }],
      proves: { state: 'error', reason: 'api_error' },
    },
    {
      id: 'blind',
      priority: 2,
      where: [{ in: 'last', all: ['^>>$'] }],
      proves: { state: 'idle', reason: 'prompt_ready', confidence: 'low' },
    },
    {
      id: 'loading',
      priority: 3,
      where: [{ in: 'last', all: ['^loading'] }],
      proves: { state: 'running', reason: 'starting' },
    },
    {
      id: 'unfinished',
      priority: 2,
      where: [{ in: 'last', all: ['^>\\?$'] }],
      proves: { state: 'idle', reason: 'prompt_ready', unfinished: true },
    },
    {
      id: 'idle',
      priority: 1,
      where: [{ in: 'last', all: ['^>'] }],
      proves: { state: 'idle', reason: 'prompt_ready' },
    },
  ],
});

export const pane = paneId('%1');
const sweepMs = 250;

/** One agent in one pane, looked at every sweep, and the engine behind it. */
export class ScreenKit {
  readonly clock: SimulatedClock = createSimulatedClock();
  readonly world: TestWorld = oneAgent();
  readonly offered: EventEnvelope[] = [];
  screens: ScreenReconciler;
  /** How long the log takes for what is offered. */
  commitMs = 0;
  failsLook = false;
  isFull = false;
  #lines: readonly string[] = [];
  #told: string | null = null;

  constructor() {
    this.screens = this.#watch();
  }

  /** The watch begins anew, as after a restart of the daemon: what it remembered is gone, what was told is not. */
  restart(): void {
    this.screens.stop();
    this.#told = null;
    this.screens = this.#watch();
  }

  #watch(): ScreenReconciler {
    const screens = new ScreenReconciler({
      target: targetId('host'),
      clock: this.clock,
      now: () => this.now(),
      rulesOf: () => rules,
      published: (runtime) => this.world.world.entries.get(runtime)?.record ?? null,
      claimed: (runtime) => {
        const entry = this.world.world.entries.get(runtime);
        return entry?.record == null ? null : claimOf(entry.record, entry.fold);
      },
      offer: async (events) => {
        if (this.isFull) return false;
        this.offered.push(...events);
        if (this.commitMs > 0) this.clock.after(this.commitMs, () => this.take(...events));
        else this.take(...events);
        return true;
      },
      capture: async () => {
        if (this.failsLook) throw new Error('no answer');
        return this.#lines;
      },
      tellAgain: () => {
        this.#told = null;
      },
      titleOf: () => '',
      onLook: () => undefined,
    });
    screens.follow([{ runtime_id: runtimeId('a'), pane, agent: agentName('claude'), version: null, inside: null }]);
    return screens;
  }

  now(): number {
    return t0 + this.clock.monotonicMs();
  }

  take(...events: readonly unknown[]): void {
    this.world.now = this.now();
    this.world.take(...events);
  }

  shows(...lines: readonly string[]): void {
    this.#lines = lines;
  }

  /** Lets sweeps happen for this long. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += sweepMs) {
      await this.clock.advanceSettled(sweepMs);
      this.sweep();
    }
    await this.clock.advanceSettled(limits.screenConfirmMs);
  }

  /** Tells the screen when it differs from what the sweep before told. */
  sweep(): void {
    const text = this.#lines.join('\n');
    const isNews = text !== this.#told;
    this.#told = text;
    if (isNews) this.screens.onScreen(pane, this.#lines, this.now());
    this.screens.onRefresh(this.now());
    this.take();
  }

  /** No sweep happens for this long, only second looks. */
  async passUnswept(ms: number): Promise<void> {
    await this.clock.advanceSettled(ms);
    this.take();
  }

  /** Lets sweeps happen; every word that is published meanwhile, once in a row. */
  async words(ms: number): Promise<readonly string[]> {
    const words = [this.word];
    for (let passed = 0; passed < ms; passed += sweepMs) {
      await this.pass(sweepMs);
      if (words.at(-1) !== this.word) words.push(this.word);
    }
    return words;
  }

  get word(): string {
    return this.world.word('a');
  }
}
