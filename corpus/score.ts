// Scores any tool that reads screens of coding agents: how many of the recorded ones it reads right, wrong, or not at all.
// Usage: corpus/score --tool "cmd {screen}"; corpus/README.md says what a tool is given and answers.

import { exec, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import type { Entry, Label } from './build.ts';
import { mutate } from './mutate.ts';

const root = join(import.meta.dirname, '..');
const toolTimeoutMs = 10_000;
/** A tool that prints a book instead of a word is stopped. */
const toolOutputMax = 65_536;
const words = ['running', 'waiting_approval', 'waiting_input', 'settled', 'error', 'gone', 'unknown'] as const;
type Word = (typeof words)[number];
/** Words of other tools that mean the same. */
const synonyms: Readonly<Record<string, Word>> = {
  idle: 'settled',
  done: 'settled',
  completed: 'settled',
  ready: 'settled',
  working: 'running',
  busy: 'running',
  starting: 'running',
  approval: 'waiting_approval',
  permission: 'waiting_approval',
  input: 'waiting_input',
  question: 'waiting_input',
  none: 'gone',
};

type Outcome = 'right' | 'unknown' | 'wrong';

export function wordOf(answer: string): Word | null {
  const word = answer.trim().split('\n', 1)[0]?.trim().toLowerCase() ?? '';
  return words.find((one) => one === word) ?? synonyms[word] ?? null;
}

/** Starting is right as running, settled, not there yet or unknown; where no agent runs any more, `unknown` is right too. */
export function outcomeOf(label: Label, word: Word): Outcome {
  if (label === 'starting') return ['running', 'settled', 'gone', 'unknown'].includes(word) ? 'right' : 'wrong';
  if (label === 'gone') return word === 'gone' || word === 'unknown' ? 'right' : 'wrong';
  if (word === 'unknown') return 'unknown';
  return word === label ? 'right' : 'wrong';
}

interface Screen {
  readonly entry: Entry;
  readonly kind: string;
  readonly path: string;
  readonly text: string;
}

interface Scored extends Screen {
  readonly outcome: Outcome;
  readonly answer: string;
}

/** A tool that is started for each screen. What it is told stands in its environment too, so that no title meets a shell. */
function askOnce(tool: string, { entry, path, text }: Screen): Promise<string> {
  const env = {
    ...process.env,
    SCREEN: path,
    AGENT: entry.agent,
    VERSION: entry.version,
    TITLE: entry.title,
    COMMAND: entry.command,
    COLUMNS: String(entry.columns ?? ''),
    LINES: String(entry.rows ?? ''),
  };
  const line = tool.replace(
    /\{(screen|agent|version|title|command)\}/g,
    (_, name: string) => `"$${name.toUpperCase()}"`,
  );
  return new Promise((done) => {
    const child = exec(line, { env, timeout: toolTimeoutMs, maxBuffer: toolOutputMax }, (error, stdout) =>
      done(error !== null && stdout === '' ? `failed: ${error.message.split('\n', 1)[0] ?? ''}` : stdout),
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(text);
  });
}

/** A tool that stays: one line of JSON a screen goes in, one word a line comes out, in the same order. */
async function askAll(tool: string, screens: readonly Screen[]): Promise<readonly string[]> {
  const child = spawn('sh', ['-c', tool], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined);
  const answers: string[] = [];
  const reading = (async () => {
    for await (const line of createInterface({ input: child.stdout })) answers.push(line);
  })();
  for (const { entry, text } of screens) {
    const { agent, version, title, command, columns, rows } = entry;
    const line = JSON.stringify({ agent, version, title, command, columns, rows, text });
    // A tool that reads no further has closed its end.
    if (child.stdin.destroyed) break;
    if (child.stdin.write(`${line}\n`)) continue;
    await new Promise((done) => child.stdin.once('drain', done).once('close', done));
  }
  child.stdin.end();
  await reading;
  return answers;
}

async function inTurns<T, R>(list: readonly T[], jobs: number, each: (one: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = new Array(list.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next; at < list.length; at = next) {
      next = at + 1;
      results[at] = await each(list[at] as T);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return results;
}

interface Wanted {
  readonly part: string;
  readonly agents: readonly string[];
  readonly seed: number | null;
}

function screensOf({ part, agents, seed }: Wanted, folder: string): readonly Screen[] {
  const index = readFileSync(join(import.meta.dirname, 'index.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  const entries = index.map((line) => JSON.parse(line) as Entry);
  const wanted = entries.filter(
    (entry) => (part === 'all' || entry.part === part) && (agents.length === 0 || agents.includes(entry.agent)),
  );
  return wanted.flatMap((entry, at): readonly Screen[] => {
    const path = join(root, entry.screen);
    const text = readFileSync(path, 'utf8');
    if (seed === null) return [{ entry, kind: 'recorded', path, text }];
    return mutate(text.trimEnd().split('\n'), entry.columns, seed + at).map(({ kind, lines }) => {
      const file = join(folder, `${at}-${kind}.txt`);
      const changed = `${lines.join('\n')}\n`;
      writeFileSync(file, changed);
      return { entry, kind, path: file, text: changed };
    });
  });
}

interface Figures {
  readonly screens: number;
  readonly right: number;
  readonly unknown: number;
  readonly wrong: number;
}

const figuresOf = (scored: readonly Scored[]): Figures => {
  const count = (outcome: Outcome): number => scored.filter((one) => one.outcome === outcome).length;
  return { screens: scored.length, right: count('right'), unknown: count('unknown'), wrong: count('wrong') };
};

const columns = [24, 9, 9, 9, 9] as const;
const line = (cells: readonly string[]): string =>
  `${cells.map((cell, at) => (at === 0 ? cell.padEnd(columns[0]) : cell.padStart(columns[at] ?? 9))).join('')}\n`;
const share = (part: number, of: number): string => (of === 0 ? '' : (part / of).toFixed(3));
const rowText = (name: string, { screens, right, unknown, wrong }: Figures): string =>
  line([name, String(screens), share(right, screens), share(unknown, screens), String(wrong)]);

function report(scored: readonly Scored[]): string {
  const by = (keyOf: (one: Scored) => string): string =>
    [...Map.groupBy(scored, keyOf)]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, group]) => rowText(name, figuresOf(group)))
      .join('');
  return [
    line(['', 'screens', 'right', 'unknown', 'wrong']),
    by(({ entry }) => entry.agent),
    '\n',
    by(({ entry }) => entry.label),
    '\n',
    by(({ entry, kind }) => (kind === 'recorded' ? entry.part : kind)),
    '\n',
    rowText('all', figuresOf(scored)),
  ].join('');
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      tool: { type: 'string' },
      stream: { type: 'string' },
      part: { type: 'string', default: 'all' },
      agent: { type: 'string', multiple: true, default: [] },
      mutate: { type: 'string' },
      jobs: { type: 'string', default: '2' },
      wrong: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const { tool, stream, part } = values;
  if ((tool === undefined) === (stream === undefined))
    throw new Error('name the tool: --tool "cmd {screen}" for each screen, or --stream "cmd" for all of them');
  if (!['all', 'development', 'sealed'].includes(part)) throw new Error('--part is all, development or sealed');
  const seed = values.mutate === undefined ? null : Number(values.mutate);
  if (seed !== null && !Number.isSafeInteger(seed)) throw new Error('--mutate takes a whole number, the seed');
  const jobs = Math.min(64, Math.max(1, Math.trunc(Number(values.jobs)) || 1));
  const folder = mkdtempSync(join(tmpdir(), 'agt-score-'));
  try {
    const screens = screensOf({ part, agents: values.agent, seed }, folder);
    if (screens.length === 0) throw new Error('no screen fits --part and --agent');
    const answers =
      stream === undefined
        ? await inTurns(screens, jobs, (screen) => askOnce(tool ?? '', screen))
        : await askAll(stream, screens);
    const scored = screens.map((screen, at): Scored => {
      const answer = (answers[at] ?? '').trim().slice(0, 200);
      const word = wordOf(answer);
      return { ...screen, answer, outcome: word === null ? 'wrong' : outcomeOf(screen.entry.label, word) };
    });
    if (values.json) process.stdout.write(`${JSON.stringify(figuresOf(scored))}\n`);
    else process.stdout.write(report(scored));
    if (values.wrong)
      for (const { entry, kind, answer, outcome } of scored)
        if (outcome === 'wrong') process.stdout.write(`${entry.id}, ${kind}: ${entry.label}, answered ${answer}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename)
  await main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  });
