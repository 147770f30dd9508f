// Where documents are kept in tests: in memory, over a disk that can be full, fail, or go away between two changes.

import { AgtmuxError } from '../../src/model/errors.ts';
import type { DocumentChange, DocumentKind, DocumentRecord, DocumentStore } from '../../src/model/records.ts';

export class TestDocuments implements DocumentStore {
  readonly #documents = new Map<string, DocumentRecord>();
  /** Nothing can be written. */
  isFull = false;
  /** The power is cut: nobody gets anything any more. */
  isDown = false;
  timesStartedOver = 0;
  /** Of each change that was written: how many documents. */
  readonly changes: number[] = [];
  bytesWritten = 0;
  #failing = 0;
  #cut: { changes: number; readonly isWritten: boolean } | null = null;

  /** The next changes fail. */
  failNext(count: number): void {
    this.#failing = count;
  }

  /** The power is cut at the n-th change from here, before it is written or just after. */
  cutAt(changes: number, isWritten: boolean): void {
    this.#cut = { changes, isWritten };
  }

  restart(): void {
    this.isDown = false;
    this.#cut = null;
  }

  /** A damaged log was replaced, and these could not be read from it. */
  startOver(lost: readonly DocumentKind[]): void {
    for (const [key, { kind }] of this.#documents) if (lost.includes(kind)) this.#documents.delete(key);
    this.timesStartedOver += 1;
  }

  all(kind: DocumentKind): readonly unknown[] {
    return [...this.#documents.values()].filter((one) => one.kind === kind).map(({ body }) => JSON.parse(body));
  }

  async documents(kinds: readonly DocumentKind[]): Promise<readonly DocumentRecord[]> {
    this.#assertUp();
    const found = [...this.#documents.values()].sort((one, other) => one.number - other.number);
    return kinds.flatMap((kind) => found.filter((one) => one.kind === kind));
  }

  async putDocuments({ put, remove }: DocumentChange): Promise<void> {
    this.#assertUp();
    if (put.length + remove.length === 0) return;
    if (this.isFull) throw new AgtmuxError('E_STORE_FULL', 'the disk is full');
    this.#failing -= 1;
    if (this.#failing >= 0) throw new AgtmuxError('E_STORE_IO', 'the disk fails');
    if (this.#cut !== null) this.#cut.changes -= 1;
    const isCut = this.#cut?.changes === 0;
    if (!isCut || this.#cut?.isWritten === true) {
      for (const { kind, id } of remove) this.#documents.delete(`${kind} ${id}`);
      for (const one of put) this.#documents.set(`${one.kind} ${one.id}`, one);
      this.changes.push(put.length + remove.length);
      this.bytesWritten += put.reduce((sum, { body }) => sum + body.length, 0);
    }
    if (isCut) this.isDown = true;
    this.#assertUp();
  }

  #assertUp(): void {
    if (this.isDown) throw new AgtmuxError('E_STORE_IO', 'the power is cut');
  }
}
