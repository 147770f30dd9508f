// How soon the feed tells what an agent said itself: a hook call in the spool, a change of its registry file. Look-alikes
// write what the real program writes; the clock starts when it is written.

import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRealProcesses } from '../src/platform/processes.ts';
import { openProc } from '../src/sources/process/proc.ts';
import { Live, until } from '../test/kit/live.ts';
import { LookAlike } from '../test/kit/look-alike.ts';
import { act } from '../test/kit/scenes.ts';
import { type BenchRow, percentile } from './row.ts';

const hook = fileURLToPath(new URL('../bin/agtmux-hook', import.meta.url));
const actorsCount = 8;
const rounds = 12;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The newest state of each pane, and when it came. */
class Listener {
  readonly #states = new Map<string, string>();
  readonly #stop = new AbortController();
  #wanted: { pane: string; state: string; tell: (at: number) => void } | null = null;

  async follow(live: Live): Promise<void> {
    for await (const event of live.client.events({ scope: 'panes', signal: this.#stop.signal })) {
      if (event.type !== 'snapshot' && event.type !== 'changes') continue;
      const list = event.type === 'snapshot' ? event.data.items : event.data.changes;
      for (const { value } of list as readonly { value: unknown }[]) this.#take(value);
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  /** When the feed tells this state of this pane. */
  tells(pane: string, state: string): Promise<number> {
    return new Promise((resolve) => {
      this.#wanted = { pane, state, tell: resolve };
      if (this.#states.get(pane) === state) resolve(Date.now());
    });
  }

  #take(value: unknown): void {
    if (typeof value !== 'object' || value === null || !('identity' in value)) return;
    const { identity, state } = value as { identity: { pane_id: string }; state: string | null };
    if (state === null) return;
    this.#states.set(identity.pane_id, state);
    const wanted = this.#wanted;
    if (wanted?.pane === identity.pane_id && wanted.state === state) wanted.tell(Date.now());
  }
}

function registryOf(live: Live, actor: LookAlike): (status: string) => number {
  const pid = Number(live.tmux('display-message', '-p', '-t', actor.pane, '#{pane_pid}'));
  const proc = openProc(createRealProcesses());
  const procStart = proc.ok ? proc.value.identity(pid)?.start : '';
  const folder = join(live.dir, 'home/.claude/sessions');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${pid}.json`);
  return (status) => {
    const now = Date.now();
    const row = {
      pid,
      sessionId: `s${pid}`,
      cwd: '/p',
      startedAt: now,
      procStart,
      version: '2.1.325',
      kind: 'interactive',
    };
    writeFileSync(`${file}.next`, JSON.stringify({ ...row, status, updatedAt: now, statusUpdatedAt: now }));
    renameSync(`${file}.next`, file);
    return statSync(file).mtimeMs;
  };
}

export async function run(): Promise<readonly BenchRow[]> {
  const live = new Live();
  const listener = new Listener();
  try {
    live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
    await live.startDaemon();
    const actors = Array.from({ length: actorsCount }, () => LookAlike.start(live, 'claude', 'work'));
    for (const actor of actors) await act(actor, 'settled');
    const registries = actors.map((actor) => registryOf(live, actor));
    for (const write of registries) write('idle');
    await until(async () => {
      const { items } = await live.client.get('/v1/agents');
      const heard =
        items.find((one) => one.agent === 'claude')?.sources.filter((one) => one.source === 'registry') ?? [];
      return heard.filter((one) => one.count > 0).length >= actorsCount;
    });
    const following = listener.follow(live).catch(() => undefined);
    await wait(500);
    const registry: number[] = [];
    const hooks: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const [place, actor] of actors.entries()) {
        const write = registries[place];
        if (write === undefined) continue;
        for (const [status, state] of [
          ['busy', 'running'],
          ['idle', 'idle'],
        ] as const) {
          const told = listener.tells(actor.pane, state);
          const written = write(status);
          registry.push((await told) - written);
        }
        const told = listener.tells(actor.pane, 'running');
        const input = JSON.stringify({
          session_id: 's',
          hook_event_name: 'UserPromptSubmit',
          prompt_id: `p${round}`,
          prompt: 'x',
        });
        const written = await actor.call([{ argv: [hook, 'claude', 'UserPromptSubmit'], input }]);
        hooks.push(Math.max(0, (await told) - written));
        await wait(20);
        const back = listener.tells(actor.pane, 'idle');
        write('idle');
        await back;
      }
    }
    listener.stop();
    await following;
    const row = (name: string, times: readonly number[], note: string): BenchRow => ({
      name,
      value: percentile(times, 0.95),
      unit: 'ms',
      goal: { atMost: 200 },
      note: `p50 ${percentile(times, 0.5).toFixed(0)}, ${times.length} changes; ${note}`,
    });
    return [
      row('registry file to feed, p95', registry, 'from the time of the file'),
      row('hook call to feed, p95', hooks, 'from the end of the call'),
    ];
  } finally {
    await live.close();
  }
}
