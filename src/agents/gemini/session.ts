// How Gemini CLI is started as a session that agtmux leads.

import { type AcpAgent, honest } from '../protocol/acp/profile.ts';
import { acpLauncher, type SessionLauncher } from '../protocol/launch.ts';

export const sessions: readonly SessionLauncher[] = [
  acpLauncher({ command: ['gemini', '--acp'], install: 'npm install -g @google/gemini-cli', modelFlag: '--model' }),
];

/** 0.61: of its ten tries nothing is heard; what it prints about them comes when it ends. */
export const acp: AcpAgent = {
  name: 'gemini',
  called: /gemini/i,
  profile: {
    ...honest,
    // It opens a record for the name it is given before it looks for the conversation, and so wipes out the one it is to
    // take up. When it looks it leaves blanks out: under a name with a blank in front both are there.
    loadId: (id) => ` ${id}`,
    forgetsFailed: true,
    login: 'run `gemini` once and choose how to log in, or set GEMINI_API_KEY',
  },
};
