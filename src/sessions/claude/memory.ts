// What the Claude dialect remembers between lines. Plain values; bounded.

import type { Fields } from '../../agents/fields.ts';
import type { AgentSessionId, ScopeId } from '../../model/ids.ts';
import type { SessionMessage } from '../../model/sessions.ts';
import type { Weighed } from '../asks-room.ts';
import type { Opening } from '../dialect.ts';
import { type Draft, freshMarks, type Marked } from '../draft.ts';
import type { Interview } from '../questions.ts';
import { freshWatch, type Watched } from '../watch.ts';

/** A tool that wants a yes, or questions that want answers. */
export interface OpenAsk extends Weighed {
  /** Of the control request; the id of the ask, too. */
  readonly request: string;
  readonly tool: string;
  readonly toolUse: string | null;
  readonly scope: ScopeId;
  /** What goes back with a yes. */
  readonly input: Fields;
  /** What a person is shown: a plan stands in the call of the tool and not in the request for leave. */
  readonly shown: Fields;
  /** Null: a yes or a no. */
  readonly interview: Interview | null;
}

/** One piece of the answer that is being written. */
export interface Block {
  readonly id: string;
  readonly role: Extract<SessionMessage['role'], 'agent' | 'thought' | 'tool'>;
  readonly text: string;
  readonly isOpen: boolean;
  /** The whole of it was told once more, as a message of its own. */
  readonly isTold: boolean;
}

/** The answer that one scope is writing: the agent itself, or one of its subagents. */
export interface Answer {
  readonly message: string;
  readonly blocks: readonly Block[];
}

export interface OpenTool {
  readonly name: string;
  readonly text: string;
  /** Of a plan, what it says. */
  readonly plan: Fields;
}

export interface ClaudeMemory extends Watched, Marked {
  readonly auto_approve: boolean;
  readonly session: AgentSessionId | null;
  readonly isRetrying: boolean;
  readonly asks: readonly OpenAsk[];
  /** Requests that were answered or withdrawn. */
  readonly settled: readonly string[];
  readonly answers: Readonly<Record<string, Answer>>;
  readonly tools: Readonly<Record<string, OpenTool>>;
  /** A turn was announced and its result is not there yet. */
  readonly isBegun: boolean;
  /** The last announcement of a turn and the last result, by which doubled lines are known. */
  readonly turnMark: string | null;
  readonly resultMark: string | null;
  /** What the agent itself said of the failure that ends the turn. */
  readonly failure: { readonly status: number | null; readonly code: string; readonly words: string } | null;
  /** The ask that a failed turn has left behind: words for it are another prompt. */
  readonly failedAsk: string | null;
  /** Subagents at work behind the answer. */
  readonly behind: number;
  /** All that runs in the background, shells too. */
  readonly tasks: number;
}

export type ClaudeDraft = Draft<ClaudeMemory>;

export const freshMemory = ({ auto_approve, resume, spawned_at }: Opening, at: number): ClaudeMemory => ({
  ...freshMarks(spawned_at),
  auto_approve,
  session: resume,
  isRetrying: false,
  asks: [],
  settled: [],
  answers: {},
  tools: {},
  isBegun: false,
  turnMark: null,
  resultMark: null,
  failure: null,
  failedAsk: null,
  behind: 0,
  tasks: 0,
  watch: freshWatch(at),
});
