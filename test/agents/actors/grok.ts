// Grok Build: with a model of one's own in its configuration. The option it marks in an approval lasts for ever, so Enter is
// never pressed there.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionExecutor } from '../actor.ts';
import type { Stage } from '../stage.ts';

/** The digit before these words, which differs from dialog to dialog. */
function pressOption(stage: Stage, label: RegExp): void {
  const line = stage
    .screen()
    .split('\n')
    .find((one) => label.test(one));
  const digit = /┃ +(\d) \([●○]\)/.exec(line ?? '')?.[1];
  if (digit === undefined) throw new Error(`no option ${label}`);
  stage.keys(digit);
}

export const grok: ActionExecutor = {
  agent: 'grok',
  label: 'grok',
  version: '1.0.41',
  command: 'grok -m mock',
  env: () => ({ XAI_API_KEY: 'dummy' }),
  seed: ({ home, port }) => {
    mkdirSync(join(home, '.grok'));
    const lines = [
      '[models]',
      'default = "mock"',
      '[model.mock]',
      'model = "mock-model"',
      `base_url = "http://127.0.0.1:${port}/v1"`,
      'api_key = "dummy"',
      'api_backend = "chat_completions"',
      '[cli]',
      'auto_update = false',
      '[features]',
      'telemetry = false',
    ];
    writeFileSync(join(home, '.grok/config.toml'), `${lines.join('\n')}\n`);
  },
  shows: {
    trust: /(?!)/,
    ready: /│ ❯ .*\n *╰─+ mock-model ─╯/,
    busy: /\[stop\]/,
    approval: /^ *┃ +\d \([●○]\) Yes/m,
    question: /Shift\+x:dismiss/,
    error: /Bad request \(400\)/,
    interrupted: /Turn cancelled by user/,
    refused: /a permission was denied/,
  },
  press: {
    trust: () => undefined,
    approve: (stage) => pressOption(stage, /\([●○]\) Yes(?:, proceed)?\s*$/),
    refuse: (stage) => pressOption(stage, /\([●○]\) No, reject/),
    answer: (stage) => stage.keys('1'),
    decline: (stage) => stage.keys('X'),
    interrupt: (stage) => stage.keys('C-c'),
    exit: (stage) => stage.submit('/quit'),
    clear: (stage) => stage.keys('C-u'),
  },
  quoted: null,
  retry: { status: 500, shows: /Retrying \(attempt/ },
  ends: { 'question declined': 'goes on', 'two questions declined': 'goes on' },
  missing: {
    'trust dialog': 'It asks no such question: in an empty home and folder its prompt is the first thing it shows.',
    'dialog quoted': 'No quote of its dialogs is there yet.',
    'menu below the quote': 'No quote of its dialogs is there yet.',
  },
  cannot: {
    'send into the trust dialog': 'It asks no such question.',
    'trust dialog answered': 'It asks no such question.',
    'answer in own words': 'Enter sends it off, and Enter is never pressed in a dialog of this agent.',
  },
};
