// The asks of one screen: one dialog is one ask, whoever told it. An ask of the agent itself comes before the screen's own;
// when another dialog stands on the screen than the one it told, the agent's ask was answered at the keyboard (RSV3).

import type { SeenAsk } from '../agents/contract.ts';
import { canonical, hashText } from '../engine/canonical.ts';
import type { EventEnvelope } from '../model/events.ts';
import { type AskId, askId, mainScope, type RuntimeId } from '../model/ids.ts';
import type { StateRecord } from '../model/records.ts';

/** What is to be told. */
export interface AskEvent {
  readonly source: Extract<EventEnvelope['source'], 'screen' | 'reconciler'>;
  readonly kind: 'ask.opened' | 'ask.settled';
  readonly payload: Readonly<Record<string, unknown>>;
}

const ownPrefix = 'screen:';
const isOwn = (id: AskId): boolean => id.startsWith(ownPrefix);

export class ScreenAsks {
  readonly #runtime: RuntimeId;
  /** Our own open ask and the words it was opened for. */
  #own: { readonly id: AskId; readonly words: string } | null = null;
  /** The agent's ask that was published last, and the words the screen showed for it. */
  #agents: { readonly id: AskId; readonly words: string } | null = null;
  /** Words seen once that differ from those told: drawn in pieces, they count when they are seen again. */
  #next: string | null = null;

  constructor(runtime: RuntimeId) {
    this.#runtime = runtime;
  }

  /** What this look at the screen changes. To be called at every look: a look that says the same gives nothing. */
  step(seen: SeenAsk | null, record: StateRecord | null, at: number): readonly AskEvent[] {
    const published = record?.ask ?? null;
    if (seen === null) return this.close();
    const words = wordsOf(seen);
    if (published !== null && !isOwn(published.ask_id)) return this.#besideAgent(published.ask_id, seen, words, at);
    this.#agents = null;
    // Another run of the daemon, or of this watch, has opened it: it is ours all the same.
    if (this.#own === null && published !== null) {
      this.#own = { id: published.ask_id, words: wordsOf(published) };
    }
    // We have one at most: a second one that is open was told by the agent, later than we saw it.
    if (this.#own !== null && (record?.asks_open ?? 0) > 1) return this.close();
    if (this.#own?.words === words) {
      this.#next = null;
      return [];
    }
    if (this.#own !== null && this.#next !== words) {
      this.#next = words;
      return [];
    }
    return [...this.close(), this.#open(seen, words, at)];
  }

  /** No dialog is there any more, or nobody can read it. */
  close(): readonly AskEvent[] {
    const own = this.#own;
    this.#own = null;
    this.#next = null;
    this.#agents = null;
    return own === null ? [] : [settled('screen', own.id, 'withdrawn')];
  }

  /** What was offered was not taken: it has to be told again. */
  forget(): void {
    this.#own = null;
    this.#agents = null;
    this.#next = null;
  }

  #besideAgent(id: AskId, seen: SeenAsk, words: string, at: number): readonly AskEvent[] {
    const mine = this.#own === null ? [] : [settled('screen', this.#own.id, 'withdrawn')];
    this.#own = null;
    if (this.#agents?.id !== id) {
      this.#agents = { id, words };
      this.#next = null;
      return mine;
    }
    if (this.#agents.words === words) {
      this.#next = null;
      return mine;
    }
    if (this.#next !== words) {
      this.#next = words;
      return mine;
    }
    this.#agents = null;
    this.#next = null;
    return [...mine, settled('reconciler', id, 'answered'), this.#open(seen, words, at)];
  }

  /** The same words asked again later are another ask. */
  #open({ kind, text, options }: SeenAsk, words: string, at: number): AskEvent {
    const id = askId(`${ownPrefix}${hashText(canonical([words, this.#runtime, at]))}`);
    this.#own = { id, words };
    this.#next = null;
    const ask = { ask_id: id, kind, scope: mainScope, text, options };
    return { source: 'screen', kind: 'ask.opened', payload: { ask } };
  }
}

/** Compared without blanks: a window that is made narrower wraps the same words elsewhere. */
export const wordsOf = ({ text, options }: Pick<SeenAsk, 'text' | 'options'>): string =>
  [text, ...options.map(({ label }) => label)].join('\n').replace(/\s+/gu, '');

const settled = (source: AskEvent['source'], ask_id: AskId, how: 'withdrawn' | 'answered'): AskEvent => ({
  source,
  kind: 'ask.settled',
  payload: { ask_id, how },
});
