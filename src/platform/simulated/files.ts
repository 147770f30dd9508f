// A disk in memory with the faults of real ones: unsynced writes are lost at a power cut, the n-th operation fails, the
// space ends. Passes the same contract suite as the real one.

import { assert } from '../../model/errors.ts';
import type { Clock } from '../clock.ts';
import type { FileEdit } from '../edit-file.ts';
import {
  assertAbsolute,
  FileError,
  type FileStat,
  type Files,
  privateDirectoryMode,
  privateFileMode,
  temporaryName,
} from '../files.ts';
import { FileNode, FileTree, type Name, NameJournal, type Node, type Planted } from './file-tree.ts';
import type { SimulatedRandom } from './random.ts';

export type FileFault = 'ENOSPC' | 'EIO' | 'power_cut';

export interface SimulatedFiles extends Files {
  /** Steps done so far. A step is what the system does at once: create, write, sync, rename, remove, read, list, stat. */
  operations(): number;
  /** The n-th step from now fails; 1 is the next one. A power cut also stops everything after it until `restart`. */
  failAt(nth: number, fault: FileFault): void;
  clearFaults(): void;
  /** The power goes now. Without luck all that was not synced is lost; with it, a drawn part survives. */
  crash(luck?: SimulatedRandom): void;
  restart(): void;
  /** The size of the disk; null for endless. */
  setBytesMax(bytesMax: number | null): void;
  bytesUsed(): number;
  plant(path: string, planted: Planted): void;
}

interface Options {
  readonly clock: Clock;
  readonly uid?: number;
  readonly bytesMax?: number;
}

export function createSimulatedFiles(options: Options): SimulatedFiles {
  return new Disk(options.clock, options.uid ?? 1_000, options.bytesMax ?? null);
}

class Disk implements SimulatedFiles {
  readonly #clock: Clock;
  readonly #uid: number;
  readonly #tree = new FileTree();
  readonly #journal = new NameJournal();
  readonly #unsynced = new Set<FileNode>();
  /** As a disk numbers its files: the order in which somebody first asked. */
  readonly #numbers = new Map<Node, number>();
  readonly #faults = new Map<number, FileFault>();
  #bytesMax: number | null;
  #bytesUsed = 0;
  #steps = 0;
  #temporaries = 0;
  #down = false;

  constructor(clock: Clock, uid: number, bytesMax: number | null) {
    this.#clock = clock;
    this.#uid = uid;
    this.#bytesMax = bytesMax;
  }

  async read(path: string, options: { bytesMax: number; followLinks?: boolean }) {
    this.#step('read', path);
    const node = this.#tree.find('read', path, options.followLinks === true);
    if (node === null) return null;
    if (node.kind === 'link') throw new FileError('read', path, 'ELOOP');
    if (node.kind === 'directory') throw new FileError('read', path, 'EISDIR');
    if (node.kind !== 'file') throw new FileError('read', path, 'EINVAL');
    if (node.length > options.bytesMax) throw new FileError('read', path, 'EFBIG');
    return { bytes: node.bytes(), stat: statOf(node) };
  }

  async writeAtomic(path: string, bytes: Uint8Array, options: { mode?: number } = {}) {
    this.#step('write', path);
    const goal = this.#tree.place('write', path);
    this.#temporaries += 1;
    const temporary = { ...goal, name: temporaryName(this.#temporaries.toString(16).padStart(16, '0')) };
    const file = this.#create(temporary, options.mode ?? privateFileMode);
    try {
      this.#write('write', path, file, bytes);
      this.#sync('write', path, file);
      this.#step('write', path);
      this.#move('write', temporary, goal, file);
    } catch (error) {
      if (!this.#down) this.#drop(temporary, file);
      throw error;
    }
    this.#step('write', path);
    this.#journal.sync();
  }

  async edit(path: string, { before, after, mode }: FileEdit) {
    const held = this.#tree.find('write', path, false);
    if (held !== null && held.kind !== 'file') throw new FileError('write', path, 'ELOOP');
    const isSame = held === null || before === null ? held === before : Buffer.compare(held.bytes(), before) === 0;
    if (!isSame) return false;
    await this.writeAtomic(path, after, { mode: held?.mode ?? mode });
    const written = this.#tree.find('write', path, false);
    if (written?.kind === 'file' && held !== null) written.uid = held.uid;
    return true;
  }

  async append(path: string, bytes: Uint8Array, options: { sync: boolean }) {
    this.#step('append to', path);
    const where = this.#tree.place('append to', path);
    const found = where.directory.entries.get(where.name) ?? this.#create(where, privateFileMode);
    if (found.kind === 'directory') throw new FileError('append to', path, 'EISDIR');
    if (found.kind === 'link') throw new FileError('append to', path, 'ELOOP');
    if (found.kind !== 'file') throw new FileError('append to', path, 'ENXIO');
    const fresh = found.length === 0;
    this.#write('append to', path, found, bytes);
    if (!options.sync) return;
    this.#sync('append to', path, found);
    if (!fresh) return;
    this.#step('append to', path);
    this.#journal.sync();
  }

  async list(path: string, entriesMax: number) {
    this.#step('list', path);
    const node = this.#tree.find('list', path, true);
    if (node === null) return null;
    if (node.kind !== 'directory') throw new FileError('list', path, 'ENOTDIR');
    const names = [...node.entries.keys()];
    return { names: names.slice(0, entriesMax).sort(), more: names.length > entriesMax };
  }

  async remove(path: string) {
    this.#step('remove', path);
    const node = this.#tree.find('remove', path, false);
    if (node === null) return false;
    if (node.kind === 'directory') throw new FileError('remove', path, 'EISDIR');
    this.#drop(this.#tree.place('remove', path), node);
    return true;
  }

  async rename(from: string, to: string) {
    this.#step('rename', from);
    const node = this.#tree.find('rename', from, false);
    if (node === null) return false;
    this.#move('rename', this.#tree.place('rename', from), this.#tree.place('rename', to), node);
    return true;
  }

  async stat(path: string) {
    this.#step('stat', path);
    const node = this.#tree.find('stat', path, false);
    return node === null ? null : statOf(node);
  }

  async stamp(path: string) {
    this.#step('stat', path);
    const node = this.#tree.find('stat', path, true);
    if (node === null) return null;
    const number = this.#numbers.get(node) ?? this.#numbers.size;
    this.#numbers.set(node, number);
    const { sizeBytes, mtimeMs, mode } = statOf(node);
    return [number, sizeBytes, mtimeMs, mode].join(':');
  }

  async readLink(path: string) {
    this.#step('read the link', path);
    const node = this.#tree.find('read the link', path, false);
    if (node === null) return null;
    if (node.kind !== 'link') throw new FileError('read the link', path, 'EINVAL');
    return node.target;
  }

  async mkdirPrivate(path: string) {
    this.#step('make the directory', path);
    this.#tree.makeDirectories('make the directory', path, (where) => {
      const rights = { mode: privateDirectoryMode, uid: this.#uid, mtimeMs: this.#clock.wallMs() };
      this.#journal.set(where, { kind: 'directory', entries: new Map(), ...rights });
    });
  }

  operations(): number {
    return this.#steps;
  }

  failAt(nth: number, fault: FileFault): void {
    assert(Number.isSafeInteger(nth) && nth >= 1, 'the next step is number 1');
    this.#faults.set(this.#steps + nth, fault);
  }

  clearFaults(): void {
    this.#faults.clear();
  }

  crash(luck?: SimulatedRandom): void {
    this.#journal.cut(luck ?? null);
    for (const file of this.#unsynced) file.cut(luck ?? null);
    this.#unsynced.clear();
    this.#bytesUsed = this.#tree.bytesUsed();
    this.#down = true;
  }

  restart(): void {
    this.#down = false;
    this.#faults.clear();
  }

  setBytesMax(bytesMax: number | null): void {
    this.#bytesMax = bytesMax;
  }

  bytesUsed(): number {
    return this.#bytesUsed;
  }

  plant(path: string, planted: Planted): void {
    this.#bytesUsed += this.#tree.plant(path, planted, {
      mode: planted.mode ?? (planted.kind === 'directory' ? privateDirectoryMode : privateFileMode),
      uid: planted.uid ?? this.#uid,
      mtimeMs: planted.mtimeMs ?? this.#clock.wallMs(),
    });
  }

  /** Every step passes here, so that each can be the one that fails. */
  #step(operation: string, path: string): void {
    assertAbsolute(path);
    if (this.#down) throw new FileError(operation, path, 'power_cut');
    this.#steps += 1;
    const fault = this.#faults.get(this.#steps);
    if (fault === undefined) return;
    this.#faults.delete(this.#steps);
    if (fault === 'power_cut') this.crash();
    throw new FileError(operation, path, fault);
  }

  #create(where: Name, mode: number): FileNode {
    const file = new FileNode({ mode, uid: this.#uid, mtimeMs: this.#clock.wallMs() });
    this.#journal.set(where, file);
    return file;
  }

  /** A disk that fills up takes what still fits and then refuses. */
  #write(operation: string, path: string, file: FileNode, bytes: Uint8Array): void {
    this.#step(operation, path);
    const room = this.#bytesMax === null ? bytes.length : Math.max(this.#bytesMax - this.#bytesUsed, 0);
    const fitting = bytes.subarray(0, room);
    file.append(fitting);
    file.mtimeMs = this.#clock.wallMs();
    this.#bytesUsed += fitting.length;
    this.#unsynced.add(file);
    if (fitting.length < bytes.length) throw new FileError(operation, path, 'ENOSPC');
  }

  #sync(operation: string, path: string, file: FileNode): void {
    this.#step(operation, path);
    file.sync();
    this.#unsynced.delete(file);
  }

  #move(operation: string, from: Name, to: Name, node: Node): void {
    const replaced = to.directory.entries.get(to.name);
    if (replaced === node) return;
    if (replaced !== undefined) this.#refuseReplacing(operation, to.name, node, replaced);
    if (replaced?.kind === 'file') this.#bytesUsed -= replaced.length;
    this.#journal.move(from, to, node);
  }

  #refuseReplacing(operation: string, path: string, node: Node, replaced: Node): void {
    if (replaced.kind !== 'directory') {
      if (node.kind === 'directory') throw new FileError(operation, path, 'ENOTDIR');
      return;
    }
    if (node.kind !== 'directory') throw new FileError(operation, path, 'EISDIR');
    if (replaced.entries.size > 0) throw new FileError(operation, path, 'ENOTEMPTY');
  }

  #drop(where: Name, node: Node): void {
    if (node.kind === 'file') this.#bytesUsed -= node.length;
    this.#journal.set(where, null);
  }
}

function statOf(node: Node): FileStat {
  return {
    kind: node.kind,
    sizeBytes: node.kind === 'file' ? node.length : 0,
    mode: node.mode,
    uid: node.uid,
    mtimeMs: Math.floor(node.mtimeMs),
  };
}
