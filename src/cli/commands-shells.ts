// The words of the commands about background shells, for the table in commands.ts. Data only.

import type { ArgumentSpec, CommandSpec, OptionSpec } from './command-spec.ts';

const shell: ArgumentSpec = { name: 'shell' };
const yes: OptionSpec = { name: 'yes', short: 'y', words: 'Skip the confirmation' };

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
