// The words of the commands that open the full-screen view, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

export const tuiCommands = ({ color }: { readonly color: OptionSpec }): readonly CommandSpec[] => [
  {
    name: 'tui',
    words: 'Open the full-screen board; the same as `agtmux` alone',
    action: 'tui',
    options: [
      { name: 'shells', words: 'Open the background shells first' },
      { name: 'sessions', words: 'Open the managed sessions first' },
      { name: 'leave-on-attach', words: 'Exit when you go to an agent, for use in a popup' },
      color,
    ],
    examples: [
      ['agtmux', 'agents that need you first; ? shows the keys'],
      ['tmux split-window -h -l 36 agtmux', 'a sidebar beside your work'],
    ],
  },
  {
    name: 'popup',
    words: 'Open the board in a tmux popup',
    action: 'popup',
    options: [
      { name: 'width', value: 'size', words: 'Width in columns or percent (default: 90%)' },
      { name: 'height', value: 'size', words: 'Height in lines or percent (default: 80%)' },
    ],
    examples: [
      ['agtmux popup', 'q closes it; t goes to the agent and closes it'],
      ["tmux bind-key a run-shell -b 'agtmux popup'", 'bind it to prefix a'],
    ],
  },
];
