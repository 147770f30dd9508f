// Continue CLI: with one model in a configuration of its own.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionExecutor } from '../actor.ts';

const keepsAsking = 'Esc does not close a question of it: it stands there until it is answered.';

export const continueCli: ActionExecutor = {
  agent: 'continue',
  label: 'continue',
  version: '1.5.47',
  command: 'cn --config ~/.continue/config.yaml',
  env: () => ({ CONTINUE_TELEMETRY_ENABLED: '0' }),
  seed: ({ home, port }) => {
    mkdirSync(join(home, '.continue'));
    const model = { name: 'mock', provider: 'openai', model: 'mock-model', apiKey: 'dummy', roles: ['chat', 'edit'] };
    const models = [{ ...model, apiBase: `http://127.0.0.1:${port}/v1` }];
    const config = { name: 'Mock', version: '1.0.0', schema: 'v1', models };
    writeFileSync(join(home, '.continue/config.yaml'), JSON.stringify(config));
  },
  shows: {
    trust: /(?!)/,
    ready: /^│ ● /m,
    busy: /esc to interrupt/,
    approval: /Would you like to continue\?/,
    question: /↑\/↓ navigate, Enter select/,
    error: /^Error: 400/m,
    interrupted: /Interrupted by user/,
    refused: /Tool canceled/,
  },
  press: {
    trust: () => undefined,
    approve: (stage) => stage.keys('Tab'),
    refuse: (stage) => stage.keys('Escape'),
    answer: (stage) => stage.keys('Enter'),
    decline: () => undefined,
    interrupt: (stage) => stage.keys('Escape'),
    exit: (stage) => stage.submit('/exit'),
    clear: (stage) => stage.keys('C-u'),
  },
  violet: 'Violet',
  quoted: null,
  retry: { status: 503, shows: null },
  missing: {
    'trust dialog': 'It asks no such question: in an empty home and folder its prompt is the first thing it shows.',
    'dialog quoted': 'No quote of its dialogs is there yet.',
    'menu below the quote': 'No quote of its dialogs is there yet.',
    'question declined': keepsAsking,
    'two questions declined': keepsAsking,
  },
  cannot: {
    'send into the trust dialog': 'It asks no such question.',
    'trust dialog answered': 'It asks no such question.',
    'send of many lines': 'It does not know the marks of a paste: agtmux refuses a message that has several lines.',
    'answer with an option':
      'Its questions are known by nothing that no other dialog has: agtmux answers none of them.',
    'answer in own words': 'No option opens the field for it: whatever is typed goes there, which agtmux does not do.',
  },
};
