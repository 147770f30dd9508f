// The words of `agtmux hooks`, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

const hookChoice: readonly OptionSpec[] = [
  { name: 'agent', value: 'agent', isRepeatable: true, words: 'Only this agent (default: all that are in use there)' },
  { name: 'target', value: 'name', words: 'On this target (default: host)' },
];
const yes: OptionSpec = { name: 'yes', short: 'y', words: 'Skip the confirmation' };

export function hooksCommand({ dryRun, json, color }: Record<'dryRun' | 'json' | 'color', OptionSpec>): CommandSpec {
  const hookChange = [dryRun, yes, json, color];
  return {
    name: 'hooks',
    words: "Manage agtmux's hooks in the agents, which report what the agents do",
    fallback: 'status',
    examples: [
      ['agtmux hooks install --dry-run', 'what would be added to which files'],
      ['agtmux hooks install --agent claude', 'shows the difference, then asks'],
      ['agtmux hooks install --target vm1 --yes', 'on another machine'],
      ['agtmux hooks remove', 'restore every file'],
    ],
    commands: [
      {
        name: 'install',
        words: "Add agtmux's entries to the agents' configuration, after yours",
        action: 'hooksInstall',
        options: [
          ...hookChoice,
          { name: 'notify', words: "Also set Codex's notify program; yours is still called" },
          { name: 'trust', words: 'Mark the hooks as trusted in agents that require it (Codex)' },
          ...hookChange,
        ],
      },
      {
        name: 'remove',
        words: 'Remove the hooks',
        action: 'hooksRemove',
        options: [...hookChoice, ...hookChange],
      },
      {
        name: 'status',
        words: 'Show where the hooks are and whether they are intact',
        action: 'hooksStatus',
        options: [...hookChoice, json],
      },
    ],
  };
}
