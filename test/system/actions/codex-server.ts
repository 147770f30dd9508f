// Codex's shared server as it was recorded: a real web socket behind a unix socket, with one thread, its turns and its
// approval requests. It has a keyboard of its own, at which a person may answer too.

import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';

type Message = Readonly<Record<string, unknown>>;

interface Client {
  readonly socket: Socket;
  readonly joined: Set<string>;
}

export interface Asked {
  readonly id: number;
  readonly item: string;
  readonly method: string;
  readonly params: Message;
}

const flags = { settled: null, running: [], waiting: ['waitingOnApproval'] } as const;

function frame(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(body.length < 126 ? 2 : 4);
  head[0] = 0x81;
  head[1] = Math.min(body.length, 126);
  if (head.length === 4) head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}

/** Whole masked frames at the begin of what came, and the rest. */
function unframed(bytes: Buffer): { readonly texts: readonly string[]; readonly rest: Buffer } {
  const texts: string[] = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const start = at + (short < 126 ? 2 : 4);
    if (start + 4 > bytes.length) break;
    const length = short < 126 ? short : bytes.readUInt16BE(at + 2);
    if (start + 4 + length > bytes.length) break;
    const mask = bytes.subarray(start, start + 4);
    const body = bytes.subarray(start + 4, start + 4 + length).map((byte, index) => byte ^ (mask[index & 3] ?? 0));
    if (((bytes[at] ?? 0) & 0x0f) === 1) texts.push(Buffer.from(body).toString());
    at = start + 4 + length;
  }
  return { texts, rest: bytes.subarray(at) };
}

export class CodexServer {
  readonly thread = '01a1de36-b671-7cc0-9bb0-6df43546e29c';
  /** What clients asked for or answered, `method` or `answer`. */
  readonly heard: { readonly method: string; readonly params: Message }[] = [];
  phase: keyof typeof flags = 'settled';
  /** Empty until it was prompted for the first time. */
  preview = 'say hello please';
  turn: string | null = null;
  /** It takes requests and says nothing. */
  isSilent = false;
  /** How a no is told: by the call before or after the status, or by the turn alone. All of it was measured. */
  tellsNo: 'before' | 'after' | 'by turn' = 'before';
  /** A person decides this in the moment in which a client's answer is on its way. */
  keyboardWins: string | null = null;
  #open: Asked[] = [];
  #turns = 0;
  #requests = 0;
  readonly #clients = new Set<Client>();
  #server: Server | null = null;

  async listen(path: string): Promise<void> {
    const server = createServer((_request, response) => response.writeHead(404).end());
    this.#server = server;
    server.on('upgrade', (request, socket: Socket) => {
      const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      this.#serve({ socket, joined: new Set() });
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
  }

  close(): void {
    this.cut();
    this.#server?.close();
  }

  /** All connections end; new ones are taken. */
  cut(): void {
    for (const { socket } of this.#clients) socket.destroy();
    this.#clients.clear();
  }

  get joined(): number {
    return [...this.#clients].filter(({ joined }) => joined.has(this.thread)).length;
  }

  /** A person submits a prompt. */
  begins(): void {
    this.#turns += 1;
    this.turn = `turn-${this.#turns}`;
    this.#status('running');
  }

  ends(): void {
    this.turn = null;
    this.#status('settled');
  }

  /** The model wants to run a command; other clients and late ones are asked the same. */
  asks(command: string, more: Message = {}): Asked {
    return this.#ask('item/commandExecution/requestApproval', {
      kind: 'command',
      reason: 'Do you want to allow writing outside the workspace?',
      command: `/bin/bash -lc '${command}'`,
      availableDecisions: ['accept', { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['touch'] } }, 'cancel'],
      ...more,
    });
  }

  asksEdit(): Asked {
    return this.#ask('item/fileChange/requestApproval', { reason: null, grantRoot: null });
  }

  startsThread(id: string): void {
    const thread = { id, ephemeral: false, parentThreadId: null, status: { type: 'idle' } };
    this.#tell([...this.#clients], { method: 'thread/started', params: { thread } });
  }

  /** A person answers at the keyboard. */
  types(decision: string): void {
    const [asked] = this.#open;
    if (asked !== undefined) this.#resolve(asked, decision);
  }

  #ask(method: string, params: Message): Asked {
    const id = this.#requests++;
    const item = `call_${id}`;
    const asked: Asked = {
      id,
      item,
      method,
      params: { ...params, threadId: this.thread, turnId: this.turn, itemId: item },
    };
    this.#open.push(asked);
    this.#status('waiting');
    this.#tell(this.#members(), { method, id, params: asked.params });
    return asked;
  }

  #resolve(asked: Asked, decision: string): void {
    this.#open = this.#open.filter((one) => one !== asked);
    const { thread: threadId } = this;
    this.#tell(this.#members(), { method: 'serverRequest/resolved', params: { threadId, requestId: asked.id } });
    const isRun = decision === 'accept';
    const item = { type: 'commandExecution', id: asked.item, status: isRun ? 'completed' : 'declined' };
    const completed = { method: 'item/completed', params: { threadId, item } };
    if (!isRun && this.tellsNo === 'before') this.#tell(this.#members(), completed);
    if (this.#open.length === 0) this.#status('running');
    if (!isRun && this.tellsNo === 'after') this.#tell(this.#members(), completed);
    if (isRun) return;
    const turn = { id: this.turn, status: 'interrupted' };
    this.ends();
    this.#tell(this.#members(), { method: 'turn/completed', params: { threadId, turn } });
  }

  #members(): readonly Client[] {
    return [...this.#clients].filter(({ joined }) => joined.has(this.thread));
  }

  #statusNow(): Message {
    const active = flags[this.phase];
    return active === null ? { type: 'idle' } : { type: 'active', activeFlags: active };
  }

  #status(phase: keyof typeof flags): void {
    this.phase = phase;
    const params = { threadId: this.thread, status: this.#statusNow() };
    this.#tell([...this.#clients], { method: 'thread/status/changed', params });
  }

  #tell(clients: readonly Client[], message: Message): void {
    for (const { socket } of clients) socket.write(frame(JSON.stringify(message)));
  }

  #serve(client: Client): void {
    this.#clients.add(client);
    let bytes = Buffer.alloc(0);
    client.socket.on('error', () => undefined);
    client.socket.on('close', () => this.#clients.delete(client));
    client.socket.on('data', (chunk: Buffer) => {
      const { texts, rest } = unframed(Buffer.concat([bytes, chunk]));
      bytes = Buffer.from(rest);
      for (const text of texts) this.#take(client, JSON.parse(text) as Message);
    });
  }

  #take(client: Client, message: Message): void {
    const params = (message.params ?? message.result ?? {}) as Message;
    const method = typeof message.method === 'string' ? message.method : 'answer';
    this.heard.push({ method, params });
    if (method === 'answer') this.#answered(message.id, params);
    else if (message.id !== undefined && !this.isSilent) this.#reply(client, message.id, method, params);
  }

  /** One that comes too late has no effect and no answer. */
  #answered(id: unknown, { decision }: Message): void {
    const asked = this.#open.find((one) => one.id === id);
    if (asked !== undefined && !this.isSilent) this.#resolve(asked, this.keyboardWins ?? String(decision));
  }

  #reply(client: Client, id: unknown, method: string, params: Message): void {
    const result = this.#resultOf(client, method, params);
    this.#tell(
      [client],
      typeof result === 'string' ? { error: { code: -32600, message: result }, id } : { id, result },
    );
    if (method !== 'thread/resume') return;
    client.joined.add(this.thread);
    for (const asked of this.#open) this.#tell([client], { method: asked.method, id: asked.id, params: asked.params });
  }

  #resultOf(client: Client, method: string, params: Message): Message | string {
    const { preview } = this;
    const thread = { id: this.thread, preview, ephemeral: false, parentThreadId: null, status: this.#statusNow() };
    switch (method) {
      case 'thread/loaded/list':
        return { data: [this.thread], nextCursor: null };
      case 'thread/list':
        return { data: [thread] };
      case 'thread/read':
      case 'thread/resume':
        return { thread };
      case 'thread/turns/list':
        return {
          data: [{ id: this.turn ?? `turn-${this.#turns}`, status: this.turn === null ? 'completed' : 'inProgress' }],
        };
      case 'turn/interrupt':
        if (this.turn === null || params.turnId !== this.turn) return 'no active turn to interrupt';
        this.ends();
        return {};
      case 'turn/start':
        this.begins();
        return { turn: { id: this.turn } };
      case 'turn/steer':
        return this.turn === params.expectedTurnId ? { turnId: this.turn } : 'no active turn to steer';
      case 'thread/unsubscribe':
        client.joined.delete(this.thread);
        return { status: 'unsubscribed' };
      default:
        return {};
    }
  }
}
