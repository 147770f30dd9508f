// How OpenCode is started as a session that agtmux leads: by its server, which tells of questions and retries and lives on
// without us, or over ACP, which does not.

import { acpWay } from '../acp-way.ts';
import type { SessionWay } from '../session-way.ts';
import { serverWay } from './server-way.ts';

const install = 'npm install -g opencode-ai';

export const sessions: readonly SessionWay[] = [
  serverWay({ program: 'opencode', prefix: 'OPENCODE', install }),
  acpWay({ command: ['opencode', 'acp'], install }),
];
