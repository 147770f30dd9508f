// OpenCode: its configuration in a file of its own, with every command to be asked about.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionExecutor } from '../actor.ts';

export const opencode: ActionExecutor = {
  agent: 'opencode',
  label: 'opencode',
  version: '1.18.33',
  command: 'opencode',
  env: ({ home }) => ({
    OPENCODE_CONFIG: join(home, 'opencode.json'),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  }),
  seed: ({ home, port }) => {
    const options = { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'dummy' };
    const models = { 'mock-model': { name: 'Mock Model', limit: { context: 128_000, output: 8_192 } } };
    const config = {
      autoupdate: false,
      share: 'disabled',
      model: 'mock/mock-model',
      small_model: 'mock/mock-model',
      permission: { bash: 'ask', edit: 'ask' },
      provider: { mock: { npm: '@ai-sdk/openai-compatible', name: 'Mock', options, models } },
    };
    writeFileSync(join(home, 'opencode.json'), JSON.stringify(config));
    // Beside a plugin it wants its own package of types, and without a network it waits for minutes before it starts.
    const folder = join(home, '.config/opencode');
    const wanted = { dependencies: { '@opencode-ai/plugin': '1.18.33' } };
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify(wanted));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages: { '': wanted } }));
  },
  shows: {
    trust: /(?!)/,
    ready: /ctrl\+p commands/,
    busy: /esc interrupt|esc again to interrupt/,
    approval: /Permission required/,
    question: /enter submit|enter confirm/,
    error: /mock says no/,
    interrupted: /interrupted/,
    refused: /rejected|Build/,
  },
  press: {
    trust: () => undefined,
    approve: (stage) => stage.keys('Enter'),
    refuse: (stage) => stage.keys('Escape'),
    answer: (stage) => stage.keys('Enter'),
    decline: (stage) => stage.keys('Escape'),
    interrupt: async (stage) => {
      stage.keys('Escape');
      await stage.see(/again to interrupt/);
      stage.keys('Escape');
    },
    exit: (stage) => stage.submit('/exit'),
    clear: (stage) => stage.keys('C-u'),
  },
  quoted: null,
  retry: { status: 500, shows: /retrying attempt/i },
  missing: {
    'dialog quoted': 'No quote of its dialogs is there yet.',
    'menu below the quote': 'No quote of its dialogs is there yet.',
    'trust dialog': 'It asks no such question: in an empty home and folder its prompt is the first thing it shows.',
  },
  cannot: {
    'send into the trust dialog': 'It asks no such question.',
    'trust dialog answered': 'It asks no such question.',
  },
};
