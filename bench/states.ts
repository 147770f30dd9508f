// How soon and how truly states are seen by screens alone: twenty look-alikes act recorded screens in real panes, each at
// its own pace, and the feed is held against what they drew.

import { readFileSync } from 'node:fs';
import { classOf } from '../src/model/states.ts';
import { Live } from '../test/kit/live.ts';
import { LookAlike, type LookAlikeKind } from '../test/kit/look-alike.ts';
import { type Act, act } from '../test/kit/scenes.ts';
import { type BenchRow, percentile } from './row.ts';

const actorsCount = 20;
const roundsPerActor = 5;
/** How long an act is held, ms. */
const heldMs = { min: 2_000, spread: 2_000 };
/** Somebody asks for a list this often. */
const listEveryMs = 250;
const cycle: readonly Act[] = ['running', 'waiting_approval', 'settled'];

interface Change {
  readonly at: number;
  readonly is: string;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Everything the feed says about states, by pane, with the time it got here. */
async function follow(live: Live, seen: Map<string, Change[]>, signal: AbortSignal): Promise<void> {
  for await (const event of live.client.events({ scope: 'panes', signal })) {
    if (event.type !== 'snapshot' && event.type !== 'changes') continue;
    const items = event.type === 'snapshot' ? event.data.items : event.data.changes;
    for (const { value } of items as readonly { value: unknown }[]) note(value, seen);
  }
}

function note(value: unknown, seen: Map<string, Change[]>): void {
  if (typeof value !== 'object' || value === null || !('identity' in value)) return;
  const { identity, state, ended } = value as { identity: { pane_id: string }; state: string | null; ended: unknown };
  if (state === null || ended !== null) return;
  const changes = seen.get(identity.pane_id) ?? [];
  const is = classOf(state as never);
  if (changes.at(-1)?.is !== is) changes.push({ at: Date.now(), is });
  seen.set(identity.pane_id, changes);
}

async function perform(actor: LookAlike, truth: Map<string, Change[]>, place: number): Promise<void> {
  const drawn: Change[] = [];
  truth.set(actor.pane, drawn);
  await wait(place * 97);
  for (let round = 0; round < roundsPerActor * cycle.length; round += 1) {
    const next = cycle[round % cycle.length] ?? 'settled';
    drawn.push({ at: await act(actor, next), is: next });
    await wait(heldMs.min + ((place * 7919 + round * 104_729) % heldMs.spread));
  }
}

interface Score {
  readonly delays: Map<string, number[]>;
  readonly missed: number;
  readonly accuracy: number;
}

function score(truth: Map<string, Change[]>, seen: Map<string, Change[]>): Score {
  const delays = new Map<string, number[]>();
  let missed = 0;
  let right = 0;
  let whole = 0;
  for (const [pane, drawn] of truth) {
    const shown = seen.get(pane) ?? [];
    for (const [place, { at, is }] of drawn.entries()) {
      const end = drawn[place + 1]?.at ?? at + heldMs.min;
      const found = shown.find((one) => one.at >= at && one.at < end && one.is === is);
      if (found === undefined) missed += 1;
      else delays.set(is, [...(delays.get(is) ?? []), found.at - at]);
      for (let moment = at; moment < end; moment += 20) {
        whole += 1;
        if (shown.findLast((one) => one.at <= moment)?.is === is) right += 1;
      }
    }
  }
  return { delays, missed, accuracy: right / whole };
}

/** What lists say of every agent in the moment they are answered. */
class Lists {
  readonly #live: Live;
  #right = 0;
  #whole = 0;

  constructor(live: Live) {
    this.#live = live;
  }

  get accuracy(): number {
    return this.#right / this.#whole;
  }

  /** Beside other work, until it is told to stop. */
  async ask(truth: ReadonlyMap<string, readonly Change[]>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { items } = await this.#live.client.get('/v1/panes', {});
      const now = Date.now();
      for (const { identity, state, ended } of items) {
        const is = truth.get(identity.pane_id ?? '')?.findLast(({ at }) => at <= now)?.is;
        if (is === undefined || ended !== null || state === null) continue;
        this.#whole += 1;
        if (classOf(state) === is) this.#right += 1;
      }
      await wait(listEveryMs);
    }
  }
}

const cpuMs = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/** Percent of a core for the daemon and tmux's extra work, while sixty agents draw their spinners four times a second. */
async function costOfSpinners(): Promise<BenchRow> {
  const live = new Live();
  try {
    live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
    const screen = LookAlike.recorded('claude', '2.1.325-running_thinking.80x24.txt');
    // One after the other: sixty programs that start at once would keep each other waiting.
    for (let place = 0; place < 60; place += 1) await LookAlike.start(live, 'claude', 'work').spin(screen, 250);
    const server = live.serverPid;
    const used = async (pids: readonly number[], seconds: number): Promise<number> => {
      const before = pids.map(cpuMs);
      await wait(seconds * 1000);
      return pids.reduce((sum, pid, place) => sum + cpuMs(pid) - (before[place] ?? 0), 0) / seconds;
    };
    await wait(3_000);
    const alone = await used([server], 5);
    await live.startDaemon();
    await wait(5_000);
    const watched = await used([server, live.daemonPid], 10);
    const { items } = await live.client.get('/v1/panes', {});
    const running = items.filter((one) => one.state === 'running').length;
    return {
      name: '60 agents drawing 4 times a second',
      value: (watched - alone) / 10,
      unit: '% of a core',
      goal: { atMost: 4 },
      note: `daemon and tmux's extra work; ${running} of 60 read as running`,
    };
  } finally {
    await live.close();
  }
}

export async function run(): Promise<readonly BenchRow[]> {
  return [...(await delays()), await costOfSpinners()];
}

async function delays(): Promise<readonly BenchRow[]> {
  const live = new Live();
  try {
    live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
    await live.startDaemon();
    const kinds: readonly LookAlikeKind[] = ['claude', 'codex', 'gemini'];
    const actors = Array.from({ length: actorsCount }, (_, place) =>
      LookAlike.start(live, kinds[place % 3] ?? 'claude', 'work'),
    );
    for (const actor of actors) await act(actor, 'settled');
    await wait(3_000);
    const seen = new Map<string, Change[]>();
    const truth = new Map<string, Change[]>();
    const stop = new AbortController();
    const following = follow(live, seen, stop.signal).catch(() => undefined);
    await wait(500);
    const lists = new Lists(live);
    const asking = lists.ask(truth, stop.signal);
    await Promise.all(actors.map((actor, place) => perform(actor, truth, place)));
    stop.abort();
    await asking;
    await following;
    const { delays: times, missed, accuracy } = score(truth, seen);
    const how = `${actorsCount} look-alikes of three agents, ${roundsPerActor} rounds each, screens only`;
    return [
      ...[...times].map(([is, list]) => ({
        name: `screen to feed, to ${is}, p95`,
        value: percentile(list, 0.95),
        unit: 'ms',
        goal: { atMost: 500 },
        note: `p50 ${percentile(list, 0.5)}; ${how}`,
      })),
      {
        name: 'share of states that were right in lists',
        value: lists.accuracy,
        unit: '',
        goal: { atLeast: 0.997 },
        note: `a list every ${listEveryMs} ms, at the moment of its answer; ${how}`,
      },
      { name: 'transitions missed', value: missed, unit: '', goal: { atMost: 0 }, note: how },
      {
        name: 'share of time the state was right',
        value: accuracy,
        unit: '',
        goal: { atLeast: 0.97 },
        note: 'acts of 2 to 4 s, delays included',
      },
    ];
  } finally {
    await live.close();
  }
}
