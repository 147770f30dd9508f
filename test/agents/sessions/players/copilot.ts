// GitHub Copilot CLI as a managed session over ACP: offline, with a provider of one's own.

import type { Player } from '../player.ts';

export const copilot: Player = {
  agent: 'copilot',
  label: 'copilot',
  version: '1.0.102',
  driver: 'acp',
  model: null,
  env: ({ port }) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
    COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${port}/v1`,
    COPILOT_MODEL: 'claude-sonnet-4.6',
  }),
  seed: () => undefined,
  retryStatus: 500,
  cannot: {
    rejoin: 'Its process ends with the daemon: the session is resumed instead.',
    question: 'Over ACP it does not offer its model a way to ask, also when forms are offered to it.',
  },
};
