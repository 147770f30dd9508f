// A file of real bytes that waits to be given up: on a full disk even a delete needs space, and this is it.

import { closeSync, fsyncSync, openSync, renameSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RandomSource } from '../platform/random.ts';

const blockBytes = 1_048_576;

export class Ballast {
  readonly #path: string;
  readonly #bytes: number;
  readonly #random: RandomSource;
  readonly #room: (dir: string) => number;

  constructor(path: string, bytes: number, random: RandomSource, room: (dir: string) => number = freeBytes) {
    this.#path = path;
    this.#bytes = bytes;
    this.#random = random;
    this.#room = room;
  }

  /** How much the file would give back now. */
  held(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }

  get isInPlace(): boolean {
    return this.held() === this.#bytes;
  }

  /** Gives the space up; returns how much it was. */
  free(): number {
    const bytes = this.held();
    rmSync(this.#path, { force: true });
    return bytes;
  }

  /** True when the ballast is in place. It takes only what leaves as much again for the log to grow into. */
  restore(): boolean {
    if (this.isInPlace) return true;
    const part = `${this.#path}.part`;
    rmSync(part, { force: true });
    try {
      if (this.#room(dirname(this.#path)) < this.#bytes * 2) return false;
      this.#write(part);
      renameSync(part, this.#path);
      return true;
    } catch {
      // No room after all, or a disk in trouble: the commit that needs the space will say so.
      rmSync(part, { force: true });
      return false;
    }
  }

  /** Random bytes: a file system that compresses or leaves out zeros would hold nothing back. */
  #write(path: string): void {
    const file = openSync(path, 'wx', 0o600);
    try {
      for (let left = this.#bytes; left > 0; left -= blockBytes) {
        writeSync(file, this.#random.bytes(Math.min(blockBytes, left)));
      }
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}

function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}
