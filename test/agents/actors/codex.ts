// Codex: on its shared server as it starts by default, and in a process of its own.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionExecutor } from '../actor.ts';

const configText = (port: number): string => `model = "gpt-5.5"
model_provider = "mock"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false

[analytics]
enabled = false

[tui]
screen_reader_detection_done = true

[tui.model_availability_nux]
"gpt-6.1-sol" = 1

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"

[features]
default_mode_request_user_input = true

[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
`;

export const codex: ActionExecutor = {
  agent: 'codex',
  label: 'codex',
  version: '0.166.0',
  command: 'codex',
  env: () => ({ MOCK_KEY: 'dummy' }),
  seed: ({ home, port, project }) => {
    // Only in a repository does it ask whether the folder is trusted.
    execFileSync('git', ['init', '--quiet', project]);
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.codex/config.toml'), configText(port));
  },
  shows: {
    trust: /Trust this folder\?/,
    ready: /GPT-5\.5 default/,
    busy: /^[\u2800-\u28ff] |esc to interrupt/,
    approval: /Would you like to run the following command\?/,
    question: /enter to submit answer/,
    error: /mock says no/,
    interrupted: /interrupted/i,
    refused: /interrupted|canceled|cancelled|declined|did not|denied/i,
  },
  press: {
    trust: async (stage) => {
      stage.keys('Enter');
      await stage.see(/GPT-5\.5 default|Hooks need review/);
      if (!/Hooks need review/.test(stage.screen())) return;
      // With hooks it asks a second time, about these.
      stage.capture('hooks review');
      stage.keys('2');
      await stage.see(/› 2\. Trust all/);
      stage.keys('Enter');
    },
    approve: (stage) => stage.keys('y'),
    refuse: (stage) => stage.keys('Escape'),
    answer: (stage) => stage.keys('Enter'),
    decline: (stage) => stage.keys('Escape'),
    interrupt: (stage) => stage.keys('Escape'),
    exit: (stage) => stage.submit('/quit'),
    clear: (stage) => stage.keys('C-u'),
  },
  quoted: {
    quote: 'approval',
    menu: { open: (stage) => stage.submit('/model'), shows: /Select Model and Effort/, leave: ['Escape'] },
  },
  retry: { status: 500, shows: /Reconnecting\.\.\. \d/ },
  missing: {},
  cannot: {
    'send into an edit': 'Its edits are patches, which the mock model does not make: not played.',
    'approve of an edit': 'Its edits are patches, which the mock model does not make: not played.',
    'answer in own words':
      'Its field for notes opens beside whichever option is marked: agtmux refuses to write there.',
  },
};

export const codexAlone: ActionExecutor = { ...codex, label: 'codex, own process', command: 'codex --no-daemon' };
