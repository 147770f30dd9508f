// The integrated terminals of this window, for agtmux: told with the processes of their shells, and asked about over a socket in
// a folder of this user's alone, by whoever knows the secret that only the daemon is told. Showing one is always done; reading
// one and typing into it only where the person has switched that on.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ApiClient } from '../../../src/api/client.ts';
import { TerminalScreens } from './terminal-screens.ts';

/** A question is one line; a message that is sent may be long. */
const questionCharsMax = 1_048_576;

interface Question {
  readonly secret?: unknown;
  readonly ask?: unknown;
  readonly id?: unknown;
  readonly text?: unknown;
}

export interface TerminalsParts {
  readonly client: ApiClient;
  /** Where sockets of agtmux are: a folder that only this user can enter. */
  readonly folder: () => string;
  /** Whether messages may be typed into terminals, and their screens read for that. */
  readonly mayType: () => boolean;
  readonly warn: (words: string) => void;
}

export class Terminals {
  readonly #parts: TerminalsParts;
  readonly #secret = randomBytes(32);
  readonly #ids = new Map<vscode.Terminal, string>();
  readonly #screens: TerminalScreens;
  readonly #watching: vscode.Disposable[];
  #server: Server | null = null;
  #socket = '';
  /** Several reports may want it before it is there. */
  #listening: Promise<string> | null = null;
  #made = 0;
  /** What the daemon was told last, and whether it has to be told again. */
  #told = '';
  #isOn = false;

  constructor(parts: TerminalsParts) {
    this.#parts = parts;
    this.#screens = new TerminalScreens(parts.mayType);
    this.#watching = [
      this.#screens,
      vscode.window.onDidOpenTerminal(() => void this.report()),
      vscode.window.onDidCloseTerminal(() => void this.report()),
    ];
  }

  /** The daemon is there and this editor is paired: it is told; or no more, and forgets. */
  become(isOn: boolean): void {
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    this.#told = '';
    if (isOn) void this.report();
  }

  async report(): Promise<void> {
    if (!this.#isOn) return;
    const terminals: { id: string; pid: number }[] = [];
    for (const terminal of vscode.window.terminals) {
      const pid = await terminal.processId;
      if (pid !== undefined) terminals.push({ id: this.#idOf(terminal), pid });
    }
    for (const known of this.#ids.keys()) if (!vscode.window.terminals.includes(known)) this.#ids.delete(known);
    const told = JSON.stringify(terminals);
    if (!this.#isOn || told === this.#told) return;
    this.#told = told;
    try {
      const socket = await this.#listen();
      await this.#parts.client.post('/v1/editors/terminals', {
        socket,
        secret: this.#secret.toString('hex'),
        terminals,
      });
    } catch (problem) {
      // Told again when the daemon is back, or another terminal is opened.
      this.#told = '';
      this.#parts.warn(`agtmux was not told of the terminals: ${String(problem)}`);
    }
  }

  end(): void {
    this.#isOn = false;
    this.#server?.close();
    if (this.#socket !== '') rmSync(this.#socket, { force: true });
    for (const one of this.#watching) one.dispose();
  }

  #idOf(terminal: vscode.Terminal): string {
    const known = this.#ids.get(terminal);
    if (known !== undefined) return known;
    this.#made += 1;
    const id = String(this.#made);
    this.#ids.set(terminal, id);
    return id;
  }

  #listen(): Promise<string> {
    this.#listening ??= this.#begin().catch((problem: unknown) => {
      this.#listening = null;
      throw problem;
    });
    return this.#listening;
  }

  async #begin(): Promise<string> {
    const socket = join(this.#parts.folder(), `editor-${process.pid}-${randomBytes(3).toString('hex')}.sock`);
    const server = createServer((connection) => this.#hear(connection));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(socket, resolve);
    });
    // The folder is closed to others already.
    chmodSync(socket, 0o600);
    this.#server = server;
    this.#socket = socket;
    return socket;
  }

  #hear(connection: Socket): void {
    let said = '';
    connection.setEncoding('utf8');
    connection.on('error', () => connection.destroy());
    connection.on('data', (piece: string) => {
      said += piece;
      const end = said.indexOf('\n');
      if (end < 0 && said.length > questionCharsMax) connection.destroy();
      if (end < 0) return;
      const line = said.slice(0, end);
      said = '';
      void this.#answer(line).then((answer) => connection.end(`${JSON.stringify(answer)}\n`));
    });
  }

  async #answer(line: string): Promise<object> {
    const { secret, ask, id, text } = questionIn(line);
    const given = Buffer.from(typeof secret === 'string' ? secret : '', 'hex');
    if (given.length !== this.#secret.length || !timingSafeEqual(given, this.#secret)) return {};
    if (ask === 'list') return { terminals: await this.#list() };
    const [terminal] = [...this.#ids].find(([, own]) => own === id) ?? [];
    if (terminal === undefined || terminal.exitStatus !== undefined) return {};
    if (ask === 'show') {
      terminal.show();
      return { done: true };
    }
    if (!this.#parts.mayType()) return {};
    if (ask === 'capture') return (await this.#screens.read(terminal)) ?? {};
    if (ask !== 'send' || typeof text !== 'string') return {};
    terminal.sendText(text, false);
    return { done: true };
  }

  async #list(): Promise<object[]> {
    const all: object[] = [];
    for (const [terminal, id] of this.#ids) {
      const pid = await terminal.processId;
      if (pid !== undefined && terminal.exitStatus === undefined) all.push({ id, pid, title: terminal.name });
    }
    return all;
  }
}

function questionIn(line: string): Question {
  try {
    const read: unknown = JSON.parse(line);
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}
