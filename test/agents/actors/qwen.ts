// Qwen Code: with an API key of its OpenAI way, and told to ask before it runs anything: left alone it decides by itself.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionExecutor } from '../actor.ts';

export const qwen: ActionExecutor = {
  agent: 'qwen',
  label: 'qwen',
  version: '0.24.4',
  command: 'qwen',
  env: ({ port }) => ({
    OPENAI_API_KEY: 'dummy',
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    OPENAI_MODEL: 'mock-model',
  }),
  seed: ({ home }) => {
    mkdirSync(join(home, '.qwen'));
    const settings = {
      security: { auth: { selectedType: 'openai' } },
      tools: { approvalMode: 'default' },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    };
    writeFileSync(join(home, '.qwen/settings.json'), JSON.stringify(settings));
  },
  shows: {
    trust: /(?!)/,
    ready: /\(shift \+ tab to cycle\)/,
    busy: /esc to cancel\)/,
    approval: /1\. Yes, allow once/,
    question: /Enter: Select \| Esc: Cancel/,
    error: /✕ \[API Error/,
    interrupted: /Request cancelled/,
    refused: /- Shell touch go-2/,
  },
  press: {
    trust: () => undefined,
    approve: (stage) => stage.keys('1'),
    refuse: (stage) => stage.keys('Escape'),
    answer: (stage) => stage.keys('Enter'),
    decline: (stage) => stage.keys('Escape'),
    interrupt: (stage) => stage.keys('Escape'),
    exit: (stage) => stage.submit('/quit'),
    clear: (stage) => stage.keys('C-u'),
  },
  quoted: null,
  retry: { status: 500, shows: null },
  missing: {
    'trust dialog': 'It asks no such question: in an empty home and folder its prompt is the first thing it shows.',
    'dialog quoted': 'No quote of its dialogs is there yet.',
    'menu below the quote': 'No quote of its dialogs is there yet.',
  },
  cannot: {
    'send into the trust dialog': 'It asks no such question.',
    'trust dialog answered': 'It asks no such question.',
    'send after interrupt':
      'What was interrupted stands in its prompt again: agtmux refuses to send along with it until it is cleared.',
  },
};
