// How an agent is started that speaks the Agent Client Protocol on stdin and stdout: the four that have it built in, the
// adapters for others, and any program that people name in their settings.

import type { SessionWay } from './session-way.ts';

export interface AcpProgram {
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

export const acpWay = ({ command, install, modelFlag, env = {} }: AcpProgram): SessionWay => ({
  driver: 'acp',
  install,
  launch: ({ model }) => ({
    command: [...command, ...(model === null || modelFlag === undefined ? [] : modelWords(modelFlag, model))],
    env,
    address: null,
  }),
});
