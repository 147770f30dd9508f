// What is told of screens, over simulated time and a real engine: transitions, asks, and the healing of what hooks miss.

import { describe, expect, it } from 'vitest';
import { asks, oneAgent, says, type TestWorld, t0 } from '../../test/kit/engine.ts';
import { readRuleFile } from '../agents/screen/rule-file.ts';
import type { EventEnvelope } from '../model/events.ts';
import { agentName, paneId, runtimeId, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { createSimulatedClock, type SimulatedClock } from '../platform/simulated/clock.ts';
import { Screens } from './screens.ts';

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
      id: 'idle',
      priority: 1,
      where: [{ in: 'last', all: ['^>'] }],
      proves: { state: 'idle', reason: 'prompt_ready' },
    },
  ],
});

const pane = paneId('%1');
const sweepMs = 250;

/** One agent in one pane, looked at every sweep, and the engine behind it. */
class Desk {
  readonly clock: SimulatedClock = createSimulatedClock();
  readonly world: TestWorld = oneAgent();
  readonly offered: EventEnvelope[] = [];
  readonly screens: Screens;
  #lines: readonly string[] = [];
  #told: string | null = null;

  constructor() {
    this.screens = new Screens({
      target: targetId('host'),
      clock: this.clock,
      now: () => this.now(),
      rulesOf: () => rules,
      published: (runtime) => this.world.world.entries.get(runtime)?.record ?? null,
      offer: (events) => {
        this.offered.push(...events);
        this.take(...events);
      },
      capture: async () => this.#lines,
      titleOf: () => '',
      onLook: () => undefined,
    });
    this.screens.follow([
      { runtime_id: runtimeId('a'), pane, agent: agentName('claude'), version: null, inside: null },
    ]);
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
      const text = this.#lines.join('\n');
      if (text !== this.#told) this.screens.onScreen(pane, this.#lines, this.now());
      this.#told = text;
      this.screens.onRefresh(this.now());
      this.take();
    }
    await this.clock.advanceSettled(limits.screenConfirmMs);
  }

  get word(): string {
    return this.world.word('a');
  }
}

describe('a screen alone', () => {
  it('every transition is told once, and finished work is done, not idle', async () => {
    const desk = new Desk();
    const words: string[] = [];
    for (const line of ['> ', 'busy 1', 'busy 2', 'allow rm x', 'busy 3', '> ']) {
      desk.shows('text', line);
      await desk.pass(500);
      words.push(desk.word);
    }
    expect(words).toEqual([
      'idle/prompt_ready',
      'running/turn_running',
      'running/turn_running',
      'waiting_approval/approval_asked',
      'running/turn_running',
      'completed/turn_completed',
    ]);
    const told = desk.offered.filter((one) => one.kind === 'state.observed');
    expect(told.map((one) => one.payload.state)).toEqual([
      'idle',
      'running',
      'waiting_approval',
      'running',
      'completed',
    ]);
  });

  it('an interrupted turn is idle, not done', async () => {
    const desk = new Desk();
    desk.shows('busy');
    await desk.pass(500);
    desk.shows('stopped', '> ');
    await desk.pass(500);
    expect(desk.word).toBe('idle/interrupted');
  });

  it('a screen on its way is no news: half a dialog, a moment without any rule', async () => {
    const desk = new Desk();
    desk.shows('busy');
    await desk.pass(500);
    desk.shows('garbage');
    await desk.pass(500);
    expect(desk.word).toBe('running/turn_running');
    desk.shows('> ');
    desk.screens.onScreen(pane, ['allow it'], desk.now());
    await desk.pass(250);
    expect(desk.offered.some((one) => one.payload.state === 'waiting_approval')).toBe(false);
  });

  it('RSV4 a screen that no rule fits for longer is unknown, never what it was', async () => {
    const desk = new Desk();
    desk.shows('busy');
    await desk.pass(500);
    desk.shows('garbage');
    await desk.pass(limits.screenUnreadMs + 500);
    expect(desk.word).toBe('unknown/unsupported_signal');
  });

  it('ASK2 the dialog is an ask with its words; another dialog is another ask; none is left when it closes', async () => {
    const desk = new Desk();
    desk.shows('allow rm x');
    await desk.pass(500);
    const first = desk.world.state('a').ask;
    expect(first).toMatchObject({ kind: 'command', text: 'rm x' });
    desk.shows('allow rm y');
    await desk.pass(500);
    expect(desk.world.state('a').ask).toMatchObject({ text: 'rm y' });
    expect(desk.world.state('a').asks_open).toBe(1);
    desk.shows('busy');
    await desk.pass(500);
    expect(desk.world.state('a')).toMatchObject({ ask: null, asks_open: 0, state: 'running' });
  });

  it('RSV0 running stays fresh while it is seen, and is stalled when nothing is printed for minutes', async () => {
    const desk = new Desk();
    for (let turn = 0; desk.clock.monotonicMs() < limits.stalledMs - 2_000; turn += 1) {
      desk.shows('text', 'a', 'b', 'c', 'd', 'e', `busy ${turn}`);
      await desk.pass(1_000);
      expect(desk.word).toBe('running/turn_running');
    }
    desk.shows('text', 'a', 'b', 'c', 'd', 'e', 'busy again');
    await desk.pass(limits.screenRepeatMs + 1_000);
    expect(desk.word).toBe('running/stalled');
    desk.shows('text', 'more', 'b', 'c', 'd', 'e', 'f', 'busy again');
    await desk.pass(limits.screenRepeatMs + 1_000);
    expect(desk.word).toBe('running/turn_running');
  });
});

describe('a screen beside hooks', () => {
  it('RSV3 Esc: no hook fires, the screen shows the prompt, running heals within a second', async () => {
    const desk = new Desk();
    desk.shows('busy');
    await desk.pass(500);
    desk.take(says('a', 'hook', desk.now() - t0, 'running'));
    await desk.pass(2_000);
    desk.shows('stopped', '> ');
    await desk.pass(750);
    expect(desk.word).toBe('idle/interrupted');
    expect(desk.world.state('a').decided_by).toBe('reconciler');
  });

  it('RSV3 an approval given at the keyboard: no hook fires, the ask heals away', async () => {
    const desk = new Desk();
    desk.take(says('a', 'hook', 0, 'running'), asks('a', 'hook', 10, 'x'));
    desk.shows('allow rm x');
    await desk.pass(2_000);
    expect(desk.world.state('a')).toMatchObject({ state: 'waiting_approval', asks_open: 1, ask: { ask_id: 'x' } });
    desk.shows('busy');
    await desk.pass(750);
    expect(desk.world.state('a')).toMatchObject({ state: 'running', asks_open: 0 });
  });

  it('RSV2 a hook that is ahead of its screen is not contradicted', async () => {
    const desk = new Desk();
    desk.shows('> ');
    await desk.pass(2_000);
    desk.take(says('a', 'hook', desk.now() - t0, 'running'));
    await desk.pass(500);
    expect(desk.word).toBe('running/turn_running');
    desk.shows('busy');
    await desk.pass(1_000);
    expect(desk.offered.filter((one) => one.source === 'reconciler')).toEqual([]);
  });

  it('an error that a hook told stays while the prompt below it is ready', async () => {
    const desk = new Desk();
    desk.shows('> ');
    await desk.pass(500);
    desk.take(says('a', 'hook', desk.now() - t0, 'error'));
    await desk.pass(3_000);
    expect(desk.word).toBe('error/api_error');
  });
});
