// The words of the commands that do something to an agent, for the table in commands.ts. Data only.

import { stateSuggestions } from '../view/words.ts';
import type { ArgumentSpec, CommandSpec, OptionSpec } from './command-spec.ts';

const agent: ArgumentSpec = { name: 'agent' };
const dash: ArgumentSpec = { name: 'input', choices: ['-'], isOptional: true };

const conditions: readonly OptionSpec[] = [
  { name: 'if-runtime', value: 'id', words: 'Act only on this run of the agent' },
  {
    name: 'if-state',
    value: 'state',
    isRepeatable: true,
    suggestions: stateSuggestions,
    words: 'Act only in this state; separate several with commas',
  },
  { name: 'if-updated-within', value: 'duration', words: 'Act only if it was seen within this time: 500ms, 2s, 1m' },
  { name: 'force-stale', words: 'Act even if its state is stale; recorded in the audit' },
];

const messageText: readonly OptionSpec[] = [
  {
    name: 'text',
    value: 'text',
    words: 'The text; visible to other users of this machine, unlike standard input',
  },
  { name: 'file', value: 'file', words: 'Read the text from this file' },
];

const messageWays: readonly OptionSpec[] = [
  { name: 'no-enter', words: 'Leave the text in the prompt without submitting it' },
  { name: 'when-ready', words: 'Queue the message until the agent can take it' },
  { name: 'strip-control', words: 'Remove control characters instead of refusing them' },
];

const ask: OptionSpec = { name: 'ask', value: 'id', words: 'Id of the request (default: the pending one)' };
const yes: OptionSpec = { name: 'yes', short: 'y', words: 'Skip the confirmation' };

const messageCommands = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'send',
    words: 'Send a message to an agent, from standard input',
    arguments: [{ ...agent, isOptional: true }, dash],
    action: 'send',
    options: [
      {
        name: 'to',
        value: 'agents',
        isRepeatable: true,
        words: 'Send to all of these: claude,%5,host/work:1.0; a receipt each',
      },
      ...messageText,
      ...messageWays,
      ...conditions,
      json,
    ],
    examples: [
      ["echo 'run the tests' | agtmux send %5", 'standard input keeps the text out of the process list'],
      ['agtmux send claude --file plan.md --when-ready', 'sent when the agent can take it'],
      [
        'agtmux send --to %1,%2,reviewer --text "stop and commit"',
        'one receipt each; who is asked something gets nothing',
      ],
      ['agtmux send . --text "go on" --if-state idle,completed', 'to the agent in this pane, if it is ready'],
    ],
  },
  {
    name: 'tell',
    words: 'Send a message to the CONNECTED agent',
    arguments: [{ name: 'text', isOptional: true }],
    action: 'tell',
    options: [
      {
        name: 'file',
        value: 'path',
        isRepeatable: true,
        words: "Refer to this file, or to lines of it (path:10-20), in the agent's syntax",
      },
      ...messageWays,
      ...conditions,
      json,
    ],
    examples: [
      ['agtmux tell "fix the failing test"', 'to the CONNECTED agent; see `agtmux route`'],
      ['agtmux tell --file src/a.ts:10-20 "why is this slow?"', 'with a reference to lines of a file'],
      ['git diff | agtmux tell', 'from standard input'],
    ],
  },
];

const askCommands = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'approve',
    words: 'Approve the pending request once',
    arguments: [agent],
    action: 'approve',
    options: [ask, yes, ...conditions, json],
    examples: [['agtmux approve %5', 'shows the request and asks for confirmation']],
  },
  {
    name: 'reject',
    words: 'Reject the pending request',
    arguments: [agent],
    action: 'reject',
    options: [
      ask,
      yes,
      { name: 'because', value: 'text', words: 'Tell the agent why, or what to do instead' },
      ...conditions,
      json,
    ],
    examples: [['agtmux reject claude --because "use the test database"', '']],
  },
  {
    name: 'answer',
    words: 'Answer a question with an option or with text',
    arguments: [agent],
    action: 'answer',
    options: [
      { name: 'option', value: 'id', words: 'Choose this option, by the number or id that `agtmux explain` shows' },
      { name: 'text', value: 'text', words: 'Answer with this text' },
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
    words: 'Interrupt the current turn; the agent keeps running',
    arguments: [agent],
    action: 'interrupt',
    options: [...conditions, json],
    examples: [['agtmux interrupt codex', 'with the key or protocol message the agent expects']],
  },
  {
    name: 'kill',
    words: 'Send a signal to its processes, after confirmation',
    arguments: [agent],
    action: 'kill',
    options: [
      {
        name: 'signal',
        value: 'signal',
        choices: ['INT', 'TERM', 'KILL'],
        words: 'Signal: INT (default), TERM or KILL',
      },
      yes,
      ...conditions,
      json,
    ],
    examples: [['agtmux kill %5 --signal TERM --yes', '']],
  },
  {
    name: 'resume',
    words: 'Continue a suspended agent, or restart an ended one in its pane',
    arguments: [agent],
    action: 'resume',
    options: [...conditions, json],
    examples: [['agtmux resume %5', "after Ctrl-Z, or after it has ended, with the agent's own resume command"]],
  },
  {
    name: 'new',
    words: 'Start an agent in a new tmux window, or all agents of a preset',
    arguments: [
      { ...agent, isOptional: true },
      { name: 'args', isMany: true, isOptional: true },
    ],
    action: 'newAgent',
    options: [
      { name: 'preset', value: 'name', words: 'Start the agents of this preset of config.toml; a receipt each' },
      { name: 'target', value: 'name', words: 'Start it on this target (default: host)' },
      { name: 'session', value: 'name', words: 'Start it in this tmux session' },
      { name: 'cwd', value: 'directory', words: 'Start it in this directory (default: the current one)' },
      {
        name: 'worktree',
        value: 'branch',
        isValueOptional: true,
        words: 'Start it in a new git worktree beside the repository; --worktree=BRANCH names its branch',
      },
      json,
    ],
    examples: [
      ['agtmux new claude', 'in this directory'],
      ['agtmux new claude --worktree=fix/cart', 'in a work tree of its own'],
      ['agtmux new codex --session work --cwd ~/shop -- --search', 'options after -- go to the agent'],
      ['agtmux new --preset review', 'the agents of [preset.review], with their prompts'],
    ],
  },
];

const lookCommands = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'attach',
    words: "Go to an agent's pane",
    arguments: [agent],
    action: 'attach',
    options: [...conditions, { ...json, words: 'Print where it is, as JSON, and stay' }],
    examples: [['agtmux attach claude', 'switches inside tmux, attaches outside, uses ssh for other machines']],
  },
  {
    name: 'next',
    words: 'Go to the agent that has waited longest for you',
    action: 'next',
    options: [{ ...json, words: 'Print which agent it is, as JSON, and stay' }],
    examples: [['agtmux next', 'exit status 1 when no agent waits']],
  },
  {
    name: 'view-output',
    words: 'Print the last output of an agent',
    arguments: [agent],
    action: 'viewOutput',
    options: [
      { name: 'lines', short: 'n', value: 'count', words: 'Number of lines (default: 100)' },
      { name: 'follow', short: 'f', words: 'Keep printing new output' },
      { name: 'screen', words: 'Print the screen, even where only the transcript has history' },
      json,
    ],
    examples: [['agtmux view-output %5 -n 30', '']],
  },
  {
    name: 'wait',
    words: 'Wait until an agent is in a state',
    arguments: [agent],
    action: 'wait',
    options: [
      {
        name: 'for',
        value: 'state',
        isRepeatable: true,
        suggestions: [...stateSuggestions, 'ended'],
        words: 'The state, or ended; separate several with commas',
      },
      { name: 'timeout', value: 'duration', words: 'Give up after this time: 30s, 10m, 2h' },
      json,
    ],
    examples: [
      [
        'agtmux wait %5 --for completed,idle --timeout 10m',
        'exit status 0 reached, 4 ended, 5 unreachable, 10 timeout',
      ],
    ],
  },
];

const markCommands = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'name',
    words: 'Give an agent a name',
    arguments: [agent, { name: 'name', isOptional: true }],
    action: 'name',
    options: [{ name: 'remove', words: 'Remove its name' }, json],
    examples: [['agtmux name %5 reviewer', 'then: agtmux send reviewer']],
  },
  {
    name: 'seen',
    words: 'Mark finished work as seen',
    arguments: [agent],
    action: 'seen',
    options: [json],
    examples: [['agtmux seen %5', '']],
  },
  {
    name: 'route',
    words: 'Show or choose the agent that `agtmux tell` writes to',
    fallback: 'show',
    examples: [
      ['agtmux route', 'which agent is CONNECTED'],
      ['agtmux route activate %5', 'choose another agent'],
    ],
    commands: [
      {
        name: 'show',
        words: 'Show CONNECTED, DISCONNECTED or NONE for each pane',
        action: 'route',
        options: [{ name: 'all-panes', words: 'Include panes without an agent' }, json],
      },
      {
        name: 'activate',
        words: 'Make this agent CONNECTED',
        arguments: [agent],
        action: 'routeActivate',
        options: [json],
      },
    ],
  },
];

const recordCommands = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'queue',
    words: 'Manage messages that are queued until their agent can take them',
    fallback: 'list',
    examples: [["echo 'run all tests' | agtmux queue edit 5f2c09d1a4b87e36", '`agtmux queue` shows the ids']],
    commands: [
      { name: 'list', words: 'List the queued messages', action: 'queueList', options: [json] },
      {
        name: 'edit',
        words: 'Replace the text of a queued message, from standard input',
        arguments: [{ name: 'id' }, dash],
        action: 'queueEdit',
        options: [...messageText, json],
      },
      {
        name: 'drop',
        words: 'Remove a queued message',
        arguments: [{ name: 'id' }],
        action: 'queueDrop',
        options: [json],
      },
    ],
  },
  {
    name: 'audit',
    words: 'Show who did what to which agent, including refused actions',
    action: 'audit',
    options: [{ name: 'count', short: 'n', value: 'count', words: 'Number of entries (default: 50)' }, json],
    examples: [['agtmux audit --count 10', '']],
  },
];

export function actCommands(json: OptionSpec): readonly CommandSpec[] {
  return [messageCommands, askCommands, lifeCommands, lookCommands, markCommands, recordCommands].flatMap((make) =>
    make(json),
  );
}
