// A private daemon with its web server open, and what a browser does at it without being one: a link is asked for as a person
// would, taken to the web server, and everything after it is asked with the cookie and the key.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import WebSocket from 'ws';
import type { PaneItem } from '../../src/api/panes.ts';
import type { PageSays, PaneSays, WebEnteredReply, WebLinkReply, WebTicketReply } from '../../src/api/web.ts';
import { Live, until } from '../kit/live.ts';
import { LookAlike, type LookAlikeKind } from '../kit/look-alike.ts';
import { type Act, act } from '../kit/scenes.ts';

const program = fileURLToPath(new URL('../../bin/agtmux', import.meta.url));

interface PageRequest {
  readonly method?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Who types `agtmux web`: a person in a shell of theirs, a program of theirs, or an agent. */
export type Asker = 'person' | 'program';

export class DaemonWorld {
  readonly live: Live;
  #links = 0;

  private constructor(live: Live) {
    this.live = live;
  }

  static async open(
    size: { readonly width: number; readonly height: number } = { width: 100, height: 30 },
    live: Live = new Live(),
  ) {
    live.tmux('new-session', '-d', '-s', 'person', '-x', `${size.width}`, '-y', `${size.height}`);
    // Programs may ask for a page here, so that what such a page may do can be seen.
    live.writePolicy('allow_operator = ["web"]\n');
    await live.startDaemon();
    return new DaemonWorld(live);
  }

  /** In a window of its own, in a session that is named like a project. */
  async agent(kind: LookAlikeKind, session = 'work', what: Act | null = null): Promise<LookAlike> {
    const sessions = this.live.tmux('list-sessions', '-F', '#{session_name}').split('\n');
    if (!sessions.includes(session)) this.live.tmux('new-session', '-d', '-s', session, '-x', '80', '-y', '24');
    const agent = LookAlike.start(this.live, kind, session);
    if (what !== null) await act(agent, what);
    return agent;
  }

  /** Once the daemon knows it. */
  async itemOf({ pane }: Pick<LookAlike, 'pane'>): Promise<PaneItem> {
    let found: PaneItem | undefined;
    await until(async () => {
      const { items } = await this.live.client.get('/v1/panes', {});
      found = items.find(({ identity, ended }) => identity.pane_id === pane && ended === null);
      return found !== undefined;
    });
    return found as PaneItem;
  }

  /** What the command line prints, typed in a shell that waits for a person. */
  async typed(words: string, asker: Asker = 'person'): Promise<string> {
    this.#links += 1;
    const out = join(this.live.dir, `said-${this.#links}`);
    const apart = asker === 'program' ? 'setsid -w ' : '';
    const line = `clear; ${apart}${process.execPath} ${program} ${words} > ${out}.part 2>&1; mv ${out}.part ${out}`;
    this.live.tmux('send-keys', '-t', 'person:', '-l', line);
    this.live.tmux('send-keys', '-t', 'person:', 'Enter');
    await until(() => existsSync(out));
    const said = readFileSync(out, 'utf8');
    rmSync(out);
    return said;
  }

  async link(words = '', asker: Asker = 'person'): Promise<WebLinkReply> {
    return JSON.parse(await this.typed(`web --json ${words}`, asker)) as WebLinkReply;
  }

  async enter(words = '', asker: Asker = 'person'): Promise<Visitor> {
    return Visitor.enter((await this.link(words, asker)).url);
  }

  close(): Promise<void> {
    return this.live.close();
  }
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** What a page of ours does, in a browser that is let in. */
export class Visitor {
  readonly base: string;
  readonly cookie: string;
  readonly entered: WebEnteredReply;

  private constructor(base: string, cookie: string, entered: WebEnteredReply) {
    this.base = base;
    this.cookie = cookie;
    this.entered = entered;
  }

  static async enter(url: string): Promise<Visitor> {
    const { origin, hash } = new URL(url);
    const reply = await fetch(`${origin}/web/enter`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: JSON.stringify({ token: hash.replace('#token=', '') }),
    });
    if (reply.status !== 200) throw new Error(await reply.text());
    const cookie = (reply.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    return new Visitor(origin, cookie, (await reply.json()) as WebEnteredReply);
  }

  get headers(): Readonly<Record<string, string>> {
    return { cookie: this.cookie, 'x-agtmux-key': this.entered.key };
  }

  async ask(path: string, options: PageRequest = {}): Promise<Answered> {
    const reply = await this.open(path, options);
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  }

  open(path: string, { method = 'GET', body, signal, headers = {} }: PageRequest = {}) {
    return fetch(`${this.base}${path}`, {
      method,
      headers: {
        ...this.headers,
        ...(method === 'GET' ? {} : { origin: this.base }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async json<Value>(path: string, options: { method?: string; body?: unknown } = {}): Promise<Value> {
    const { status, text } = await this.ask(path, options);
    if (status >= 300) throw new Error(`${status} ${text}`);
    return JSON.parse(text) as Value;
  }

  async ticket(ref: string): Promise<string> {
    return (await this.json<WebTicketReply>('/web/ticket', { method: 'POST', body: { ref } })).ticket;
  }

  /** `ready` is called before the first word can come. */
  async pane(ref: string, ready: (view: PaneView) => void = () => undefined): Promise<PaneView> {
    return PaneView.open(`${this.base.replace('http', 'ws')}/ws/pane?ticket=${await this.ticket(ref)}`, this, ready);
  }
}

/** The socket of a pane as a page has it; `isSlow` never says that it has drawn anything. */
export class PaneView {
  readonly socket: WebSocket;
  readonly said: PaneSays[] = [];
  isSlow = false;
  isClosed = false;
  onScreen: ((screen: Extract<PaneSays, { type: 'screen' }>) => Promise<void> | void) | null = null;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => void this.#take(JSON.parse(String(data)) as PaneSays));
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  static open(
    url: string,
    { base, cookie }: Pick<Visitor, 'base' | 'cookie'>,
    ready: (view: PaneView) => void,
  ): Promise<PaneView> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, { headers: { origin: base, cookie } });
      const view = new PaneView(socket);
      ready(view);
      socket.once('open', () => resolve(view));
      socket.once('error', reject);
    });
  }

  async #take(said: PaneSays): Promise<void> {
    this.said.push(said);
    if (said.type !== 'screen') return;
    await this.onScreen?.(said);
    if (!this.isSlow) this.say({ type: 'ack', seq: said.seq });
  }

  say(said: PageSays): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(said));
  }

  last<Type extends PaneSays['type']>(type: Type): Extract<PaneSays, { type: Type }> | undefined {
    return this.said.findLast((one) => one.type === type) as Extract<PaneSays, { type: Type }> | undefined;
  }

  close(): void {
    this.socket.terminate();
  }
}
