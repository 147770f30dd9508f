// Where OpenCode's plugin is put: a file of our own in the folder from which OpenCode loads plugins by itself.

import { ownFile } from '../config-text/own-file.ts';
import type { HookInstall, InstallPlace } from '../contract.ts';
import { hooks } from './hooks.ts';
import { isPluginText, pluginText } from './plugin.ts';

/** The XDG specification: relative paths in its variables are to be ignored. */
export const folder = ({ home, env }: InstallPlace): string =>
  `${env.XDG_CONFIG_HOME?.startsWith('/') === true ? env.XDG_CONFIG_HOME : `${home}/.config`}/opencode`;

export const install: HookInstall = {
  environment: ['XDG_CONFIG_HOME'],
  folder,
  files: (context) => [
    ownFile(`${folder(context)}/plugin/agtmux.js`, pluginText('opencode', hooks.events, context), isPluginText),
  ],
  notes: ['OpenCode loads the plugin at its next start'],
};
