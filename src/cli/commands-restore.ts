// The words of `agtmux restore`, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

export const restoreCommand = ({ json, color }: { json: OptionSpec; color: OptionSpec }): CommandSpec => ({
  name: 'restore',
  words: 'Bring back the windows and agents of a tmux server that is gone',
  action: 'restore',
  options: [
    { name: 'dry-run', words: 'Show what would be restored and change nothing' },
    { name: 'yes', short: 'y', words: 'Skip the confirmation' },
    {
      name: 'allow-skip-permissions',
      words: 'Also give agents back the options with which they act without asking',
    },
    json,
    color,
  ],
  examples: [
    ['agtmux restore --dry-run', 'after a reboot: what was there, and what would become of it'],
    ['agtmux restore', 'asks once, then opens the windows and resumes each conversation'],
  ],
});
