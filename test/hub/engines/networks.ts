// Networks of their own for suites, made of what Linux has: each with one way to this machine that can be cut. Needs root. And the TLS
// that stands in front of a hub, with links that are as slow as a suite wants them.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import {
  type AddressInfo,
  connect,
  createServer as createPlainServer,
  type Server as PlainServer,
  type Socket,
} from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' });

export class Network {
  readonly #name: string;
  readonly #here: string;
  /** Of this machine, as that network sees it. */
  readonly address: string;

  constructor(at: number) {
    this.#name = `agt${process.pid}n${at}`;
    this.#here = `ag${process.pid}h${at}`.slice(-15);
    const there = `ag${process.pid}t${at}`.slice(-15);
    this.address = `10.213.${at}.1`;
    run('ip', 'netns', 'add', this.#name);
    run('ip', 'link', 'add', this.#here, 'type', 'veth', 'peer', 'name', there, 'netns', this.#name);
    run('ip', 'address', 'add', `${this.address}/24`, 'dev', this.#here);
    run('ip', 'link', 'set', this.#here, 'up');
    for (const words of [`address add 10.213.${at}.2/24 dev ${there}`, `link set ${there} up`, 'link set lo up'])
      run('ip', '-n', this.#name, ...words.split(' '));
  }

  /** In front of a program and its arguments: it runs there. */
  get through(): readonly string[] {
    return ['ip', 'netns', 'exec', this.#name];
  }

  /** Without a word to either side, as a cable that is pulled. */
  cut(): void {
    run('ip', 'link', 'set', this.#here, 'down');
  }

  mend(): void {
    run('ip', 'link', 'set', this.#here, 'up');
  }

  end(): void {
    run('ip', 'netns', 'del', this.#name);
  }
}

/** In front of the hub on every address of this machine; each piece comes after so long a time, both ways. */
export class SlowTls {
  readonly #folder = mkdtempSync(join(tmpdir(), 'agt-tls-'));
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #plain: PlainServer;
  readonly #delayMs: number;

  constructor(addresses: readonly string[], to: () => number, delayMs: number) {
    this.#delayMs = delayMs;
    const names = addresses.map((address) => `IP:${address}`).join(',');
    const [key, cert] = [join(this.#folder, 'key.pem'), this.certificate];
    run(
      ...(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const),
      ...['-days', '2', '-subj', '/CN=hub', '-addext', `subjectAltName=${names}`, '-keyout', key, '-out', cert],
    );
    this.#server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (inner) =>
      this.#join(inner, to()),
    );
    this.#plain = createPlainServer((inner) => this.#join(inner, to()));
    this.#server.on('tlsClientError', () => undefined);
  }

  /** Whoever trusts it trusts the hub. */
  get certificate(): string {
    return join(this.#folder, 'cert.pem');
  }

  /** Its ports: by TLS for everyone, and without for this machine. */
  async listen(): Promise<{ readonly tls: number; readonly plain: number }> {
    await new Promise<void>((resolve) => this.#server.listen(0, '0.0.0.0', resolve));
    await new Promise<void>((resolve) => this.#plain.listen(0, '127.0.0.1', resolve));
    const portOf = (server: PlainServer): number => (server.address() as AddressInfo).port;
    return { tls: portOf(this.#server), plain: portOf(this.#plain) };
  }

  end(): void {
    this.#server.close();
    this.#plain.close();
    for (const socket of this.#sockets) socket.destroy();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #join(inner: Socket, port: number): void {
    const outer = connect(port, '127.0.0.1');
    for (const socket of [inner, outer]) this.#sockets.add(socket);
    this.#carry(inner, outer);
    this.#carry(outer, inner);
  }

  #carry(from: Socket, to: Socket): void {
    from.on('data', (data) => setTimeout(() => to.write(data), this.#delayMs));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      setTimeout(() => to.destroy(), this.#delayMs);
    });
  }
}
