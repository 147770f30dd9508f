// The words of `agtmux setup` and `agtmux uninstall`, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

export const setupSteps = ['hooks', 'tmux', 'mcp', 'notifications', 'menubar', 'service'] as const;
export type SetupStep = (typeof setupSteps)[number];

const yes: OptionSpec = { name: 'yes', short: 'y', words: 'Skip the confirmation' };

export function setupCommands({ dryRun, color }: Record<'dryRun' | 'color', OptionSpec>): readonly CommandSpec[] {
  return [
    {
      name: 'setup',
      words: 'Set up hooks, tmux, MCP, notifications, menu bar and service, asking before each',
      action: 'setup',
      options: [
        {
          name: 'skip',
          value: 'step',
          isRepeatable: true,
          choices: setupSteps,
          words: `Skip a step: ${setupSteps.join(', ')}`,
        },
        dryRun,
        yes,
        color,
      ],
      examples: [
        ['agtmux setup', 'shows each change and asks'],
        ['agtmux setup --dry-run', 'shows the changes only'],
        ['agtmux setup --yes --skip service', 'for scripts'],
      ],
    },
    {
      name: 'uninstall',
      words: 'Remove everything that agtmux installed and restore your files',
      action: 'uninstall',
      options: [{ name: 'settings', words: 'Also delete your config.toml, policy.toml and rules' }, dryRun, yes, color],
      examples: [
        ['agtmux uninstall --dry-run', 'what would be removed'],
        ['agtmux uninstall && npm uninstall -g agtmux', 'npm removes the program; for a checkout, delete the folder'],
      ],
    },
  ];
}
