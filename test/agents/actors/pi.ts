// Pi: with a model of one's own. It asks nobody anything: its commands run at once.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionExecutor } from '../actor.ts';

const asksNothing = 'It never asks: a command runs at once, and it has no tool for questions.';

export const pi: ActionExecutor = {
  agent: 'pi',
  label: 'pi',
  version: '0.87.1',
  command: 'pi --provider mock --model mock-model',
  env: () => ({ PI_OFFLINE: '1' }),
  seed: ({ home, port }) => {
    const folder = join(home, '.pi/agent');
    mkdirSync(folder, { recursive: true });
    const models = [{ id: 'mock-model', name: 'Mock', contextWindow: 128_000, maxTokens: 8_192 }];
    const mock = { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'dummy', api: 'openai-completions', models };
    writeFileSync(join(folder, 'models.json'), JSON.stringify({ providers: { mock } }));
  },
  shows: {
    trust: /(?!)/,
    ready: /%\/\d+k \(auto\)/,
    busy: /^── [\u2801-\u28ff] /m,
    approval: /(?!)/,
    question: /(?!)/,
    error: /Error: 400/,
    interrupted: /Operation aborted/,
    refused: /(?!)/,
  },
  press: {
    trust: () => undefined,
    approve: () => undefined,
    refuse: () => undefined,
    answer: () => undefined,
    decline: () => undefined,
    interrupt: (stage) => stage.keys('Escape'),
    exit: (stage) => stage.submit('/quit'),
    clear: (stage) => stage.keys('C-u'),
  },
  quoted: null,
  retry: { status: 500, shows: /Retrying \(/ },
  missing: {
    'trust dialog': 'It asks no such question: in an empty home and folder its prompt is the first thing it shows.',
    'dialog quoted': 'No quote of its dialogs is there yet.',
    'menu below the quote': 'No quote of its dialogs is there yet.',
    'approval asked': asksNothing,
    'approval granted': asksNothing,
    'approval refused': asksNothing,
    'question asked': asksNothing,
    'question answered': asksNothing,
    'question declined': asksNothing,
    'two questions declined': asksNothing,
  },
  cannot: {
    'send into the trust dialog': 'It asks no such question.',
    'trust dialog answered': 'It asks no such question.',
    'send into an approval': asksNothing,
    'interrupt of an approval': asksNothing,
    approve: asksNothing,
    'approve once more': asksNothing,
    'asks again': asksNothing,
    reject: asksNothing,
    'send into an edit': asksNothing,
    'approve of an edit': asksNothing,
    'program sends into a question': asksNothing,
    'answer with an option': asksNothing,
    'answer in own words': asksNothing,
  },
};
