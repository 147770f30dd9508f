// The mock model on loopback: takes requests of every wire, answers as the prompt says, and tells the test what it has
// done. The test holds slow answers and failing requests until it has looked.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { anthropicWire } from './anthropic.ts';
import { chatWire } from './chat.ts';
import { geminiWire } from './gemini.ts';
import { type Reply, replyTo, taskOf } from './replies.ts';
import { responsesWire } from './responses.ts';
import { type Bill, recordOf, sendJson, type Wire, type Writer } from './wire.ts';

const wires: readonly Wire[] = [anthropicWire, chatWire, responsesWire, geminiWire];
const wordMs = 250;
const story = 'Once there was a terminal in which one word came after another , calm and steady ,'.split(' ');

/** What the mock did, for the test's record. */
export interface Served {
  readonly time: number;
  readonly path: string;
  readonly task: string | null;
  readonly reply: Reply['kind'] | 'errand' | 'unknown';
  readonly tools: readonly string[];
  /** What the person said last, as it came, and what a tool gave back after it. */
  readonly prompt: string | null;
  readonly result: string | null;
  /** Everything that people said in the conversation. */
  readonly prompts: readonly string[];
  /** What the answer costs; null where none is given, or not to its end. */
  readonly bill: Bill | null;
}

/** No two answers cost the same, so that none can stand for another. */
const billOf = (number: number): Bill => ({
  fresh: 1_000 + 7 * number,
  cached: number % 3 === 0 ? 0 : 200 + 11 * number,
  output: 10 + 3 * number,
});

export class MockModel {
  readonly served: Served[] = [];
  readonly #server: Server;
  readonly #open = new Set<ServerResponse>();
  /** Counts what the test let go: what began before is over. */
  #releases = 0;
  #bills = 0;
  readonly #begunAt = new Map<string, number>();

  constructor() {
    this.#server = createServer((request, response) => {
      this.#open.add(response);
      response.on('close', () => this.#open.delete(response));
      this.#serve(request, response).catch((problem: unknown) => {
        process.stderr.write(`mock model: ${problem}\n`);
        response.destroy();
      });
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Slow answers come to their end and failing requests begin to work. */
  release(): void {
    this.#releases += 1;
  }

  /** How many requests for this task were answered in this way. */
  count(word: string, reply: Reply['kind']): number {
    return this.served.filter((one) => one.task === word && one.reply === reply).length;
  }

  /** Whether one request carried all of this in what people said. */
  heard(...patterns: readonly RegExp[]): boolean {
    return this.served.some(({ prompts }) => patterns.every((one) => prompts.some((text) => one.test(text))));
  }

  async close(): Promise<void> {
    for (const response of this.#open) response.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const body = recordOf(await bodyOf(request));
    const wire = wires.find((one) => one.serves(path));
    if (request.method !== 'POST' || wire === undefined) {
      this.#note({
        path,
        task: null,
        reply: 'unknown',
        tools: [],
        prompt: null,
        result: null,
        prompts: [],
        bill: null,
      });
      if (path.endsWith('/count_tokens')) sendJson(response, { input_tokens: 100 });
      else if (path.endsWith(':countTokens')) sendJson(response, { totalTokens: 100 });
      else if (path.endsWith('/models')) sendJson(response, { object: 'list', data: [], models: [] });
      else sendJson(response, { error: { message: 'not here' } }, 404);
      return;
    }
    const turn = wire.turn(body);
    const task = taskOf(turn);
    const reply = replyTo(turn, ({ word, argument }) => this.#isHeld(`${word} ${argument} ${turn.prompts.length}`));
    const last = turn.prompts.at(-1);
    this.#bills += 1;
    const bill = billOf(this.#bills);
    this.#note({
      path,
      task: task?.word ?? null,
      reply: turn.errand === null ? reply.kind : 'errand',
      tools: turn.tools.map(({ name }) => name),
      prompt: last?.text ?? null,
      result: last?.result ?? null,
      prompts: turn.prompts.map(({ text }) => text),
      bill: reply.kind === 'text' || reply.kind === 'tool' || reply.kind === 'slow' ? bill : null,
    });
    await this.#answer(reply, response, () => wire.writer(response, body, path, bill), wire);
  }

  #note(served: Omit<Served, 'time'>): void {
    this.served.push({ time: Date.now(), ...served });
  }

  /** Held is what came for the first time after the last release. */
  #isHeld(key: string): boolean {
    const begun = this.#begunAt.get(key) ?? this.#releases;
    this.#begunAt.set(key, begun);
    return begun === this.#releases;
  }

  async #answer(reply: Reply, response: ServerResponse, open: () => Writer, wire: Wire): Promise<void> {
    switch (reply.kind) {
      case 'fail': {
        const headers: Readonly<Record<string, string>> = reply.status === 429 ? { 'retry-after': '2' } : {};
        sendJson(response, wire.failure(reply.status, `mock says no (${reply.status})`), reply.status, headers);
        return;
      }
      case 'hang':
        open().begin();
        return;
      case 'cut':
        await this.#write(response, open(), 'So far so good, and then', null, true);
        return;
      case 'drop': {
        const writer = open();
        writer.begin();
        for (const word of ['It ', 'began ', 'well ']) writer.word(word);
        // What was written has to leave before the line breaks.
        await new Promise((resolve) => setTimeout(resolve, wordMs));
        response.destroy();
        return;
      }
      case 'text':
        await this.#write(response, open(), reply.text, null);
        return;
      case 'tool':
        await this.#write(response, open(), reply.say, reply);
        return;
      case 'slow':
        await this.#tell(response, open());
        return;
    }
  }

  async #write(
    response: ServerResponse,
    writer: Writer,
    text: string,
    call: { name: string; input: unknown; namespace?: string } | null,
    isCut = false,
  ): Promise<void> {
    writer.begin();
    for (const word of text.match(/\S+\s*/g) ?? []) writer.word(word);
    if (call !== null) writer.tool(call.name, call.input, call.namespace);
    if (!response.destroyed) writer.end(isCut);
  }

  async #tell(response: ServerResponse, writer: Writer): Promise<void> {
    const begun = this.#releases;
    writer.begin();
    for (let index = 0; begun === this.#releases && !response.destroyed; index += 1) {
      writer.word(`${story[index % story.length]} `);
      await new Promise((resolve) => setTimeout(resolve, wordMs));
    }
    if (!response.destroyed) writer.end();
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const packed = Buffer.concat(chunks);
  const encoding = request.headers['content-encoding'];
  const bytes = encoding === 'zstd' ? zstdDecompressSync(packed) : encoding === 'gzip' ? gunzipSync(packed) : packed;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}
