// One session in the book: it is led, kept, told and read through here.

import type { SessionWay } from '../agents/session-way.ts';
import { limits } from '../model/limits.ts';
import type { ManagedId, SessionGlance, SessionRow } from '../model/sessions.ts';
import { shownAsk } from './book-facts.ts';
import { Keeping } from './book-keeping.ts';
import type { BookParts } from './book-parts.ts';
import { viewOf } from './derived.ts';
import type { Dialect } from './dialect.ts';
import { LiveSession } from './live.ts';
import type { AskRoom } from './live-asks.ts';
import { asleepSince, type SleepCause } from './live-rest.ts';
import { LiveTalk } from './live-talk.ts';
import type { SessionStore } from './store.ts';
import type { KeptSession, SessionSecrets } from './store-record.ts';

export interface EntryParts {
  readonly book: BookParts;
  readonly store: SessionStore;
  readonly record: KeptSession;
  readonly secrets: SessionSecrets;
  readonly way: SessionWay;
  readonly dialect: Dialect<unknown>;
  readonly epoch: number;
  readonly nextSeq: () => number;
  readonly asks: AskRoom;
  readonly slept: (record: KeptSession, cause: SleepCause) => void;
}

export class Entry {
  readonly id: ManagedId;
  readonly live: LiveSession;
  readonly talk: LiveTalk;
  readonly keeping: Keeping;
  #secrets: SessionSecrets;
  readonly #followers = new Set<() => void>();
  #row: { readonly of: KeptSession; readonly row: SessionRow } | null = null;
  #lastWords: string | null;

  constructor(parts: EntryParts) {
    const { book, store, record, way, dialect } = parts;
    const { clock, now } = book.ports;
    const { id } = record;
    this.id = id;
    this.#secrets = parts.secrets;
    this.#lastWords = record.last_words;
    this.keeping = new Keeping(
      {
        clock,
        now,
        target: book.target,
        store,
        epoch: parts.epoch,
        nextSeq: parts.nextSeq,
        offer: book.offer,
        said: (isAll) => (isAll ? this.talk.settle({ isSynced: true }) : this.talk.written()),
        lastWords: () => this.#lastWords,
        onShown: () => {
          book.onChange();
          this.tell();
        },
        warn: book.warn,
      },
      record,
    );
    const onFlush = (lastWords: string | null): void => {
      this.#lastWords = lastWords;
      this.tell();
    };
    this.talk = new LiveTalk({ id, store, clock, onFlush, warn: book.warn });
    this.live = new LiveSession({
      ports: book.ports,
      handlers: {
        keep: (changed) => this.keeping.keep(changed),
        changed: (changed) => {
          // Whoever sees that a turn has ended finds all its words. By its version: while an earlier record is being written,
          // a whole turn may pass and leave the state that is shown.
          if (changed.state_version !== this.keeping.shown.state_version) this.talk.flush({ isWritten: true });
          this.keeping.changed(changed);
        },
        say: (messages) => this.talk.add(messages),
        keepSecrets: async (secrets) => {
          this.#secrets = secrets;
          await store.saveSecrets(id, secrets);
        },
        slept: parts.slept,
        outputPath: store.outputPath(id),
        warn: book.warn,
      },
      way,
      dialect,
      asks: parts.asks,
      secrets: () => this.#secrets,
      record,
    });
  }

  get secrets(): SessionSecrets {
    return this.#secrets;
  }

  /** As everyone sees it. */
  get row(): SessionRow {
    const of = this.keeping.shown;
    if (this.#row?.of !== of || this.#row.row.last_words !== this.#lastWords) {
      this.#row = { of, row: rowOf(of, this.#lastWords) };
    }
    return this.#row.row;
  }

  /** What it said up to the moment the daemon fell: its record may be a little older than its conversation. */
  async catchUp(): Promise<void> {
    this.#lastWords = (await this.talk.lastWords()) ?? this.#lastWords;
  }

  get glance(): SessionGlance {
    const { id, driver, title, model, state, auto_approve, is_resumable, view } = this.row;
    return { id, driver, title, model, state, auto_approve, is_resumable, view };
  }

  follow(onChange: () => void): () => void {
    this.#followers.add(onChange);
    return () => void this.#followers.delete(onChange);
  }

  /** Its conversation as lines for people. */
  async lines(linesMax: number): Promise<readonly string[]> {
    const { messages } = await this.talk.page(0, limits.sessionPageMax);
    const lines = messages.flatMap(({ role, text, tool }) => {
      const head = tool === undefined ? role : `${role} ${tool.name} (${tool.status})`;
      return [`${head}: ${text}`.split('\n'), ['']].flat();
    });
    return lines.slice(-linesMax);
  }

  /** For good, or because the daemon leaves. */
  async close(): Promise<void> {
    await this.talk.settle();
    this.talk.close();
    await this.keeping.close();
  }

  /** Whoever follows it looks again. */
  tell(): void {
    for (const onChange of this.#followers) onChange();
  }
}

function rowOf(kept: KeptSession, last_words: string | null): SessionRow {
  const {
    memory: _memory,
    queue,
    outgoing,
    prompt: _prompt,
    is_led: isLed,
    mark: _mark,
    last_process: _last,
    address: _address,
    made_branch: _made,
    ...record
  } = kept;
  return {
    ...record,
    last_words,
    asleep_since: asleepSince(kept),
    pending_ask: shownAsk(kept),
    view: viewOf(kept),
    queued: queue.length + (isLed ? 0 : outgoing.length),
  };
}
