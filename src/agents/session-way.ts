// How an agent is started to be led by agtmux itself: what its folder says in `session.ts`.

import type { AgentSessionId } from '../model/ids.ts';

/** What a session that agtmux leads itself is started with. The prompt is not in it: it is said, never passed (SES1). */
export interface LaunchWish {
  readonly cwd: string;
  readonly model: string | null;
  readonly auto_approve: boolean;
  /** The conversation to go on with; null: a new one. */
  readonly resume: AgentSessionId | null;
  readonly home: string;
  /** The caller's own environment: where the agent's files are may stand in it. */
  readonly env: Readonly<Record<string, string>>;
  /** Made for this process: the password of its server, where it takes one. */
  readonly secret?: string;
}

/** How the program is started for a dialect, or where it is already running. */
export interface Launch {
  /** Program and arguments; never the prompt. Empty where `socket` is set: nothing is started then. */
  readonly command: readonly string[];
  /** Added to the caller's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Where its server answers, for dialects that speak HTTP: read from this line of its output. */
  readonly address: RegExp | null;
  /** Path of the server's stream of events; it is open before anything is asked. */
  readonly events?: string;
  /** The user that the server wants a password for; the password is the secret. */
  readonly auth?: string;
  /** A web socket behind this unix socket, one line a frame, instead of a process: the program outlives us (SES5). */
  readonly socket?: string;
}

/** One way to lead this agent. */
export interface SessionWay {
  /** The dialect it speaks, by the name in sessions/dialects. */
  readonly driver: string;
  /** How to get the program where it is not found. One command or one sentence. */
  readonly install: string;
  launch(wish: LaunchWish): Launch;
}
