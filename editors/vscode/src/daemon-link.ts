// The way to the daemon of this machine: where its socket is, the key that was traded for a code, and the feed, followed as long
// as the window is open. A daemon that ends, restarts, is missing or of another version is a value here, never an error box.

import { execFile } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { dirname } from 'node:path';
import { type ApiClient, createClient } from '../../../src/api/client.ts';
import type { FeedEvent } from '../../../src/api/client-types.ts';
import { AgtmuxError } from '../../../src/model/errors.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { placesOf, socketRecordOf } from '../../../src/platform/environment.ts';
import type { Link } from '../../../src/view/editor.ts';
import { emptyFeed, type FeedState, feedAfter } from '../../../src/view/feed.ts';

/** Several changes a second are one picture. */
const drawMs = 250;
const againMs = 1_000;

export interface KeyStore {
  get(): Promise<string | undefined>;
  put(key: string): Promise<void>;
  drop(): Promise<void>;
}

export class DaemonLink {
  readonly client: ApiClient;
  readonly #keys: KeyStore;
  readonly #program: () => string;
  readonly #onChange: () => void;
  #key: string | null = null;
  #feed: FeedState = emptyFeed;
  #waiting: FeedEvent[] = [];
  #link: Link = { is: 'looking' };
  #timer: NodeJS.Timeout | null = null;
  #stop = new AbortController();

  constructor(keys: KeyStore, program: () => string, onChange: () => void) {
    this.#keys = keys;
    this.#program = program;
    this.#onChange = onChange;
    this.client = createClient({
      socketPath: socketPath,
      clock: createRealClock(),
      caller: { pid: process.pid },
      editorKey: () => this.#key,
    });
  }

  get feed(): FeedState {
    return this.#feed;
  }

  get link(): Link {
    return this.#link;
  }

  get isPaired(): boolean {
    return this.#key !== null;
  }

  async start(): Promise<void> {
    this.#key = (await this.#keys.get()) ?? null;
    void this.#follow();
  }

  end(): void {
    this.#stop.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Trades the code; the key goes where this editor keeps secrets, and nowhere else. */
  async pair(code: string, editor: string): Promise<void> {
    const name = `${editor} on ${hostname()}`.replace(/[^\w.@:()+ -]/g, '-').slice(0, 60);
    const paired = await this.client.post('/v1/editors', { code, name });
    await this.#keys.put(paired.key);
    this.#key = paired.key;
    this.#onChange();
  }

  /** It was revoked, or the daemon never gave it out. */
  async forget(): Promise<void> {
    this.#key = null;
    await this.#keys.drop();
    this.#onChange();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        for await (const event of this.client.events({ signal })) this.#take(event);
      } catch (problem) {
        await this.#failed(problem);
      }
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }

  #take(event: FeedEvent): void {
    if (event.type === 'lost') this.#set({ is: 'lost', words: event.error.message });
    else if (event.type === 'connected') this.#set({ is: 'connected' });
    else {
      this.#waiting.push(event);
      this.#timer ??= setTimeout(() => this.#draw(), drawMs);
    }
  }

  #draw(): void {
    this.#timer = null;
    this.#feed = feedAfter(this.#feed, this.#waiting.splice(0));
    this.#onChange();
  }

  async #failed(problem: unknown): Promise<void> {
    if (problem instanceof AgtmuxError && problem.code === 'E_VERSION') {
      this.#set({ is: 'other', words: `${problem.message}; ${problem.next}` });
      return;
    }
    this.#feed = emptyFeed;
    this.#set({ is: 'down', hasProgram: await hasProgram(this.#program()) });
  }

  #set(link: Link): void {
    if (JSON.stringify(link) === JSON.stringify(this.#link)) return;
    this.#link = link;
    this.#onChange();
  }
}

const hasProgram = (program: string): Promise<boolean> =>
  new Promise((resolve) =>
    execFile(program, ['--version'], { timeout: 10_000 }, (problem) => resolve(problem === null)),
  );

/** Where the daemon said it listens; else where one of this environment would. */
function socketPath(): string {
  const uid = process.getuid?.() ?? 0;
  const places = placesOf({ env: process.env, platform: process.platform, uid, home: homedir() });
  if (!places.ok) throw new AgtmuxError(places.failure.code, places.failure.message, { next: places.failure.next });
  try {
    const record = socketRecordOf(places.value.stateDir);
    const path = readFileSync(record, 'utf8').trimEnd();
    if (lstatSync(record).uid === uid && path.startsWith('/') && lstatSync(path).isSocket()) return path;
  } catch {
    // Nobody wrote one down.
  }
  return places.value.socketPath;
}

/** The folder of that socket, which is closed to other users. */
export const socketFolder = (): string => dirname(socketPath());
