// What ACP hides of each agent, as it was measured: how a failed request looks when the turn ends as if nothing had
// happened, how it takes up a conversation, how its tokens are counted. Each profile stands in its agent's folder; an agent
// nobody has measured has the general one.

import { type Fields, fieldsIn, idOf, rowsOf, textOf } from '../../fields.ts';

/** One message as it came: whole, or as far as it is there. */
interface Words {
  readonly text: string;
  readonly pieces: number;
  /** The agent gave it an id: it is the model's. */
  readonly hasId: boolean;
}

/** Whose words they are: the model's; the program's own, which may tell of a failed request, or of another try. */
export type Voice = 'model' | 'program' | 'failure' | 'retry' | 'suspect';

export interface Profile {
  voiceOf(words: Words): Voice;
  /** A piece that begins a message of its own, though nothing else says so. */
  beginsAnew(text: string): boolean;
  /** An update after which a new message begins. */
  readonly boundary: string | null;
  /** Its own state, where it tells it beside the protocol. */
  isBroken(update: Fields): boolean | null;
  /** The name by which it takes up a conversation of this id. */
  loadId(id: string): string;
  /** A prompt of which nothing came is not in its memory: to try again means to say it again. */
  readonly forgetsFailed: boolean;
  /** The tool with which it asks a question that the protocol does not carry; null: there is none. */
  readonly questionTool: string | null;
  /** Whether it counts tokens of the turn or of the whole conversation. */
  readonly counts: 'turn' | 'conversation';
  /** How to log in, as one thing to do; null: what the agent says itself. */
  readonly login: string | null;
}

/** A line that is whole at once and begins like this is written by programs, and now and then by a model. */
const looksFailed = /^(?:api[ _])?error\b/i;

export const general: Profile = {
  voiceOf: ({ text, pieces }) => (pieces === 1 && looksFailed.test(text) ? 'suspect' : 'model'),
  beginsAnew: () => false,
  boundary: null,
  isBroken: () => null,
  loadId: (id) => id,
  forgetsFailed: false,
  questionTool: null,
  counts: 'turn',
  login: null,
};

/** Of agents that answer a prompt with an error when a request has failed: whatever they say is the model's. */
export const honest: Profile = { ...general, voiceOf: () => 'model' };

/** An agent that was measured, and how it is known when it speaks. */
export interface AcpAgent {
  readonly name: string;
  /** In what it calls itself, or in the names of its ways to log in. */
  readonly called: RegExp;
  readonly profile: Profile;
}

/** Who speaks, by what it says of itself; before agents named themselves, by its ways to log in. Null: nobody knows it. */
export function agentIn(initialized: Fields, agents: readonly AcpAgent[]): AcpAgent | null {
  const named = textOf(fieldsIn(initialized.agentInfo).name);
  const logins = rowsOf(initialized.authMethods).flatMap(({ id }) => idOf(id) ?? []);
  const signs = named === null ? logins.join(' ') : named;
  return agents.find(({ called }) => called.test(signs)) ?? null;
}
