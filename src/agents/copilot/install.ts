// Where Copilot's hooks are put: a file of our own in its folder of hooks. Nothing of the user's is edited.

import { folderOf, ownFile } from '../config-text/own-file.ts';
import type { HookInstall, InstallPlace } from '../contract.ts';
import { hooks } from './hooks.ts';

const timeoutSeconds = 5;

export const folder = (context: InstallPlace): string => folderOf(context, 'COPILOT_HOME', '.copilot');

export const install: HookInstall = {
  environment: ['COPILOT_HOME'],
  folder,
  files: (context) => {
    const entries = hooks.events.map(
      (event) => [event, [{ type: 'command', bash: context.command(event), timeoutSec: timeoutSeconds }]] as const,
    );
    const text = `${JSON.stringify({ version: 1, hooks: Object.fromEntries(entries) }, null, 2)}\n`;
    return [ownFile(`${folder(context)}/hooks/agtmux.json`, text, 'agtmux-hook')];
  },
  notes: ['Copilot takes them at its next start'],
};
