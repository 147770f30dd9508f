// The words of the commands about agents and how they are heard, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

const explainCommand = (json: OptionSpec, color: OptionSpec): CommandSpec => ({
  name: 'explain',
  words: 'why an agent is in its state: evidence, rules tried, last events',
  arguments: [{ name: 'agent', isOptional: true }],
  action: 'explain',
  options: [
    { name: 'screen', value: 'file', words: 'read a saved screen instead (- is standard input); needs no daemon' },
    { name: 'agent', value: 'agent', words: 'whose screen it is: claude, codex, gemini, ...' },
    { name: 'title', value: 'text', words: "the pane's title, with --screen" },
    { name: 'command', value: 'name', words: 'what tmux calls the foreground command, with --screen' },
    { name: 'agent-version', value: 'version', words: "the agent's version, with --screen; unknown fits all rules" },
    json,
    color,
  ],
  examples: [
    [
      'agtmux explain %5',
      'the agent in that pane; also work:1.0 as lists show it, an agent name, runtime:<id>, or . for this pane',
    ],
    ['tmux capture-pane -p -t %5 | agtmux explain --screen - --agent claude --json', 'what the rules make of a screen'],
  ],
});

const timelineCommand = (json: OptionSpec, color: OptionSpec): CommandSpec => ({
  name: 'timeline',
  words: 'how the day went: states over time, and how long agents waited for you',
  arguments: [{ name: 'agent', isOptional: true }],
  action: 'timeline',
  options: [{ name: 'last', value: 'duration', words: 'how far back, up to 744h; 24h unless told' }, json, color],
  examples: [
    ['agtmux timeline', 'every agent of the last day, those that waited longest first'],
    ['agtmux timeline %5 --last 2h', 'one agent'],
  ],
});

const agentsCommand = (json: OptionSpec, color: OptionSpec): CommandSpec => ({
  name: 'agents',
  words: 'the adapters: what they can tell and how they are',
  fallback: 'list',
  examples: [['agtmux agents', 'every adapter with its health']],
  commands: [
    { name: 'list', words: 'contract, capabilities, health', action: 'agentsList', options: [json, color] },
    {
      name: 'enable',
      words: 'look for this agent again',
      arguments: [{ name: 'agent' }],
      action: 'agentsEnable',
      options: [json],
    },
    {
      name: 'disable',
      words: 'do not look for this agent',
      arguments: [{ name: 'agent' }],
      action: 'agentsDisable',
      options: [json],
    },
  ],
});

const eventCommand = (json: OptionSpec): CommandSpec => ({
  name: 'event',
  words: 'hand in events as JSON lines from standard input; each gets its verdict',
  action: 'event',
  options: [json],
  examples: [
    [
      `echo '{"source":"hook","kind":"state.observed","evidence":{"target":"host","runtime_id":"r1"},"event_time":0,"payload":{"state":"running","reason":"turn_running","confidence":"high"}}' | agtmux event`,
      'exit status 2 when one was refused',
    ],
  ],
});

const wrapCommand: CommandSpec = {
  name: 'wrap',
  words: 'start an agent so that its exact end is known',
  arguments: [{ name: 'command', isRest: true }],
  action: 'wrap',
  examples: [
    ['agtmux wrap -- claude --continue', 'the same as without, and its exit status is told'],
    ["alias claude='agtmux wrap -- claude'", 'always; in your shell'],
  ],
};

export function agentCommands({ json, color }: Record<'json' | 'color', OptionSpec>): readonly CommandSpec[] {
  return [
    explainCommand(json, color),
    timelineCommand(json, color),
    agentsCommand(json, color),
    eventCommand(json),
    wrapCommand,
  ];
}
