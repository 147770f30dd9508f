// Where Copilot's hooks are put: a file of our own in its folder of hooks. What somebody else put into it stays.

import { jsonHooksFile } from '../config-text/json-hooks.ts';
import { folderOf, isOurCommand } from '../config-text/own-file.ts';
import type { HookInstall, InstallPlace } from '../contract.ts';
import { hooks } from './hooks.ts';

const timeoutSeconds = 5;

export const folder = (context: InstallPlace): string => folderOf(context, 'COPILOT_HOME', '.copilot');

export const install: HookInstall = {
  environment: ['COPILOT_HOME'],
  folder,
  files: (context) => [
    jsonHooksFile({
      path: `${folder(context)}/hooks/agtmux.json`,
      events: hooks.events,
      entry: (event) => ({ type: 'command', bash: context.command(event), timeoutSec: timeoutSeconds }),
      commandKey: 'bash',
      isOurs: (command) => isOurCommand(context, command),
      beside: { version: 1 },
      isNamedForUs: true,
    }),
  ],
  notes: ['Copilot loads them at its next start'],
};
