// What reading half a gigabyte of agents' records costs: the first time, beside a daemon that others ask something, and then
// while one of the records goes on growing.

import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { Live } from '../test/kit/live.ts';
import { type BenchRow, figure } from './row.ts';

const historyBytes = 500 * 1_048_576;
const filesCount = 100;
const brokenEvery = 5_000;
const followedMs = 20_000;

/** The answer of a model as Claude Code writes it, a line for each block; most of a record are results of tools. */
function linesOf(file: number, answer: number): string {
  const base = { sessionId: `s${file}`, cwd: '/w/shop', timestamp: '2026-11-18T10:00:00Z' };
  const block = (output: number): string =>
    JSON.stringify({
      type: 'assistant',
      ...base,
      requestId: `r${file}-${answer}`,
      message: {
        id: `m${file}-${answer}`,
        model: 'claude-sonnet-4-5',
        content: [{ type: 'text', text: 'x'.repeat(400) }],
        usage: { input_tokens: 10, cache_read_input_tokens: 1_000, output_tokens: output },
      },
    });
  const result = JSON.stringify({ type: 'user', ...base, message: { content: 'y'.repeat(6_000) } });
  const broken = answer % brokenEvery === 0 ? '{"type":"assistant","message":{"usage":{"input_tokens"\n' : '';
  return `${block(1)}\n${block(20)}\n${result}\n${broken}`;
}

interface Written {
  readonly bytes: number;
  readonly answers: number;
  readonly broken: number;
  readonly last: string;
}

function writeHistory(home: string): Written {
  const folder = join(home, '.claude/projects/-w-shop');
  mkdirSync(folder, { recursive: true });
  let [bytes, answers, broken, last] = [0, 0, 0, ''];
  for (let file = 0; file < filesCount; file += 1) {
    last = join(folder, `s${file}.jsonl`);
    const parts: string[] = [];
    for (let size = 0; size < historyBytes / filesCount; ) {
      const text = linesOf(file, answers);
      if (answers % brokenEvery === 0) broken += 1;
      answers += 1;
      size += text.length;
      bytes += text.length;
      parts.push(text);
    }
    writeFileSync(last, parts.join(''));
  }
  return { bytes, answers, broken, last };
}

/** CPU of all threads that a process has. */
const cpuMs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  );

const p95 = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.95)] ?? 0;

export async function run(): Promise<readonly BenchRow[]> {
  const live = new Live();
  try {
    const written = writeHistory(live.env.HOME ?? '');
    await live.startDaemon();
    const ask = () => live.client.get('/v1/usage', { by: 'agent' }, { silenceMs: 300_000 });
    const [began, before] = [performance.now(), cpuMs(live.daemonPid)];
    const reading = { isDone: false };
    const report = ask().finally(() => {
      reading.isDone = true;
    });
    const waits: number[] = [];
    while (!reading.isDone) {
      const at = performance.now();
      await live.client.get('/v1/status');
      waits.push(performance.now() - at);
      await rest(20);
    }
    const { total, broken_lines } = await report;
    const seconds = (performance.now() - began) / 1_000;
    const cpu = (cpuMs(live.daemonPid) - before) / 1_000;
    const { answers, broken } = written;
    if (total.answers !== answers || total.output !== answers * 20 || broken_lines !== broken)
      throw new Error(
        `${total.answers} of ${answers} answers and ${broken_lines} of ${broken} broken lines were counted`,
      );
    // The same daemon without a question, then one a second while an agent writes.
    const spent = async (each: (second: number) => Promise<void>): Promise<number> => {
      const [from, at] = [cpuMs(live.daemonPid), performance.now()];
      for (let second = 0; performance.now() - at < followedMs; second += 1) {
        await each(second);
        await rest(1_000);
      }
      return ((cpuMs(live.daemonPid) - from) / (performance.now() - at)) * 100;
    };
    const idle = await spent(async () => undefined);
    const grown: number[] = [];
    const following = await spent(async (second) => {
      appendFileSync(written.last, linesOf(filesCount, second));
      const at = performance.now();
      await ask();
      grown.push(performance.now() - at);
    });
    const megabytes = Math.round(written.bytes / 1_048_576);
    return [
      {
        name: `usage: ${megabytes} MB of records, read once`,
        value: seconds,
        unit: 's',
        goal: { atMost: 20 },
        note: `${figure(cpu)} s of CPU, ${answers} answers, ${broken} broken lines counted`,
      },
      {
        name: 'usage: another request while they are read, p95',
        value: p95(waits),
        unit: 'ms',
        goal: { atMost: 100 },
        note: `${waits.length} requests`,
      },
      {
        name: 'usage: asked every second while a record grows',
        value: Math.max(0, following - idle),
        unit: '% of a core',
        goal: { atMost: 1 },
        note: `more than idle, which is ${figure(idle)}; p95 of an answer ${figure(p95(grown))} ms`,
      },
    ];
  } finally {
    await live.close();
  }
}
