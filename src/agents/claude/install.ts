// Where Claude Code's hooks are put: one more entry for each event in the user's settings.json. Claude Code itself rewrites
// that file, so nothing in it is relied on but our own entries.

import { jsonHooksFile } from '../config-text/json-hooks.ts';
import { folderOf, isOurCommand } from '../config-text/own-file.ts';
import type { HookInstall } from '../contract.ts';
import { hooks } from './hooks.ts';

/** Ours takes milliseconds; what takes this many seconds is given up by Claude Code. */
const timeoutSeconds = 5;

/**
 * Events that are waited for. A start and the first prompt, a tool call and its approval, the end of a conversation and
 * the next start come right behind each other: two programs started apart might write them down the wrong way round. And
 * what is started apart at the very end may never run.
 */
const waitedFor: ReadonlySet<string> = new Set(['SessionStart', 'PreToolUse', 'SessionEnd']);

export const install: HookInstall = {
  environment: ['CLAUDE_CONFIG_DIR'],
  folder: (context) => folderOf(context, 'CLAUDE_CONFIG_DIR', '.claude'),
  files: (context) => [
    jsonHooksFile({
      path: `${folderOf(context, 'CLAUDE_CONFIG_DIR', '.claude')}/settings.json`,
      events: hooks.events,
      entry: (event) => {
        const handler = { type: 'command', command: context.command(event), timeout: timeoutSeconds };
        return { hooks: [waitedFor.has(event) ? handler : { ...handler, async: true }] };
      },
      isOurs: (command) => isOurCommand(context, command),
    }),
  ],
  notes: ['sessions that run already may need /hooks or a restart to notice them'],
};
