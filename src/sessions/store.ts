// The sessions on disk, three private files each: the record, written whole and synced; secrets, the same; the messages,
// appended. A kill at any moment leaves each of them as it was before or after, and a last line of messages perhaps cut.

import { join } from 'node:path';
import { assert } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ManagedId } from '../model/sessions.ts';
import { FileError, type Files } from '../platform/files.ts';
import { type KeptSession, keptOf, keptText, managedIdOf, type SessionSecrets, secretsOf } from './store-record.ts';

const recordEnd = '.json';
const counterName = 'counter';
/** Files of all sessions, and of those that were set aside. */
const namesMax = 10_000;

export interface FoundSessions {
  readonly sessions: readonly KeptSession[];
  /** Files that could not be understood; they were set aside. */
  readonly damaged: readonly string[];
  /** Files that could not be read this time; they are as they were, and their sessions missing until the next start. */
  readonly unread: readonly UnreadFile[];
}

interface UnreadFile {
  readonly file: string;
  readonly problem: string;
}

/** What stands there cannot be a record of ours, whoever reads it. */
const isNoRecord = ({ code }: FileError): boolean => ['EFBIG', 'EISDIR', 'EINVAL', 'ELOOP'].includes(code);

export class SessionStore {
  readonly #files: Files;
  readonly #folder: string;
  #last = 0;
  #isCounted = false;

  constructor(files: Files, folder: string) {
    this.#files = files;
    this.#folder = folder;
  }

  async open(): Promise<FoundSessions> {
    await this.#files.mkdirPrivate(this.#folder);
    const listed = await this.#files.list(this.#folder, namesMax);
    const sessions: KeptSession[] = [];
    const damaged: string[] = [];
    const unread: UnreadFile[] = [];
    for (const name of listed?.names ?? []) {
      const id = name.endsWith(recordEnd) ? managedIdOf(name.slice(0, -recordEnd.length)) : null;
      if (id === null) continue;
      this.#last = Math.max(this.#last, numberOf(id));
      const text = await this.#readOrTrouble(name);
      // What cannot be read now (too many open files, a bad disk) may be as good as ever: it stays where it is.
      if (text instanceof FileError && !isNoRecord(text)) {
        unread.push({ file: this.#path(name), problem: text.message });
        continue;
      }
      const kept = keptOf(typeof text === 'string' ? text : '');
      if (kept !== null && kept.id === id) sessions.push(kept);
      else {
        await this.#files.rename(this.#path(name), this.#path(`${name}.damaged`));
        damaged.push(this.#path(`${name}.damaged`));
      }
    }
    // Without it a number could be given twice; then none is given before it can be read.
    await this.#count().catch(() => undefined);
    return { sessions: sessions.sort((one, other) => numberOf(one.id) - numberOf(other.id)), damaged, unread };
  }

  async #count(): Promise<void> {
    const text = await this.#readOrTrouble(counterName);
    if (text instanceof FileError && !isNoRecord(text)) throw text;
    const counted = Number(text);
    if (Number.isSafeInteger(counted)) this.#last = Math.max(this.#last, counted);
    this.#isCounted = true;
  }

  /** Never given twice: it is on disk before anyone has it. */
  async nextId(): Promise<ManagedId> {
    if (!this.#isCounted) await this.#count();
    this.#last += 1;
    const id = managedIdOf(`s${this.#last}`);
    assert(id !== null, 'sessions are counted from 1');
    await this.#files.writeAtomic(this.#path(counterName), Buffer.from(String(this.#last)));
    return id;
  }

  /** Resolves when it survives a power cut. Rejects with a FileError. */
  save(kept: KeptSession): Promise<void> {
    return this.#files.writeAtomic(this.#path(`${kept.id}${recordEnd}`), Buffer.from(keptText(kept)));
  }

  saveSecrets(id: ManagedId, secrets: SessionSecrets): Promise<void> {
    return this.#files.writeAtomic(this.#path(`${id}.secrets`), Buffer.from(JSON.stringify(secrets)));
  }

  async secrets(id: ManagedId): Promise<SessionSecrets | null> {
    return secretsOf((await this.#read(`${id}.secrets`)) ?? '');
  }

  /** Where a server of this session prints to. */
  outputPath(id: ManagedId): string {
    return this.#path(`${id}.output`);
  }

  async messages(id: ManagedId): Promise<string> {
    return (await this.#read(`${id}.messages`)) ?? '';
  }

  addMessages(id: ManagedId, text: string, { isSynced = false } = {}): Promise<void> {
    return this.#files.append(this.#path(`${id}.messages`), Buffer.from(text), { sync: isSynced });
  }

  replaceMessages(id: ManagedId, text: string): Promise<void> {
    return this.#files.writeAtomic(this.#path(`${id}.messages`), Buffer.from(text));
  }

  /** The record last: as long as it is there, the session is. */
  async remove(id: ManagedId): Promise<void> {
    for (const end of ['.messages', '.output', '.secrets', recordEnd])
      await this.#files.remove(this.#path(`${id}${end}`));
  }

  /** Null for what is not there, or cannot be read. */
  async #read(name: string): Promise<string | null> {
    const text = await this.#readOrTrouble(name);
    return text instanceof FileError ? null : text;
  }

  async #readOrTrouble(name: string): Promise<string | null | FileError> {
    try {
      const found = await this.#files.read(this.#path(name), { bytesMax: limits.sessionFileBytesMax });
      return found === null ? null : Buffer.from(found.bytes).toString();
    } catch (problem) {
      if (problem instanceof FileError) return problem;
      throw problem;
    }
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

const numberOf = (id: ManagedId): number => Number(id.slice(1));
