// A place of its own for one agent's sessions: a private home, projects and a mock model on loopback. What is left over at
// the end is found by the private home and ended by pid.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockModel } from '../mock/server.ts';
import { agentsDir } from '../stage.ts';

export interface PlaceSetup {
  /** Files that the agent finds in its home. */
  seed(place: Place): void;
  /** Variables beyond the bare minimum (PATH, HOME, LANG, TERM, SHELL). */
  env(place: Place): Readonly<Record<string, string>>;
  /** Starts what has to be there before the first session: a server of the user's. It ends with the place. */
  serve?(place: Place): Promise<void>;
}

export class Place {
  readonly mock = new MockModel();
  readonly dir = mkdtempSync(join(tmpdir(), 'agtmux-led-'));
  readonly home = join(this.dir, 'home');
  port = 0;

  async open(setup: PlaceSetup): Promise<void> {
    mkdirSync(this.home);
    this.port = await this.mock.listen();
    setup.seed(this);
    await setup.serve?.(this);
  }

  /** A project of this name, as a repository. */
  project(name: string): string {
    const path = join(this.dir, name);
    if (!existsSync(path)) {
      mkdirSync(path);
      execFileSync('git', ['init', '--quiet', path]);
    }
    return path;
  }

  env(setup: PlaceSetup): Readonly<Record<string, string>> {
    return {
      PATH: `${join(agentsDir, 'bin')}:${process.env.PATH}`,
      HOME: this.home,
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      SHELL: '/bin/sh',
      ...setup.env(this),
    };
  }

  write(project: string, name: string): void {
    writeFileSync(join(this.project(project), name), '');
  }

  has(project: string, name: string): boolean {
    return existsSync(join(this.project(project), name));
  }

  async close(): Promise<void> {
    await this.mock.close();
    for (const pid of this.#leftovers()) endProcess(pid);
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  /** Processes that carry the private home in their environment: nobody else's can. */
  #leftovers(): readonly number[] {
    if (!existsSync('/proc/self/environ')) return [];
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(`HOME=${this.home}`))
      .map(Number);
  }
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was gone already.
  }
}
