// The web server on the small daemon of the contract tests, so that everything that is asked of it can be counted; and a way
// to send any bytes to it.

import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebRequest } from '../../../src/model/web.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createRealFiles } from '../../../src/platform/files.ts';
import { createRealRandom } from '../../../src/platform/random.ts';
import { WebServer } from '../../../src/server/web/web-server.ts';
import { TestDocuments } from '../../kit/documents.ts';
import { Visitor } from '../../web/kit-server.ts';
import { FakeDaemon } from '../api/kit.ts';

export const person = { pid: 1, hops: 0 };
const plainWish: WebRequest = { port: null, listen: null, origin: null, read_only: false };

export class SmallWebServer {
  readonly daemon = new FakeDaemon();
  documents = new TestDocuments();
  readonly folder = mkdtempSync(join(tmpdir(), 'agtmux-web-'));
  readonly warnings: string[] = [];
  readonly troubles: Error[] = [];
  server: WebServer;

  private constructor(server: WebServer | null) {
    this.server = server as WebServer;
  }

  static async open(): Promise<SmallWebServer> {
    const small = new SmallWebServer(null);
    await small.start();
    return small;
  }

  /** As the daemon does it when it starts. */
  async start(): Promise<void> {
    this.server = await WebServer.start({
      service: this.daemon,
      clock: createRealClock(),
      random: createRealRandom(),
      files: createRealFiles(),
      documents: this.documents,
      environment: { PATH: '/usr/bin' },
      pagesFolder: join(this.folder, 'pages'),
      onTrouble: (error) => this.troubles.push(error),
      warn: (words) => this.warnings.push(words),
    });
  }

  async url(wish: Partial<WebRequest> = {}): Promise<string> {
    const link = await this.server.open({ ...plainWish, ...wish }, person);
    if (!link.ok) throw new Error(link.failure.message);
    return link.value.url;
  }

  async enter(wish: Partial<WebRequest> = {}): Promise<Visitor> {
    return Visitor.enter(await this.url(wish));
  }

  /** Everything that anybody could have done through it. */
  deeds(): unknown {
    const { acting, taken, claims, stops, sessions, shells } = this.daemon;
    return {
      asked: acting.asked.length,
      messages: acting.messages.length,
      taken: taken.length,
      claims: claims.length,
      stops,
      targets: this.daemon.targets().length,
      sessions: sessions.list().length,
      shells: shells.list().length,
      signedIn: this.server.status().sessions,
    };
  }

  async close(): Promise<void> {
    await this.server.close();
    this.daemon.feed.close();
    rmSync(this.folder, { recursive: true });
  }
}

export interface RawReply {
  /** Zero when the connection ended without an answer. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Exactly these bytes; what comes back until the other side is done, or has said that it goes on for ever. */
export function send(port: number, bytes: string): Promise<RawReply> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    let text = '';
    const done = (): void => {
      socket.destroy();
      const end = text.indexOf('\r\n\r\n');
      const head = end < 0 ? text : text.slice(0, end);
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
      resolve({ status, head: head.toLowerCase(), body: end < 0 ? '' : text.slice(end + 4) });
    };
    socket.on('data', (part) => {
      text += part.toString('latin1');
      const isStream = /^HTTP\/1\.1 101|content-type: text\/event-stream/i.test(text);
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      const body = text.indexOf('\r\n\r\n') + 4;
      if (body > 3 && (isStream || (length !== undefined && text.length >= body + Number(length)))) done();
    });
    socket.on('error', () => undefined);
    socket.on('close', done);
    socket.write(bytes);
  });
}
