// What the dialect of OpenCode's and Kilo's server remembers between events. Plain values; bounded.

import type { Fields } from '../../agents/fields.ts';
import type { ScopeId } from '../../model/ids.ts';
import type { SessionMessage } from '../../model/sessions.ts';
import type { Weighed } from '../asks-room.ts';
import type { Opening, Said } from '../dialect.ts';
import { type Draft, freshMarks, type Marked } from '../draft.ts';
import type { Interview } from '../questions.ts';
import { freshWatch, type Watched } from '../watch.ts';

/** What a reply is about. The last five are one look at how things stand. */
export type Purpose = 'create' | 'check' | 'prompt' | 'answer' | 'reject' | 'abort' | LookPart;
export const lookParts = ['status', 'permissions', 'questions', 'messages', 'children'] as const;
export type LookPart = (typeof lookParts)[number];

type Request = Pick<Extract<Said, { readonly to: 'server' }>, 'method' | 'path' | 'body'>;

/** A request that was not answered yet. */
export interface Call extends Request {
  readonly purpose: Purpose;
  /** How often it was said. */
  readonly tries: number;
  /** For an answer: what was answered, to be asked again if the server did not take it. */
  readonly ask: OpenAsk | null;
}

/** Something that waits for a person. */
export interface OpenAsk extends Weighed {
  /** As the server knows it. */
  readonly id: string;
  /** The id of the ask: the same, unless an answer was not taken and it is asked once more. */
  readonly key: string;
  readonly kind: 'permission' | 'question';
  readonly scope: ScopeId;
  readonly about: Fields;
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

/** Why a turn failed, in the server's words. */
export interface Trouble {
  readonly name: string;
  readonly status: number | null;
  readonly words: string;
}

/** What was heard of the turn, for the check of its outcome (SES6). */
export interface Seen {
  /** The server has taken the prompt: what it says from now on is about this turn. */
  readonly isBegun: boolean;
  /** It was said while another turn was being stopped, whose last words may come late. */
  readonly isAfterStop: boolean;
  readonly hasOutput: boolean;
  /** The last answer of the model. */
  readonly answer: string | null;
  /** That answer is written to its end: nothing of it comes late. */
  readonly isAnswerDone: boolean;
  /** Why the model stopped, of that answer. */
  readonly finish: string | null;
  readonly trouble: Trouble | null;
  /** Somebody said no, and no other answer began since. */
  readonly wasRefused: boolean;
}

export const nothingSeen: Seen = {
  isBegun: false,
  isAfterStop: false,
  hasOutput: false,
  answer: null,
  isAnswerDone: false,
  finish: null,
  trouble: null,
  wasRefused: false,
};

/** A look at how things stand, while its parts come in. */
export interface Look {
  /** The conversation lived on without us: what it is in has to be told. */
  readonly isRejoin: boolean;
  /** It must be known: after a loss, as opposed to a look now and then. */
  readonly isNeeded: boolean;
  readonly parts: Partial<Readonly<Record<LookPart, unknown>>>;
  /** What was the news when it began: an older picture than the events must not count. */
  readonly news: number;
}

export interface HttpMemory extends Watched, Marked {
  readonly opening: Opening;
  /** From the daemon's timeline to the wall's, as far as the start tells. */
  readonly skewMs: number;
  readonly session: string | null;
  /** Conversations that this one has started. */
  readonly children: readonly string[];
  readonly calls: Readonly<Record<string, Call>>;
  /** What is to be said as soon as there is a conversation that takes it; null: nothing. */
  readonly waiting: string | null;
  /** Prompts of ours that the server has not repeated yet. */
  readonly unrepeated: readonly string[];
  /** Who said a message, of the last ones. */
  readonly speakers: Readonly<Record<string, 'user' | 'assistant'>>;
  readonly seen: Seen;
  /**
   * A turn that failed or was stopped is called over at once, and wound up for another second: a prompt in between would be
   * lost in it. The answer that is not done yet, and whether it is by now; null: nothing is wound up.
   */
  readonly winding: { readonly answer: string; readonly isDone: boolean } | null;
  readonly asks: readonly OpenAsk[];
  readonly settled: readonly string[];
  readonly items: Readonly<Record<string, Item>>;
  readonly isRetrying: boolean;
  /** The last turn was taken for a good one. */
  readonly wasGood: boolean;
  /** The ask that a failed turn has left behind: words for it are another prompt. */
  readonly failedAsk: string | null;
  readonly look: Look | null;
  /** Looks that failed or were overtaken, one after another. */
  readonly lookTries: number;
  readonly lookedAt: number;
  /** When to look next. */
  readonly lookAt: number | null;
  readonly tokens: { readonly input: number; readonly output: number } | null;
  /** Counts what was heard or said about state and asks. */
  readonly news: number;
}

export type HttpDraft = Draft<HttpMemory>;

export const freshMemory = (opening: Opening, at: number): HttpMemory => ({
  ...freshMarks(opening.spawned_at),
  opening,
  skewMs: opening.spawned_at - at,
  session: opening.resume ?? opening.rejoin?.session ?? null,
  children: [],
  calls: {},
  waiting: null,
  unrepeated: [],
  speakers: {},
  seen: nothingSeen,
  winding: null,
  asks: [],
  settled: [],
  items: {},
  isRetrying: false,
  wasGood: false,
  failedAsk: null,
  look: null,
  lookTries: 0,
  lookedAt: at,
  lookAt: null,
  tokens: null,
  news: 0,
  watch: freshWatch(at),
});
