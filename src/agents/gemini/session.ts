// How Gemini CLI is started as a session that agtmux leads.

import { acpWay } from '../acp-way.ts';
import type { SessionWay } from '../session-way.ts';

export const sessions: readonly SessionWay[] = [
  acpWay({ command: ['gemini', '--acp'], install: 'npm install -g @google/gemini-cli', modelFlag: '--model' }),
];
