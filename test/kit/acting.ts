// A private world in which agents are acted upon: the command line as a program uses it, the routes of terminals, and the
// feed, followed with what must hold in every version of it.

import { execFileSync, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ActBody, AuditItem, ReceiptReply } from '../../src/api/actions.ts';
import type { FeedValue } from '../../src/api/feed.ts';
import type { PaneItem } from '../../src/api/panes.ts';
import { Live, until } from './live.ts';
import type { LookAlike } from './look-alike.ts';

const program = fileURLToPath(new URL('../../bin/agtmux', import.meta.url));

export interface Said {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the feed told of who is CONNECTED, as pane ids, one entry for each change. */
export interface FollowedRoute {
  readonly connected: readonly string[];
  /** Versions in which not exactly one of those that run was CONNECTED. */
  readonly broken: readonly string[];
  /** Resolves when everything before this call has been heard of. */
  end(): Promise<void>;
}

export class ActingWorld extends Live {
  constructor(variables: NodeJS.ProcessEnv = {}) {
    super(variables);
    this.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
    this.trustPrograms();
  }

  /** A terminal with a shell and nothing else. */
  terminal(): string {
    return this.tmux('new-window', '-t', 'work:', '-c', this.dir, '-P', '-F', '#{pane_id}', 'exec sh -i');
  }

  /** `agtmux` as users run it, with this on its standard input. */
  agtmux(args: readonly string[], input = '', cwd = this.dir): Promise<Said> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [program, ...args], { env: this.env, cwd });
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (data: Buffer) => {
        stdout += data.toString();
      });
      child.stderr.on('data', (data: Buffer) => {
        stderr += data.toString();
      });
      child.once('error', reject);
      child.once('close', (status) => resolve({ status, stdout, stderr }));
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
    });
  }

  /** An action over the API, by this process. */
  ask(body: ActBody): Promise<ReceiptReply> {
    return this.client.post('/v1/act', { pid: process.pid, hops: 0, ...body } as never) as Promise<ReceiptReply>;
  }

  async items(): Promise<readonly PaneItem[]> {
    const { items } = await this.client.get('/v1/panes', { all_panes: true });
    return items;
  }

  /** The agent that lives in the pane now. */
  async itemIn(pane: string): Promise<PaneItem | undefined> {
    return (await this.items()).find(
      ({ identity, ended, agent }) => identity.pane_id === pane && ended === null && agent !== null,
    );
  }

  async runtimeIn(pane: string): Promise<string> {
    await until(async () => (await this.itemIn(pane)) !== undefined);
    return (await this.itemIn(pane))?.runtime_id ?? '';
  }

  becomes({ pane }: Pick<LookAlike, 'pane'>, state: RegExp): Promise<void> {
    return until(async () => state.test((await this.itemIn(pane))?.state ?? ''));
  }

  /** CONNECTED, DISCONNECTED or NONE for each of these terminals. */
  async routes(...panes: readonly string[]): Promise<readonly string[]> {
    const living = (await this.items()).filter(({ ended }) => ended === null);
    return panes.map((pane) => {
      const routes = living.filter(({ identity }) => identity.pane_id === pane).map(({ route }) => route ?? 'NONE');
      return routes.find((route) => route !== 'NONE') ?? 'NONE';
    });
  }

  /** Until the terminals stand like this: `CDN` for CONNECTED, DISCONNECTED, NONE. */
  async routed(letters: string, ...panes: readonly string[]): Promise<void> {
    let seen = '';
    try {
      await until(async () => {
        seen = (await this.routes(...panes)).map((route) => route.charAt(0)).join('');
        return seen === letters;
      });
    } catch (problem) {
      throw new Error(`the routes are ${seen}, not ${letters}`, { cause: problem });
    }
  }

  /** The pid of the look-alike in a terminal. */
  processIn(pane: string): number {
    const tty = this.tmux('display-message', '-p', '-t', pane, '#{pane_tty}');
    const lines = execFileSync('ps', ['-t', tty.replace('/dev/', ''), '-o', 'pid=,args='], { encoding: 'utf8' });
    const own = lines.split('\n').find((line) => line.includes('/node_modules/')) ?? '';
    return Number.parseInt(own, 10);
  }

  async audit(): Promise<readonly AuditItem[]> {
    const { items } = await this.client.get('/v1/audit', { count: 100 });
    return items as readonly AuditItem[];
  }

  /** The feed from now on; resolves once the first picture is there. */
  async follow(): Promise<FollowedRoute> {
    const stop = new AbortController();
    const known = new Map<string, PaneItem>();
    const connected: string[] = [];
    const broken: string[] = [];
    let isThere = false;
    const isPane = (value: FeedValue | null): value is PaneItem => value !== null && 'identity' in value;
    const note = (key: string, value: FeedValue | null): void => {
      if (isPane(value)) known.set(key, value);
      else known.delete(key);
    };
    const judge = (cursor: string): void => {
      const running = [...known.values()].filter(({ route, ended }) => ended === null && route !== null);
      const active = running.filter(({ route }) => route === 'CONNECTED').map(({ identity }) => identity.pane_id);
      const isWhole = active.length === (running.some(({ route }) => route !== 'NONE') ? 1 : 0);
      if (!isWhole) broken.push(`${cursor}: ${running.map(({ route }) => route).join(' ')}`);
      const now = active.join(' ');
      if (connected.at(-1) !== now) connected.push(now);
    };
    const reading = (async () => {
      for await (const event of this.client.events({ scope: 'panes', signal: stop.signal })) {
        if (event.type === 'snapshot') {
          known.clear();
          for (const { key, value } of event.data.items) note(key, value);
          isThere = true;
        } else if (event.type === 'changes') for (const { key, value } of event.data.changes) note(key, value);
        else continue;
        judge(event.cursor);
      }
    })();
    await until(() => isThere);
    const end = async (): Promise<void> => {
      stop.abort();
      await reading;
    };
    return { connected, broken, end };
  }
}
