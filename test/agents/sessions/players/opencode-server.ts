// OpenCode as a managed session by its server.

import type { Player } from '../player.ts';
import { opencode } from './opencode.ts';

export const opencodeServer: Player = {
  ...opencode,
  label: 'opencode, server',
  driver: 'opencode-http',
  model: 'mock/mock-model',
  cannot: {},
};
