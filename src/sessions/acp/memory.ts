// What the ACP dialect remembers between lines. Plain values; bounded.

import type { Fields } from '../../agents/fields.ts';
import type { ScopeId } from '../../model/ids.ts';
import type { Weighed } from '../asks-room.ts';
import type { Opening } from '../dialect.ts';
import { type Draft, freshMarks, type Marked } from '../draft.ts';
import { type Calls, noCalls, type RpcId } from '../json-rpc.ts';
import type { Interview } from '../questions.ts';
import { freshWatch, type Watched } from '../watch.ts';
import type { ModelWish } from './models.ts';
import type { ProfileName } from './profiles.ts';

/** A way to answer a request for leave, as the agent names it. */
export interface Choice {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
}

/** Something the agent wants from a person. */
export interface OpenAsk extends Weighed {
  readonly key: string;
  readonly scope: ScopeId;
  readonly tool: string | null;
  readonly about: /** A yes or a no. */
    | {
        readonly kind: 'leave';
        readonly id: RpcId;
        readonly toolKind: string;
        readonly text: string;
        readonly choices: readonly Choice[];
      }
    /** A form to be filled in, or a page to be opened: then there is nothing to fill in. */
    | { readonly kind: 'form'; readonly id: RpcId; readonly params: Fields; readonly interview: Interview | null }
    /** A question that the protocol hides: the answer is said as the next prompt. */
    | { readonly kind: 'hidden'; readonly interview: Interview };
}

/** A tool that was called and has not come to its end. */
export interface Tool {
  readonly name: string;
  readonly kind: string;
  readonly text: string;
  /** Of an edit: what it changes. */
  readonly change: string | null;
  readonly output: string;
  readonly status: 'pending' | 'running' | 'refused';
}

/** What is being said: the pieces of one message follow each other. */
export interface Speech {
  readonly id: string;
  readonly role: 'agent' | 'thought';
  /** The agent's own id of the message; null where it gives none. */
  readonly message: string | null;
  readonly text: string;
  readonly pieces: number;
}

/** What was seen of the turn that runs: enough to tell at its end whether it went well (SES6). */
export interface Seen {
  /** Words of the model or a tool. */
  readonly work: boolean;
  /** The same since a person said no. */
  readonly workSinceNo: boolean;
  readonly saidNo: boolean;
  /** What the program wrote, in place of the model, about a request that failed. Later work takes it back. */
  readonly failure: string | null;
  /** It looks like that, but nobody knows this agent. */
  readonly suspicion: string | null;
  /** The agent says that it stands in an error. */
  readonly isBroken: boolean;
  /** The program's own last words. */
  readonly notice: string | null;
  /** Requests that were tried again. */
  readonly retries: number;
}

export const nothingSeen: Seen = {
  work: false,
  workSinceNo: false,
  saidNo: false,
  failure: null,
  suspicion: null,
  isBroken: false,
  notice: null,
  retries: 0,
};

export interface AcpMemory extends Watched, Marked {
  readonly opening: Opening;
  readonly calls: Calls;
  /** It said who it is. */
  readonly isGreeted: boolean;
  /** Chosen by what the agent says of itself. */
  readonly profile: ProfileName;
  readonly canResume: boolean;
  readonly canLoad: boolean;
  /** How to log in, in the agent's words. */
  readonly logins: readonly string[];
  readonly session: string | null;
  /** How the model that was wished for is set, or why it cannot be; null: nothing is to be set. */
  readonly model: ModelWish | null;
  /** The session is there and has that model. */
  readonly isReady: boolean;
  /** The number of the prompt that is being answered. */
  readonly prompt: number | null;
  /** What is to be said as soon as it can be; null: nothing. */
  readonly waiting: string | null;
  /** The last prompt. */
  readonly said: string | null;
  readonly asks: readonly OpenAsk[];
  readonly settled: readonly string[];
  readonly tools: Readonly<Record<string, Tool>>;
  readonly speech: Speech | null;
  readonly seen: Seen;
  /** Tokens of turns that have ended, where the agent counts each turn alone. */
  readonly tokens: { readonly input: number; readonly output: number };
  /** The ask that a failed turn has left behind: words for it are another prompt. */
  readonly failedAsk: string | null;
}

export type AcpDraft = Draft<AcpMemory>;

export const freshMemory = (opening: Opening, at: number): AcpMemory => ({
  ...freshMarks(opening.spawned_at),
  opening,
  calls: noCalls,
  isGreeted: false,
  profile: 'general',
  canResume: false,
  canLoad: false,
  logins: [],
  session: null,
  model: null,
  isReady: false,
  prompt: null,
  waiting: null,
  said: null,
  asks: [],
  settled: [],
  tools: {},
  speech: null,
  seen: nothingSeen,
  tokens: { input: 0, output: 0 },
  failedAsk: null,
  watch: freshWatch(at),
});
