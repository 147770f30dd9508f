// The words of `agtmux setup` and `agtmux uninstall`, for the table in commands.ts. Data only.

import { noticeChannels, noticeEvents } from '../model/notices.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';

export const setupSteps = ['hooks', 'tmux', 'mcp', 'notifications', 'menubar', 'service'] as const;
export type SetupStep = (typeof setupSteps)[number];

const yes: OptionSpec = { name: 'yes', short: 'y', words: 'Skip the confirmation' };

export function setupCommands({ dryRun, color }: Record<'dryRun' | 'color', OptionSpec>): readonly CommandSpec[] {
  return [
    {
      name: 'setup',
      words: 'Set up hooks, tmux, MCP, notifications, menu bar and service, asking before each',
      action: 'setup',
      options: [
        {
          name: 'skip',
          value: 'step',
          isRepeatable: true,
          choices: setupSteps,
          words: `Skip a step: ${setupSteps.join(', ')}`,
        },
        { name: 'diff', words: 'Show the whole difference of each change, not one line for each' },
        dryRun,
        yes,
        color,
      ],
      examples: [
        ['agtmux setup', 'one line for each change, then a question; d shows the difference'],
        ['agtmux setup --dry-run --diff', 'every changed line; nothing is written'],
        ['agtmux setup --yes --skip service', 'for scripts'],
      ],
    },
    {
      name: 'uninstall',
      words: 'Remove everything that agtmux installed and restore your files',
      action: 'uninstall',
      options: [{ name: 'settings', words: 'Also delete your config.toml, policy.toml and rules' }, dryRun, yes, color],
      examples: [
        ['agtmux uninstall --dry-run', 'what would be removed'],
        ['agtmux uninstall && npm uninstall -g agtmux', 'npm removes the program; for a checkout, delete the folder'],
      ],
    },
  ];
}

// The words of `agtmux hooks`, for the table in commands.ts. Data only.

const hookChoice: readonly OptionSpec[] = [
  { name: 'agent', value: 'agent', isRepeatable: true, words: 'Only this agent (default: all that are in use there)' },
  { name: 'target', value: 'name', words: 'On this target (default: host)' },
];

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

// The words of `agtmux mcp`, for the table in commands.ts. Data only.

const choice: OptionSpec = {
  name: 'agent',
  value: 'agent',
  isRepeatable: true,
  words: 'Only this agent (default: all that are in use here)',
};

export function mcpCommand({ dryRun, json, color }: Record<'dryRun' | 'json' | 'color', OptionSpec>): CommandSpec {
  const change = [choice, dryRun, yes, json, color];
  return {
    name: 'mcp',
    words: 'Run or register the MCP server, which gives agents background shells',
    fallback: 'serve',
    examples: [
      ['agtmux mcp install --dry-run', 'what would be added to which files'],
      ['agtmux mcp install --agent claude', 'shows the difference, then asks'],
      ['agtmux mcp uninstall', 'restore every file'],
      ['agtmux mcp --budget-s 20', 'the server; shell_run answers within 20 seconds'],
    ],
    commands: [
      {
        name: 'serve',
        words: 'Serve MCP on standard input and output; agents run this',
        action: 'mcpServe',
        options: [
          {
            name: 'budget-s',
            value: 'seconds',
            words: 'How long a command may block the agent (default: 55, at most 60)',
          },
        ],
      },
      {
        name: 'install',
        words: 'Register the server with agents, after your own entries',
        action: 'mcpInstall',
        options: change,
      },
      { name: 'uninstall', words: 'Remove the server from agents', action: 'mcpUninstall', options: change },
      { name: 'status', words: 'Show which agents have the server', action: 'mcpStatus', options: [choice, json] },
    ],
  };
}

// The words of `agtmux notify` and `agtmux menubar`, for the table in commands.ts. Data only.

const scope: readonly OptionSpec[] = [
  { name: 'agent', value: 'agent', words: 'Only this agent: claude, codex, gemini, ...' },
  { name: 'project', value: 'folder', words: 'Only in this folder and below, or in folders of this name' },
];

const choices: readonly OptionSpec[] = [
  {
    name: 'event',
    value: 'event',
    isRepeatable: true,
    choices: [...noticeEvents, 'none'],
    words: 'Notify only of these events',
  },
  { name: 'quiet', value: 'time', words: 'Set quiet hours, such as 22:00-07:00, or never' },
  {
    name: 'text',
    value: 'text',
    choices: ['names', 'ask'],
    words:
      'Desktop text: the agent and its place (names), or also the request, with buttons (ask); other users of this machine can read it then',
  },
  {
    name: 'push-text',
    value: 'text',
    choices: ['names', 'ask'],
    words:
      'Phone text: the agent and its place (names), or also the request, with buttons (ask), on a locked screen too',
  },
  {
    name: 'looked-at',
    value: 'whether',
    choices: ['tell', 'skip'],
    words: 'Whether to notify of the pane that a terminal shows',
  },
];

const channel = { name: 'channel', choices: noticeChannels };

export function notifyCommand({ json }: Record<'json', OptionSpec>): CommandSpec {
  return {
    name: 'notify',
    words: 'Manage notifications when an agent needs a person',
    fallback: 'status',
    examples: [
      ['agtmux notify on desktop', 'use desktop notifications'],
      ['agtmux notify test', 'through every channel in use'],
      ['agtmux notify mute 45m', 'no notifications for 45 minutes'],
      [
        'agtmux notify set --quiet 22:00-07:00 --event waiting_approval --event error',
        'only these events, and not at night',
      ],
    ],
    commands: [
      {
        name: 'status',
        words: 'Show settings, mutes and the health of each channel',
        action: 'notifyStatus',
        options: [json],
      },
      { name: 'list', words: 'List the last notifications', action: 'notifyList', options: [json] },
      { name: 'on', words: 'Enable a channel', arguments: [channel], action: 'notifyOn', options: [json] },
      { name: 'off', words: 'Disable a channel', arguments: [channel], action: 'notifyOff', options: [json] },
      {
        name: 'set',
        words: 'Change which events notify, the text and quiet hours',
        action: 'notifySet',
        options: [...choices, json],
      },
      {
        name: 'test',
        words: 'Send a test notification',
        arguments: [{ ...channel, isOptional: true }],
        action: 'notifyTest',
        options: [json],
      },
      {
        name: 'mute',
        words: 'Mute notifications for a time, or until `unmute`',
        arguments: [{ name: 'duration', isOptional: true }],
        action: 'notifyMute',
        options: [...scope, json],
        examples: [['agtmux notify mute 1h --project web-shop', 'one project only']],
      },
      {
        name: 'unmute',
        words: 'Resume notifications and deliver what is pending',
        action: 'notifyUnmute',
        options: [...scope, json],
      },
    ],
  };
}

export function menubarCommand({ dryRun }: Record<'dryRun', OptionSpec>): CommandSpec {
  const folder: OptionSpec = {
    name: 'dir',
    value: 'folder',
    words: "The plugin folder (default: SwiftBar's or xbar's)",
  };
  return {
    name: 'menubar',
    words: 'Show agents in the menu bar: SwiftBar and xbar on macOS, Waybar and Polybar on Linux',
    fallback: 'show',
    examples: [
      ['agtmux menubar install', 'on macOS, with SwiftBar or xbar'],
      ['agtmux menubar --format waybar --follow', 'the command for Waybar'],
    ],
    commands: [
      {
        name: 'show',
        words: 'Print the menu bar text; menu bars run this',
        action: 'menubarShow',
        options: [
          {
            name: 'format',
            value: 'format',
            choices: ['xbar', 'waybar', 'polybar', 'json'],
            words: 'Output format: xbar (default, also for SwiftBar), waybar, polybar or json',
          },
          { name: 'follow', words: 'Print one line at every change; not for xbar' },
        ],
      },
      {
        name: 'install',
        words: 'Install the menu bar plugin',
        action: 'menubarInstall',
        options: [folder, dryRun],
      },
      { name: 'uninstall', words: 'Remove the plugin', action: 'menubarUninstall', options: [folder, dryRun] },
    ],
  };
}

// The words of the commands that open the full-screen view, for the table in commands.ts. Data only.

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

// The words of `agtmux web`, for the table in commands.ts. Data only.

export const webCommand = ({ json }: Record<'json', OptionSpec>): CommandSpec => ({
  name: 'web',
  words: 'Start the web server and print a sign-in link for one browser',
  action: 'web',
  options: [
    { name: 'open', words: 'Open the link in your browser' },
    { name: 'qr', words: 'Also print the link as a QR code, for a phone' },
    {
      name: 'tailscale',
      words: 'Serve it over HTTPS in your tailnet, by `tailscale serve`, with a link to that address',
    },
    { name: 'origin', value: 'url', words: 'The https address at which a reverse proxy of yours serves it' },
    { name: 'port', value: 'port', words: 'Listen on this port (default: the last one used, or a free one)' },
    { name: 'read-only', words: 'Create a link for viewing only, without actions' },
    { name: 'stop', words: 'Stop the web server and sign out all browsers' },
    { name: 'status', words: 'Show whether it runs, its address and the number of signed-in browsers' },
    { name: 'listen', value: 'address', words: 'Also listen on this non-loopback address; needs --unencrypted' },
    {
      name: 'unencrypted',
      words: 'With --listen: accept that everyone on that network can read the traffic and use the link',
    },
    json,
  ],
  examples: [
    ['agtmux web --open', 'your agents in your browser'],
    [
      'ssh -t -L 8137:127.0.0.1:8137 box agtmux web --port 8137',
      'agents of another machine: open the printed link here',
    ],
    ['agtmux web --tailscale --qr', 'on your phone: scan the code'],
    ['agtmux web --read-only', 'a link for a wall display'],
    ['agtmux web --stop', 'all browsers are signed out'],
  ],
});

// The words of `agtmux editor`, for the table in commands.ts. Data only.

export const editorCommand = ({ json }: Record<'json', OptionSpec>): CommandSpec => ({
  name: 'editor',
  words: 'Pair editors, so that you can answer and send from them',
  fallback: 'list',
  examples: [
    ['agtmux editor pair', 'prints a code to type into the editor'],
    ['agtmux editor pair --scope look,send', 'an editor that answers nothing and ends nothing'],
    ['agtmux editor revoke "VS Code on box"', 'its key is worth nothing from now on'],
  ],
  commands: [
    {
      name: 'pair',
      words: 'Print a code that pairs one editor, once, within five minutes',
      action: 'editorPair',
      options: [
        { name: 'scope', value: 'scopes', words: 'What the editor may do, of look,send,answer,control (default: all)' },
        json,
      ],
    },
    { name: 'list', words: 'List the paired editors', action: 'editorList', options: [json] },
    {
      name: 'revoke',
      words: 'Revoke the key of an editor',
      arguments: [{ name: 'editor' }],
      action: 'editorRevoke',
      options: [json],
    },
  ],
});
