// Child processes for fault tests: started from a script beside this file, listened to line by line, ended by their own
// handle and never by name.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Node before 22.18 runs TypeScript only when asked to. */
const typeFlags = process.features.typescript ? [] : ['--experimental-strip-types'];

const alive = new Set<Child>();

/** For the end of every test: what a failed one left running is ended. */
export async function endChildren(): Promise<void> {
  await Promise.all([...alive].map((child) => child.kill()));
}

export interface Child {
  readonly pid: number;
  readonly lines: readonly string[];
  /** Resolves when so many lines have come, or rejects with what the child said when it ended before. */
  linesReached(count: number): Promise<void>;
  say(line: string): void;
  /** SIGKILL, and resolves when the process is gone. */
  kill(): Promise<void>;
  ended(): Promise<void>;
}

export function startChild(script: string, args: readonly string[]): Child {
  const child: ChildProcess = spawn(process.execPath, [...typeFlags, join(import.meta.dirname, script), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null || stderr === null)
    throw new Error(`${script} did not start`);
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const wakeAll = (): void => {
    for (const wake of waiting) wake();
  };
  let trouble = '';
  let gone = false;
  stderr.on('data', (data) => {
    trouble += String(data);
  });
  stdin.on('error', () => {});
  createInterface({ input: stdout }).on('line', (line) => {
    lines.push(line);
    wakeAll();
  });
  const closed = new Promise<void>((resolve) => {
    child.on('close', () => {
      gone = true;
      wakeAll();
      resolve();
    });
  });
  const handle: Child = {
    pid,
    lines,
    linesReached: (count) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (lines.length >= count) resolve();
          else if (gone) reject(new Error(`${script} ended after ${lines.length} of ${count} lines: ${trouble}`));
          else return;
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      }),
    say: (line) => stdin.write(`${line}\n`),
    kill: () => {
      child.kill('SIGKILL');
      return closed;
    },
    ended: () => closed,
  };
  alive.add(handle);
  void closed.then(() => alive.delete(handle));
  return handle;
}

/** Resolves when one of the files is there. */
export async function fileAppears(...paths: readonly string[]): Promise<void> {
  while (!paths.some((path) => existsSync(path))) await new Promise((resolve) => setImmediate(resolve));
}

/** How often a test repeats itself: few times in every run, often when asked by hand. */
export function repetitions(usual: number): number {
  const asked = Number(process.env.COUNT);
  return Number.isInteger(asked) && asked > 0 ? asked : usual;
}
