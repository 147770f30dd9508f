// Kimi Code: with a provider of one's own in its configuration.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionExecutor } from '../actor.ts';

const goesOn = 'goes on';

export const kimi: ActionExecutor = {
  agent: 'kimi',
  label: 'kimi',
  version: '2.1.0',
  command: 'kimi',
  env: () => ({ KIMI_CODE_NO_AUTO_UPDATE: '1' }),
  seed: ({ home, port }) => {
    mkdirSync(join(home, '.kimi-code'));
    const lines = [
      'default_model = "mock"',
      'telemetry = false',
      '[providers.mock]',
      'type = "openai"',
      `base_url = "http://127.0.0.1:${port}/v1"`,
      'api_key = "dummy"',
      '[models.mock]',
      'provider = "mock"',
      'model = "mock-model"',
      'max_context_size = 128000',
    ];
    writeFileSync(join(home, '.kimi-code/config.toml'), `${lines.join('\n')}\n`);
  },
  shows: {
    trust: /Trust this folder\?/,
    ready: /^ │ > /m,
    busy: /^ {2}(?:[\u2801-\u28ff]|[\u{1f311}-\u{1f318}])(?: |$)/mu,
    approval: /▶ 1\. Approve once/,
    question: /→ \[1\] /,
    error: /Error: \[provider\.api_error\]/,
    interrupted: /Interrupted by user/,
    refused: /Rejected: Running: touch go-2/,
  },
  press: {
    trust: (stage) => stage.keys('Enter'),
    approve: (stage) => stage.keys('1'),
    refuse: (stage) => stage.keys('Escape'),
    answer: async (stage) => {
      stage.keys('1');
      await stage.see(/Ready to submit/);
      stage.keys('1');
    },
    decline: (stage) => stage.keys('Escape'),
    interrupt: (stage) => stage.keys('Escape'),
    exit: (stage) => stage.submit('/exit'),
    clear: (stage) => stage.keys('C-u'),
  },
  restless: /^ mock-model /,
  quoted: null,
  retry: { status: 500, shows: /Retrying \(/ },
  ends: { 'approval refused': goesOn, 'question declined': goesOn, 'two questions declined': goesOn },
  missing: {
    'dialog quoted': 'No quote of its dialogs is there yet.',
    'menu below the quote': 'No quote of its dialogs is there yet.',
  },
  cannot: {},
};
