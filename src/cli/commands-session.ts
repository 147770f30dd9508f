// The words of `agtmux session`, for the table in commands.ts. Data only.

import type { ArgumentSpec, CommandSpec, OptionSpec } from './command-spec.ts';

const session: ArgumentSpec = { name: 'session' };
const yes: OptionSpec = { name: 'yes', short: 'y', words: 'Skip the confirmation' };
const ask: OptionSpec = { name: 'ask', value: 'id', words: 'Id of the request (default: the pending one)' };
const file: OptionSpec = { name: 'file', value: 'file', words: 'Read the text from this file' };
const text: OptionSpec = {
  name: 'text',
  value: 'text',
  words: 'The text; visible to other users of this machine, unlike standard input',
};

const start = (json: OptionSpec): CommandSpec => ({
  name: 'start',
  words: 'Start a managed session with a prompt',
  arguments: [{ name: 'prompt', isOptional: true }],
  action: 'sessionStart',
  options: [
    { name: 'agent', value: 'agent', words: 'The agent: claude, codex, gemini, ...' },
    { name: 'cwd', value: 'directory', words: 'Start it in this directory (default: the current one)' },
    { name: 'auto-approve', words: 'Approve every request automatically; every list shows it' },
    { name: 'model', value: 'model', words: 'The model to use' },
    {
      name: 'worktree',
      value: 'branch',
      isValueOptional: true,
      words: 'Use a new git worktree beside the repository; --worktree=BRANCH names its branch',
    },
    { name: 'title', value: 'title', words: 'Its title in lists (default: the first words of the prompt)' },
    {
      name: 'resume',
      value: 'id',
      words: 'Continue a conversation of the agent by its id; with --driver codex-daemon, join it',
    },
    { name: 'driver', value: 'driver', words: 'Use this driver instead of the best available one' },
    file,
    { name: 'follow', short: 'f', words: 'Follow the conversation after the start' },
    json,
  ],
  examples: [
    ['agtmux session start --agent claude "fix the failing test"', 'in this directory'],
    [
      'agtmux session start --agent codex --worktree=fix-ci --file plan.md -f',
      'in a worktree, following the conversation',
    ],
    ['git diff | agtmux session start --agent gemini', 'the prompt from standard input'],
  ],
});

const answers = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'approve',
    words: 'Approve the pending request once',
    arguments: [session],
    action: 'sessionApprove',
    options: [ask, yes, json],
  },
  {
    name: 'reject',
    words: 'Reject the pending request',
    arguments: [session],
    action: 'sessionReject',
    options: [ask, yes, { name: 'because', value: 'text', words: 'Tell the agent why, or what to do instead' }, json],
  },
  {
    name: 'answer',
    words: 'Answer a question with an option or with text',
    arguments: [session],
    action: 'sessionAnswer',
    options: [
      { name: 'option', value: 'id', words: 'Choose this option, by its id or its text' },
      text,
      ask,
      yes,
      json,
    ],
  },
];

export function sessionCommand({ json, color }: Record<'json' | 'color', OptionSpec>): CommandSpec {
  return {
    name: 'session',
    words: 'Manage sessions: agents that agtmux runs itself, without a pane',
    fallback: 'list',
    examples: [
      ['agtmux session start --agent claude "fix the failing test"', ''],
      ['agtmux session follow s1', 'follow the conversation'],
      ['agtmux session approve s1', 'shows the request and asks for confirmation'],
    ],
    commands: [
      start(json),
      { name: 'list', words: 'List sessions, newest first', action: 'sessionList', options: [json, color] },
      {
        name: 'show',
        words: 'Show the state, pending request and messages of a session',
        arguments: [session],
        action: 'sessionShow',
        options: [
          { name: 'messages', short: 'n', value: 'count', words: 'Number of messages (default: 10)' },
          json,
          color,
        ],
      },
      {
        name: 'follow',
        words: 'Print messages as they arrive, until Ctrl-C',
        arguments: [session],
        action: 'sessionFollow',
        options: [json],
      },
      {
        name: 'send',
        words: 'Send a message; it is queued while the session works',
        arguments: [session, { name: 'message', isOptional: true }],
        action: 'sessionSend',
        options: [text, file, json],
        examples: [["echo 'and run the tests' | agtmux session send s1", '']],
      },
      ...answers(json),
      { name: 'stop', words: 'Stop the session', arguments: [session], action: 'sessionStop', options: [json] },
      {
        name: 'resume',
        words: 'Resume a stopped session, optionally with a message',
        arguments: [session, { name: 'message', isOptional: true }],
        action: 'sessionResume',
        options: [json],
      },
      {
        name: 'retry',
        words: 'Retry after an error',
        arguments: [session],
        action: 'sessionRetry',
        options: [json],
      },
      {
        name: 'remove',
        words: 'Delete a session with its messages, and its worktree if that is merged and clean',
        arguments: [session],
        action: 'sessionRemove',
        options: [
          { name: 'force', words: 'Delete it even while it works, and a worktree with unsaved work' },
          yes,
          json,
        ],
      },
    ],
  };
}

// The words of the commands about background shells, for the table in commands.ts. Data only.

const shell: ArgumentSpec = { name: 'shell' };

/** The same as in model/shells.ts, without loading it for every command. */
export const logModes = ['tail', 'body', 'diagnostic'] as const;

const logCommand = (json: OptionSpec): CommandSpec => ({
  name: 'log',
  words: 'Print the output of a shell',
  arguments: [shell],
  action: 'shellLog',
  options: [
    {
      name: 'mode',
      value: 'mode',
      choices: logModes,
      words:
        'tail: the end (default); body: from the beginning or from --cursor; diagnostic: the end and how it exited',
    },
    { name: 'cursor', value: 'attempt:offset', words: 'Continue at this cursor, which the previous page printed' },
    { name: 'lines', short: 'n', value: 'count', words: 'Number of lines (at most 120)' },
    { name: 'follow', short: 'f', words: 'Keep printing new output until the shell has ended' },
    json,
  ],
  examples: [
    ['agtmux shell log shell-3 -n 20', 'the last 20 lines'],
    ['agtmux shell log build --follow', 'by label; ends when the shell ends'],
    ['agtmux shell log shell-3 --mode body --cursor 1:4096', 'one page from there, and the cursor of the next'],
    ['agtmux shell log shell-3 --cursor 1:0 --mode body --json', 'the first attempt of a shell that was run again'],
  ],
});

export const shellCommand = ({ json, color }: Record<'json' | 'color', OptionSpec>): CommandSpec => ({
  name: 'shell',
  words: 'Manage background shells: commands that agents run in the background',
  fallback: 'list',
  examples: [
    ['agtmux shell', 'running shells'],
    ['agtmux shell log shell-3 --follow', 'its output'],
    ['agtmux shell kill shell-3', 'end it and tell its agent'],
  ],
  commands: [
    {
      name: 'list',
      words: 'List running shells, and ended ones on request',
      action: 'shellList',
      options: [
        { name: 'completed', words: 'Include shells that ended with status 0' },
        { name: 'failed', words: 'Include shells that failed, were killed or were lost' },
        { name: 'all', short: 'a', words: 'Include all shells' },
        json,
        color,
      ],
      examples: [['agtmux shell list --failed', 'running and failed shells']],
    },
    logCommand(json),
    {
      name: 'kill',
      words: 'End a shell and all its processes, after confirmation',
      arguments: [shell],
      action: 'shellKill',
      options: [yes, json],
      examples: [['agtmux shell kill shell-3 --yes', 'TERM, then KILL after 5 s; exit status 1 if it still runs']],
    },
    {
      name: 'background',
      words: 'Move a shell to the background so that its agent stops waiting',
      arguments: [shell],
      action: 'shellBackground',
      options: [json],
      examples: [['agtmux shell background shell-3', 'before the 60 s limit']],
    },
    {
      name: 'resume',
      words: 'Continue a stopped shell, or run a finished one again',
      arguments: [shell],
      action: 'shellResume',
      options: [json],
      examples: [['agtmux shell resume shell-3', 'same command, directory and environment, as its next attempt']],
    },
  ],
});
