// The words of the commands that open the full-screen view, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

export const tuiCommands = ({ color }: { readonly color: OptionSpec }): readonly CommandSpec[] => [
  {
    name: 'tui',
    words: 'the board on the whole terminal; `agtmux` alone does the same',
    action: 'tui',
    options: [
      { name: 'shells', words: 'begin with the commands that agents run' },
      { name: 'sessions', words: 'begin with the sessions that agtmux leads' },
      { name: 'leave-on-attach', words: 'end when you go to an agent, for a popup' },
      color,
    ],
    examples: [
      ['agtmux', 'those that need you first; ? shows the keys'],
      ['tmux split-window -h -l 36 agtmux', 'a sidebar beside your work'],
    ],
  },
  {
    name: 'popup',
    words: 'the board in a popup of tmux, over what you are doing',
    action: 'popup',
    options: [
      { name: 'width', value: 'size', words: 'columns or percent (90%)' },
      { name: 'height', value: 'size', words: 'lines or percent (80%)' },
    ],
    examples: [
      ['agtmux popup', 'q closes it; t goes to the agent and closes it'],
      ["tmux bind-key a run-shell -b 'agtmux popup'", 'prefix a, from anywhere'],
    ],
  },
];
