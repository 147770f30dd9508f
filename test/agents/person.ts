// Whoever acts on an agent in a test: a person, who types a command of agtmux at a shell in a window of their own, or a
// program, which runs the same command without a terminal.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReceiptReply } from '../../src/api/actions.ts';
import type { Stage } from './stage.ts';

const program = fileURLToPath(new URL('../../bin/agtmux', import.meta.url));

export interface Said {
  /** Null when the command printed none. */
  readonly receipt: ReceiptReply | null;
  /** Everything it printed. */
  readonly text: string;
  /** From Enter to the end of the command. */
  readonly tookMs: number;
}

/** The receipt is the line of JSON; a refusal is told a second time in words. */
function saidOf(text: string, tookMs: number): Said {
  const line = text.split('\n').find((one) => one.startsWith('{'));
  return { receipt: line === undefined ? null : (JSON.parse(line) as ReceiptReply), text: text.trim(), tookMs };
}

export class Person {
  readonly #stage: Stage;
  readonly #pane: string;
  readonly #dir: string;
  #commands = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#dir = join(stage.live.dir, 'person');
    mkdirSync(this.#dir);
    // With a command in it, the window would not count as a person's.
    this.#pane = stage.live.tmux('new-window', '-d', '-c', this.#dir, '-P', '-F', '#{pane_id}');
  }

  /** The words of a message in a file, as it is given to --file. */
  note(text: string): string {
    const path = join(this.#dir, `note-${this.#commands}.txt`);
    writeFileSync(path, text);
    return path;
  }

  /** Words without quotes in them. */
  async types(...words: readonly string[]): Promise<Said> {
    this.#commands += 1;
    const path = join(this.#dir, String(this.#commands));
    const command = [process.execPath, program, ...words, '--json'].map((word) => `'${word}'`).join(' ');
    const { live } = this.#stage;
    live.tmux('send-keys', '-t', this.#pane, '-l', `clear; ${command} >${path}.said 2>&1; echo $? >${path}.status`);
    const began = Date.now();
    live.tmux('send-keys', '-t', this.#pane, 'Enter');
    await this.#stage.holds(
      () => existsSync(`${path}.status`) && readFileSync(`${path}.status`, 'utf8').endsWith('\n'),
      `agtmux ${words.join(' ')}`,
    );
    return saidOf(readFileSync(`${path}.said`, 'utf8'), Date.now() - began);
  }

  /** The same as a program does it. */
  runs(...words: readonly string[]): Promise<Said> {
    const began = Date.now();
    const args = [program, ...words, '--json'];
    return new Promise((resolve) => {
      execFile(process.execPath, args, { env: this.#stage.live.env, encoding: 'utf8' }, (_problem, stdout, stderr) =>
        resolve(saidOf(`${stdout}\n${stderr}`, Date.now() - began)),
      );
    });
  }
}
