// The words of `agtmux list`, and the options it shares with others, for the table in commands.ts. Data only, and apart from the
// others because list-quick.ts loads nothing else of that table.

import type { FeedScope } from '../api/feed.ts';
import type { Grouping, Sort } from '../api/panes.ts';
import { stateSuggestions } from '../view/words.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';

export const sorts = ['needs', 'age', 'agent', 'target', 'state', 'name'] as const satisfies readonly Sort[];
export const groupings = ['target-session', 'session-name'] as const satisfies readonly Grouping[];
export const listScopes = ['panes', 'windows', 'sessions'] as const satisfies readonly FeedScope[];
export type ListScope = (typeof listScopes)[number];

export const json: OptionSpec = { name: 'json', words: 'Print JSON' };
export const color: OptionSpec = {
  name: 'color',
  value: 'when',
  choices: ['auto', 'always', 'never'],
  words: 'Use colours: auto (on a terminal), always or never',
};
export const tmuxSocket: OptionSpec = {
  name: 'tmux-socket',
  value: 'socket',
  isRepeatable: true,
  words: 'Use only this tmux socket: a name as for tmux -L, or a path as for tmux -S',
};

export const filters: readonly OptionSpec[] = [
  { name: 'target', value: 'name', isRepeatable: true, words: 'Show only this target' },
  { name: 'all-targets', words: 'Show every target (default)' },
  {
    name: 'target-session',
    value: 'target/session',
    isRepeatable: true,
    words: 'Show only this session of this target',
  },
  { name: 'session', value: 'name', isRepeatable: true, words: 'Show only sessions of this name, on any target' },
  {
    name: 'state',
    value: 'state',
    isRepeatable: true,
    suggestions: stateSuggestions,
    words: 'Show only agents in this state',
  },
  { name: 'agent', value: 'agent', isRepeatable: true, words: 'Show only this agent: claude, codex, gemini, ...' },
  { name: 'project', value: 'name', isRepeatable: true, words: 'Show only this project: a folder, or a repository' },
  { name: 'branch', value: 'name', isRepeatable: true, words: 'Show only agents on this git branch' },
  { name: 'needs-action', words: 'Show only agents that wait for a person, failed or hit a limit' },
  { name: 'all-panes', words: 'Include panes without an agent' },
  { name: 'ended', words: 'Include agents that have ended' },
  { name: 'sort', value: 'order', suggestions: sorts, words: `Sort by: ${sorts.join(', ')}` },
];

const listEnd: readonly OptionSpec[] = [
  json,
  { name: 'no-daemon', words: 'Ask tmux once instead of the daemon; every state is unknown' },
  tmuxSocket,
  color,
];

export const listCommand: CommandSpec = {
  name: 'list',
  alias: 'ls',
  words: 'List agents by pane, window or session',
  fallback: 'panes',
  examples: [
    ['agtmux list', 'every agent, those that need you first'],
    ['agtmux list panes --needs-action --json', 'agents that need you, as JSON'],
    ['agtmux list windows --with-agent-status', 'one line per window'],
    ['agtmux list sessions --group-by session-name', 'sessions of the same name on all machines, in one line'],
  ],
  commands: [
    {
      name: 'panes',
      words: 'List agents, one line per agent',
      action: 'listPanes',
      options: [
        ...filters,
        { name: 'git', words: 'Show the git branch, files that differ, and commits to push and pull' },
        { name: 'hub', words: 'List the agents of every machine of the hub' },
        { name: 'machine', value: 'name', isRepeatable: true, words: 'With --hub: show only this machine' },
        { name: 'owner', value: 'name', isRepeatable: true, words: 'With --hub: show only machines of this owner' },
        { name: 'repo', value: 'name', isRepeatable: true, words: 'With --hub: show only this project' },
        ...listEnd,
      ],
      examples: [
        ['agtmux list panes --state running --state waiting_approval', 'agents in either state'],
        ['agtmux list panes --target host --agent claude', 'one agent on this machine'],
      ],
    },
    {
      name: 'windows',
      words: 'List windows with their most urgent state and counts',
      action: 'listWindows',
      options: [
        ...filters,
        { name: 'with-agent-status', words: 'Show the agents of each window and their states' },
        ...listEnd,
      ],
      examples: [['agtmux list windows --session work', 'the windows of one session']],
    },
    {
      name: 'sessions',
      words: 'List tmux sessions with their most urgent state and counts',
      action: 'listSessions',
      options: [
        ...filters,
        { name: 'agent-summary', words: 'Count the agents of each kind' },
        {
          name: 'group-by',
          value: 'how',
          suggestions: groupings,
          words: `Group by target-session (default), or by session-name across all targets`,
        },
        ...listEnd,
      ],
      examples: [['agtmux list sessions --agent-summary', 'which agents work in which session']],
    },
  ],
};
