// What idle agents cost when everything is counted: look-alikes of three agents live in the panes and do nothing, and the CPU
// of all threads of the daemon, of its children and of what tmux does more is added up.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as rest } from 'node:timers/promises';
import { Live, until } from '../test/kit/live.ts';
import { LookAlike, type LookAlikeKind } from '../test/kit/look-alike.ts';
import { act } from '../test/kit/scenes.ts';
import { lookMs } from './churn.ts';
import { type BenchRow, figure } from './row.ts';

const kinds: readonly LookAlikeKind[] = ['claude', 'codex', 'gemini'];
const settleMs = 15_000;
const measuredMs = 30_000;

export interface Spent {
  readonly cpuMs: number;
  readonly wakeUps: number;
}

const none: Spent = { cpuMs: 0, wakeUps: 0 };
const plus = (one: Spent, other: Spent): Spent => ({
  cpuMs: one.cpuMs + other.cpuMs,
  wakeUps: one.wakeUps + other.wakeUps,
});

/** Of every thread there is, and of everything it has started. One that ends meanwhile is missing. */
export function spentBy(pid: number): Spent {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread): Spent => {
    try {
      const read = (name: string): string => readFileSync(`/proc/${pid}/task/${thread}/${name}`, 'utf8');
      const wakeUps = Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(read('status'))?.[1] ?? 0);
      return { cpuMs: Number(read('schedstat').split(' ')[0]) / 1e6, wakeUps };
    } catch {
      return none;
    }
  });
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  // Children that have ended, in hundredths of a second.
  const ended = (Number(fields[13]) + Number(fields[14])) * 10;
  return [...threads, ...childrenOf(pid).map(spentBy)].reduce(plus, { cpuMs: ended, wakeUps: 0 });
}

function childrenOf(pid: number): readonly number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

async function idle(agents: number): Promise<readonly BenchRow[]> {
  const live = new Live(lookMs);
  try {
    live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
    for (let place = 0; place < agents; place += 1) {
      await act(LookAlike.start(live, kinds[place % kinds.length] ?? 'claude', 'work'), 'settled');
    }
    const server = live.serverPid;
    const threadsOf = (pid: number): number =>
      spentBy(pid).cpuMs - childrenOf(pid).reduce((sum, one) => sum + spentBy(one).cpuMs, 0);
    const aloneBefore = threadsOf(server);
    await rest(10_000);
    const alone = (threadsOf(server) - aloneBefore) / 10_000;
    await live.startDaemon();
    await until(
      async () =>
        (await live.client.get('/v1/panes', {})).items.filter((one) => one.state !== 'unknown').length === agents,
      60_000,
      200,
    );
    await rest(settleMs);
    const [before, serverBefore, at] = [spentBy(live.daemonPid), threadsOf(server), performance.now()];
    await rest(measuredMs);
    const ms = performance.now() - at;
    const after = spentBy(live.daemonPid);
    const daemon = (after.cpuMs - before.cpuMs) / ms;
    const tmux = (threadsOf(server) - serverBefore) / ms - alone;
    const wakeUps = ((after.wakeUps - before.wakeUps) / ms) * 1_000;
    return [
      {
        name: `${agents} idle agents, everything counted`,
        value: (daemon + tmux) * 100,
        unit: '% of a core',
        ...(agents === 60 ? { goal: { atMost: 1 } } : {}),
        note: `all threads and children ${figure(daemon * 100)}, tmux ${figure(tmux * 100)} more; ${figure(wakeUps)} wake-ups/s; ${measuredMs / 1_000} s, living look-alikes`,
      },
    ];
  } finally {
    await live.close();
  }
}

export async function run(): Promise<readonly BenchRow[]> {
  return [...(await idle(20)), ...(await idle(60))];
}
