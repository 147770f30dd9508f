// The words of the commands about agents and how they are heard, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

const explainCommand = (json: OptionSpec, color: OptionSpec): CommandSpec => ({
  name: 'explain',
  words: 'Explain why an agent is in its state: evidence, rules, last events',
  arguments: [{ name: 'agent', isOptional: true }],
  action: 'explain',
  options: [
    { name: 'screen', value: 'file', words: 'Read a saved screen instead (- for standard input); needs no daemon' },
    { name: 'agent', value: 'agent', words: 'With --screen: the agent of that screen: claude, codex, gemini, ...' },
    { name: 'title', value: 'text', words: "With --screen: the pane's title" },
    { name: 'command', value: 'name', words: 'With --screen: the foreground command as tmux names it' },
    {
      name: 'agent-version',
      value: 'version',
      words: "With --screen: the agent's version; all rules apply if it is not given",
    },
    json,
    color,
  ],
  examples: [
    ['agtmux explain %5', 'also work:1.0 as in lists, an agent name, runtime:<id>, or . for this pane'],
    ['tmux capture-pane -p -t %5 | agtmux explain --screen - --agent claude --json', 'how the rules read a screen'],
  ],
});

const timelineCommand = (json: OptionSpec, color: OptionSpec): CommandSpec => ({
  name: 'timeline',
  words: 'Show states over time and how long agents waited for you',
  arguments: [{ name: 'agent', isOptional: true }],
  action: 'timeline',
  options: [{ name: 'last', value: 'duration', words: 'How far back, up to 744h (default: 24h)' }, json, color],
  examples: [
    ['agtmux timeline', 'every agent of the last day, longest wait first'],
    ['agtmux timeline %5 --last 2h', 'one agent'],
  ],
});

const agentsCommand = (json: OptionSpec, color: OptionSpec): CommandSpec => ({
  name: 'agents',
  words: 'Manage the agent adapters',
  fallback: 'list',
  examples: [['agtmux agents', 'every adapter with its health']],
  commands: [
    {
      name: 'list',
      words: 'List adapters with contract, capabilities and health',
      action: 'agentsList',
      options: [json, color],
    },
    {
      name: 'enable',
      words: 'Detect this agent again',
      arguments: [{ name: 'agent' }],
      action: 'agentsEnable',
      options: [json],
    },
    {
      name: 'disable',
      words: 'Stop detecting this agent',
      arguments: [{ name: 'agent' }],
      action: 'agentsDisable',
      options: [json],
    },
  ],
});

const eventCommand = (json: OptionSpec): CommandSpec => ({
  name: 'event',
  words: 'Submit events as JSON lines from standard input; prints a verdict on each',
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
  words: 'Run an agent and record its exit status',
  arguments: [{ name: 'command', isRest: true }],
  action: 'wrap',
  examples: [
    ['agtmux wrap -- claude --continue', 'runs as without it, and its exit status is recorded'],
    ["alias claude='agtmux wrap -- claude'", 'for every start, in your shell configuration'],
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
