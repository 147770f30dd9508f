// Claude Code as a managed session: seeded past its first-run questions.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Player } from '../player.ts';

const key = 'sk-ant-dummy-00000000000000000000';

export const claude: Player = {
  agent: 'claude',
  label: 'claude',
  version: '2.1.325',
  driver: 'claude-stream',
  model: null,
  env: ({ port }) => ({
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: key,
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  seed: ({ home }) => {
    mkdirSync(join(home, '.claude'));
    const settings = {
      hasCompletedOnboarding: true,
      lastOnboardingVersion: '2.1.325',
      autoUpdates: false,
      customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    };
    writeFileSync(join(home, '.claude.json'), JSON.stringify(settings));
  },
  retryStatus: 429,
  cannot: { rejoin: 'Its process ends with the daemon: the session is resumed instead.' },
};
