// The conversation of one session: bounded, without what looks like a secret, the newest version of each message, in the
// order in which they first appeared. Every change has a number, by which readers go on where they stopped.

import { redact } from '../engine/redact.ts';
import { limits } from '../model/limits.ts';
import { messageRoles, type SessionMessage } from '../model/sessions.ts';

interface Entry {
  readonly cursor: number;
  readonly message: SessionMessage;
  readonly bytes: number;
}

export interface TalkPage {
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
