// `agtmux demo`: agtmux at work for somebody without any agent. Look-alikes in a private tmux server go through every
// state, a private daemon watches them, and all of it is gone afterwards.

import { createClient } from '../api/client.ts';
import type { PaneList } from '../api/panes.ts';
import { get } from '../api/requests.ts';
import { AgtmuxError, errors } from '../model/errors.ts';
import { stateNames } from '../model/states.ts';
import { quoteSh } from '../text/quote.ts';
import { type Action, type Context, must, places, sleep } from './context.ts';
import { Director } from './demo-director.ts';
import { DemoWorld } from './demo-world.ts';
import { listOf } from './list.ts';
import { columnsOf, output, print, viewQuery } from './output.ts';
import type { Parsed } from './parse.ts';
import { askRunning, isDown } from './running.ts';
import { selfCommand } from './tmux-self.ts';
import { tui } from './tui.ts';

/** Often enough that a scene is shown when it comes, rare enough to cost nothing. */
const stepMs = 250;
/** Without a terminal: so many tables, this far apart. */
const framesDefault = 3;
const frameMs = 4_000;

export const demo: Action = async (parsed, context) => {
  if (parsed.has('auto') && (await showOwnAgents(parsed, context))) return;
  const leaving = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => leaving.abort());
  const world = new DemoWorld(context);
  let isKept = false;
  try {
    world.enter();
    if (!parsed.has('keep')) world.startJanitor();
    print(opening(world));
    await world.start();
    await play(world, parsed, context, leaving.signal);
    isKept = parsed.has('keep');
  } finally {
    if (!isKept) await world.end();
  }
  print(isKept ? keptWords(world) : 'The demo has ended; its tmux server, daemon and files were removed.');
};

async function play(world: DemoWorld, parsed: Parsed, context: Context, signal: AbortSignal): Promise<void> {
  const { clock } = context;
  const { socketPath } = places();
  const client = createClient({ socketPath, clock });
  const director = new Director({
    client,
    clock,
    socketPath,
    show: (role, stage) => world.show(role, stage),
    answerTo: (role, scene) => world.answerTo(role, scene),
    isAttended: hasBoard(parsed),
  });
  await director.begin(signal);
  const ending = new AbortController();
  const over = AbortSignal.any([signal, ending.signal]);
  const direct = async (): Promise<void> => {
    while (!over.aborted) {
      director.step();
      await sleep(clock, stepMs);
    }
  };
  const directing = direct();
  try {
    await Promise.race([directing, show(parsed, context, over)]);
  } finally {
    ending.abort();
    await directing;
  }
}

async function show(parsed: Parsed, context: Context, signal: AbortSignal): Promise<void> {
  const { clock } = context;
  if (parsed.has('no-attach')) {
    print('It runs until you press Ctrl-C.');
    while (!signal.aborted) await sleep(clock, stepMs);
    return;
  }
  if (!hasBoard(parsed)) {
    const frames = parsed.has('once') ? 1 : framesDefault;
    for (let frame = 1; frame <= frames && !signal.aborted; frame += 1) {
      print(`\n${await table(parsed)}`);
      if (frame < frames) await rest(clock, frameMs, signal);
    }
    return;
  }
  await tui(parsed, context);
}

/** A terminal shows the board, where the simulated agents can be answered. */
const hasBoard = (parsed: Parsed): boolean =>
  output().isTTY && process.stdin.isTTY === true && !parsed.has('no-attach') && !parsed.has('once');

const isPassing = (problem: unknown): boolean => problem instanceof AgtmuxError && errors[problem.code].retryable;

/** In small pieces, so that whoever wants to leave is not kept. */
async function rest(clock: Context['clock'], ms: number, signal: AbortSignal): Promise<void> {
  const deadlineMs = clock.monotonicMs() + ms;
  while (!signal.aborted && clock.monotonicMs() < deadlineMs) await sleep(clock, Math.min(ms, stepMs));
}

async function table(parsed: Parsed): Promise<string> {
  const view = viewQuery(parsed);
  try {
    return (await askRunning(get('/v1/panes', view))).body.trimEnd();
  } catch (problem) {
    if (!isPassing(problem)) throw problem;
    return 'The daemon of the demo does not respond at the moment.';
  }
}

const commandLine = (...words: readonly string[]): string => words.join(' ');
const selfWord = (): string => {
  const self = selfCommand();
  return self === 'agtmux' ? self : must(quoteSh(self));
};
const agtmuxIn = (world: DemoWorld, ...words: readonly string[]): string =>
  commandLine(`AGTMUX_STATE_DIR=${must(quoteSh(world.stateDir))}`, selfWord(), ...words);
const tmuxIn = (world: DemoWorld, ...words: readonly string[]): string =>
  commandLine('tmux', '-S', must(quoteSh(world.tmuxSocket)), ...words);

const opening = (world: DemoWorld): string =>
  [
    'agtmux demo: simulated agents. They run no model, change nothing and go through every state:',
    `  ${stateNames.join(', ')}.`,
    'They use a private tmux server and daemon; yours are not touched. From another terminal:',
    `  ${agtmuxIn(world, 'watch')}`,
    `  ${tmuxIn(world, 'attach')}`,
  ].join('\n');

const keptWords = (world: DemoWorld): string =>
  [
    'The demo has stopped and was kept. To remove it:',
    `  ${agtmuxIn(world, 'daemon', 'stop')}`,
    `  ${tmuxIn(world, 'kill-server')}`,
    `  rm -r ${must(quoteSh(world.directory))}`,
  ].join('\n');

/** True when there are any; whoever has agents needs no look-alikes. */
async function showOwnAgents(parsed: Parsed, context: Context): Promise<boolean> {
  if ((await ownPanes(context)).items.length === 0) {
    print('No agent was found in your tmux, so this is a demo.\n');
    return false;
  }
  await listOf('panes')(parsed, context);
  print('\nThese are your own agents. Continue with `agtmux watch`, or run `agtmux demo` for simulated agents.');
  return true;
}

/** From the daemon that runs; else by one look at tmux, so that nothing is left running where there is nothing to see. */
async function ownPanes({ clock }: Context): Promise<Pick<PaneList, 'items'>> {
  try {
    return (await askRunning(get('/v1/panes'))).reply;
  } catch (problem) {
    if (!isDown(problem)) throw problem;
  }
  const { offlineText } = await import('./list-offline.ts');
  const options = { clock, isJson: true, tmuxSockets: [], columns: columnsOf(), colour: false };
  try {
    return JSON.parse(await offlineText('panes', {}, options)) as PaneList;
  } catch (problem) {
    if (problem instanceof AgtmuxError) return { items: [] };
    throw problem;
  }
}
