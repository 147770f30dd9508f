// What is told of screens, over simulated time and a real engine: transitions, asks, and the healing of what hooks miss.

import { describe, expect, it } from 'vitest';
import { asks, event, says, settles, t0 } from '../../test/kit/engine.ts';
import { Desk, pane } from '../../test/kit/screen-desk.ts';
import { limits } from '../model/limits.ts';

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

  it('RSV7 a prompt with nothing of the talk in sight does not deny an error; a talk without one does', async () => {
    const desk = new Desk();
    const words: string[] = [];
    for (const lines of [['busy'], ['failed', '> '], ['>>'], ['failed', '> '], ['talk', '> '], ['>>']]) {
      desk.shows(...lines);
      await desk.pass(1_500);
      words.push(desk.word);
    }
    expect(words).toEqual([
      'running/turn_running',
      'error/api_error',
      'error/api_error',
      'error/api_error',
      'idle/prompt_ready',
      'idle/prompt_ready',
    ]);
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

describe('asks', () => {
  it('ASK3 after a restart the ask on the screen is still the same one, and another dialog is another', async () => {
    const desk = new Desk();
    desk.shows('allow ls');
    await desk.pass(500);
    const first = desk.world.state('a').ask?.ask_id;
    desk.restart();
    await desk.pass(1_000);
    expect(desk.world.state('a').ask?.ask_id).toBe(first);
    desk.shows('allow rm -rf /');
    await desk.pass(1_000);
    expect(desk.world.state('a')).toMatchObject({ asks_open: 1, ask: { text: 'rm -rf /' } });
  });

  it('ASK3 each of three dialogs is asked, however slow the disk is', async () => {
    const desk = new Desk();
    desk.commitMs = 300;
    for (const what of ['one', 'two', 'three']) {
      desk.shows(`allow ${what}`);
      await desk.pass(500);
    }
    await desk.pass(2_000);
    expect(desk.world.state('a')).toMatchObject({ asks_open: 1, ask: { text: 'three' } });
  });

  it('RSV4 a dialog that gave way to something unreadable is not asked any more', async () => {
    const desk = new Desk();
    desk.shows('allow ls');
    await desk.pass(500);
    desk.shows('garbage');
    await desk.pass(limits.screenUnreadMs + 500);
    expect(desk.world.state('a')).toMatchObject({ state: 'unknown', ask: null, asks_open: 0 });
  });

  it('RSV3 a hook asked, a person answered, and the next dialog has no hook: what is asked is what stands there', async () => {
    const desk = new Desk();
    desk.take(says('a', 'hook', 0, 'running'), asks('a', 'hook', 10, 'h1', { text: 'ls' }));
    desk.shows('allow ls');
    await desk.pass(1_000);
    expect(desk.world.state('a')).toMatchObject({ asks_open: 1, ask: { ask_id: 'h1' } });
    desk.shows('allow rm -rf /');
    await desk.pass(1_000);
    expect(desk.world.state('a')).toMatchObject({ asks_open: 1, ask: { text: 'rm -rf /' } });
  });

  it('ASK1 a hook that comes after its screen makes no second ask', async () => {
    const desk = new Desk();
    desk.shows('allow ls');
    await desk.pass(1_000);
    desk.take(asks('a', 'hook', desk.now() - t0, 'h1', { text: 'ls' }));
    await desk.pass(500);
    expect(desk.world.state('a')).toMatchObject({ asks_open: 1, ask: { ask_id: 'h1' } });
    desk.take(settles('a', 'hook', desk.now() - t0, 'h1'));
    desk.shows('busy');
    await desk.pass(500);
    expect(desk.world.state('a')).toMatchObject({ asks_open: 0, state: 'running' });
  });
});

describe('what goes wrong on the way', () => {
  it('a second look that fails is made up for at the next sweep', async () => {
    const desk = new Desk();
    desk.shows('busy');
    await desk.pass(500);
    desk.shows('> ');
    desk.failsLook = true;
    await desk.pass(500);
    desk.failsLook = false;
    await desk.pass(750);
    expect(desk.word).toBe('completed/turn_completed');
  });

  it('what a full inbox turned away is told when there is room again', async () => {
    const desk = new Desk();
    desk.shows('busy');
    await desk.pass(500);
    desk.isFull = true;
    desk.shows('allow ls');
    await desk.pass(1_000);
    desk.isFull = false;
    await desk.pass(1_000);
    expect(desk.world.state('a')).toMatchObject({ state: 'waiting_approval', ask: { text: 'ls' } });
  });

  it('work in the background is told when it changes and not at every look, and its end after a restart too', async () => {
    const desk = new Desk();
    desk.take(event('a', 'hook', 0, 'background.counted', { shells: 0, agents: 1 }));
    for (let turn = 0; turn < 20; turn += 1) {
      desk.shows('2 shells', `busy ${turn}`);
      await desk.pass(250);
    }
    expect(desk.offered.filter((one) => one.kind === 'background.counted').length).toBe(1);
    const alone = new Desk();
    alone.shows('1 shells', 'busy');
    await alone.pass(500);
    expect(alone.world.state('a').background.shells).toBe(1);
    alone.restart();
    alone.shows('busy');
    await alone.pass(500);
    expect(alone.world.state('a').background.shells).toBe(0);
  });

  it('RSV3 Esc in the first moment heals within a second, and an old doubt does not count against a new claim', async () => {
    const desk = new Desk();
    desk.shows('> ');
    await desk.pass(2_000);
    const claimed = desk.now();
    desk.take(says('a', 'hook', claimed - t0, 'running'));
    while (desk.word !== 'idle/prompt_ready' && desk.now() < claimed + 5_000) await desk.pass(250);
    expect(desk.now() - claimed).toBeLessThanOrEqual(limits.screenFollowsMs + 330);
    await desk.pass(2_000);
    desk.take(says('a', 'hook', desk.now() - t0, 'running'));
    await desk.pass(250);
    desk.take(says('a', 'hook', desk.now() - t0, 'completed'));
    desk.take(says('a', 'hook', desk.now() - t0 + 1, 'running'));
    await desk.pass(500);
    expect(desk.word).toBe('running/turn_running');
  });
});
