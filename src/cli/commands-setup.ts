// The words of `agtmux setup` and `agtmux uninstall`, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

export const setupSteps = ['hooks', 'tmux', 'mcp', 'notifications', 'menubar', 'service'] as const;
export type SetupStep = (typeof setupSteps)[number];

const yes: OptionSpec = { name: 'yes', short: 'y', words: 'do not ask' };

export function setupCommands({ dryRun, color }: Record<'dryRun' | 'color', OptionSpec>): readonly CommandSpec[] {
  return [
    {
      name: 'setup',
      words: 'everything at once, one question each: hooks, tmux, MCP, notifications, menu bar, service',
      action: 'setup',
      options: [
        {
          name: 'skip',
          value: 'step',
          isRepeatable: true,
          choices: setupSteps,
          words: `leave out: ${setupSteps.join(', ')}`,
        },
        dryRun,
        yes,
        color,
      ],
      examples: [
        ['agtmux setup', 'shows each change and asks'],
        ['agtmux setup --dry-run', 'changes nothing'],
        ['agtmux setup --yes --skip service', 'for scripts'],
      ],
    },
    {
      name: 'uninstall',
      words: 'take everything out again, and leave every file of yours as it was',
      action: 'uninstall',
      options: [{ name: 'settings', words: 'also your own config.toml, policy.toml and rules' }, dryRun, yes, color],
      examples: [
        ['agtmux uninstall --dry-run', 'what would go'],
        [
          'agtmux uninstall && npm uninstall -g agtmux',
          "the program itself is npm's; of a checkout, delete the folder",
        ],
      ],
    },
  ];
}
