// The words of the commands that do something to an agent, for the table in commands.ts. Data only.

import { stateSuggestions } from '../view/words.ts';
import type { ArgumentSpec, CommandSpec, OptionSpec } from './command-spec.ts';

const agent: ArgumentSpec = { name: 'agent' };
const dash: ArgumentSpec = { name: 'input', choices: ['-'], isOptional: true };

const conditions: readonly OptionSpec[] = [
  { name: 'if-runtime', value: 'id', words: 'only if it is this very run of the agent' },
  {
    name: 'if-state',
    value: 'state',
    isRepeatable: true,
    suggestions: stateSuggestions,
    words: 'only if it is in this state; several with commas',
  },
  { name: 'if-updated-within', value: 'duration', words: 'only if it was seen in this time: 500ms, 2s, 1m' },
  { name: 'force-stale', words: 'also on an old view of it; the audit says so' },
];

const messageText: readonly OptionSpec[] = [
  {
    name: 'text',
    value: 'text',
    words: 'the text; other users of this machine can see it, standard input they cannot',
  },
  { name: 'file', value: 'file', words: 'the text is in this file' },
];

const messageWays: readonly OptionSpec[] = [
  { name: 'no-enter', words: 'leave it in the prompt, do not submit it' },
  { name: 'when-ready', words: 'let it wait in the queue until the agent can take it' },
  { name: 'strip-control', words: 'remove control characters instead of refusing them' },
];

const ask: OptionSpec = { name: 'ask', value: 'id', words: 'the ask that is meant; the one that is open by default' };
const yes: OptionSpec = { name: 'yes', short: 'y', words: 'do not ask' };

const messageCommands = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'send',
    words: 'a message to an agent, from standard input',
    arguments: [agent, dash],
    action: 'send',
    options: [...messageText, ...messageWays, ...conditions, json],
    examples: [
      ["echo 'run the tests' | agtmux send %5", 'standard input keeps the text out of the list of processes'],
      ['agtmux send claude --file plan.md --when-ready', 'goes out when it can take it'],
      ['agtmux send . --text "go on" --if-state idle,completed', 'the agent in this pane, if it is ready'],
    ],
  },
  {
    name: 'tell',
    words: 'a message to the agent that is CONNECTED',
    arguments: [{ name: 'text', isOptional: true }],
    action: 'tell',
    options: [
      {
        name: 'file',
        value: 'path',
        isRepeatable: true,
        words: "refer to this file, or lines of it (path:10-20), the agent's own way",
      },
      ...messageWays,
      ...conditions,
      json,
    ],
    examples: [
      ['agtmux tell "fix the failing test"', 'whoever is CONNECTED; see `agtmux route`'],
      ['agtmux tell --file src/a.ts:10-20 "why is this slow?"', 'with lines of a file'],
      ['git diff | agtmux tell', 'from standard input'],
    ],
  },
];

const askCommands = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'approve',
    words: 'yes, this once',
    arguments: [agent],
    action: 'approve',
    options: [ask, yes, ...conditions, json],
    examples: [['agtmux approve %5', 'shows what is asked and wants a y']],
  },
  {
    name: 'reject',
    words: 'no',
    arguments: [agent],
    action: 'reject',
    options: [ask, yes, { name: 'because', value: 'text', words: 'what to do instead' }, ...conditions, json],
    examples: [['agtmux reject claude --because "use the test database"', '']],
  },
  {
    name: 'answer',
    words: 'choose an option of a question, or write an answer',
    arguments: [agent],
    action: 'answer',
    options: [
      { name: 'option', value: 'id', words: 'the option, by the number or id that `agtmux explain` shows' },
      { name: 'text', value: 'text', words: 'an answer in your own words' },
      ask,
      yes,
      ...conditions,
      json,
    ],
    examples: [['agtmux answer %5 --option 2', '']],
  },
];

const lifeCommands = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'interrupt',
    words: 'stop what it does now; it lives on',
    arguments: [agent],
    action: 'interrupt',
    options: [...conditions, json],
    examples: [['agtmux interrupt codex', 'its own way: a key, or its protocol']],
  },
  {
    name: 'kill',
    words: 'a signal to its processes, after a yes',
    arguments: [agent],
    action: 'kill',
    options: [
      { name: 'signal', value: 'signal', choices: ['INT', 'TERM', 'KILL'], words: 'INT (default), TERM or KILL' },
      yes,
      ...conditions,
      json,
    ],
    examples: [['agtmux kill %5 --signal TERM --yes', '']],
  },
  {
    name: 'resume',
    words: 'continue an agent that was suspended, or restart one that has ended in its pane',
    arguments: [agent],
    action: 'resume',
    options: [...conditions, json],
    examples: [['agtmux resume %5', "after Ctrl-Z, or after it has ended: by the agent's own resume command"]],
  },
  {
    name: 'new',
    words: 'start an agent in a new tmux window',
    arguments: [agent, { name: 'args', isMany: true, isOptional: true }],
    action: 'newAgent',
    options: [
      { name: 'target', value: 'name', words: 'on this target; `host` by default' },
      { name: 'session', value: 'name', words: 'in this tmux session' },
      { name: 'cwd', value: 'directory', words: 'in this directory; the one you are in by default' },
      json,
    ],
    examples: [
      ['agtmux new claude', 'in this directory'],
      ['agtmux new codex --session work --cwd ~/shop -- --search', "behind -- stand the agent's own options"],
    ],
  },
];

const lookCommands = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'attach',
    words: "go to an agent's pane",
    arguments: [agent],
    action: 'attach',
    options: [...conditions, { ...json, words: 'print where it is instead' }],
    examples: [['agtmux attach claude', 'switches inside tmux, attaches outside, over ssh where needed']],
  },
  {
    name: 'next',
    words: 'go to the agent that has waited longest for you',
    action: 'next',
    options: [{ ...json, words: 'print which one instead' }],
    examples: [['agtmux next', 'exit status 1 when nobody waits']],
  },
  {
    name: 'view-output',
    words: 'the last lines of what an agent printed',
    arguments: [agent],
    action: 'viewOutput',
    options: [
      { name: 'lines', short: 'n', value: 'count', words: 'how many (100)' },
      { name: 'follow', short: 'f', words: 'go on showing what comes' },
      { name: 'screen', words: 'its screen, and not its transcript where the screen keeps no history' },
      json,
    ],
    examples: [['agtmux view-output %5 -n 30', '']],
  },
  {
    name: 'wait',
    words: 'until an agent is in a state',
    arguments: [agent],
    action: 'wait',
    options: [
      {
        name: 'for',
        value: 'state',
        isRepeatable: true,
        suggestions: [...stateSuggestions, 'ended'],
        words: 'the state, or ended; several with commas',
      },
      { name: 'timeout', value: 'duration', words: 'give up after this time: 30s, 10m, 2h' },
      json,
    ],
    examples: [
      [
        'agtmux wait %5 --for completed,idle --timeout 10m',
        'exit status 0 reached, 4 ended, 5 not reachable, 10 too late',
      ],
    ],
  },
];

const markCommands = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'name',
    words: 'give an agent a name to call it by',
    arguments: [agent, { name: 'name', isOptional: true }],
    action: 'name',
    options: [{ name: 'remove', words: 'take its name away' }, json],
    examples: [['agtmux name %5 reviewer', 'from then on: agtmux send reviewer']],
  },
  {
    name: 'seen',
    words: 'mark its finished work as seen',
    arguments: [agent],
    action: 'seen',
    options: [json],
    examples: [['agtmux seen %5', '']],
  },
  {
    name: 'route',
    words: 'which agent gets messages that name none',
    fallback: 'show',
    examples: [
      ['agtmux route', 'who is CONNECTED'],
      ['agtmux route activate %5', 'choose another one'],
    ],
    commands: [
      {
        name: 'show',
        words: 'CONNECTED, DISCONNECTED or NONE for each terminal',
        action: 'route',
        options: [{ name: 'all-panes', words: 'also panes without an agent' }, json],
      },
      {
        name: 'activate',
        words: 'make this agent the CONNECTED one',
        arguments: [agent],
        action: 'routeActivate',
        options: [json],
      },
    ],
  },
  {
    name: 'queue',
    words: 'messages that wait until their agent can take them',
    fallback: 'list',
    examples: [["echo 'run all tests' | agtmux queue edit 5f2c09d1a4b87e36", 'ids are in `agtmux queue`']],
    commands: [
      { name: 'list', words: 'every message that waits', action: 'queueList', options: [json] },
      {
        name: 'edit',
        words: 'give it another text, from standard input',
        arguments: [{ name: 'id' }, dash],
        action: 'queueEdit',
        options: [...messageText, json],
      },
      { name: 'drop', words: 'take it out', arguments: [{ name: 'id' }], action: 'queueDrop', options: [json] },
    ],
  },
  {
    name: 'audit',
    words: 'who did what to whom, refused actions too',
    action: 'audit',
    options: [{ name: 'count', short: 'n', value: 'count', words: 'the last so many (50)' }, json],
    examples: [['agtmux audit --count 10', '']],
  },
];

export function actCommands(json: OptionSpec): readonly CommandSpec[] {
  return [messageCommands, askCommands, lifeCommands, lookCommands, markCommands].flatMap((make) => make(json));
}
