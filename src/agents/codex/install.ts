// Where Codex's hooks are put: one more entry behind the user's own in hooks.json, because Codex remembers its user's trust
// by place. Trusting them is told to Codex by its own program and only on an explicit yes.

import { jsonHooksFile } from '../config-text/json-hooks.ts';
import { folderOf, isOurCommand } from '../config-text/own-file.ts';
import type { HookInstall, InstallPlace } from '../contract.ts';
import { hooks } from './hooks.ts';
import { notifyFile } from './notify.ts';
import { trust } from './trust.ts';

/** Codex cuts two events at 3 s and warns about a longer time. */
const timeoutSeconds = 3;

/** Right behind these comes another event; they are waited for, so that none is written down before the one before it. */
const waitedFor: ReadonlySet<string> = new Set(['SessionStart', 'PreToolUse', 'SessionEnd']);

export const folder = (context: InstallPlace): string => folderOf(context, 'CODEX_HOME', '.codex');

export const install: HookInstall = {
  environment: ['CODEX_HOME'],
  folder,
  files: (context) => [
    jsonHooksFile({
      path: `${folder(context)}/hooks.json`,
      // `notify` is a program of its own, named in config.toml.
      events: hooks.events.filter((event) => event !== 'notify'),
      entry: (event) => {
        const handler = { type: 'command', command: context.command(event), timeout: timeoutSeconds };
        return { hooks: [waitedFor.has(event) ? handler : { ...handler, async: true }] };
      },
      isOurs: (command) => isOurCommand(context, command),
    }),
    notifyFile(`${folder(context)}/config.toml`, context),
  ],
  trust,
  notes: [
    'Codex runs new hooks only after a person trusted them: it asks at its next start, or use --trust to do it now',
    'the shared server of Codex loads new hooks when it restarts',
  ],
};
