// OpenCode as a managed session over ACP, with every command to be asked about.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Player } from '../player.ts';

export const opencode: Player = {
  agent: 'opencode',
  label: 'opencode, ACP',
  version: '1.18.33',
  driver: 'acp',
  model: 'mock-model',
  env: ({ home }) => ({
    OPENCODE_CONFIG: join(home, 'opencode.json'),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  }),
  seed: ({ home, port }) => {
    const options = { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'dummy' };
    const model = { name: 'Mock Model', limit: { context: 128_000, output: 8_192 } };
    const models = { 'mock-model': model, 'other-model': { ...model, name: 'Other Model' } };
    const config = {
      autoupdate: false,
      share: 'disabled',
      // The other one is set in the session.
      model: 'mock/other-model',
      small_model: 'mock/other-model',
      permission: { bash: 'ask', edit: 'ask' },
      provider: { mock: { npm: '@ai-sdk/openai-compatible', name: 'Mock', options, models } },
    };
    writeFileSync(join(home, 'opencode.json'), JSON.stringify(config));
  },
  retryStatus: 500,
  cannot: {
    rejoin: 'Its process ends with the daemon: the session is resumed instead.',
    question: 'Over ACP it does not offer its model a way to ask; over HTTP it does.',
    retrying: 'Over ACP nothing is told of a request that is tried again; over HTTP it is.',
  },
};
