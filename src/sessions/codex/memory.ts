// What the Codex dialect remembers between lines. Plain values; bounded.

import type { Fields } from '../../agents/fields.ts';
import type { ScopeId } from '../../model/ids.ts';
import type { SessionMessage } from '../../model/sessions.ts';
import type { Weighed } from '../asks-room.ts';
import type { Opening } from '../dialect.ts';
import { type Draft, freshMarks, type Marked } from '../draft.ts';
import { type Calls, noCalls, type RpcId } from '../json-rpc.ts';
import type { Interview } from '../questions.ts';
import { freshWatch, type Watched } from '../watch.ts';

/** A request of the server that waits for a person. */
export interface OpenAsk extends Weighed {
  readonly id: RpcId;
  /** The id of the ask: that of the item it is about, which stays the same on another connection. */
  readonly key: string;
  readonly method: string;
  readonly params: Fields;
  readonly scope: ScopeId;
  /** Null: a yes or a no. */
  readonly interview: Interview | null;
}

/** Something that is being said or done. */
export interface Item {
  readonly role: Extract<SessionMessage['role'], 'agent' | 'thought' | 'tool'>;
  /** Of a tool. */
  readonly name: string;
  readonly text: string;
  readonly output: string;
}

export interface CodexMemory extends Watched, Marked {
  readonly opening: Opening;
  /** The server is the user's own and outlives us. */
  readonly livesOn: boolean;
  readonly calls: Calls;
  readonly thread: string | null;
  /** The server has put the thread away: it has to be taken up before the next turn. */
  readonly isAway: boolean;
  readonly turn: string | null;
  /** A turn was announced and its end is not there yet. */
  readonly isBegun: boolean;
  /** Anything but the prompt was heard of the turn. */
  readonly hasOutput: boolean;
  /** What is to be said as soon as there is a thread; null: nothing. */
  readonly waiting: string | null;
  /** Prompts of ours that the server has not repeated yet. */
  readonly unrepeated: readonly string[];
  readonly asks: readonly OpenAsk[];
  readonly settled: readonly string[];
  readonly items: Readonly<Record<string, Item>>;
  /** Commands that were begun and have not ended: they may outlast their turn. */
  readonly running: readonly string[];
  readonly isRetrying: boolean;
  /** What the server said of the failure that ends the turn. */
  readonly failure: { readonly info: unknown; readonly words: string } | null;
  /** The ask that a failed turn has left behind: words for it are another prompt. */
  readonly failedAsk: string | null;
}

export type CodexDraft = Draft<CodexMemory>;

export const freshMemory = (opening: Opening, livesOn: boolean, at: number): CodexMemory => ({
  ...freshMarks(opening.spawned_at),
  opening,
  livesOn,
  calls: noCalls,
  thread: opening.rejoin?.thread ?? opening.resume,
  isAway: false,
  turn: null,
  isBegun: false,
  hasOutput: false,
  waiting: null,
  unrepeated: [],
  asks: [],
  settled: [],
  items: {},
  running: [],
  isRetrying: false,
  failure: null,
  failedAsk: null,
  watch: freshWatch(at),
});
