// The words of `agtmux session`, for the table in commands.ts. Data only.

import type { ArgumentSpec, CommandSpec, OptionSpec } from './command-spec.ts';

const session: ArgumentSpec = { name: 'session' };
const yes: OptionSpec = { name: 'yes', short: 'y', words: 'do not ask' };
const ask: OptionSpec = { name: 'ask', value: 'id', words: 'the ask that is meant; the one that is open by default' };
const file: OptionSpec = { name: 'file', value: 'file', words: 'the text is in this file' };
const text: OptionSpec = {
  name: 'text',
  value: 'text',
  words: 'the text; other users of this machine can see it, standard input they cannot',
};

const start = (json: OptionSpec): CommandSpec => ({
  name: 'start',
  words: 'start an agent with something to do',
  arguments: [{ name: 'prompt', isOptional: true }],
  action: 'sessionStart',
  options: [
    { name: 'agent', value: 'agent', words: 'which: claude, codex, gemini, ...' },
    { name: 'cwd', value: 'directory', words: 'in this directory; the one you are in by default' },
    { name: 'auto-approve', words: 'let it approve everything for itself; shown wherever it is listed' },
    { name: 'model', value: 'model', words: 'the model it shall use' },
    {
      name: 'worktree',
      value: 'branch',
      isValueOptional: true,
      words: 'in a fresh git worktree beside the repository; --worktree=BRANCH names its branch',
    },
    { name: 'title', value: 'title', words: 'what lists call it; the first words of the prompt by default' },
    {
      name: 'resume',
      value: 'id',
      words: "go on with a conversation of the agent's own, by its id; with --driver codex-daemon join it",
    },
    { name: 'driver', value: 'driver', words: 'another way to lead it than the one that fits best' },
    file,
    { name: 'follow', short: 'f', words: 'read along once it is started' },
    json,
  ],
  examples: [
    ['agtmux session start --agent claude "fix the failing test"', 'in this directory'],
    ['agtmux session start --agent codex --worktree=fix-ci --file plan.md -f', 'in a worktree, and read along'],
    ['git diff | agtmux session start --agent gemini', 'the prompt from standard input'],
  ],
});

const answers = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'approve',
    words: 'yes, this once',
    arguments: [session],
    action: 'sessionApprove',
    options: [ask, yes, json],
  },
  {
    name: 'reject',
    words: 'no',
    arguments: [session],
    action: 'sessionReject',
    options: [ask, yes, { name: 'because', value: 'text', words: 'what to do instead' }, json],
  },
  {
    name: 'answer',
    words: 'choose an option of a question, or write an answer',
    arguments: [session],
    action: 'sessionAnswer',
    options: [{ name: 'option', value: 'id', words: 'the option, by its id or its words' }, text, ask, yes, json],
  },
];

export function sessionCommand({ json, color }: Record<'json' | 'color', OptionSpec>): CommandSpec {
  return {
    name: 'session',
    words: 'agents that agtmux starts and leads itself, without a pane',
    fallback: 'list',
    examples: [
      ['agtmux session start --agent claude "fix the failing test"', ''],
      ['agtmux session follow s1', 'read along'],
      ['agtmux session approve s1', 'shows what is asked and wants a y'],
    ],
    commands: [
      start(json),
      { name: 'list', words: 'every session, the newest first', action: 'sessionList', options: [json, color] },
      {
        name: 'show',
        words: 'one session: its state, what it asks, what was said',
        arguments: [session],
        action: 'sessionShow',
        options: [
          { name: 'messages', short: 'n', value: 'count', words: 'the last so many messages (10)' },
          json,
          color,
        ],
      },
      {
        name: 'follow',
        words: 'what is said, as it comes, until you leave with Ctrl-C',
        arguments: [session],
        action: 'sessionFollow',
        options: [json],
      },
      {
        name: 'send',
        words: 'a message; it waits while the session works',
        arguments: [session, { name: 'message', isOptional: true }],
        action: 'sessionSend',
        options: [text, file, json],
        examples: [["echo 'and run the tests' | agtmux session send s1", '']],
      },
      ...answers(json),
      { name: 'stop', words: 'stop its work', arguments: [session], action: 'sessionStop', options: [json] },
      {
        name: 'resume',
        words: 'go on where it stopped, with a word of yours or without',
        arguments: [session, { name: 'message', isOptional: true }],
        action: 'sessionResume',
        options: [json],
      },
      {
        name: 'retry',
        words: 'try again after an error',
        arguments: [session],
        action: 'sessionRetry',
        options: [json],
      },
      {
        name: 'remove',
        words: 'forget it, with its messages; its worktree goes only when it is merged and clean',
        arguments: [session],
        action: 'sessionRemove',
        options: [{ name: 'force', words: 'also while it works, and a worktree with unsaved work' }, yes, json],
      },
    ],
  };
}
