// What a hook call costs its agent: agtmux-hook with a payload of 2 KB beside the cheapest program there is, `true`, and
// beside `node -e 0`, which a hook written for Node would cost at least. A small shell starts them, as agents do; all are
// run in turns, so that whatever else the machine does falls on all.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchRow } from './row.ts';

const rounds = 60;
/** Calls that are timed together: the start of the shell that makes them is taken out of the figure. */
const callsPerRound = 10;
const hook = join(import.meta.dirname, '../bin/agtmux-hook');

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

export function run(): readonly BenchRow[] {
  const directory = mkdtempSync(join(tmpdir(), 'agt-bench-hook-'));
  const spool = join(directory, 'spool');
  const input = join(directory, 'payload');
  mkdirSync(spool, { mode: 0o700 });
  writeFileSync(input, JSON.stringify({ hook_event_name: 'PreToolUse', text: 'x'.repeat(1_990) }));
  const env = { ...process.env, AGTMUX_SPOOL: spool, TMUX: '/tmp/tmux-1000/default,1,0', TMUX_PANE: '%1' };
  const loop = `i=0; while [ $i -lt "$1" ]; do "$2" $3 $4 <"$0"; i=$((i + 1)); done`;
  // The caller is a job of a shell, as an agent is.
  const job = 'set -m; /bin/sh -c "$0" "$@" & wait $!';
  const timed = (calls: number, ...command: string[]): number => {
    const began = performance.now();
    const { status, stderr } = spawnSync(
      'setsid',
      ['-w', '/bin/sh', '-c', job, loop, input, String(calls), ...command],
      { env },
    );
    if (status !== 0) throw new Error(stderr.toString());
    return performance.now() - began;
  };
  const commands: Readonly<Record<string, readonly string[]>> = {
    true: ['/bin/true'],
    'agtmux-hook': [hook, 'claude', 'PreToolUse'],
    'node -e 0': [process.execPath, '-e', '0'],
  };
  try {
    const times = new Map<string, number[]>(Object.keys(commands).map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, command] of Object.entries(commands)) {
        const idle = timed(0, ...command);
        times.get(name)?.push((timed(callsPerRound, ...command) - idle) / callsPerRound);
      }
    }
    const written = readdirSync(spool).length;
    if (written !== rounds * callsPerRound) throw new Error(`${written} files were written`);
    return rowsOf(times);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function rowsOf(times: ReadonlyMap<string, readonly number[]>): readonly BenchRow[] {
  const note = `2 KB payload, median of ${rounds} rounds of ${callsPerRound}, in turns`;
  const of = (name: string): number => median(times.get(name) ?? []);
  return [
    { name: 'true', value: of('true'), unit: 'ms', note },
    { name: 'agtmux-hook, one call', value: of('agtmux-hook'), unit: 'ms', goal: { atMost: 3 }, note },
    { name: 'node -e 0', value: of('node -e 0'), unit: 'ms', note },
  ];
}
