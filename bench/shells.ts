// What a background shell costs: from the wish to the running command beside `sh -c true` from Node, its log beside
// `cmd > file`, and two hundred of them at once. What is compared is run in turns, so that whatever else the machine does
// falls on both.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Kept, Place } from '../test/system/shells/kit.ts';
import { isEnded, keep, logBytes, never, owner, place, wish } from '../test/system/shells/kit.ts';
import { type BenchRow, percentile } from './row.ts';

const startRounds = 150;
const logRounds = 9;
const logBytesWanted = 50 * 1_048_576;
const shellsAtOnce = 200;
const exitRounds = 100;

const median = (values: readonly number[]): number => percentile(values, 0.5);

export async function run(): Promise<readonly BenchRow[]> {
  const here = place();
  const kept = await keep(here.root, { bounds: { sweepMs: 1_000 } });
  try {
    return [
      ...(await starting(kept, here)),
      ...(await ending(kept, here)),
      // Before the bytes of logs have passed through this process.
      ...(await many(kept, here)),
      ...(await logging(kept, here)),
    ];
  } finally {
    await Promise.all(kept.keeper.rows().map((row) => kept.keeper.kill(row.shell_id, 'agent')));
    await kept.keeper.close();
    here.remove();
  }
}

const ended = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.on('exit', resolve));

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function starting({ keeper, until }: Kept, { cwd }: Place): Promise<readonly BenchRow[]> {
  const plain: number[] = [];
  const shells: number[] = [];
  for (let round = 0; round < startRounds; round += 1) {
    plain.push(await timed(() => ended(spawn('/bin/sh', ['-c', 'true'], { stdio: 'ignore', cwd }))));
    const began = performance.now();
    const { shell } = await keeper.run(wish(cwd, 'true', { run_in_background: true }), owner, never);
    shells.push(performance.now() - began);
    // What follows belongs to the end, not to the start.
    if (shell !== null) await until(shell.shell_id, isEnded);
  }
  const note = `median of ${startRounds}, in turns`;
  const ratio = median(shells) / median(plain);
  return [
    { name: '`sh -c true` from Node', value: median(plain), unit: 'ms', note },
    { name: 'shell: wish to running', value: median(shells), unit: 'ms', note },
    { name: 'shell: start beside `sh -c true`', value: ratio, unit: 'x', goal: { atMost: 4 }, note },
  ];
}

/** From the last thing that the command does to the answer. */
async function ending({ keeper }: Kept, { cwd }: Place): Promise<readonly BenchRow[]> {
  const times: number[] = [];
  for (let round = 0; round < exitRounds; round += 1) {
    const { page } = await keeper.run(wish(cwd, 'date +%s%N'), owner, never);
    times.push(Date.now() - Number(page?.lines[0]) / 1e6);
  }
  const note = `${exitRounds} commands, from the last thing they do to the answer`;
  return [
    { name: 'shell: end to answer, p95', value: percentile(times, 0.95), unit: 'ms', goal: { atMost: 20 }, note },
  ];
}

async function logging({ keeper }: Kept, { dir, root, cwd }: Place): Promise<readonly BenchRow[]> {
  const source = join(dir, 'source');
  const file = join(dir, 'plain');
  spawnSync('/bin/sh', ['-c', `head -c ${logBytesWanted} /dev/urandom >"$0"`, source]);
  const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
  const right = digest(readFileSync(source));
  const commands: Readonly<Record<string, string>> = {
    cat: `cat '${source}'`,
    base64: `base64 '${source}' | head -c ${logBytesWanted}`,
  };
  const rows: BenchRow[] = [];
  for (const [name, command] of Object.entries(commands)) {
    const plain: number[] = [];
    const shells: number[] = [];
    for (let round = 0; round < logRounds; round += 1) {
      plain.push(await timed(() => ended(spawn('/bin/sh', ['-c', `{ ${command}; } >'${file}'`], { cwd }))));
      const began = performance.now();
      const { shell } = await keeper.run(wish(cwd, command), owner, never);
      shells.push(performance.now() - began);
      if (shell === null) throw new Error('the shell did not start');
      const log = digest(logBytes(root, shell.shell_id));
      if (log !== (name === 'cat' ? right : digest(readFileSync(file))))
        throw new Error('the log is not what was printed');
      rmSync(file);
      rmSync(join(root, shell.shell_id), { recursive: true });
    }
    const note = `50 MiB of \`${name}\`, hash compared, ${median(shells).toFixed(0)} ms and ${median(plain).toFixed(0)} ms, median of ${logRounds}, in turns`;
    const ratio = median(shells) / median(plain);
    rows.push({ name: `shell: log beside \`${name} > file\``, value: ratio, unit: 'x', goal: { atMost: 2 }, note });
  }
  return rows;
}

const ownMegabytes = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().rss / 2 ** 20;
};

/** Of each session the holder leads, what `ps` says, shared pages and all. */
function holderMegabytes(sessions: readonly number[]): number {
  const { stdout } = spawnSync('ps', ['-o', 'sid=,rss=', '-s', sessions.join(',')]);
  const sums = new Map<string, number>();
  for (const line of stdout.toString().trim().split('\n')) {
    const [session = '', kilobytes] = line.trim().split(/ +/);
    sums.set(session, (sums.get(session) ?? 0) + Number(kilobytes));
  }
  return Math.max(...sums.values()) / 1_024;
}

async function many({ keeper }: Kept, { root, cwd }: Place): Promise<readonly BenchRow[]> {
  const before = ownMegabytes();
  const wishes = Array.from({ length: shellsAtOnce }, () => wish(cwd, 'sleep 600', { run_in_background: true }));
  const answers = await Promise.all(wishes.map((one) => keeper.run(one, owner, never)));
  const grown = ownMegabytes() - before;
  const ids = answers.map(({ shell }) => shell?.shell_id ?? '');
  const sessions = ids.map((id) =>
    Number(/ holder (\d+) /.exec(readFileSync(join(root, id, '1/story'), 'latin1'))?.[1]),
  );
  const note = `${shellsAtOnce} shells at once`;
  const perHolder = holderMegabytes(sessions);
  return [
    { name: 'shells: growth of the keeper', value: grown, unit: 'MB', goal: { atMost: 60 }, note },
    {
      name: 'shells: largest holder',
      value: perHolder,
      unit: 'MB',
      goal: { atMost: 8 },
      note: `${note}, all its processes`,
    },
  ];
}
