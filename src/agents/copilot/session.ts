// How GitHub Copilot CLI is started as a session that agtmux leads.

import { type AcpAgent, general } from '../protocol/acp/profile.ts';
import { acpLauncher, type SessionLauncher } from '../protocol/launch.ts';

export const sessions: readonly SessionLauncher[] = [
  acpLauncher({ command: ['copilot', '--acp'], install: 'npm install -g @github/copilot', modelFlag: '--model' }),
];

/** 1.0.102 ends a failed turn well; only messages of its own, each in one piece, tell of it. */
export const acp: AcpAgent = {
  name: 'copilot',
  called: /copilot/i,
  profile: {
    ...general,
    voiceOf({ text, pieces }) {
      if (pieces > 1) return 'model';
      if (text.startsWith('Error: ')) return 'failure';
      if (/^Info: .*\bRetrying\b/.test(text)) return 'retry';
      return /^(?:Info|Warning): /.test(text) ? 'program' : 'model';
    },
    beginsAnew: (text) => /^(?:Error|Info|Warning): \S+ \S/.test(text),
    // Told before every request.
    boundary: 'usage_update',
    counts: 'conversation',
    login: 'run `copilot login`',
  },
};
