// GitHub Copilot CLI: offline, with a provider of one's own.

import type { ActionExecutor } from '../actor.ts';

export const copilot: ActionExecutor = {
  agent: 'copilot',
  label: 'copilot',
  version: '1.0.102',
  command: 'copilot',
  env: ({ port }) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
    COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${port}/v1`,
    COPILOT_MODEL: 'claude-sonnet-4.6',
  }),
  seed: () => undefined,
  shows: {
    trust: /Confirm folder trust/,
    ready: /Interactive · Manual Approval/,
    busy: /(Working|Cancelling)\b.*$/m,
    approval: /Do you want to run this command\?/,
    question: /Copilot needs information/,
    error: /✗|mock says no/,
    interrupted: /Operation cancelled by user/,
    refused: /Operation cancelled by user/,
  },
  press: {
    trust: (stage) => stage.keys('Enter'),
    approve: (stage) => stage.keys('1'),
    refuse: (stage) => stage.keys('Escape'),
    answer: (stage) => stage.keys('Enter'),
    decline: (stage) => stage.keys('Escape'),
    interrupt: async (stage) => {
      stage.keys('Escape');
      await new Promise((resolve) => setTimeout(resolve, 200));
      stage.keys('Escape');
    },
    exit: (stage) => stage.submit('/exit'),
    clear: (stage) => stage.keys('C-u'),
  },
  quoted: null,
  retry: { status: 500, shows: /Retrying\.\.\./ },
  missing: {
    'question declined':
      'Esc at a question does not end its turn: its model is told that there is no answer, goes on, and finishes.',
    'two questions declined':
      'Esc at a question does not end its turn: its model is told that there is no answer, goes on, and finishes.',
    'dialog quoted': 'No quote of its dialogs is there yet.',
    'menu below the quote': 'No quote of its dialogs is there yet.',
  },
  cannot: {},
};
