// The tree of the simulated disk: how a path is walked, through links and `..`, to the node or the name it stands for.
// Changes nothing by itself except where `plant` puts what other programs left.

import { assert } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { assertAbsolute, FileError, type FileKind } from '../files.ts';
import { type DirectoryNode, FileNode, type Name, type Node, type NodeRights } from './file-nodes.ts';

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
