// How Codex is started as a session that agtmux leads: its app-server in a process of our own, or the shared one that the
// user's own Codex runs on. What the session wants is said to it afterwards, not here.

import { fieldsIn, textOf } from '../fields.ts';
import { type AcpAgent, general } from '../protocol/acp/profile.ts';
import type { SessionLauncher } from '../protocol/launch.ts';
import { controlSocketOf } from './protocol.ts';

const install = 'npm install -g @openai/codex';

export const sessions: readonly SessionLauncher[] = [
  {
    driver: 'codex-app-server',
    install,
    launch: () => ({ command: ['codex', 'app-server'], env: {}, address: null }),
  },
  {
    driver: 'codex-daemon',
    install: `${install}, then start codex once: its shared server stays`,
    launch: ({ env, home }) => ({
      command: [],
      env: {},
      address: null,
      socket: controlSocketOf(env.CODEX_HOME || `${home}/.codex`),
    }),
  },
];

/** The adapter tells the state of the thread, and what it says itself has no id (codex-acp 2.6.0). */
export const acp: AcpAgent = {
  name: 'codex',
  called: /codex/i,
  profile: {
    ...general,
    voiceOf: ({ hasId }) => (hasId ? 'model' : 'program'),
    isBroken(update) {
      const status = textOf(fieldsIn(fieldsIn(fieldsIn(update._meta).codex).threadStatus).type);
      return status === null ? null : status === 'systemError';
    },
    login: 'run `codex login`',
  },
};
