// The words of `agtmux notify` and `agtmux menubar`, for the table in commands.ts. Data only.

import { noticeChannels, noticeEvents } from '../model/notices.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';

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
