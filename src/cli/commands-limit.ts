// The words of `agtmux limit` and `agtmux usage`, for the table in commands.ts. Data only.

import { usageGroups } from '../model/usage.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';

const all: OptionSpec = { name: 'all', words: 'Every agent that has hit its limit' };

export const limitCommand = ({ json }: { json: OptionSpec }): CommandSpec => ({
  name: 'limit',
  words: 'Show usage limits, and let agents go on when they reset',
  fallback: 'list',
  examples: [
    ['agtmux limit', 'who has hit a limit, when it resets, and what goes on then'],
    ['agtmux limit resume %5 --at-reset', 'send "continue" to this agent once its limit has reset'],
    ['agtmux limit cancel --all', 'nothing goes on by itself any more'],
  ],
  commands: [
    { name: 'list', words: 'List agents that have hit a limit', action: 'limitList', options: [json] },
    {
      name: 'resume',
      words: 'Send a message to an agent that has hit its limit, now or when it resets',
      arguments: [{ name: 'agent', isOptional: true }],
      action: 'limitResume',
      options: [
        all,
        { name: 'at-reset', words: 'Wait for the reset; dropped if the agent goes on before, or ends' },
        { name: 'text', value: 'text', words: 'The message (default: continue)' },
        json,
      ],
      examples: [
        ['agtmux limit resume --all --at-reset', 'every limited agent, each a moment after its reset'],
        ['agtmux limit resume claude --at-reset --text "run the tests first"', 'with a message of your own'],
      ],
    },
    {
      name: 'cancel',
      words: 'Cancel messages that wait for a reset',
      arguments: [{ name: 'agent', isOptional: true }],
      action: 'limitCancel',
      options: [all, json],
    },
  ],
});

export const usageCommand = ({ json }: { json: OptionSpec }): CommandSpec => ({
  name: 'usage',
  words: 'Show the tokens that agents have used, and what they cost about',
  action: 'usage',
  options: [
    {
      name: 'by',
      value: 'group',
      choices: usageGroups,
      words: `Sum up by: ${usageGroups.join(', ')} (default: agent)`,
    },
    { name: 'since', value: 'day', words: 'Count from this day on: today, 7d, 2026-11-01 (default: today)' },
    json,
  ],
  examples: [
    ['agtmux usage --by project --since 7d', 'what each project took in a week'],
    ['agtmux usage --by session', 'each conversation of today, with how much its model was given last'],
  ],
});
