// Cline CLI: signed in to a provider of one's own by its own command, and told to ask: left alone it approves everything.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { ActionExecutor } from '../actor.ts';
import { agentsDir } from '../stage.ts';

const unsaid = 'unsaid';

export const cline: ActionExecutor = {
  agent: 'cline',
  label: 'cline',
  version: '3.0.65',
  command: 'cline --auto-approve false -i',
  env: () => ({ CLINE_TELEMETRY_DISABLED: '1' }),
  seed: ({ home, port }) => {
    const base = `http://127.0.0.1:${port}/v1`;
    const words = ['auth', '-p', 'openai-compatible', '-k', 'dummy', '-m', 'mock-model', '-b', base];
    execFileSync(join(agentsDir, 'bin/cline'), words, {
      env: { HOME: home, PATH: process.env.PATH, CLINE_TELEMETRY_DISABLED: '1' },
      stdio: 'ignore',
    });
  },
  shows: {
    // Not a question of trust, and as much in the way: an advertisement that covers the prompt at some starts.
    trust: /any other key to close/,
    ready: /^ *❯ (?:What can I do for you\?|Ask anything\.\.\.)/m,
    busy: /^ [\u2801-\u28ff] /m,
    approval: /Approve tool call\?/,
    question: /Cline is asking a question/,
    error: /\* Error: mock says no/,
    interrupted: /(?!)/,
    refused: /rejected by the user/,
  },
  press: {
    // Enter would open a browser.
    trust: async (stage) => {
      await stage.see(/Auto-approve all/);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      if (/any other key to close/.test(stage.screen())) stage.keys('Escape');
    },
    approve: (stage) => stage.keys('y'),
    refuse: (stage) => stage.keys('n'),
    answer: (stage) => stage.keys('Enter'),
    decline: (stage) => stage.keys('Escape'),
    interrupt: (stage) => stage.keys('Escape'),
    exit: (stage) => stage.submit('/quit'),
    clear: (stage) => stage.keys('C-u'),
  },
  violet: 'Violet',
  quoted: null,
  retry: { status: 500, shows: null },
  ends: {
    'approval refused': 'goes on',
    'question declined': 'goes on',
    interrupted: unsaid,
    'interrupted in silence': unsaid,
    'interrupted in a tool': unsaid,
  },
  missing: {
    'trust dialog': 'It asks no such question: in an empty home and folder its prompt is the first thing it shows.',
    'two questions declined': 'It asks one question at a time.',
    'dialog quoted': 'No quote of its dialogs is there yet.',
    'menu below the quote': 'No quote of its dialogs is there yet.',
  },
  cannot: {
    'send into the trust dialog': 'It asks no such question.',
    'trust dialog answered': 'It asks no such question.',
    'answer in own words': 'Its field opens by walking to it, which the guard takes for another dialog: it is refused.',
    'kill TERM': 'It takes longer to end at TERM than agtmux waits: the receipt says unconfirmed.',
  },
};
