// Claude Code: seeded past its first-run questions, in the permission mode that asks.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionExecutor } from '../actor.ts';

const key = 'sk-ant-dummy-00000000000000000000';

export const claude: ActionExecutor = {
  agent: 'claude',
  label: 'claude',
  version: '2.1.325',
  command: 'claude --permission-mode manual',
  env: ({ port }) => ({
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: key,
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  seed: ({ home }) => {
    mkdirSync(join(home, '.claude'));
    const settings = {
      hasCompletedOnboarding: true,
      lastOnboardingVersion: '2.1.325',
      theme: 'dark',
      autoUpdates: false,
      customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    };
    writeFileSync(join(home, '.claude.json'), JSON.stringify(settings));
  },
  shows: {
    trust: /Yes, I trust this folder/,
    ready: /manual mode on/,
    busy: /esc to interrupt/,
    approval: /Do you want to proceed\?/,
    question: /Enter to select/,
    error: /API Error: 400/,
    interrupted: /Interrupted/,
    refused: /Interrupted|rejected/,
  },
  press: {
    trust: async (stage) => {
      stage.keys('Down');
      await stage.see(/❯ Yes, I trust/);
      stage.keys('Enter');
    },
    approve: (stage) => stage.keys('1'),
    refuse: (stage) => stage.keys('Escape'),
    answer: (stage) => stage.keys('Enter'),
    decline: (stage) => stage.keys('Escape'),
    interrupt: (stage) => stage.keys('Escape'),
    exit: (stage) => stage.submit('/exit'),
    clear: (stage) => stage.keys('C-u'),
  },
  quoted: {
    quote: 'permission',
    menu: { open: (stage) => stage.submit('/model'), shows: /Select model/, leave: ['Escape'] },
  },
  retry: { status: 429, shows: /Retrying in/ },
  missing: {},
  cannot: {},
};
