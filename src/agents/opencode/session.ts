// How OpenCode is started as a session that agtmux leads: by its server, which tells of questions and retries and lives on
// without us, or over ACP, which does not.

import { type AcpAgent, honest } from '../protocol/acp/profile.ts';
import { acpLauncher, type SessionLauncher } from '../protocol/launch.ts';
import { serverLauncher } from './server-launcher.ts';

const install = 'npm install -g opencode-ai';

export const sessions: readonly SessionLauncher[] = [
  serverLauncher({ program: 'opencode', prefix: 'OPENCODE', install }),
  acpLauncher({ command: ['opencode', 'acp'], install }),
];

/** As it speaks over ACP. */
export const acp: AcpAgent = {
  name: 'opencode',
  called: /opencode/i,
  profile: { ...honest, questionTool: 'question', login: 'run `opencode auth login`' },
};
