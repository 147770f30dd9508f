// What a server prints into a file of its own, read as it grows: servers that outlive us must not write into our pipes.

import { limits } from '../model/limits.ts';
import type { Cancel } from '../platform/clock.ts';
import { Lines } from './runner-lines.ts';
import type { RunnerPorts } from './runner-parts.ts';

const readBytesMax = 65_536;

export class Printed {
  readonly #ports: Pick<RunnerPorts, 'clock' | 'programs'>;
  readonly #path: string;
  readonly #lines: Lines;
  #from = 0;
  #isOver = false;
  #cancel: Cancel | null = null;

  constructor(ports: Pick<RunnerPorts, 'clock' | 'programs'>, path: string, onLine: (line: string) => void) {
    this.#ports = ports;
    this.#path = path;
    this.#lines = new Lines(limits.sessionLineBytesMax, onLine, () => undefined);
    this.#later(limits.sessionReadMs);
  }

  /** What it printed last, then nothing more. */
  async end(): Promise<void> {
    this.stop();
    while (await this.#read());
    this.#lines.end();
  }

  stop(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  #later(delayMs: number): void {
    if (!this.#isOver) this.#cancel = this.#ports.clock.after(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    let hasMore = true;
    for (let bytes = 0; hasMore && bytes < limits.sessionReadBytesMax; bytes += readBytesMax) {
      hasMore = await this.#read();
    }
    // Whoever prints faster than that loses some of it: the disk must not fill.
    if (hasMore || this.#from > limits.sessionReadBytesMax) {
      await this.#ports.programs.cut(this.#path);
      this.#from = 0;
    }
    this.#later(limits.sessionReadMs);
  }

  async #read(): Promise<boolean> {
    const bytes = await this.#ports.programs.printed(this.#path, this.#from, readBytesMax);
    this.#from += bytes.length;
    this.#lines.push(bytes);
    return bytes.length === readBytesMax;
  }
}
