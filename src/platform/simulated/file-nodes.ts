// What the simulated disk is made of: nodes whose bytes know which part of them was synced, and a journal of name changes
// that a power cut can undo. Nothing here knows paths, faults or promises.

import type { FileKind } from '../files.ts';
import type { SimulatedRandom } from './random.ts';

export interface NodeRights {
  mode: number;
  uid: number;
  mtimeMs: number;
}

export interface DirectoryNode extends NodeRights {
  readonly kind: 'directory';
  readonly entries: Map<string, Node>;
}

export interface LinkNode extends NodeRights {
  readonly kind: 'link';
  readonly target: string;
}

/** Pipes, sockets, devices: they only exist to be refused. */
export interface OddNode extends NodeRights {
  readonly kind: Extract<FileKind, 'socket' | 'other'>;
}

export type Node = FileNode | DirectoryNode | LinkNode | OddNode;

/** Files only ever grow, so what is safe is a length. */
export class FileNode implements NodeRights {
  readonly kind = 'file';
  mode: number;
  uid: number;
  mtimeMs: number;
  #buffer = new Uint8Array(0);
  #length = 0;
  #syncedLength = 0;

  constructor(rights: NodeRights) {
    this.mode = rights.mode;
    this.uid = rights.uid;
    this.mtimeMs = rights.mtimeMs;
  }

  get length(): number {
    return this.#length;
  }

  bytes(): Uint8Array {
    return this.#buffer.slice(0, this.#length);
  }

  append(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(needed, this.#buffer.length * 2));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = needed;
  }

  sync(): void {
    this.#syncedLength = this.#length;
  }

  /** A power cut: what was not synced is gone, or with luck a part of it is there. Returns the bytes lost. */
  cut(luck: SimulatedRandom | null): number {
    const before = this.#length;
    this.#length = luck === null ? this.#syncedLength : luck.int(this.#syncedLength, before);
    this.#syncedLength = this.#length;
    return before - this.#length;
  }
}

/** A name in a directory, taken or not. */
export interface Name {
  readonly directory: DirectoryNode;
  readonly name: string;
}

/** Name changes in the order they were made, each with the way to undo it. Real journals keep a prefix, so this does. */
export class NameJournal {
  #undos: (() => void)[] = [];

  /** Puts, replaces or (null) takes away a name. */
  set(where: Name, node: Node | null): void {
    this.#record([where]);
    place(where, node);
  }

  /** One change: a power cut leaves the old name or the new one, never both and never none. */
  move(from: Name, to: Name, node: Node): void {
    this.#record([from, to]);
    place(from, null);
    place(to, node);
  }

  sync(): void {
    this.#undos = [];
  }

  cut(luck: SimulatedRandom | null): void {
    const kept = luck === null ? 0 : luck.int(0, this.#undos.length);
    for (const undo of this.#undos.slice(kept).reverse()) undo();
    this.#undos = [];
  }

  #record(names: readonly Name[]): void {
    const before = names.map((name) => name.directory.entries.get(name.name) ?? null);
    this.#undos.push(() => {
      names.forEach((name, index) => {
        place(name, before[index] ?? null);
      });
    });
  }
}

function place(where: Name, node: Node | null): void {
  if (node === null) where.directory.entries.delete(where.name);
  else where.directory.entries.set(where.name, node);
}
