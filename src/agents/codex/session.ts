// How Codex is started as a session that agtmux leads: its app-server in a process of our own, or the shared one that the
// user's own Codex runs on. What the session wants is said to it afterwards, not here.

import type { SessionWay } from '../session-way.ts';

const install = 'npm install -g @openai/codex';

export const sessions: readonly SessionWay[] = [
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
      socket: `${env.CODEX_HOME || `${home}/.codex`}/app-server-control/app-server-control.sock`,
    }),
  },
];
