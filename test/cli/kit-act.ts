// The command line against a small daemon that only remembers what it was asked: what a person types on one side, what
// arrives on the other.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FakeDaemon, startServer, type TestServer } from '../system/api/kit.ts';
import type { FakeActing } from '../system/api/kit-act.ts';
import type { FakeShells } from '../system/api/kit-shells.ts';
import { createWorld, type Ran, root, type World } from './kit.ts';

export interface RunOptions {
  /** What stands on standard input; nothing by default. */
  readonly input?: string | Buffer;
  readonly env?: NodeJS.ProcessEnv;
}

export interface Stage {
  readonly world: World;
  readonly daemon: FakeDaemon;
  readonly acting: FakeActing;
  readonly shells: FakeShells;
  readonly server: TestServer;
  run(args: readonly string[], options?: RunOptions): Promise<Ran & { readonly pid: number }>;
  /** What a shell in a pane types to run it. */
  line(...args: string[]): string;
  end(): Promise<void>;
}

export async function createStage(): Promise<Stage> {
  const world = createWorld();
  mkdirSync(dirname(world.socketPath), { recursive: true, mode: 0o700 });
  const daemon = new FakeDaemon();
  // Of the same build as the command line, which would otherwise say that it is not.
  daemon.version = execFileSync(process.execPath, [join(root, 'bin/agtmux'), '--version'], { encoding: 'utf8' }).trim();
  const server = await startServer({ daemon, path: world.socketPath });
  return {
    world,
    daemon,
    acting: daemon.acting,
    shells: daemon.shells,
    server,
    run: (args, options = {}) => run(world, args, options),
    line: (...args) => [process.execPath, join(root, 'bin/agtmux'), ...args].map((word) => `'${word}'`).join(' '),
    end: async () => {
      await server.close();
      for (const args of [['kill-server'], ['-L', 'outer', 'kill-server']]) spawnSync('tmux', args, { env: world.env });
      rmSync(world.directory, { recursive: true, force: true });
    },
  };
}

function run(
  world: World,
  args: readonly string[],
  { input = '', env = {} }: RunOptions,
): Promise<Ran & { pid: number }> {
  const child = spawn(process.execPath, [join(root, 'bin/agtmux'), ...args], {
    env: { ...world.env, ...env },
    cwd: world.directory,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  // One that refuses early does not read.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, ...said, pid: child.pid ?? 0 })));
}
