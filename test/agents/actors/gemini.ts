// Gemini CLI: with an API key and a model named, so that it asks nobody which one to take.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionExecutor } from '../actor.ts';

export const gemini: ActionExecutor = {
  agent: 'gemini',
  label: 'gemini',
  version: '0.61.0',
  command: 'gemini -m gemini-2.5-pro',
  env: ({ port }) => ({ GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}` }),
  seed: ({ home }) => {
    mkdirSync(join(home, '.gemini'));
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: true } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    };
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
  },
  shows: {
    trust: /Do you trust the files in this folder\?/,
    ready: /Type your message/,
    busy: /esc to cancel/,
    approval: /Allow execution of/,
    question: /Enter to select/,
    error: /API Error/,
    interrupted: /Request cancelled/,
    refused: /Request cancelled/,
  },
  press: {
    trust: (stage) => stage.keys('Enter'),
    approve: (stage) => stage.keys('Enter'),
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
    'dialog quoted': 'No quote of its dialogs is there yet.',
    'menu below the quote': 'No quote of its dialogs is there yet.',
  },
  cannot: {},
};
