// A plain executor for this machine, for suites that need one below the real rooms: it spawns and reads, nothing more.
import { type ChildProcess, spawn } from 'node:child_process';
import { targetId } from '../../src/model/ids.ts';
import { createRealClock } from '../../src/platform/clock.ts';
import { createRealExec } from '../../src/platform/exec.ts';
import type { Channel, Executor } from '../../src/targets/executor.ts';

const stderrCharsMax = 4_096;

export interface LocalExecutor extends Executor {
  /** Stops reading what programs with this text among their arguments say, until the returned function is called. */
  hold(argument: string): () => void;
}

export function createLocalExecutor(env: Readonly<Record<string, string>>): LocalExecutor {
  const exec = createRealExec(createRealClock());
  const children = new Map<ChildProcess, readonly string[]>();
  const open = new Set<Channel>();
  return {
    target: targetId('host'),
    kind: 'local',
    async run(argv, options) {
      const [program = '', ...args] = argv;
      const result = await exec.run({ program, args, env, ...options });
      const { status, stdout, stderr, truncated, timedOut } = result;
      return { status, stdout, stderr, truncated, timedOut };
    },
    open(argv, handlers) {
      const [program = '', ...args] = argv;
      const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
      children.set(child, argv);
      let stderr = '';
      let isOver = false;
      const end = (status: number | null, signal: string | null): void => {
        if (isOver) return;
        isOver = true;
        open.delete(channel);
        children.delete(child);
        handlers.onEnd({ status, signal, stderr });
      };
      const channel: Channel = {
        pid: child.pid ?? null,
        write: (bytes) => child.stdin.write(bytes),
        get writeBacklog() {
          return child.stdin.writableLength;
        },
        end: () => {
          child.kill('SIGKILL');
        },
      };
      open.add(channel);
      child.stdin.on('error', () => undefined);
      child.stdout.on('data', handlers.onData);
      child.stderr.on('data', (chunk: Buffer) => {
        stderr = (stderr + chunk.toString()).slice(-stderrCharsMax);
      });
      child.on('error', () => end(null, null));
      child.on('close', end);
      return channel;
    },
    hold(argument) {
      const held = [...children].filter(([, argv]) => argv.some((word) => word.includes(argument)));
      for (const [child] of held) child.stdout?.pause();
      return () => {
        for (const [child] of held) child.stdout?.resume();
      };
    },
    async close() {
      for (const channel of open) channel.end();
    },
  };
}
