// The scenario that every agent is led through, from its start to kill -9, in terms of what a person at the keyboard
// does. What differs between agents is in their actors.

import type { ActionExecutor, StepName } from './actor.ts';
import type { Play, Step } from './play.ts';
import type { Stage } from './stage.ts';

const settledStates = ['completed', 'idle'] as const;
/** How a turn ends that was refused, declined, cancelled or aborted: not done, and for a reason. */
const unfinished = {
  states: ['idle'],
  reasons: ['interrupted', 'refused_by_person', 'stopped'],
  never: ['completed'],
} as const satisfies Partial<Step>;
const correctedMs = 1_000;

/** The same for one agent. */
function unfinishedOf(actor: ActionExecutor, name: StepName): Pick<Step, 'states' | 'reasons' | 'never'> {
  switch (actor.ends?.[name]) {
    case undefined:
      return unfinished;
    case 'goes on':
      return { states: settledStates };
    case 'unsaid':
      return { states: ['idle'], never: ['completed'] };
  }
}
const holdMs = 1_500;

/** The parts that many steps are made of. */
export class Parts {
  readonly actor: ActionExecutor;
  readonly stage: Stage;
  #tasks = 0;

  constructor(actor: ActionExecutor, stage: Stage) {
    this.actor = actor;
    this.stage = stage;
  }

  /** Types a task of its own number, so that it is not mistaken for an earlier one on the screen. */
  async task(words: string): Promise<void> {
    this.#tasks += 1;
    await this.actor.press.clear(this.stage);
    await this.stage.submit(`task ${this.#tasks} do:${words}`);
  }

  settled(pattern: RegExp = this.actor.shows.ready): Promise<number> {
    const { ready, busy, approval, question } = this.actor.shows;
    return this.stage.shows(
      (view) => pattern.test(view) && ready.test(view) && ![busy, approval, question].some((one) => one.test(view)),
      `${pattern} at a free prompt`,
    );
  }

  /** From its start to a prompt that is ready, with a yes to the folder where it asks for one. */
  async begun(): Promise<void> {
    const { actor, stage } = this;
    const { trust, ready } = actor.shows;
    // Some show their prompt for a moment before they ask, and lose the key that comes while they are still drawing.
    for (let times = 0; times < 5; times += 1) {
      await stage.shows((view) => trust.test(view) || ready.test(view), 'the agent to be there');
      await pause(2 * holdMs);
      if (!trust.test(stage.screen())) break;
      await actor.press.trust(stage);
      await pause(holdMs);
    }
    await this.settled();
  }

  /** A prompt where nothing runs, whatever dialogs are quoted above it. */
  free(fits: (view: string) => boolean): Promise<number> {
    const { ready, busy } = this.actor.shows;
    return this.stage.shows((view) => ready.test(view) && !busy.test(view) && fits(view), 'a free prompt');
  }

  /** The mock has been asked, and answers as the task says. */
  asked(word: string, reply: 'slow' | 'hang' | 'fail', timesMin: number, before: number): Promise<number> {
    const { mock } = this.stage;
    return this.stage.holds(() => mock.count(word, reply) >= before + timesMin, `${timesMin} requests for ${word}`);
  }
}

export async function playAll(play: Play): Promise<void> {
  const parts = new Parts(play.actor, play.stage);
  await playStart(play, parts);
  await playTurn(play, parts);
  await playApproval(play, parts);
  await playRefusal(play, parts);
  await playQuestion(play, parts);
  await playFailure(play, parts);
  await playInterrupts(play, parts);
  await playQuotes(play, parts);
  await playEnds(play, parts);
}

async function playStart(play: Play, parts: Parts): Promise<void> {
  const { actor, stage } = parts;
  await play.step({
    name: 'start',
    act: () => stage.submit(actor.command),
    truth: () => stage.holds(() => !stage.isShell(), 'the agent in the foreground'),
    states: ['unknown', 'running', 'idle', 'waiting_approval', 'waiting_input'],
    never: ['completed'],
  });
  await play.step({
    name: 'trust dialog',
    act: () => undefined,
    truth: () => stage.see(actor.shows.trust),
    states: ['waiting_approval', 'waiting_input'],
    reasons: ['trust_asked', 'dialog_open', 'approval_asked'],
    holdMs,
  });
  await play.step({
    name: 'idle',
    act: () => actor.press.trust(stage),
    truth: () => parts.settled(),
    // Nothing was begun, so nothing is done, whatever turned while it loaded.
    states: ['idle'],
    never: ['completed'],
    holdMs,
  });
}

/** A long answer in words, to its end. */
async function playTurn(play: Play, parts: Parts): Promise<void> {
  const { stage } = parts;
  const before = stage.mock.count('slow', 'slow');
  await play.step({
    name: 'running',
    act: () => parts.task('slow'),
    truth: () => parts.asked('slow', 'slow', 1, before),
    states: ['running'],
    holdMs: 3_000,
  });
  await play.step({
    name: 'completed',
    act: () => stage.mock.release(),
    truth: () => parts.settled(),
    states: settledStates,
    holdMs,
  });
}

/** Up to the dialog that asks whether a command may run. */
const askApproval = (parts: Parts, file: string): Step => ({
  name: 'approval asked',
  act: () => parts.task(`command ${file}`),
  truth: () => parts.stage.see(parts.actor.shows.approval),
  states: ['waiting_approval'],
  holdMs,
});

async function playApproval(play: Play, parts: Parts): Promise<void> {
  const { actor, stage } = parts;
  await play.step(askApproval(parts, 'go-1'));
  await play.step({
    name: 'approval granted',
    act: () => actor.press.approve(stage),
    truth: () => stage.holds(() => stage.hasFile('go-1.began'), 'the command to begin'),
    states: ['running'],
    limitMs: correctedMs,
  });
  const isAsked = actor.missing['approval asked'] === undefined;
  await play.step({
    name: 'tool running',
    act: () => (isAsked ? undefined : parts.task('command go-1')),
    truth: () => stage.holds(() => stage.hasFile('go-1.began'), 'the command to begin'),
    states: ['running'],
    holdMs: 3_000,
  });
  await play.step({
    name: 'completed after tool',
    act: () => stage.makeFile('go-1'),
    truth: () => parts.settled(),
    states: settledStates,
    holdMs,
  });
}

/** Waits until agent and daemon both have come to the dialog; only what follows is a step of its own. */
async function reachApproval(play: Play, parts: Parts, file: string): Promise<void> {
  const { act, truth } = askApproval(parts, file);
  const before = Date.now();
  await act();
  await truth();
  await play.stream.fits(before, (row) => row.state === 'waiting_approval', 3_000);
  await pause(holdMs);
}

async function playRefusal(play: Play, parts: Parts): Promise<void> {
  const { actor, stage } = parts;
  await play.step({
    name: 'approval refused',
    prepare: () => reachApproval(play, parts, 'go-2'),
    act: () => actor.press.refuse(stage),
    truth: () => parts.settled(actor.shows.refused),
    ...unfinishedOf(actor, 'approval refused'),
    limitMs: correctedMs,
    holdMs,
  });
}

async function playQuestion(play: Play, parts: Parts): Promise<void> {
  const { actor, stage } = parts;
  await play.step({
    name: 'question asked',
    act: () => parts.task('question'),
    truth: () => stage.see(actor.shows.question),
    states: ['waiting_input'],
    holdMs,
  });
  await play.step({
    name: 'question answered',
    act: () => actor.press.answer(stage),
    truth: () => parts.settled(),
    states: settledStates,
    holdMs,
  });
  for (const [name, words] of [
    ['question declined', 'question'],
    ['two questions declined', 'question two'],
  ] as const) {
    await play.step({
      name,
      prepare: async () => {
        const from = Date.now();
        await parts.task(words);
        await stage.see(actor.shows.question);
        await play.stream.fits(from, (row) => row.state === 'waiting_input', 3_000);
        await pause(holdMs);
      },
      act: () => actor.press.decline(stage),
      truth: () => parts.settled(),
      ...unfinishedOf(actor, name),
      limitMs: correctedMs,
      holdMs,
    });
  }
}

/** What an answer quotes is not asked, neither by itself nor below a menu that a person opened. */
async function playQuotes(play: Play, parts: Parts): Promise<void> {
  const { actor, stage } = parts;
  const { quoted } = actor;
  if (quoted === null) {
    const nothing = { act: () => undefined, truth: () => Promise.reject(new Error('nothing is quoted')), states: [] };
    await play.step({ name: 'dialog quoted', ...nothing });
    await play.step({ name: 'menu below the quote', ...nothing });
    return;
  }
  await play.step({
    name: 'dialog quoted',
    act: () => parts.task(`quote ${quoted.quote}`),
    truth: () => parts.free((view) => view.includes('The dialog looked like this')),
    states: ['completed'],
    never: ['waiting_approval', 'waiting_input'],
    holdMs,
  });
  await play.step({
    name: 'menu below the quote',
    act: () => quoted.menu.open(stage),
    truth: () => stage.see(quoted.menu.shows),
    states: ['waiting_input'],
    reasons: ['dialog_open'],
    never: ['waiting_approval'],
    holdMs,
  });
  stage.keys(...quoted.menu.leave);
  await parts.free((view) => !quoted.menu.shows.test(view));
}

async function playFailure(play: Play, parts: Parts): Promise<void> {
  const { actor, stage } = parts;
  await play.step({
    name: 'API error',
    act: () => parts.task('fail 400'),
    truth: () => parts.settled(actor.shows.error),
    states: ['error'],
    reasons: ['api_error', 'turn_failed'],
    holdMs,
  });
  const before = stage.mock.count('retry', 'fail');
  await play.step({
    name: 'retrying',
    act: () => parts.task(`retry ${actor.retry.status}`),
    truth: async () => {
      const askedAt = await parts.asked('retry', 'fail', 2, before);
      return actor.retry.shows === null ? askedAt : stage.see(actor.retry.shows);
    },
    states: ['running'],
    ...(actor.retry.shows === null ? {} : { reasons: ['retrying'] }),
    holdMs: 3_000,
  });
  await play.step({
    name: 'recovered',
    act: () => stage.mock.release(),
    truth: () => parts.settled(),
    states: settledStates,
    holdMs,
  });
}

async function playInterrupts(play: Play, parts: Parts): Promise<void> {
  const { actor, stage } = parts;
  for (const [name, word] of [
    ['interrupted', 'slow'],
    ['interrupted in silence', 'hang'],
  ] as const) {
    const before = stage.mock.count(word, word);
    await play.step({
      name,
      prepare: async () => {
        const from = Date.now();
        await parts.task(word);
        await parts.asked(word, word, 1, before);
        await play.stream.fits(from, (row) => row.state === 'running', 3_000);
        await pause(holdMs);
      },
      act: () => actor.press.interrupt(stage),
      truth: () => parts.settled(),
      // Not done: whoever reads "completed" would take it for finished work.
      ...unfinishedOf(actor, name),
      limitMs: correctedMs,
      holdMs,
    });
  }
  await play.step({
    name: 'interrupted in a tool',
    prepare: async () => {
      if (actor.missing['approval asked'] === undefined) {
        await reachApproval(play, parts, 'go-3');
        await actor.press.approve(stage);
      } else await parts.task('command go-3');
      const from = await stage.holds(() => stage.hasFile('go-3.began'), 'the command to begin');
      await play.stream.fits(from, (row) => row.state === 'running', 3_000);
      await pause(holdMs);
    },
    act: () => actor.press.interrupt(stage),
    truth: () => parts.settled(),
    ...unfinishedOf(actor, 'interrupted in a tool'),
    limitMs: correctedMs,
    holdMs,
  });
  stage.makeFile('go-3');
}

async function playEnds(play: Play, parts: Parts): Promise<void> {
  const { actor, stage } = parts;
  await actor.press.clear(stage);
  await play.step({
    name: 'exit',
    act: () => actor.press.exit(stage),
    truth: () => stage.holds(() => stage.isShell(), 'the shell to be back'),
    states: ['unknown'],
    reasons: ['exited'],
    isEnd: true,
  });
  const before = stage.mock.count('slow', 'slow');
  await play.step({
    name: 'kill -9',
    prepare: async () => {
      stage.keys('-R');
      stage.keys('Enter');
      const from = Date.now();
      await stage.submit(actor.command);
      const { trust, ready } = actor.shows;
      await stage.shows((view) => trust.test(view) || ready.test(view), 'the agent to be back');
      if (trust.test(stage.screen()) || actor.missing['trust dialog'] !== undefined) await actor.press.trust(stage);
      await parts.settled();
      await pause(holdMs);
      await parts.task('slow');
      await parts.asked('slow', 'slow', 1, before);
      await play.stream.fits(from, (row) => row.state === 'running' && row.ended === null, 3_000);
    },
    act: () => {
      process.kill(stage.agentPid(), 'SIGKILL');
    },
    truth: () => stage.holds(() => stage.isShell(), 'the shell to be back'),
    states: ['error'],
    reasons: ['ended_by_signal', 'ended_without_goodbye', 'ended_with_status'],
    isEnd: true,
  });
}

/** Agents lose keys that come right after a dialog was drawn; nobody types that fast. */
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
