// A private nats-server for a suite: a port and a folder of its own, with JetStream. Ends with the suite.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../kit/tmux-server.ts';

// Debian keeps it where only root looks for programs.
const path = `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin`;

export class TestNats {
  readonly #folder = mkdtempSync(join(tmpdir(), 'agt-nats-'));
  #server: ChildProcess | null = null;
  #port = -1;

  get url(): string {
    return `nats://hub:secret@127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const log = join(this.#folder, 'log');
    rmSync(log, { force: true });
    const place = ['-a', '127.0.0.1', '-p', String(this.#port), '-js', '-sd', join(this.#folder, 'data')];
    const server = spawn('nats-server', [...place, '--user', 'hub', '--pass', 'secret', '-l', log], {
      env: { PATH: path },
      stdio: 'ignore',
    });
    this.#server = server;
    const said = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '');
    await until('NATS serves', async () => {
      if (server.exitCode !== null) throw new Error(`nats-server: ${said()}`);
      return said().includes('Server is ready');
    });
    // Where it chose one, it comes back there.
    this.#port = Number(/client connections on [\d.]+:(\d+)/.exec(said())?.[1]);
  }

  /** At once, as with a power cut. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null || server.exitCode !== null) return;
    const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
    server.kill('SIGKILL');
    await ended;
  }

  /** As after a lost disk. */
  wipe(): void {
    rmSync(join(this.#folder, 'data'), { recursive: true, force: true });
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
