// What is told of screens, over simulated time and a real engine: transitions, asks, and the healing of what hooks miss.

import { describe, expect, it } from 'vitest';
import { asks, event, says, settles, t0 } from '../../test/kit/engine.ts';
import { pane, ScreenKit } from '../../test/kit/screen-kit.ts';
import { limits } from '../model/limits.ts';

describe('a screen alone', () => {
  it('every transition is told once, and finished work is done, not idle', async () => {
    const desk = new ScreenKit();
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

  it('RSV5 a dialog that only second looks saw, and that is gone at the next sweep, is over', async () => {
    const desk = new ScreenKit();
    desk.shows('busy');
    await desk.pass(500);
    desk.shows('text', '> ');
    desk.sweep();
    // Before the next one: the second look at the prompt meets a dialog, and so does the one after it.
    desk.shows('allow rm x');
    await desk.passUnswept(3 * limits.screenConfirmMs);
    expect(desk.word).toBe('waiting_approval/approval_asked');
    desk.shows('text', '> ');
    await desk.pass(1_000);
    expect(desk.word).toContain('prompt_ready');
  });

  it('an interrupted turn is idle, not done', async () => {
    const desk = new ScreenKit();
    desk.shows('busy');
    await desk.pass(500);
    desk.shows('stopped', '> ');
    await desk.pass(500);
    expect(desk.word).toBe('idle/interrupted');
  });

  it('RSV13b work before a prompt without a finished answer, and starting up, are not done', async () => {
    const words: string[] = [];
    for (const lines of [
      ['busy', '>?'],
      ['loading', '> '],
      ['busy', 'allow rm x', 'busy', '>?'],
    ]) {
      const desk = new ScreenKit();
      for (const line of lines) {
        desk.shows('text', line);
        await desk.pass(500);
      }
      words.push(desk.word);
      expect(desk.offered.some((one) => one.payload.state === 'completed')).toBe(false);
    }
    expect(words).toEqual(['idle/prompt_ready', 'idle/prompt_ready', 'idle/prompt_ready']);
  });

  it('RSV13 an end of which a hook tells nothing more is told by the screen, also when the work was never seen', async () => {
    const words: Record<string, string> = {};
    for (const [name, seen, after] of [
      ['finished', 'busy', '> '],
      ['interrupted', 'busy', 'stopped'],
      ['finished unseen', '> ', '> '],
    ] as const) {
      const desk = new ScreenKit();
      desk.shows('text', '> ');
      await desk.pass(500);
      desk.take(says('a', 'hook', desk.now() - t0, 'running'));
      desk.shows('text', seen);
      await desk.pass(500);
      desk.take(event('a', 'hook', desk.now() - t0, 'turn.ended', { scope: 'main' }));
      desk.take(says('a', 'hook', desk.now() - t0, 'unknown'));
      desk.shows(after, '> ');
      await desk.pass(limits.screenLagMs + 1_000);
      words[name] = desk.word;
    }
    expect(words).toEqual({
      finished: 'completed/turn_completed',
      interrupted: 'idle/interrupted',
      'finished unseen': 'completed/turn_completed',
    });
  });

  it.each(['interrupted', 'refused_by_person'])(
    'RSV13 a transcript that knows that the turn was cut short (%s) is not outvoted by a screen that looks finished',
    async (reason) => {
      const desk = new ScreenKit();
      for (const screen of ['done', 'said']) {
        desk.take(says('a', 'hook', desk.now() - t0, 'running'));
        desk.shows('busy');
        await desk.pass(6_000);
        desk.take(says('a', 'native', desk.now() - t0, 'idle'));
        desk.take(says('a', 'transcript', desk.now() - t0, 'idle', { reason }));
        desk.shows(screen, '> ');
        expect(await desk.words(8_000)).toEqual([`idle/${reason}`]);
      }
      // A turn that only the screen saw after that is done all the same.
      desk.shows('busy');
      await desk.pass(6_000);
      desk.shows('done', '> ');
      expect((await desk.words(8_000)).at(-1)).toBe(finished);
    },
  );

  it('RSV10c a screen on its way is no news: half a dialog, a moment without any rule', async () => {
    const desk = new ScreenKit();
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
    const desk = new ScreenKit();
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
    const desk = new ScreenKit();
    desk.shows('busy');
    await desk.pass(500);
    desk.shows('garbage');
    await desk.pass(limits.screenUnreadMs + 500);
    expect(desk.word).toBe('unknown/unsupported_signal');
  });

  it('ASK2 the dialog is an ask with its words; another dialog is another ask; none is left when it closes', async () => {
    const desk = new ScreenKit();
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
    const desk = new ScreenKit();
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
    const desk = new ScreenKit();
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
    const desk = new ScreenKit();
    desk.take(says('a', 'hook', 0, 'running'), asks('a', 'hook', 10, 'x'));
    desk.shows('allow rm x');
    await desk.pass(2_000);
    expect(desk.world.state('a')).toMatchObject({ state: 'waiting_approval', asks_open: 1, ask: { ask_id: 'x' } });
    desk.shows('busy');
    await desk.pass(750);
    expect(desk.world.state('a')).toMatchObject({ state: 'running', asks_open: 0 });
  });

  it('RSV2 RSV2e a hook that is ahead of its screen is not contradicted', async () => {
    const desk = new ScreenKit();
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
    const desk = new ScreenKit();
    desk.shows('> ');
    await desk.pass(500);
    desk.take(says('a', 'hook', desk.now() - t0, 'error'));
    await desk.pass(3_000);
    expect(desk.word).toBe('error/api_error');
  });
});

describe('asks', () => {
  it('ASK3 after a restart the ask on the screen is still the same one, and another dialog is another', async () => {
    const desk = new ScreenKit();
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
    const desk = new ScreenKit();
    desk.commitMs = 300;
    for (const what of ['one', 'two', 'three']) {
      desk.shows(`allow ${what}`);
      await desk.pass(500);
    }
    await desk.pass(2_000);
    expect(desk.world.state('a')).toMatchObject({ asks_open: 1, ask: { text: 'three' } });
  });

  it('RSV4 a dialog that gave way to something unreadable is not asked any more', async () => {
    const desk = new ScreenKit();
    desk.shows('allow ls');
    await desk.pass(500);
    desk.shows('garbage');
    await desk.pass(limits.screenUnreadMs + 500);
    expect(desk.world.state('a')).toMatchObject({ state: 'unknown', ask: null, asks_open: 0 });
  });

  it('RSV3 a hook asked, a person answered, and the next dialog has no hook: what is asked is what stands there', async () => {
    const desk = new ScreenKit();
    desk.take(says('a', 'hook', 0, 'running'), asks('a', 'hook', 10, 'h1', { text: 'ls' }));
    desk.shows('allow ls');
    await desk.pass(1_000);
    expect(desk.world.state('a')).toMatchObject({ asks_open: 1, ask: { ask_id: 'h1' } });
    desk.shows('allow rm -rf /');
    await desk.pass(1_000);
    expect(desk.world.state('a')).toMatchObject({ asks_open: 1, ask: { text: 'rm -rf /' } });
  });

  it('ASK1 a hook that comes after its screen makes no second ask', async () => {
    const desk = new ScreenKit();
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
    const desk = new ScreenKit();
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
    const desk = new ScreenKit();
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
    const desk = new ScreenKit();
    desk.take(event('a', 'hook', 0, 'background.counted', { shells: 0, agents: 1 }));
    for (let turn = 0; turn < 20; turn += 1) {
      desk.shows('2 shells', `busy ${turn}`);
      await desk.pass(250);
    }
    expect(desk.offered.filter((one) => one.kind === 'background.counted').length).toBe(1);
    const alone = new ScreenKit();
    alone.shows('1 shells', 'busy');
    await alone.pass(500);
    expect(alone.world.state('a').background.shells).toBe(1);
    alone.restart();
    alone.shows('busy');
    await alone.pass(500);
    expect(alone.world.state('a').background.shells).toBe(0);
  });

  it('RSV2 an old doubt does not count against a new claim', async () => {
    const desk = new ScreenKit();
    desk.shows('> ');
    await desk.pass(2_000);
    desk.take(says('a', 'hook', desk.now() - t0, 'running'));
    await desk.pass(250);
    desk.take(says('a', 'hook', desk.now() - t0, 'completed'));
    desk.take(says('a', 'hook', desk.now() - t0 + 1, 'running'));
    await desk.pass(500);
    expect(desk.word).toBe('running/turn_running');
  });
});

/** A turn that was worked, drawn and finished by everybody, a while ago. */
async function finishedTurn(): Promise<ScreenKit> {
  const desk = new ScreenKit();
  desk.take(says('a', 'hook', 0, 'running'));
  desk.shows('busy');
  await desk.pass(6_000);
  desk.take(says('a', 'hook', desk.now() - t0, 'completed'));
  desk.shows('done', '> ');
  await desk.pass(6_000);
  expect(desk.word).toBe('completed/turn_completed');
  return desk;
}

/** The turn after that, told and drawn as work for a while. */
async function workingTurn(): Promise<ScreenKit> {
  const desk = await finishedTurn();
  desk.take(says('a', 'hook', desk.now() - t0, 'running'));
  desk.shows('busy');
  await desk.pass(6_000);
  return desk;
}

const working = 'running/turn_running';
const finished = 'completed/turn_completed';

describe('a screen behind what was claimed', () => {
  it('RSV2 RSV2e a new turn begins while the old picture stays for 2.5 s: running all the time, nothing is told as done', async () => {
    const desk = await finishedTurn();
    desk.take(says('a', 'hook', desk.now() - t0, 'running'));
    expect(await desk.words(2_500)).toEqual([working]);
    desk.shows('done', 'typed', '> ');
    expect(await desk.words(1_000)).toEqual([working]);
    desk.shows('busy');
    expect(await desk.words(2_000)).toEqual([working]);
  });

  it('RSV2 a turn ends while its spinner goes on turning for 2.5 s: done stays done', async () => {
    const desk = await workingTurn();
    desk.take(says('a', 'hook', desk.now() - t0, 'completed'));
    for (let turn = 0; turn < 10; turn += 1) {
      desk.shows(`busy ${turn}`);
      expect(await desk.words(250)).toEqual([finished]);
    }
    desk.shows('garbage');
    expect(await desk.words(500)).toEqual([finished]);
    desk.shows('busy again');
    expect(await desk.words(500)).toEqual([finished]);
    desk.shows('done', '> ');
    expect(await desk.words(6_000)).toEqual([finished]);
  });

  it('RSV2 a spinner that turns for 20 s after the agent told the end of its turn is old work; half a minute of it is not', async () => {
    const desk = await finishedTurn();
    const spin = async (ms: number): Promise<readonly string[]> => {
      const words: string[] = [];
      for (let passed = 0; passed < ms; passed += 500) {
        desk.shows(`busy ${passed}`);
        words.push(...(await desk.words(500)));
      }
      return words.filter((word, place) => word !== words[place - 1]);
    };
    for (const ms of [20_000, limits.screenWorkLagMs + 2_000]) {
      desk.take(says('a', 'hook', desk.now() - t0, 'running'));
      await spin(6_000);
      const at = desk.now() - t0;
      desk.take(event('a', 'hook', at, 'turn.ended', {}), says('a', 'hook', at, 'completed'));
      expect(await spin(ms)).toEqual(ms < limits.screenWorkLagMs ? [finished] : [finished, working]);
      desk.shows('done', '> ');
      expect((await desk.words(6_000)).at(-1)).toBe(finished);
    }
  });

  it.each([0, 300])('RSV2 a turn of %i ms whose spinner is drawn when it is over is done once', async (ms) => {
    const desk = await finishedTurn();
    const at = desk.now() - t0;
    const turn = [
      says('a', 'hook', at, 'running'),
      event('a', 'hook', at + ms, 'turn.ended', {}),
      says('a', 'hook', at + ms, 'completed'),
    ];
    if (ms === 0) desk.take(says('a', 'hook', at - 1, 'running'), ...turn.slice(1));
    else {
      desk.take(turn[0]);
      await desk.pass(ms);
      desk.take(...turn.slice(1));
    }
    expect(await desk.words(500)).toEqual([finished]);
    desk.shows('busy');
    expect(await desk.words(1_500)).toEqual([finished]);
    desk.shows('done', '> ');
    expect(await desk.words(6_000)).toEqual([finished]);
  });

  it('RSV2 RSV2f a message that follows at once: the end of the turn before it is drawn late, and it runs on', async () => {
    const desk = await workingTurn();
    const at = desk.now() - t0;
    desk.take(says('a', 'hook', at, 'completed'), event('a', 'hook', at, 'turn.ended', {}));
    desk.take(says('a', 'hook', at + 1, 'running'));
    await desk.pass(500);
    desk.shows('done', '> ');
    expect(await desk.words(1_500)).toEqual([working]);
    desk.shows('busy');
    expect(await desk.words(6_000)).toEqual([working]);
  });

  it('RSV3a the same on a screen that is 8 s behind: the end of the turn before is never told as the end of this one', async () => {
    const desk = await workingTurn();
    const at = desk.now() - t0;
    desk.take(says('a', 'hook', at, 'completed'), event('a', 'hook', at, 'turn.ended', {}));
    desk.take(says('a', 'hook', at + 1, 'running'));
    expect(await desk.words(8_000)).toEqual([working]);
    desk.shows('done', '> ');
    expect(await desk.words(2_000)).toEqual([working, 'idle/prompt_ready']);
    desk.shows('busy');
    expect((await desk.words(2_000)).at(-1)).toBe(working);
    desk.shows('done', '> ');
    expect((await desk.words(2_000)).at(-1)).toBe(finished);
  });

  it('RSV3 a turn that the screen shows before its hook comes, whose end no hook tells, is done', async () => {
    const desk = await finishedTurn();
    desk.shows('busy');
    await desk.pass(1_000);
    const at = desk.now() - t0;
    desk.take(event('a', 'hook', at, 'turn.ended', {}), says('a', 'hook', at, 'running'));
    await desk.pass(8_000);
    desk.shows('done', '> ');
    expect(await desk.words(2_000)).toEqual([working, finished]);
  });

  it('RSV2 an ask before its dialog is drawn, and a dialog that stands after its answer, change nothing', async () => {
    const desk = await workingTurn();
    desk.take(asks('a', 'hook', desk.now() - t0, 'x', { text: 'rm x' }));
    const waiting = 'waiting_approval/approval_asked';
    expect(await desk.words(3_000)).toEqual([waiting]);
    desk.shows('allow rm x');
    expect(await desk.words(3_000)).toEqual([waiting]);
    desk.take(settles('a', 'hook', desk.now() - t0, 'x'), says('a', 'hook', desk.now() - t0, 'running'));
    expect(await desk.words(3_000)).toEqual([working]);
    expect(desk.world.state('a').asks_open).toBe(0);
    desk.shows('busy');
    expect(await desk.words(1_000)).toEqual([working]);
    desk.shows('allow rm y');
    expect(await desk.words(500)).toEqual([working, waiting]);
    expect(desk.offered.filter((one) => one.source === 'reconciler')).toEqual([]);
  });

  it('RSV2 RSV2f the dialog of the ask before does not stand for the next ask', async () => {
    const desk = await finishedTurn();
    desk.take(says('a', 'hook', desk.now() - t0, 'running'));
    desk.take(asks('a', 'hook', desk.now() - t0, 'x', { text: 'rm x' }));
    desk.shows('allow rm x');
    await desk.pass(6_000);
    desk.take(settles('a', 'hook', desk.now() - t0, 'x'), says('a', 'hook', desk.now() - t0, 'running'));
    await desk.pass(250);
    desk.take(asks('a', 'hook', desk.now() - t0 + 1, 'y', { text: 'rm y' }));
    await desk.pass(1_000);
    desk.shows('allow rm y');
    await desk.pass(2_000);
    expect(desk.world.state('a')).toMatchObject({ asks_open: 1, ask: { ask_id: 'y' } });
    desk.shows('allow rm z');
    await desk.pass(2_000);
    expect(desk.world.state('a')).toMatchObject({ asks_open: 1, ask: { text: 'rm z' } });
  });

  it('RSV3a what is never drawn heals after five seconds, and as idle: the finished turn on the screen is an older one', async () => {
    const desk = await finishedTurn();
    const claimed = desk.now();
    desk.take(says('a', 'hook', claimed - t0, 'running'));
    while (desk.word === working && desk.now() < claimed + 10_000) await desk.pass(250);
    expect(desk.word).toBe('idle/prompt_ready');
    expect(desk.now() - claimed).toBeGreaterThanOrEqual(limits.screenLagMs);
    expect(desk.now() - claimed).toBeLessThanOrEqual(limits.screenLagMs + 1_000);
    expect(await desk.words(6_000)).toEqual(['idle/prompt_ready']);
  });

  it('RSV3 a dialog that came and went between two looks: idle by the reconciler, and the screen does not say done either', async () => {
    const desk = await finishedTurn();
    desk.shows('busy');
    desk.take(says('a', 'hook', desk.now() - t0, 'running'));
    await desk.pass(1_000);
    desk.take(says('a', 'hook', desk.now() - t0, 'running'), asks('a', 'hook', desk.now() - t0 + 1, 'x'));
    await desk.pass(500);
    desk.shows('done', '> ');
    expect(await desk.words(9_000)).toEqual(['waiting_approval/approval_asked', 'idle/prompt_ready']);
    expect(desk.world.state('a')).toMatchObject({ decided_by: 'reconciler', asks_open: 0 });
    // A turn that is seen from its beginning is done again.
    desk.shows('busy');
    await desk.pass(1_000);
    desk.shows('done', '> ');
    expect((await desk.words(2_000)).at(-1)).toBe(finished);
  });

  it('RSV3 Esc in the first moment heals within a second when the screen shows its mark, but not by the mark of a turn before', async () => {
    const desk = await finishedTurn();
    for (const isMarked of [false, true]) {
      const claimed = desk.now();
      desk.take(says('a', 'hook', claimed - t0, 'running'));
      await desk.pass(250);
      desk.shows('stopped', '> ');
      while (desk.word === working && desk.now() < claimed + 10_000) await desk.pass(250);
      expect(desk.word).toBe('idle/interrupted');
      if (isMarked) expect(desk.now() - claimed).toBeGreaterThanOrEqual(limits.screenLagMs);
      else expect(desk.now() - claimed).toBeLessThanOrEqual(1_000);
      await desk.pass(6_000);
    }
  });

  it('RSV3 Esc in a tool heals within a second, although its hook closes what was open before it says that work goes on', async () => {
    const desk = await workingTurn();
    const at = desk.now() - t0;
    desk.take(event('a', 'hook', at, 'turn.ended', {}), says('a', 'hook', at, 'running'));
    await desk.pass(250);
    desk.shows('stopped', '> ');
    expect(await desk.words(1_000)).toEqual([working, 'idle/interrupted']);
  });

  it('RSV2 an error that is drawn before its turn is told to be over is seen at once, the one of a turn before is not', async () => {
    const desk = await finishedTurn();
    for (const isOld of [false, true]) {
      const began = desk.now();
      desk.take(says('a', 'hook', began - t0, 'running'));
      await desk.pass(250);
      if (isOld) expect(await desk.words(2_000)).toEqual([working]);
      desk.shows('failed', '> ');
      desk.screens.onScreen(pane, ['failed', '> '], desk.now());
      desk.take(says('a', 'hook', desk.now() - t0, isOld ? 'running' : 'completed'));
      await desk.pass(500);
      expect(desk.word).toBe(isOld ? working : 'error/api_error');
      await desk.pass(6_000);
    }
  });

  it('RSV3 work that nobody told after the screen had kept up is seen at once', async () => {
    const desk = await workingTurn();
    desk.take(says('a', 'hook', desk.now() - t0, 'completed'));
    desk.shows('done', '> ');
    await desk.pass(500);
    desk.shows('busy');
    expect(await desk.words(750)).toEqual([finished, working]);
  });
});
