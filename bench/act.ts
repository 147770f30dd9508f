// A guarded send against an unguarded paste, from the call to the text on the screen of a quiet pane, in turns on a real
// tmux; the bare guarded step, and how soon a refusal comes.

import type { ReceiptReply } from '../src/api/actions.ts';
import { createRealRandom } from '../src/platform/random.ts';
import { createBufferLoader, createGuardedWriter } from '../src/terminals/tmux/guarded-writer.ts';
import type { PaneAddress, PaneWriter } from '../src/terminals/tmux/pane-writer.ts';
import { ActingWorld } from '../test/kit/acting.ts';
import { until as holds } from '../test/kit/live.ts';
import { LookAlike } from '../test/kit/look-alike.ts';
import { createRecorder, openLink, placeNow, recorderCommand, type TestLink } from '../test/kit/recorder.ts';
import { act } from '../test/kit/scenes.ts';
import { createTmuxServer, until } from '../test/kit/tmux-server.ts';
import { type BenchRow, percentile } from './row.ts';

const rounds = 200;
const largeRounds = 10;
const promotionRounds = 20;
const sendRounds = 50;

async function timed(action: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await action();
  return performance.now() - began;
}

/** Asked again and again without a pause, over the same connection for both. */
async function isShown(writer: PaneWriter, place: PaneAddress, text: string): Promise<void> {
  while (!(await writer.look(place)).some((line) => line.includes(text)));
}

async function measure(link: TestLink, loadBuffer: NonNullable<TestLink['loadBuffer']>, place: PaneAddress) {
  const writer = createGuardedWriter({ ...link, loadBuffer }, createRealRandom());
  const times = { guarded: [] as number[], unguarded: [] as number[], refused: [] as number[], large: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    const text = `fix the bug in line ${round}`;
    times.guarded.push(
      await timed(async () => {
        await writer.paste(place, `${text}g\n`);
        await isShown(writer, place, `${text}g`);
      }),
    );
    times.unguarded.push(
      await timed(async () => {
        await link.command(`set-buffer -b plain "${text}u\\012" ; paste-buffer -p -r -d -b plain -t ${place.pane}`);
        await isShown(writer, place, `${text}u`);
      }),
    );
    const other = { ...place, panePid: 1 };
    times.refused.push(
      await timed(async () => {
        const touch = await writer.paste(other, text);
        if (touch.kind !== 'refused') throw new Error(`was ${touch.kind}`);
      }),
    );
  }
  // Afterwards: a pane that still draws a megabyte is not a quiet one.
  for (let round = 0; round < largeRounds; round += 1) {
    const large = '0123456789 "quoted"\n'.repeat(50_000);
    times.large.push(await timed(async () => void (await writer.paste(place, large))));
    await isShown(writer, place, 'quoted');
  }
  return times;
}

/** From the signal that ends the CONNECTED agent, at the shell of a terminal that stays, to the feed's word of the next. */
async function promotions(): Promise<readonly number[]> {
  const world = new ActingWorld();
  try {
    await world.startDaemon();
    const feed = await world.follow();
    const panes: string[] = [];
    for (let round = 0; round <= promotionRounds; round += 1) {
      const pane = world.terminal();
      LookAlike.startInside(world, 'claude', pane);
      await holds(() => feed.connected.at(-1) === pane, 60_000);
      panes.push(pane);
    }
    const times: number[] = [];
    for (let round = promotionRounds; round > 0; round -= 1) {
      const pid = world.processIn(panes[round] ?? '');
      times.push(
        await timed(async () => {
          process.kill(pid, 'SIGKILL');
          await holds(() => feed.connected.at(-1) !== panes[round], 20_000, 1);
        }),
      );
    }
    const order = [...panes, ...panes.slice(0, -1).toReversed()];
    const heard = feed.connected.slice(1);
    if (heard.join() !== order.join()) throw new Error(`CONNECTED were ${heard}, not ${order}`);
    if (feed.broken.length > 0) throw new Error(`not exactly one was CONNECTED: ${feed.broken[0]}`);
    await feed.end();
    return times;
  } finally {
    await world.close();
  }
}

/** From the request at the daemon's socket to the text in the hands of the agent, which shows it at once. */
async function sends(): Promise<{ readonly arrived: readonly number[]; readonly refused: readonly number[] }> {
  const world = new ActingWorld();
  try {
    await world.startDaemon();
    const [actor, asking] = [LookAlike.start(world, 'claude', 'work'), LookAlike.start(world, 'claude', 'work')];
    await act(asking, 'waiting_approval');
    await world.becomes(asking, /waiting_approval/);
    const [arrived, refused]: [number[], number[]] = [[], []];
    for (let round = 0; round < sendRounds; round += 1) {
      await act(actor, 'settled');
      await world.becomes(actor, /idle|completed/);
      const text = `fix the bug in line ${round}.`;
      const send = { action: 'send', text, enter: false, when_ready: false, strip_control: false } as const;
      let sent: Promise<ReceiptReply> | null = null;
      arrived.push(
        await timed(async () => {
          sent = world.ask({ ...send, ref: actor.pane });
          await holds(() => actor.typed().endsWith(text), 20_000, 1);
        }),
      );
      await sent;
      refused.push(
        await timed(async () => {
          const { outcome } = await world.ask({ ...send, ref: asking.pane });
          if (outcome !== 'refused') throw new Error(`was ${outcome}`);
        }),
      );
    }
    return { arrived, refused };
  } finally {
    await world.close();
  }
}

export async function run(): Promise<readonly BenchRow[]> {
  const kit = await createTmuxServer();
  try {
    const recorder = createRecorder(kit.directory);
    await kit.newSession('main', recorder.command);
    const place = await until('the recorder runs', async () => {
      const now = await placeNow(kit, 'main:');
      return now.command === recorderCommand && now;
    });
    const link = await openLink(kit, 'main');
    const load = createBufferLoader({ executor: kit.executor, socket: { kind: 'path', path: kit.socketPath } });
    const times = await measure(link, load, place);
    link.close();
    const { arrived, refused } = await sends();
    const promoted = percentile(await promotions(), 0.95);
    const guarded = percentile(times.guarded, 0.95);
    const unguarded = percentile(times.unguarded, 0.95);
    const note = `${rounds} rounds, in turns`;
    return [
      { name: 'guarded send until it is shown, p95', value: guarded, unit: 'ms', goal: { atMost: 60 }, note },
      { name: 'unguarded paste until it is shown, p95', value: unguarded, unit: 'ms', note },
      {
        name: 'guarded send, times an unguarded paste',
        value: guarded / unguarded,
        unit: 'x',
        goal: { atMost: 3 },
        note,
      },
      { name: 'refused send, p95', value: percentile(times.refused, 0.95), unit: 'ms', goal: { atMost: 10 }, note },
      {
        name: 'guarded paste of 1 MB, median',
        value: percentile(times.large, 0.5),
        unit: 'ms',
        note: `${largeRounds} rounds`,
      },
      {
        name: 'send over the API until the agent has it, p95',
        value: percentile(arrived, 0.95),
        unit: 'ms',
        goal: { atMost: 60 },
        note: `${sendRounds} rounds, a quiet pane`,
      },
      {
        name: 'send over the API into a dialog, refused, p95',
        value: percentile(refused, 0.95),
        unit: 'ms',
        goal: { atMost: 10 },
        note: `${sendRounds} rounds`,
      },
      {
        name: 'CONNECTED agent killed until the next one is, p95',
        value: promoted,
        unit: 'ms',
        goal: { atMost: 300 },
        note: `${promotionRounds} rounds, ${promotionRounds + 1} agents, over the feed`,
      },
    ];
  } finally {
    await kit.end();
  }
}
