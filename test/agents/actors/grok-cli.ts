// The community's Grok CLI, another program called grok: its folder stands first on the PATH.

import { join } from 'node:path';
import type { ActionExecutor } from '../actor.ts';
import { agentsDir } from '../stage.ts';

const noQuestions = 'It has no tool for questions.';

export const grokCli: ActionExecutor = {
  agent: 'grok-cli',
  label: 'grok-cli',
  version: '0.0.34',
  command: 'grok',
  env: ({ port }) => ({
    PATH: `${join(agentsDir, 'bin-grok-cli')}:${process.env.PATH}`,
    GROK_API_KEY: 'dummy',
    GROK_BASE_URL: `http://127.0.0.1:${port}/v1`,
    GROK_MODEL: 'mock-model',
  }),
  seed: () => undefined,
  shows: {
    trust: /(?!)/,
    ready: /^ {2}│ ❯ /m,
    busy: /esc to interrupt\)/,
    approval: /Do you want to proceed with this operation\?/,
    question: /(?!)/,
    error: /Grok API error: 400/,
    interrupted: /Operation cancelled by user\]/,
    refused: /Operation cancelled by user \(pressed/,
  },
  press: {
    trust: () => undefined,
    approve: (stage) => stage.keys('Enter'),
    refuse: (stage) => stage.keys('Escape'),
    answer: () => undefined,
    decline: () => undefined,
    interrupt: (stage) => stage.keys('Escape'),
    exit: (stage) => stage.submit('exit'),
    clear: (stage) => stage.keys('C-u'),
  },
  quoted: null,
  retry: { status: 500, shows: null },
  ends: { 'approval refused': 'goes on', 'interrupted in silence': 'unsaid' },
  missing: {
    'trust dialog': 'It asks no such question: in an empty home and folder its prompt is the first thing it shows.',
    'dialog quoted': 'No quote of its dialogs is there yet.',
    'menu below the quote': 'No quote of its dialogs is there yet.',
    'question asked': noQuestions,
    'question answered': noQuestions,
    'question declined': noQuestions,
    'two questions declined': noQuestions,
    retrying: 'It tries nothing again: the first failure ends the turn.',
    recovered: 'It tries nothing again: the first failure ends the turn.',
  },
  cannot: {
    'send into the trust dialog': 'It asks no such question.',
    'trust dialog answered': 'It asks no such question.',
    'send of many lines': 'It does not know the marks of a paste: agtmux refuses a message that has several lines.',
    'program sends into a question': noQuestions,
    'answer with an option': noQuestions,
    'answer in own words': noQuestions,
  },
};
