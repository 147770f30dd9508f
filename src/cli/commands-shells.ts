// The words of the commands about background shells, for the table in commands.ts. Data only.

import type { ArgumentSpec, CommandSpec, OptionSpec } from './command-spec.ts';

const shell: ArgumentSpec = { name: 'shell' };
const yes: OptionSpec = { name: 'yes', short: 'y', words: 'do not ask' };

/** The same as in model/shells.ts, without loading it for every command. */
export const logModes = ['tail', 'body', 'diagnostic'] as const;

const logCommand = (json: OptionSpec): CommandSpec => ({
  name: 'log',
  words: 'what it printed: its end, page by page, or as it comes',
  arguments: [shell],
  action: 'shellLog',
  options: [
    {
      name: 'mode',
      value: 'mode',
      choices: logModes,
      words:
        'tail: its end (default); body: from its beginning, or on from --cursor; diagnostic: its end and how it ended',
    },
    { name: 'cursor', value: 'attempt:offset', words: 'where to read on, as a page before has said it' },
    { name: 'lines', short: 'n', value: 'count', words: 'at most so many (120 at most)' },
    { name: 'follow', short: 'f', words: 'go on printing what comes, until it has ended' },
    json,
  ],
  examples: [
    ['agtmux shell log shell-3 -n 20', 'its last 20 lines'],
    ['agtmux shell log build --follow', 'by its label; ends when it has ended'],
    ['agtmux shell log shell-3 --mode body --cursor 1:4096', 'a page from there on, then where the next one begins'],
    ['agtmux shell log shell-3 --cursor 1:0 --mode body --json', 'the first attempt, after it was run again'],
  ],
});

export const shellCommand = ({ json, color }: Record<'json' | 'color', OptionSpec>): CommandSpec => ({
  name: 'shell',
  words: 'background shells: commands that agents run and nobody waits for',
  fallback: 'list',
  examples: [
    ['agtmux shell', 'what runs now'],
    ['agtmux shell log shell-3 --follow', 'what it prints'],
    ['agtmux shell kill shell-3', 'end it; its agent is told'],
  ],
  commands: [
    {
      name: 'list',
      words: 'those that run; the others on request',
      action: 'shellList',
      options: [
        { name: 'completed', words: 'also those that ended with status 0' },
        { name: 'failed', words: 'also those that failed, were killed or lost' },
        { name: 'all', short: 'a', words: 'all of them' },
        json,
        color,
      ],
      examples: [['agtmux shell list --failed', 'what runs and what went wrong']],
    },
    logCommand(json),
    {
      name: 'kill',
      words: 'end it with all its processes, after a yes',
      arguments: [shell],
      action: 'shellKill',
      options: [yes, json],
      examples: [['agtmux shell kill shell-3 --yes', 'TERM, and KILL after 5 s; exit status 1 when it still is there']],
    },
    {
      name: 'background',
      words: 'let its agent go on without waiting for it',
      arguments: [shell],
      action: 'shellBackground',
      options: [json],
      examples: [['agtmux shell background shell-3', 'before its 60 s are over']],
    },
    {
      name: 'resume',
      words: 'continue a stopped one, run a finished one again',
      arguments: [shell],
      action: 'shellResume',
      options: [json],
      examples: [['agtmux shell resume shell-3', 'the same command, directory and environment, as its next attempt']],
    },
  ],
});
