// The tree of the simulated disk: how a path is walked, through links and `..`, to the node or the name it stands for.
// Changes nothing by itself except where `plant` puts what other programs left.

import { assert } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { assertAbsolute, FileError, type FileKind } from '../files.ts';
import type { SimulatedRandom } from './random.ts';

// What the simulated disk is made of: nodes whose bytes know which part of them was synced, and a journal of name changes
// that a power cut can undo. Nothing here knows paths, faults or promises.

interface NodeRights {
  mode: number;
  uid: number;
  mtimeMs: number;
}

interface DirectoryNode extends NodeRights {
  readonly kind: 'directory';
  readonly entries: Map<string, Node>;
}

interface LinkNode extends NodeRights {
  readonly kind: 'link';
  readonly target: string;
}

/** Pipes, sockets, devices: they only exist to be refused. */
interface OddNode extends NodeRights {
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

/** What other programs put on the disk; such things are on it for good at once, and cost no operation. */
export interface Planted {
  readonly kind?: FileKind;
  readonly bytes?: Uint8Array;
  readonly target?: string;
  readonly mode?: number;
  readonly uid?: number;
  readonly mtimeMs?: number;
}

export class FileTree {
  readonly #root: DirectoryNode = { kind: 'directory', entries: new Map(), mode: 0o755, uid: 0, mtimeMs: 0 };

  find(operation: string, path: string, followLast: boolean): Node | null {
    let names = namesOf(path);
    const walked: DirectoryNode[] = [this.#root];
    let links = 0;
    for (;;) {
      const name = names.shift();
      const here = walked.at(-1) ?? this.#root;
      if (name === undefined) return here;
      if (name === '..') {
        if (walked.length > 1) walked.pop();
        continue;
      }
      const node = here.entries.get(name);
      if (node === undefined) return null;
      const last = names.length === 0;
      if (node.kind === 'link' && (!last || followLast)) {
        links += 1;
        if (links > limits.linksMax) throw new FileError(operation, path, 'ELOOP');
        names = [...namesOf(node.target), ...names];
        if (node.target.startsWith('/')) walked.length = 1;
      } else if (node.kind === 'directory') {
        walked.push(node);
      } else if (last) {
        return node;
      } else {
        throw new FileError(operation, path, 'ENOTDIR');
      }
    }
  }

  /** The directory a path stands in, and its name there. */
  place(operation: string, path: string): Name {
    assertAbsolute(path);
    const names = namesOf(path);
    const name = names.pop();
    const directory = this.find(operation, `/${names.join('/')}`, true);
    if (directory === null || name === undefined) throw new FileError(operation, path, 'ENOENT');
    if (directory.kind !== 'directory') throw new FileError(operation, path, 'ENOTDIR');
    return { directory, name };
  }

  /** Walks down a path and calls `make` for each directory that is missing on it. */
  makeDirectories(operation: string, path: string, make: (where: Name) => void): void {
    assertAbsolute(path);
    let walked = '';
    for (const name of namesOf(path)) {
      walked = `${walked}/${name}`;
      const node = this.find(operation, walked, true);
      if (node === null) make(this.place(operation, walked));
      else if (node.kind !== 'directory') throw new FileError(operation, path, 'EEXIST');
    }
  }

  /** Puts a thing there, with its parents (0755, root's) where they are missing. Returns the bytes the disk gained. */
  plant(path: string, planted: Planted, rights: NodeRights): number {
    const parent = `/${namesOf(path).slice(0, -1).join('/')}`;
    this.makeDirectories('plant', parent, ({ directory, name }) => {
      directory.entries.set(name, { kind: 'directory', entries: new Map(), mode: 0o755, uid: 0, mtimeMs: 0 });
    });
    if (namesOf(path).length === 0) {
      assert(planted.kind === 'directory', 'the root is a directory');
      Object.assign(this.#root, rights);
      return 0;
    }
    const { directory, name } = this.place('plant', path);
    const known = directory.entries.get(name);
    if (planted.kind === 'directory' && known?.kind === 'directory') {
      Object.assign(known, rights);
      return 0;
    }
    const node = nodeOf(planted, rights);
    directory.entries.set(name, node);
    return bytesBelow(node) - (known === undefined ? 0 : bytesBelow(known));
  }

  bytesUsed(): number {
    return bytesBelow(this.#root);
  }
}

function nodeOf(planted: Planted, rights: NodeRights): Node {
  const kind = planted.kind ?? 'file';
  switch (kind) {
    case 'directory':
      return { kind, entries: new Map(), ...rights };
    case 'link':
      return { kind, target: planted.target ?? '/', ...rights };
    case 'socket':
    case 'other':
      return { kind, ...rights };
    case 'file': {
      const file = new FileNode(rights);
      file.append(planted.bytes ?? new Uint8Array(0));
      file.sync();
      return file;
    }
  }
}

function bytesBelow(node: Node): number {
  if (node.kind === 'file') return node.length;
  if (node.kind !== 'directory') return 0;
  let sum = 0;
  for (const child of node.entries.values()) sum += bytesBelow(child);
  return sum;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
