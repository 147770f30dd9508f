// Every command as data: its words, options, examples and the action behind it. Help, parsing and completions are made
// from this table, so that none of them can tell of something the others do not know. Data only.

import type { FeedScope, Grouping, Sort } from '../api/schemas.ts';
import { stateSuggestions } from '../view/words.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';
import { actCommands } from './commands-act.ts';
import { agentCommands } from './commands-agents.ts';
import { hooksCommand } from './commands-hooks.ts';
import { mcpCommand } from './commands-mcp.ts';
import { menubarCommand, notifyCommand } from './commands-notify.ts';
import { sessionCommand } from './commands-session.ts';
import { setupCommands } from './commands-setup.ts';
import { shellCommand } from './commands-shells.ts';
import { tuiCommands } from './commands-tui.ts';
import { webCommand } from './commands-web.ts';

export type { ActionName, CommandSpec, OptionSpec } from './command-spec.ts';

export const sorts = ['needs', 'age', 'agent', 'target', 'state', 'name'] as const satisfies readonly Sort[];
export const groupings = ['target-session', 'session-name'] as const satisfies readonly Grouping[];
const listScopes = ['panes', 'windows', 'sessions'] as const satisfies readonly FeedScope[];
const watchScopes = [...listScopes, 'shells'] as const satisfies readonly FeedScope[];
export type ListScope = (typeof listScopes)[number];
export type WatchScope = (typeof watchScopes)[number];

const json: OptionSpec = { name: 'json', words: 'print JSON for programs' };
const color: OptionSpec = {
  name: 'color',
  value: 'when',
  choices: ['auto', 'always', 'never'],
  words: 'colours: auto (on a terminal), always, never',
};
const tmuxSocket: OptionSpec = {
  name: 'tmux-socket',
  value: 'socket',
  isRepeatable: true,
  words: 'only this tmux socket: a name as for tmux -L, or a path as for tmux -S',
};
const dryRun: OptionSpec = { name: 'dry-run', words: 'print what would be written, change nothing' };

const filters: readonly OptionSpec[] = [
  { name: 'target', value: 'name', isRepeatable: true, words: 'only this target' },
  { name: 'all-targets', words: 'every target; this is the default' },
  { name: 'target-session', value: 'target/session', isRepeatable: true, words: 'only this session of this target' },
  { name: 'session', value: 'name', isRepeatable: true, words: 'only sessions of this name, on any target' },
  {
    name: 'state',
    value: 'state',
    isRepeatable: true,
    suggestions: stateSuggestions,
    words: 'only agents in this state',
  },
  { name: 'agent', value: 'agent', isRepeatable: true, words: 'only this agent: claude, codex, gemini, ...' },
  { name: 'needs-action', words: 'only agents that wait for a person, failed or hit a limit' },
  { name: 'all-panes', words: 'also panes without an agent' },
  { name: 'ended', words: 'also agents that have ended' },
  { name: 'sort', value: 'order', suggestions: sorts, words: `order: ${sorts.join(', ')}` },
];

const listEnd: readonly OptionSpec[] = [
  json,
  { name: 'no-daemon', words: 'ask tmux once instead of the daemon; states stay unknown' },
  tmuxSocket,
  color,
];

const list: CommandSpec = {
  name: 'list',
  alias: 'ls',
  words: 'agents by pane, window or session',
  fallback: 'panes',
  examples: [
    ['agtmux list', 'every agent, those that need you first'],
    ['agtmux list panes --needs-action --json', 'for scripts'],
    ['agtmux list windows --with-agent-status', 'one line a window'],
    ['agtmux list sessions --group-by session-name', 'sessions of one name on all machines together'],
  ],
  commands: [
    {
      name: 'panes',
      words: 'one line an agent',
      action: 'listPanes',
      options: [...filters, ...listEnd],
      examples: [
        ['agtmux list panes --state running --state waiting_approval', 'two states'],
        ['agtmux list panes --target host --agent claude', 'one agent on this machine'],
      ],
    },
    {
      name: 'windows',
      words: 'one line a window, with its top state and counts',
      action: 'listWindows',
      options: [
        ...filters,
        { name: 'with-agent-status', words: 'name the agents of each window and their states' },
        ...listEnd,
      ],
      examples: [['agtmux list windows --session work', 'the windows of one session']],
    },
    {
      name: 'sessions',
      words: 'one line a session, with its top state and counts',
      action: 'listSessions',
      options: [
        ...filters,
        { name: 'agent-summary', words: 'count the agents of each kind' },
        {
          name: 'group-by',
          value: 'how',
          suggestions: groupings,
          words: `target-session (default), or session-name for one line a name over all targets`,
        },
        ...listEnd,
      ],
      examples: [['agtmux list sessions --agent-summary', 'who works where']],
    },
  ],
};

const watch: CommandSpec = {
  name: 'watch',
  words: 'the list, kept current until you leave with Ctrl-C',
  action: 'watch',
  options: [
    ...filters,
    { name: 'scope', value: 'scope', choices: watchScopes, words: 'panes (default), windows, sessions or shells' },
    {
      name: 'format',
      value: 'format',
      choices: ['table', 'jsonl'],
      words: 'table (default), or one JSON event a line',
    },
    { name: 'interval', value: 'duration', words: 'at most one output in this time: 500ms, 2s, 1m' },
    {
      name: 'since',
      value: 'when',
      words: 'only what changed after this version of the feed, or this ISO time (jsonl)',
    },
    { name: 'once', words: 'print what there is now and end' },
    color,
  ],
  examples: [
    ['agtmux watch', 'a live table'],
    ['agtmux watch --needs-action --format jsonl', 'one event a line: schema_version, version, type, key, item'],
    ['agtmux watch --format jsonl --once', 'everything once, as events'],
    ['agtmux watch --scope shells --format jsonl', 'background shells, and what happens to them as type event'],
  ],
};

const daemon: CommandSpec = {
  name: 'daemon',
  words: 'the process that watches; commands start it when they need it',
  examples: [
    ['agtmux daemon restart', 'after an upgrade'],
    ['agtmux daemon install', 'start it with your login'],
  ],
  commands: [
    { name: 'run', words: 'run in the foreground, log to stderr', action: 'daemonRun', options: [tmuxSocket] },
    { name: 'start', words: 'start in the background', action: 'daemonStart', options: [tmuxSocket] },
    { name: 'stop', words: 'end it in good order', action: 'daemonStop' },
    { name: 'restart', words: 'stop, then start', action: 'daemonRestart', options: [tmuxSocket] },
    { name: 'status', words: 'the same as `agtmux status`', action: 'status', options: [json, color] },
    {
      name: 'install',
      words: 'start it with your login (systemd or launchd)',
      action: 'daemonInstall',
      options: [dryRun],
    },
    { name: 'uninstall', words: 'undo `install`', action: 'daemonUninstall', options: [dryRun] },
  ],
};

const target: CommandSpec = {
  name: 'target',
  words: 'the machines that are watched',
  fallback: 'list',
  examples: [
    ['agtmux target add vm1 --kind ssh --ssh-target dev@vm1', 'a machine your ssh reaches without a prompt'],
    ['agtmux target list', 'how they are'],
  ],
  commands: [
    {
      name: 'add',
      words: 'watch another machine, or a tmux server here under a name of its own',
      arguments: [{ name: 'name' }],
      action: 'targetAdd',
      options: [
        { name: 'kind', value: 'kind', choices: ['local', 'ssh'], words: 'ssh (default) or local' },
        { name: 'ssh-target', value: 'host', words: 'for ssh: what you would say to ssh; the name by default' },
        {
          name: 'tmux-socket',
          value: 'socket',
          words:
            'for local: the socket of a tmux server here, by name (tmux -L) or path (tmux -S); the name by default',
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
      words: 'try to reach it now',
      arguments: [{ name: 'name' }],
      action: 'targetConnect',
      options: [json],
    },
    { name: 'list', words: 'every target and its health', action: 'targetList', options: [json, color] },
    {
      name: 'remove',
      words: 'forget a target; nothing happens on its machine',
      arguments: [{ name: 'name' }],
      action: 'targetRemove',
      options: [{ name: 'yes', short: 'y', words: 'do not ask' }, json],
    },
  ],
};

const config: CommandSpec = {
  name: 'config',
  words: 'the settings in config.toml',
  examples: [['agtmux config check', 'before you rely on it']],
  commands: [
    { name: 'check', words: 'tell what is wrong with the file', action: 'configCheck' },
    { name: 'show', words: 'every setting as it is in force, defaults too', action: 'configShow', options: [json] },
    { name: 'path', words: 'where the file is looked for', action: 'configPath' },
  ],
};

const tmux: CommandSpec = {
  name: 'tmux',
  words: "agent states in tmux's own status line",
  examples: [
    ['agtmux tmux install --dry-run', 'what would be added to your tmux.conf'],
    ['agtmux tmux remove', 'leave the file as it was'],
  ],
  commands: [
    { name: 'install', words: 'add one marked block to your tmux.conf', action: 'tmuxInstall', options: [dryRun] },
    { name: 'remove', words: 'take it out again', action: 'tmuxRemove', options: [dryRun] },
    { name: 'status', words: 'is it installed', action: 'tmuxStatus' },
  ],
};

export const commands: readonly CommandSpec[] = [
  list,
  watch,
  ...tuiCommands({ color }),
  ...actCommands(json),
  shellCommand({ json, color }),
  sessionCommand({ json, color }),
  ...agentCommands({ json, color }),
  {
    name: 'status',
    words: 'is the daemon up, what does it see, what troubles it',
    action: 'status',
    options: [json, color],
    examples: [['agtmux status', 'exit status 0 well, 1 trouble, 5 not running']],
  },
  webCommand({ json }),
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
    words: "the daemon's log",
    action: 'logs',
    options: [
      { name: 'follow', short: 'f', words: 'go on printing what comes' },
      { name: 'lines', short: 'n', value: 'count', words: 'the last lines of it (50)' },
    ],
    examples: [['agtmux logs -f -n 10', 'the last ten lines and what follows']],
  },
  {
    name: 'doctor',
    words: 'look for what is wrong, and say how to mend it',
    action: 'doctor',
    options: [json, color],
    examples: [['agtmux doctor', 'exit status 0 when all is well']],
  },
  config,
  {
    name: 'schema',
    words: 'the JSON documents as JSON Schema',
    action: 'schema',
    options: [{ name: 'openapi', words: 'the API as OpenAPI instead' }],
    examples: [['agtmux schema --openapi > agtmux.json', '']],
  },
  {
    name: 'demo',
    words: 'agtmux at work with look-alike agents, in a tmux server of its own',
    action: 'demo',
    options: [
      { name: 'auto', words: 'show your own agents instead when there are some' },
      { name: 'once', words: 'one table, then end' },
      { name: 'no-attach', words: 'only say how to look at it, do not show it' },
      { name: 'keep', words: 'leave everything there at the end, and say how to remove it' },
      color,
    ],
    examples: [['agtmux demo', 'leave with Ctrl-C; nothing stays behind']],
  },
  {
    name: 'completions',
    words: 'a completion script for your shell',
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
    words: 'recorded events in, states out; needs no daemon',
    arguments: [{ name: 'file' }],
    action: 'replay',
    options: [json, { name: 'verdicts', words: 'tell what became of every line' }],
    examples: [
      ['agtmux replay docs/examples/first-day.jsonl', 'the example'],
      ["agtmux replay --json - | jq '.items[].state'", 'from standard input'],
    ],
  },
  { name: 'version', words: 'the version of agtmux', action: 'version' },
];
