// A conversation as it comes in: words that arrive by the letter are told together, written down behind what is served,
// and read back from disk when nobody had them in memory any more.

import { redact } from '../engine/redact.ts';
import { limits } from '../model/limits.ts';
import { type ManagedId, messageRoles, type SessionMessage } from '../model/sessions.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { FileError } from '../platform/files.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import type { SessionStore } from './store.ts';

interface TalkParts {
  readonly id: ManagedId;
  readonly store: SessionStore;
  readonly clock: Clock;
  /** There are new messages. */
  readonly onFlush: (lastWords: string | null) => void;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

export class MessageLog {
  readonly #parts: TalkParts;
  /** Null: on disk only. */
  #talk: Talk | null = null;
  #loading: Promise<Talk> | null = null;
  #dirty = new Map<string, SessionMessage>();
  #flushTimer: Cancel | null = null;
  /** A flush that waits for what is on disk only, and whether it is to be written at once. */
  #late: Promise<void> | null = null;
  #isLateWritten = false;
  #unloadTimer: Cancel | null = null;
  /** Messages that are not written down as they are, and what is written of those that grow. */
  readonly #unkept = new Set<string>();
  readonly #growing = new Map<string, string>();
  #keepTimer: Cancel | null = null;
  #unwritten: string[] = [];
  #writing: Promise<void> | null = null;
  /** The length of the file, and what it was when it was written whole. */
  #grown = 0;
  #whole = 0;
  #isTroubled = false;
  /** The next writing is waited for by something that must not be ahead of it. */
  #isSynced = false;

  constructor(parts: TalkParts) {
    this.#parts = parts;
  }

  /** To be called before the first message: those of before come first. */
  async load(): Promise<Talk> {
    if (this.#talk !== null) return this.#talk;
    this.#loading ??= this.#read();
    return this.#loading;
  }

  add(messages: readonly SessionMessage[]): void {
    for (const message of messages) this.#dirty.set(message.id, message);
    if (this.#dirty.size > 0) this.#flushTimer ??= this.#parts.clock.after(limits.sessionFlushMs, () => this.flush());
  }

  async page(after: number, countMax: number): Promise<TalkPage> {
    const talk = await this.load();
    this.#unloadLater();
    return talk.page(after, countMax);
  }

  /** Of all that was ever said, also before this run of the daemon. */
  async lastWords(): Promise<string | null> {
    return lastWordsOf(await this.load());
  }

  /** Everything is on disk when it resolves; synced, it survives a power cut. */
  async settle({ isSynced = false } = {}): Promise<void> {
    if (isSynced && this.#dirty.size === 0 && this.#unkept.size === 0 && this.#unwritten.length === 0) {
      await this.written();
      return;
    }
    await this.load();
    this.#isSynced ||= isSynced;
    this.flush();
    this.#keep();
    await this.#write();
  }

  /** Resolves when what is being written is, and what only waits for the conversation of before to be read. */
  async written(): Promise<void> {
    await this.#late;
    await this.#writing;
  }

  close(): void {
    this.#flushTimer?.();
    this.#keepTimer?.();
    this.#unloadTimer?.();
  }

  async #read(): Promise<Talk> {
    const talk = new Talk();
    const text = await this.#parts.store.messages(this.#parts.id);
    talk.load(text);
    this.#grown = text.length;
    this.#talk = talk;
    this.#loading = null;
    this.#unloadLater();
    return talk;
  }

  /** What came in is served now; at once, if what was said before is known. */
  flush({ isWritten = false } = {}): void {
    this.#flushTimer?.();
    this.#flushTimer = null;
    const talk = this.#talk;
    if (talk === null) {
      this.#isLateWritten ||= isWritten;
      this.#late ??= this.#flushLate();
      return;
    }
    const dirty = [...this.#dirty.values()];
    if (dirty.length === 0) {
      if (isWritten) this.#keep();
      return;
    }
    this.#dirty = new Map();
    for (const message of dirty) {
      talk.put(message);
      this.#unkept.add(message.id);
    }
    this.#unloadLater();
    this.#parts.onFlush(lastWordsOf(talk));
    // Whole ones at once, growing ones now and then.
    if (isWritten || dirty.some(({ partial }) => !partial)) this.#keep();
    else this.#keepTimer ??= this.#parts.clock.after(limits.sessionGrowingKeptMs, () => this.#keep());
  }

  async #flushLate(): Promise<void> {
    await this.load();
    const isWritten = this.#isLateWritten;
    this.#late = null;
    this.#isLateWritten = false;
    this.flush({ isWritten });
  }

  /** As it is now, also what still grows. */
  #keep(): void {
    this.#keepTimer?.();
    this.#keepTimer = null;
    for (const id of this.#unkept) {
      const kept = this.#talk?.lineOf(id, this.#growing.get(id) ?? null) ?? null;
      if (kept === null) this.#growing.delete(id);
      else {
        this.#unwritten.push(kept.line);
        this.#growing.set(id, kept.text);
      }
    }
    this.#unkept.clear();
    while (this.#growing.size > growingMax) this.#growing.delete([...this.#growing.keys()][0] ?? '');
    void this.#write();
  }

  #write(): Promise<void> {
    if (this.#unwritten.length > 0) this.#writing ??= this.#writeAll();
    return this.written();
  }

  async #writeAll(): Promise<void> {
    const { store, id, warn } = this.#parts;
    try {
      while (this.#unwritten.length > 0) {
        const text = this.#unwritten.join('');
        this.#unwritten = [];
        this.#grown += text.length;
        if (this.#grown > Math.max(limits.sessionMessagesBytesMax, this.#whole) * 2 && this.#talk !== null) {
          const whole = this.#talk.text();
          this.#grown = whole.length;
          this.#whole = whole.length;
          await store.replaceMessages(id, whole);
        } else await store.addMessages(id, text, { isSynced: this.#isSynced });
        this.#isSynced = false;
        this.#isTroubled = false;
      }
    } catch (problem) {
      if (!(problem instanceof FileError)) throw problem;
      // They are still in memory; the next whole writing has them again.
      this.#grown = Number.MAX_SAFE_INTEGER;
      if (!this.#isTroubled)
        warn('messages of a session could not be stored', { session: id, problem: problem.message });
      this.#isTroubled = true;
    } finally {
      // In the same turn as the last look: what comes after it begins a writing of its own.
      this.#writing = null;
    }
  }

  #unloadLater(): void {
    this.#unloadTimer?.();
    this.#unloadTimer = this.#parts.clock.after(limits.sessionUnloadMs, () => {
      const isBusy = this.#dirty.size > 0 || this.#writing !== null || this.#isTroubled || this.#unkept.size > 0;
      if (isBusy) this.#unloadLater();
      else {
        this.#talk = null;
        this.#growing.clear();
      }
    });
  }
}

/** Messages that grow at once; of more than these each change is written whole. */
const growingMax = 8;

/** The last line of what the agent said. */
function lastWordsOf(talk: Talk): string | null {
  const said = talk.lastBy('agent')?.text.trimEnd() ?? '';
  const line = said.slice(said.lastIndexOf('\n') + 1).slice(0, limits.detailCharsMax);
  return line === '' ? null : sanitizeLine(foreign(line));
}

// The conversation of one session: bounded, without what looks like a secret, the newest version of each message, in the
// order in which they first appeared. Every change has a number, by which readers go on where they stopped.

interface Entry {
  readonly cursor: number;
  readonly message: SessionMessage;
  readonly bytes: number;
}

interface TalkPage {
  readonly messages: readonly SessionMessage[];
  readonly cursor: number;
  readonly truncated: boolean;
}

/** What a message costs beside its text. */
const entryBytes = 128;

export class Talk {
  readonly #entries = new Map<string, Entry>();
  #cursor = 0;
  #bytes = 0;
  /** The greatest number that was dropped. */
  #droppedTo = 0;

  get cursor(): number {
    return this.#cursor;
  }

  /** A message as it is now. */
  put(told: SessionMessage): void {
    this.#cursor += 1;
    this.#set(this.#cursor, { ...told, text: redact(told.text) });
  }

  /** The line that keeps a message: only what has grown, where its beginning is written as it is. */
  lineOf(id: string, written: string | null): { readonly line: string; readonly text: string } | null {
    const entry = this.#entries.get(id);
    if (entry === undefined) return null;
    const { cursor, message } = entry;
    const { text } = message;
    const isGrown = written !== null && written !== '' && text.startsWith(written);
    const line = isGrown
      ? lineOf(cursor, { ...message, text: text.slice(written.length) }, written.length)
      : lineOf(cursor, message);
    return { line, text };
  }

  /** What came after this number, the oldest changes first if they are too many, each page in the order of appearance. */
  page(after: number, countMax: number): TalkPage {
    const found = [...this.#entries.values()].filter(({ cursor }) => cursor > after);
    const truncated = after < this.#droppedTo;
    if (found.length <= countMax)
      return { messages: found.map(({ message }) => message), cursor: this.#cursor, truncated };
    const numbers = found.map(({ cursor }) => cursor).sort((one, other) => one - other);
    const last = numbers[countMax - 1] ?? after;
    const messages = found.filter(({ cursor }) => cursor <= last).map(({ message }) => message);
    return { messages, cursor: last, truncated };
  }

  lastBy(role: SessionMessage['role']): SessionMessage | null {
    let last: SessionMessage | null = null;
    for (const { message } of this.#entries.values()) if (message.role === role) last = message;
    return last;
  }

  /** Everything that is kept, to be written anew. */
  text(): string {
    const head = `${JSON.stringify({ dropped: this.#droppedTo, cursor: this.#cursor })}\n`;
    return head + [...this.#entries.values()].map(({ cursor, message }) => lineOf(cursor, message)).join('');
  }

  /** Lines that cannot be read are passed over: the last one may have been cut. */
  load(text: string): void {
    for (const line of text.split('\n')) {
      const read = readLine(line);
      if (read === null) continue;
      this.#cursor = Math.max(this.#cursor, read.cursor);
      if (read.message === null) this.#droppedTo = Math.max(this.#droppedTo, read.dropped);
      else this.#set(read.cursor, this.#whole(read.message, read.from));
    }
  }

  /** A piece that fits nowhere is what is left of a line that was lost. */
  #whole(piece: SessionMessage, from: number): SessionMessage {
    const before = from === 0 ? '' : (this.#entries.get(piece.id)?.message.text.slice(0, from) ?? '');
    return { ...piece, text: before + piece.text };
  }

  #set(cursor: number, message: SessionMessage): void {
    const before = this.#entries.get(message.id);
    const bytes = message.text.length + message.id.length + entryBytes;
    // The same key keeps its place.
    this.#entries.set(message.id, { cursor, message, bytes });
    this.#bytes += bytes - (before?.bytes ?? 0);
    for (const [id, entry] of this.#entries) {
      const isFull = this.#entries.size > limits.sessionMessagesMax || this.#bytes > limits.sessionMessagesBytesMax;
      if (!isFull || this.#entries.size === 1) break;
      this.#entries.delete(id);
      this.#bytes -= entry.bytes;
      this.#droppedTo = Math.max(this.#droppedTo, entry.cursor);
    }
  }
}

const lineOf = (cursor: number, message: SessionMessage, from = 0): string =>
  `${JSON.stringify(from === 0 ? [cursor, message] : [cursor, message, from])}\n`;

interface ReadLine {
  readonly cursor: number;
  readonly dropped: number;
  /** Where its text goes on; 0: it is whole. */
  readonly from: number;
  readonly message: SessionMessage | null;
}

function readLine(line: string): ReadLine | null {
  const value = parsed(line);
  if (Array.isArray(value)) {
    const [cursor, message, from = 0] = value as readonly unknown[];
    const isLine = typeof cursor === 'number' && typeof from === 'number' && isMessage(message);
    return isLine ? { cursor, dropped: 0, from, message } : null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { dropped, cursor } = value as Readonly<Record<string, unknown>>;
  return typeof dropped === 'number' && typeof cursor === 'number' ? { cursor, dropped, from: 0, message: null } : null;
}

function isMessage(value: unknown): value is SessionMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { id, role, at, text, partial } = value as Readonly<Record<string, unknown>>;
  const isRole = (messageRoles as readonly unknown[]).includes(role);
  return (
    typeof id === 'string' &&
    isRole &&
    typeof at === 'number' &&
    typeof text === 'string' &&
    typeof partial === 'boolean'
  );
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
