// Every command as data: its words, options, examples and the action behind it. Help, parsing and completions are made
// from this table, so that none of them can tell of something the others do not know. Data only.

import type { FeedScope } from '../api/feed.ts';
import { grepPlaces } from '../model/grep.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';
import { actCommands } from './commands-act.ts';
import { hubCommand } from './commands-hub.ts';
import { limitCommand, usageCommand } from './commands-limit.ts';
import { color, filters, json, listCommand, listScopes, tmuxSocket } from './commands-list.ts';
import { sessionCommand, shellCommand } from './commands-session.ts';
import {
  editorCommand,
  hooksCommand,
  mcpCommand,
  menubarCommand,
  notifyCommand,
  setupCommands,
  tuiCommands,
  webCommand,
} from './commands-setup.ts';
import { defaultTheme, tmuxThemes } from './tmux-conf.ts';

// The words of the commands about agents and how they are heard, for the table in commands.ts. Data only.

const explainCommand = (json: OptionSpec, color: OptionSpec): CommandSpec => ({
  name: 'explain',
  words: 'Explain why an agent is in its state: evidence, rules, last events',
  arguments: [{ name: 'agent', isOptional: true }],
  action: 'explain',
  options: [
    { name: 'rules', words: 'Show every rule that was tried on its screen, and why it did not fit' },
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

const diffCommand = (json: OptionSpec, color: OptionSpec): CommandSpec => ({
  name: 'diff',
  words: "Show what has changed in an agent's git work tree since its turn began",
  arguments: [{ name: 'agent' }],
  action: 'diff',
  options: [json, color],
  examples: [
    ['agtmux diff %5', 'the files, then the diff; new files too, and what it has committed'],
    ['agtmux diff . --color always | less -R', 'of the agent in this pane, page by page'],
  ],
});

const grepCommand = (json: OptionSpec, color: OptionSpec): CommandSpec => ({
  name: 'grep',
  words: 'Look for a pattern on the screens, in the transcripts and in the shell logs of all agents',
  arguments: [{ name: 'pattern' }],
  action: 'grep',
  options: [
    {
      name: 'in',
      value: 'place',
      choices: grepPlaces,
      isRepeatable: true,
      words: 'Look only there (default: everywhere)',
    },
    { name: 'hits', value: 'number', words: 'Show at most so many lines (default: 200)' },
    json,
    color,
  ],
  examples: [
    ['agtmux grep src/cart.ts', 'who has touched that file; exit status 1 when nobody has'],
    ['agtmux grep "error|failed" --in screens', 'a pattern in RE2; small letters mean capitals too'],
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
    {
      name: 'check',
      words: 'Check a definition, and score it on labelled screens',
      arguments: [{ name: 'path' }],
      action: 'agentsCheck',
      options: [json],
      examples: [['agtmux agents check ~/.config/agtmux/agents/mine.toml', 'needs no daemon']],
    },
    {
      name: 'learn',
      words: 'Draft a definition from the screens of an agent that agtmux does not know',
      arguments: [{ name: 'agent' }, { name: 'pane', isOptional: true }],
      action: 'agentsLearn',
      options: [tmuxSocket],
      examples: [['agtmux agents learn mine %5', 'lead the agent in %5 through the scenes it names']],
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

function agentCommands({ json, color }: Record<'json' | 'color', OptionSpec>): readonly CommandSpec[] {
  return [
    explainCommand(json, color),
    timelineCommand(json, color),
    diffCommand(json, color),
    grepCommand(json, color),
    agentsCommand(json, color),
    eventCommand(json),
    wrapCommand,
  ];
}

export type { ActionName, CommandSpec, OptionSpec } from './command-spec.ts';

const watchScopes = [...listScopes, 'shells'] as const satisfies readonly FeedScope[];
export type WatchScope = (typeof watchScopes)[number];

const dryRun: OptionSpec = { name: 'dry-run', words: 'Print what would be written and change nothing' };

const watch: CommandSpec = {
  name: 'watch',
  words: 'Show the list and keep it current until Ctrl-C',
  action: 'watch',
  options: [
    ...filters,
    {
      name: 'scope',
      value: 'scope',
      choices: watchScopes,
      words: 'Watch panes (default), windows, sessions or shells',
    },
    {
      name: 'format',
      value: 'format',
      choices: ['table', 'jsonl'],
      words: 'Print a table (default), or one JSON event per line',
    },
    { name: 'interval', value: 'duration', words: 'Print at most once per interval: 500ms, 2s, 1m' },
    {
      name: 'since',
      value: 'when',
      words: 'Print only changes after this feed version or ISO time (jsonl)',
    },
    { name: 'once', words: 'Print the current state and exit' },
    color,
  ],
  examples: [
    ['agtmux watch', 'a live table'],
    ['agtmux watch --needs-action --format jsonl', 'one event per line: schema_version, version, type, key, item'],
    ['agtmux watch --format jsonl --once', 'the current state as events'],
    ['agtmux watch --scope shells --format jsonl', 'background shells, with their events'],
  ],
};

const daemon: CommandSpec = {
  name: 'daemon',
  words: 'Manage the daemon; commands start it when they need it',
  examples: [
    ['agtmux daemon restart', 'after an upgrade'],
    ['agtmux daemon install', 'start it when you log in'],
  ],
  commands: [
    { name: 'run', words: 'Run in the foreground and log to stderr', action: 'daemonRun', options: [tmuxSocket] },
    { name: 'start', words: 'Start in the background', action: 'daemonStart', options: [tmuxSocket] },
    { name: 'stop', words: 'Stop the daemon', action: 'daemonStop' },
    { name: 'restart', words: 'Stop, then start', action: 'daemonRestart', options: [tmuxSocket] },
    { name: 'status', words: 'Show its status, like `agtmux status`', action: 'status', options: [json, color] },
    {
      name: 'install',
      words: 'Start the daemon when you log in (systemd or launchd)',
      action: 'daemonInstall',
      options: [dryRun],
    },
    { name: 'uninstall', words: 'Undo `install`', action: 'daemonUninstall', options: [dryRun] },
  ],
};

const target: CommandSpec = {
  name: 'target',
  words: 'Manage the machines that agtmux watches',
  fallback: 'list',
  examples: [
    ['agtmux target add vm1 --kind ssh --ssh-target dev@vm1', 'a machine that ssh reaches without a prompt'],
    ['agtmux target list', 'every machine with its health'],
  ],
  commands: [
    {
      name: 'add',
      words: 'Watch another machine, or a tmux server on this one under its own name',
      arguments: [{ name: 'name' }],
      action: 'targetAdd',
      options: [
        { name: 'kind', value: 'kind', choices: ['local', 'ssh'], words: 'Kind of target: ssh (default) or local' },
        {
          name: 'ssh-target',
          value: 'host',
          words: 'For ssh: the host as you would pass it to ssh (default: the name)',
        },
        {
          name: 'tmux-socket',
          value: 'socket',
          words: 'For local: the socket of a tmux server here, by name (tmux -L) or path (tmux -S) (default: the name)',
        },
        json,
      ],
      examples: [
        ['agtmux target add vm1 --kind ssh --ssh-target vm1.lan', ''],
        ['agtmux target add work --kind local', 'the server of `tmux -L work`'],
      ],
    },
    {
      name: 'connect',
      words: 'Connect to a target now',
      arguments: [{ name: 'name' }],
      action: 'targetConnect',
      options: [json],
    },
    { name: 'list', words: 'List every target with its health', action: 'targetList', options: [json, color] },
    {
      name: 'remove',
      words: 'Stop watching a target; nothing changes on its machine',
      arguments: [{ name: 'name' }],
      action: 'targetRemove',
      options: [{ name: 'yes', short: 'y', words: 'Skip the confirmation' }, json],
    },
  ],
};

const config: CommandSpec = {
  name: 'config',
  words: 'Check and show the settings in config.toml',
  examples: [['agtmux config check', 'after you edited it']],
  commands: [
    { name: 'check', words: 'Report mistakes in the file', action: 'configCheck' },
    { name: 'show', words: 'Show every setting in force, including defaults', action: 'configShow', options: [json] },
    { name: 'path', words: 'Print the path of the file', action: 'configPath' },
  ],
};

const tmux: CommandSpec = {
  name: 'tmux',
  words: "Show agent states in tmux's status line",
  examples: [
    ['agtmux tmux install --dry-run', 'what would be added to your tmux.conf'],
    ['agtmux tmux install --theme blocks', 'counts on coloured blocks; plain has no colour'],
    ['agtmux tmux remove', 'restore the file'],
  ],
  commands: [
    {
      name: 'install',
      words: 'Add a marked block to your tmux.conf',
      action: 'tmuxInstall',
      options: [
        {
          name: 'theme',
          value: 'name',
          choices: tmuxThemes,
          words: `How the counts look: ${tmuxThemes.join(', ')} (default: ${defaultTheme}, or the one that is installed)`,
        },
        dryRun,
      ],
    },
    { name: 'remove', words: 'Remove the block', action: 'tmuxRemove', options: [dryRun] },
    { name: 'status', words: 'Show whether it is installed', action: 'tmuxStatus' },
  ],
};

export const commands: readonly CommandSpec[] = [
  listCommand,
  watch,
  ...tuiCommands({ color }),
  ...actCommands(json),
  {
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
  },
  limitCommand({ json }),
  usageCommand({ json }),
  shellCommand({ json, color }),
  sessionCommand({ json, color }),
  ...agentCommands({ json, color }),
  {
    name: 'status',
    words: 'Show whether the daemon runs, what it sees, and its problems',
    action: 'status',
    options: [json, color],
    examples: [['agtmux status', 'exit status 0 healthy, 1 problems, 5 not running']],
  },
  webCommand({ json }),
  editorCommand({ json }),
  hubCommand({ json }),
  target,
  tmux,
  hooksCommand({ dryRun, json, color }),
  mcpCommand({ dryRun, json, color }),
  notifyCommand({ json }),
  menubarCommand({ dryRun }),
  ...setupCommands({ dryRun, color }),
  daemon,
  {
    name: 'logs',
    words: "Print the daemon's log",
    action: 'logs',
    options: [
      { name: 'follow', short: 'f', words: 'Keep printing new lines' },
      { name: 'lines', short: 'n', value: 'count', words: 'Print this many of the last lines (default: 50)' },
    ],
    examples: [['agtmux logs -f -n 10', 'the last ten lines, then new ones']],
  },
  {
    name: 'doctor',
    words: 'Find problems and say how to fix them',
    action: 'doctor',
    options: [json, color],
    examples: [['agtmux doctor', 'exit status 0 when there are none']],
  },
  config,
  {
    name: 'schema',
    words: 'Print the JSON Schema of the JSON output',
    action: 'schema',
    options: [{ name: 'openapi', words: 'Print the OpenAPI description of the API instead' }],
    examples: [['agtmux schema --openapi > agtmux.json', '']],
  },
  {
    name: 'demo',
    words: 'Open the board with simulated agents, in a private tmux server',
    action: 'demo',
    options: [
      { name: 'auto', words: 'Show your own agents instead if there are any' },
      { name: 'once', words: 'Print one table and exit' },
      { name: 'no-attach', words: 'Print how to open the demo instead of opening it' },
      { name: 'keep', words: 'Keep the demo running at the end and print how to remove it' },
      color,
    ],
    examples: [['agtmux demo', 'open the board with simulated agents; q ends it and removes everything']],
  },
  {
    name: 'prompt',
    words: 'Print what shows in your prompt who needs you; it starts no program',
    arguments: [{ name: 'shell', choices: ['bash', 'zsh', 'fish', 'starship'] }],
    action: 'prompt',
    examples: [['eval "$(agtmux prompt bash)"', 'in ~/.bashrc: ▲2 ?1 in front of the prompt while somebody needs you']],
  },
  {
    name: 'completions',
    words: 'Print a completion script for your shell',
    arguments: [{ name: 'shell', choices: ['bash', 'zsh', 'fish'] }],
    action: 'completions',
    examples: [
      ['source <(agtmux completions bash)', 'in ~/.bashrc'],
      ['agtmux completions zsh > ~/.zfunc/_agtmux', 'with ~/.zfunc in fpath'],
      ['agtmux completions fish > ~/.config/fish/completions/agtmux.fish', ''],
    ],
  },
  {
    name: 'replay',
    words: 'Compute states from a file of recorded events; needs no daemon',
    arguments: [{ name: 'file' }],
    action: 'replay',
    options: [json, { name: 'verdicts', words: 'Print the verdict on every event' }],
    examples: [
      ['agtmux replay docs/examples/first-day.jsonl', 'the example'],
      ["agtmux replay --json - | jq '.items[].state'", 'from standard input'],
    ],
  },
  { name: 'version', words: 'Print the version', action: 'version' },
];
