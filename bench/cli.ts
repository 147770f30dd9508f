// `agtmux list` against the cheapest thing Node can do, `node -e 0`, on 200 panes: private tmux server, private daemon, the
// installed entry. Both are run in turns, so that whatever else the machine does falls on both.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchRow } from './row.ts';

const panes = 200;
const rounds = 30;
const root = join(import.meta.dirname, '..');
const program = join(root, 'bin/agtmux');

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

export function run(): readonly BenchRow[] {
  const built = spawnSync(join(root, 'agtmux'), ['version']);
  if (built.status !== 0) throw new Error(built.stderr.toString());
  const directory = mkdtempSync(join(tmpdir(), 'agt-bench-'));
  const { TMUX: _, ...variables } = process.env;
  const env = { ...variables, HOME: directory, TMUX_TMPDIR: directory, AGTMUX_STATE_DIR: join(directory, 'state') };
  const tmux = (...args: string[]) => spawnSync('tmux', ['-f', '/dev/null', ...args], { env });
  const node = (...args: string[]) => {
    const began = performance.now();
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, maxBuffer: 2 ** 26 });
    const ms = performance.now() - began;
    if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return { ms, stdout: stdout.toString() };
  };
  try {
    tmux('new-session', '-d', '-s', 'bench', '-x', '100', '-y', '30', 'sleep 600');
    const more = Array.from({ length: panes - 1 }, () => [';', 'new-window', '-d', '-t', 'bench:', 'sleep 600']);
    for (let at = 0; at < more.length; at += 50)
      tmux(
        ...more
          .slice(at, at + 50)
          .flat()
          .slice(1),
      );
    const commands = {
      'node -e 0': ['-e', '0'],
      'list panes --json': [program, 'list', 'panes', '--json', '--all-panes'],
      'list panes': [program, 'list', 'panes', '--all-panes'],
      status: [program, 'status'],
    };
    while ((JSON.parse(node(...commands['list panes --json']).stdout) as { items: unknown[] }).items.length < panes);
    const times = new Map<string, number[]>(Object.keys(commands).map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, args] of Object.entries(commands)) times.get(name)?.push(node(...args).ms);
    }
    return rowsOf(times);
  } finally {
    spawnSync(process.execPath, [program, 'daemon', 'stop'], { env });
    tmux('kill-server');
    rmSync(directory, { recursive: true, force: true });
  }
}

function rowsOf(times: ReadonlyMap<string, readonly number[]>): readonly BenchRow[] {
  const least = median(times.get('node -e 0') ?? []);
  const note = `${panes} panes, median of ${rounds}, in turns`;
  const ratio = (name: string): number => median(times.get(name) ?? []) / least;
  return [
    { name: 'node -e 0', value: least, unit: 'ms', note },
    {
      name: 'agtmux list panes --json, times node -e 0',
      value: ratio('list panes --json'),
      unit: 'x',
      goal: { atMost: 1.5 },
      note,
    },
    { name: 'agtmux list panes as a table, times node -e 0', value: ratio('list panes'), unit: 'x', note },
    { name: 'agtmux status, times node -e 0', value: ratio('status'), unit: 'x', note },
  ];
}
