// What idle agents cost when everything is counted: look-alikes of three agents live in the panes and do nothing, and the CPU
// of all threads of the daemon, of its children and of what tmux does more is added up. Then the same with agents that are in
// no pane, on a machine with many other processes.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
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

interface Crowd {
  readonly panes: number;
  /** Agents in terminals of their own. */
  readonly outside: number;
  /** Processes that are nobody's business. */
  readonly others: number;
}

const hookProgram = fileURLToPath(new URL('../bin/agtmux-hook', import.meta.url));
const otherLines = (count: number): string =>
  `i=0; while [ $i -lt ${count} ]; do sleep 100000 & i=$((i+1)); done; wait`;

/** Known from a call of their hook on. */
async function startOutside(live: Live, number: number): Promise<LookAlike> {
  const agent = LookAlike.startOutside(live, 'claude');
  await agent.show('');
  const input = JSON.stringify({
    session_id: `s${number}`,
    cwd: '/p',
    hook_event_name: 'SessionStart',
    source: 'startup',
  });
  await agent.call([{ argv: [hookProgram, 'claude', 'SessionStart'], input }]);
  return agent;
}

function startOthers(count: number): ChildProcess | null {
  if (count === 0) return null;
  return spawn('sh', ['-c', otherLines(count)], { detached: true, stdio: 'ignore' });
}

async function idle({ panes, outside, others }: Crowd): Promise<readonly BenchRow[]> {
  const live = new Live(lookMs);
  const outsiders: LookAlike[] = [];
  const crowd = startOthers(others);
  try {
    live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
    for (let place = 0; place < panes; place += 1) {
      await act(LookAlike.start(live, kinds[place % kinds.length] ?? 'claude', 'work'), 'settled');
    }
    const server = live.serverPid;
    const threadsOf = (pid: number): number =>
      spentBy(pid).cpuMs - childrenOf(pid).reduce((sum, one) => sum + spentBy(one).cpuMs, 0);
    const aloneBefore = threadsOf(server);
    await rest(10_000);
    const alone = (threadsOf(server) - aloneBefore) / 10_000;
    mkdirSync(join(live.stateDir, 'spool'), { recursive: true, mode: 0o700 });
    await live.startDaemon();
    for (let number = 0; number < outside; number += 1) outsiders.push(await startOutside(live, number));
    const known = async (): Promise<number> =>
      (await live.client.get('/v1/panes', {})).items.filter((one) => one.state !== 'unknown').length;
    await until(async () => (await known()) === panes + outside, 60_000, 200);
    await rest(settleMs);
    const [before, serverBefore, at] = [spentBy(live.daemonPid), threadsOf(server), performance.now()];
    await rest(measuredMs);
    const ms = performance.now() - at;
    const after = spentBy(live.daemonPid);
    const daemon = (after.cpuMs - before.cpuMs) / ms;
    const tmux = (threadsOf(server) - serverBefore) / ms - alone;
    const wakeUps = ((after.wakeUps - before.wakeUps) / ms) * 1_000;
    const more = outside === 0 ? '' : ` and ${outside} in no pane, beside ${others} other processes`;
    return [
      {
        name: `${panes} idle agents${more}, everything counted`,
        value: (daemon + tmux) * 100,
        unit: '% of a core',
        ...(panes === 60 ? { goal: { atMost: outside === 0 ? 1 : 1.2 } } : {}),
        note: `all threads and children ${figure(daemon * 100)}, tmux ${figure(tmux * 100)} more; ${figure(wakeUps)} wake-ups/s; ${measuredMs / 1_000} s, living look-alikes`,
      },
    ];
  } finally {
    for (const one of outsiders) one.end();
    // The group that was started here.
    if (crowd?.pid !== undefined) process.kill(-crowd.pid, 'SIGKILL');
    await live.close();
  }
}

export async function run(): Promise<readonly BenchRow[]> {
  return [
    ...(await idle({ panes: 20, outside: 0, others: 0 })),
    ...(await idle({ panes: 60, outside: 0, others: 0 })),
    ...(await idle({ panes: 60, outside: 20, others: 2_000 })),
  ];
}
