// Where Kilo's plugin is put: a file of our own in its folder of plugins. Kilo is a fork of OpenCode and takes the same one.

import { ownFile } from '../config-text/own-file.ts';
import type { HookInstall, InstallPlace } from '../contract.ts';
import { isPluginText, pluginText } from '../opencode/plugin.ts';
import { hooks } from './hooks.ts';

export const folder = ({ home, env }: InstallPlace): string =>
  `${env.XDG_CONFIG_HOME?.startsWith('/') === true ? env.XDG_CONFIG_HOME : `${home}/.config`}/kilo`;

export const install: HookInstall = {
  environment: ['XDG_CONFIG_HOME'],
  folder,
  files: (context) => [
    ownFile(`${folder(context)}/plugin/agtmux.js`, pluginText('kilo', hooks.events, context), isPluginText),
  ],
  notes: ['Kilo loads the plugin at its next start'],
};
