// Keeps what a service must not forget as documents of the log's file: only what changed is written, and who waits for a save
// waits until it is on disk. Also takes over, once, what earlier versions kept in files of their own.

import { basename } from 'node:path';
import { AgtmuxError } from '../model/errors.ts';
import type { DocumentChange, DocumentKind, DocumentRecord, DocumentStore } from '../model/records.ts';
import { FileError, type Files } from '../platform/files.ts';

/** A document without its place among the others. */
export interface Document {
  readonly kind: DocumentKind;
  readonly id: string;
  readonly body: string;
}

const keyOf = ({ kind, id }: Pick<DocumentRecord, 'kind' | 'id'>): string => `${kind} ${id}`;

/** What was to be kept is not on disk, and nothing else was done: whoever did not want to go on without it can stop here. */
export class NotKeptError extends AgtmuxError {}

export class DocumentWriter {
  readonly #store: DocumentStore;
  readonly #kinds: readonly DocumentKind[];
  readonly #compose: () => Iterable<Document>;
  /** As it is on disk; null when that is not known. */
  #written: ReadonlyMap<string, DocumentRecord> | null = null;
  #timesStartedOver = 0;
  #saving: Promise<void> = Promise.resolve();

  /** `compose` says at any time all that these kinds shall hold, in their order. */
  constructor(store: DocumentStore, kinds: readonly DocumentKind[], compose: () => Iterable<Document>) {
    this.#store = store;
    this.#kinds = kinds;
    this.#compose = compose;
  }

  /** Resolves when everything that was true at the call is on disk. Rejects with a NotKeptError. */
  save(): Promise<void> {
    // One after the other: what a later one writes stands on what the earlier one wrote.
    const turn = this.#saving.catch(() => undefined).then(() => this.#save().catch(notKept));
    this.#saving = turn;
    return turn;
  }

  async #save(): Promise<void> {
    const before = await this.#onDisk();
    const { change, written } = changeOf(before, this.#compose());
    // Until it has succeeded nobody knows what is there.
    this.#written = null;
    await this.#store.putDocuments(change);
    this.#written = written;
  }

  async #onDisk(): Promise<ReadonlyMap<string, DocumentRecord>> {
    const { timesStartedOver } = this.#store;
    if (this.#written !== null && this.#timesStartedOver === timesStartedOver) return this.#written;
    const found = await this.#store.documents(this.#kinds);
    this.#timesStartedOver = timesStartedOver;
    return new Map(found.map((document) => [keyOf(document), document]));
  }
}

function notKept(problem: unknown): never {
  if (!(problem instanceof AgtmuxError)) throw problem;
  throw new NotKeptError(problem.code, problem.message, { cause: problem });
}

function changeOf(before: ReadonlyMap<string, DocumentRecord>, wanted: Iterable<Document>) {
  const written = new Map<string, DocumentRecord>();
  const put: DocumentRecord[] = [];
  let last = [...before.values()].reduce((most, { number }) => Math.max(most, number), 0);
  for (const document of wanted) {
    const key = keyOf(document);
    const old = before.get(key);
    if (old?.body === document.body) written.set(key, old);
    else {
      last += old === undefined ? 1 : 0;
      const record: DocumentRecord = { ...document, number: old?.number ?? last };
      written.set(key, record);
      put.push(record);
    }
  }
  const remove = [...before].filter(([key]) => !written.has(key)).map(([, document]) => document);
  const change: DocumentChange = { put, remove };
  return { change, written };
}

export interface OldFile {
  readonly path: string;
  /** A file beside it that belongs to it; read after it. */
  readonly logPath?: string;
  readonly bytesMax: number;
  /** What it says, as documents; null when it cannot be understood. */
  readonly read: (text: string, log: string | null) => readonly Document[] | null;
}

/**
 * Takes over what an earlier version kept in a file, once: its content and the mark that it was taken over are one change, and
 * the file stays beside it as `.backup`. One that cannot be understood is set aside as `.damaged`. What is wrong, in words.
 */
export async function importFile(store: DocumentStore, files: Files, old: OldFile): Promise<string | null> {
  const { path, logPath, bytesMax, read } = old;
  try {
    const marks = await store.documents(['imported_file']);
    const isImported = marks.some(({ id }) => id === basename(path));
    if (!isImported) {
      const text = await textOf(files, path, bytesMax);
      if (text === null) return null;
      const log = logPath === undefined ? null : await textOf(files, logPath, bytesMax);
      const documents = text === tooLarge ? null : read(text, log === tooLarge ? null : log);
      if (documents === null) {
        await files.rename(path, `${path}.damaged`);
        return `${path} could not be understood and was set aside`;
      }
      const mark: DocumentRecord = { kind: 'imported_file', id: basename(path), number: marks.length + 1, body: '{}' };
      const put = documents.map((document, index): DocumentRecord => ({ ...document, number: index + 1 }));
      await store.putDocuments({ put: [...put, mark], remove: [] });
    }
    // A daemon that ended in between left them under their names.
    for (const one of [path, ...(logPath === undefined ? [] : [logPath])]) {
      if ((await files.stat(one)) !== null) await files.rename(one, `${one}.backup`);
    }
    return null;
  } catch (problem) {
    // Nothing was changed: the next daemon tries again.
    if (problem instanceof FileError || problem instanceof AgtmuxError) return problem.message;
    throw problem;
  }
}

const tooLarge = Symbol('larger than such a file can be');

async function textOf(files: Files, path: string, bytesMax: number): Promise<string | typeof tooLarge | null> {
  try {
    const found = await files.read(path, { bytesMax });
    return found === null ? null : Buffer.from(found.bytes).toString();
  } catch (problem) {
    if (problem instanceof FileError && problem.code === 'EFBIG') return tooLarge;
    throw problem;
  }
}
