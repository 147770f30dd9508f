// What the dialect of Kilo's lines remembers between them. Plain values; bounded.

import type { SessionMessage } from '../../model/sessions.ts';
import type { Opening } from '../dialect.ts';
import { type Draft, freshMarks, type Marked } from '../draft.ts';
import { freshWatch, type Watched } from '../watch.ts';

/** What it waits for. It takes one answer and no id with it, so it matters that there is exactly one. */
export interface Waiting {
  /** When it was said: the same line is printed again and again under it. */
  readonly id: string;
  /**
   * leave: a yes or a no. question: words. failure: a yes tries again, and nothing else. guidance: words, or a yes. rest:
   * words begin the next turn.
   */
  readonly kind: 'leave' | 'question' | 'failure' | 'guidance' | 'rest';
  /** Of a question: what it proposes. */
  readonly labels: readonly string[];
}

/** A message that may still grow. */
export interface Item {
  readonly role: Extract<SessionMessage['role'], 'agent' | 'thought' | 'tool'>;
  /** Of a tool. */
  readonly name: string;
  readonly text: string;
  readonly output: string;
}

export interface LinesMemory extends Watched, Marked {
  readonly opening: Opening;
  /** The first half of a line. */
  readonly half: string;
  /** The conversation has a name that it can be gone on with. */
  readonly isNamed: boolean;
  /** That name, where it is one of its own. */
  readonly session: string | null;
  /** Anything at all was said. */
  readonly isHeard: boolean;
  readonly waiting: Waiting | null;
  readonly settled: readonly string[];
  /** What is to be said as soon as it takes words; null: nothing. */
  readonly held: string | null;
  /** When it is said in any case; null: never. */
  readonly heldUntil: number | null;
  /** Prompts of ours that it has not repeated yet. */
  readonly unrepeated: readonly string[];
  readonly items: Readonly<Record<string, Item>>;
  /** Waits between tries of one request, by when they were said. */
  readonly retries: readonly string[];
  /** Requests whose use of tokens was counted. */
  readonly counted: readonly string[];
  readonly tokens: { readonly input: number; readonly output: number };
}

export type LinesDraft = Draft<LinesMemory>;

export const freshMemory = (opening: Opening, at: number): LinesMemory => ({
  ...freshMarks(opening.spawned_at),
  opening,
  half: '',
  isNamed: false,
  session: opening.resume,
  isHeard: false,
  waiting: null,
  settled: [],
  held: null,
  heldUntil: null,
  unrepeated: [],
  items: {},
  retries: [],
  counted: [],
  tokens: { input: 0, output: 0 },
  watch: freshWatch(at),
});
