// Gemini CLI as a managed session over ACP.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Player } from '../player.ts';

export const gemini: Player = {
  agent: 'gemini',
  label: 'gemini',
  version: '0.61.0',
  driver: 'acp',
  model: 'gemini-2.5-pro',
  env: ({ port }) => ({ GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}` }),
  seed: ({ home }) => {
    mkdirSync(join(home, '.gemini'));
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    };
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
  },
  retryStatus: 500,
  cannot: {
    rejoin: 'Its process ends with the daemon: the session is resumed instead.',
    question: 'Over ACP it does not offer its model a way to ask, also when forms are offered to it.',
    retrying: 'Over ACP it says nothing while it tries ten times; what it prints about that comes when it ends.',
  },
};
