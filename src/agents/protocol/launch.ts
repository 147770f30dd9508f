// How an agent is started to be led by agtmux itself: what its folder says in `session.ts`.

import type { AgentSessionId } from '../../model/ids.ts';

/** What a session that agtmux leads itself is started with. The prompt is not in it: it is said, never passed (SES1). */
export interface LaunchRequest {
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

/** How the program is started for an adapter, or where it is already running. */
export interface Launch {
  /** Program and arguments; never the prompt. Empty where `socket` is set: nothing is started then. */
  readonly command: readonly string[];
  /** Added to the caller's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Where its server answers, for protocol adapters that speak HTTP: read from this line of its output. */
  readonly address: RegExp | null;
  /** Path of the server's stream of events; it is open before anything is asked. */
  readonly events?: string;
  /** The user that the server wants a password for; the password is the secret. */
  readonly auth?: string;
  /** A web socket behind this unix socket, one line a frame, instead of a process: the program outlives us (SES5). */
  readonly socket?: string;
}

/** One way to lead this agent. */
export interface SessionLauncher {
  /** The adapter it speaks, by the name in sessions/protocolAdapters. */
  readonly driver: string;
  /** How to get the program where it is not found. One command or one sentence. */
  readonly install: string;
  launch(wish: LaunchRequest): Launch;
}

// How an agent is started that speaks the Agent Client Protocol on stdin and stdout: the four that have it built in, the
// adapters for others, and any program that people name in their settings.

interface AcpProgram {
  /** Program and arguments that make it speak ACP. */
  readonly command: readonly string[];
  /** How to get the program where it is not found. One command or one sentence. */
  readonly install: string;
  /** How a model is named on the command line. Left out: it is set when the session is there, if the agent lets us. */
  readonly modelFlag?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** One word where the flag takes it so: a value that looks like an option must not become one. */
const modelWords = (flag: string, model: string): readonly string[] =>
  flag.startsWith('--') ? [`${flag}=${model}`] : [flag, model];

export const acpLauncher = ({ command, install, modelFlag, env = {} }: AcpProgram): SessionLauncher => ({
  driver: 'acp',
  install,
  launch: ({ model }) => ({
    command: [...command, ...(model === null || modelFlag === undefined ? [] : modelWords(modelFlag, model))],
    env,
    address: null,
  }),
});
