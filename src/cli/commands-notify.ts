// The words of `agtmux notify` and `agtmux menubar`, for the table in commands.ts. Data only.

import { noticeChannels, noticeEvents } from '../model/notices.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';

const scope: readonly OptionSpec[] = [
  { name: 'agent', value: 'agent', words: 'only this agent: claude, codex, gemini, ...' },
  { name: 'project', value: 'folder', words: 'only in this folder and below, or in folders of this name' },
];

const choices: readonly OptionSpec[] = [
  {
    name: 'event',
    value: 'event',
    isRepeatable: true,
    choices: [...noticeEvents, 'none'],
    words: 'only these',
  },
  { name: 'quiet', value: 'time', words: 'nothing in these hours: 22:00-07:00, or never' },
  {
    name: 'text',
    value: 'text',
    choices: ['names', 'ask'],
    words:
      'on the desktop: who and where (names), or also what is asked (ask), with buttons; other users of this machine can read it then',
  },
  {
    name: 'looked-at',
    value: 'whether',
    choices: ['tell', 'skip'],
    words: 'also for the pane that a terminal shows',
  },
];

const channel = { name: 'channel', choices: noticeChannels };

export function notifyCommand({ json }: Record<'json', OptionSpec>): CommandSpec {
  return {
    name: 'notify',
    words: 'who is told when an agent needs a person, and how',
    fallback: 'status',
    examples: [
      ['agtmux notify on desktop', 'tell me on my desktop'],
      ['agtmux notify test', 'by every way that is in use'],
      ['agtmux notify mute 45m', 'not now'],
      ['agtmux notify set --quiet 22:00-07:00 --event waiting_approval --event error', 'only these, and not at night'],
    ],
    commands: [
      {
        name: 'status',
        words: 'the settings, what is muted, and how each way does',
        action: 'notifyStatus',
        options: [json],
      },
      { name: 'list', words: 'what was told last', action: 'notifyList', options: [json] },
      { name: 'on', words: 'use this way', arguments: [channel], action: 'notifyOn', options: [json] },
      { name: 'off', words: 'use it no longer', arguments: [channel], action: 'notifyOff', options: [json] },
      {
        name: 'set',
        words: 'what is told, and when not',
        action: 'notifySet',
        options: [...choices, json],
      },
      {
        name: 'test',
        words: 'say something',
        arguments: [{ ...channel, isOptional: true }],
        action: 'notifyTest',
        options: [json],
      },
      {
        name: 'mute',
        words: 'be quiet for a time, or until `unmute`',
        arguments: [{ name: 'duration', isOptional: true }],
        action: 'notifyMute',
        options: [...scope, json],
        examples: [['agtmux notify mute 1h --project web-shop', 'one project only']],
      },
      {
        name: 'unmute',
        words: 'speak again; what still waits is told then',
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
    words: "the plugin folder; SwiftBar's or xbar's own by default",
  };
  return {
    name: 'menubar',
    words: 'agents in the menu bar: for SwiftBar and xbar on macOS, Waybar and Polybar on Linux',
    fallback: 'show',
    examples: [
      ['agtmux menubar install', 'on macOS, with SwiftBar or xbar'],
      ['agtmux menubar --format waybar --follow', 'what Waybar runs'],
    ],
    commands: [
      {
        name: 'show',
        words: 'print it; this is what the bar runs',
        action: 'menubarShow',
        options: [
          {
            name: 'format',
            value: 'format',
            choices: ['xbar', 'waybar', 'polybar', 'json'],
            words: 'xbar (default; also for SwiftBar), waybar, polybar or json',
          },
          { name: 'follow', words: 'print again at every change, one line each; not for xbar' },
        ],
      },
      {
        name: 'install',
        words: 'put the plugin where the menu bar looks for it',
        action: 'menubarInstall',
        options: [folder, dryRun],
      },
      { name: 'uninstall', words: 'take it away again', action: 'menubarUninstall', options: [folder, dryRun] },
    ],
  };
}
