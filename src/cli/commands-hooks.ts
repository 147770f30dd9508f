// The words of `agtmux hooks`, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

const hookChoice: readonly OptionSpec[] = [
  { name: 'agent', value: 'agent', isRepeatable: true, words: 'only this agent; all that are used there by default' },
  { name: 'target', value: 'name', words: 'on this machine; `host` by default' },
];
const yes: OptionSpec = { name: 'yes', short: 'y', words: 'do not ask' };

export function hooksCommand({ dryRun, json, color }: Record<'dryRun' | 'json' | 'color', OptionSpec>): CommandSpec {
  const hookChange = [dryRun, yes, json, color];
  return {
    name: 'hooks',
    words: 'let agents tell agtmux what they do, by their own hooks',
    fallback: 'status',
    examples: [
      ['agtmux hooks install --dry-run', 'what would be added to whose files'],
      ['agtmux hooks install --agent claude', 'shows the difference, then asks'],
      ['agtmux hooks install --target vm1 --yes', 'on another machine'],
      ['agtmux hooks remove', 'leave every file as it was'],
    ],
    commands: [
      {
        name: 'install',
        words: "add our entries to the agents' configuration, behind yours",
        action: 'hooksInstall',
        options: [
          ...hookChoice,
          { name: 'notify', words: "also Codex's notify program, in front of one you have" },
          { name: 'trust', words: 'tell agents with a gate for it (Codex) that you trust these hooks' },
          ...hookChange,
        ],
      },
      {
        name: 'remove',
        words: 'take them out again',
        action: 'hooksRemove',
        options: [...hookChoice, ...hookChange],
      },
      {
        name: 'status',
        words: 'where they are, and whether they are whole',
        action: 'hooksStatus',
        options: [...hookChoice, json],
      },
    ],
  };
}
