// Where Cursor's hooks are put: one more entry for each event in the user's hooks.json. One name that Cursor does not know
// voids the whole file, so only events of its documentation are written.

import { jsonHooksFile } from '../config-text/json-hooks.ts';
import { isOurCommand } from '../config-text/own-file.ts';
import type { HookInstall, InstallPlace } from '../contract.ts';
import { hooks } from './hooks.ts';

/** What Cursor's documentation names. */
const known: ReadonlySet<string> = new Set([
  'sessionStart',
  'sessionEnd',
  'preToolUse',
  'postToolUse',
  'postToolUseFailure',
  'subagentStart',
  'subagentStop',
  'beforeShellExecution',
  'afterShellExecution',
  'beforeMCPExecution',
  'afterMCPExecution',
  'beforeReadFile',
  'afterFileEdit',
  'beforeSubmitPrompt',
  'preCompact',
  'stop',
  'afterAgentResponse',
  'afterAgentThought',
]);

export const folder = ({ home }: InstallPlace): string => `${home}/.cursor`;

export const install: HookInstall = {
  folder,
  files: (context) => [
    jsonHooksFile({
      path: `${folder(context)}/hooks.json`,
      events: hooks.events.filter((event) => known.has(event)),
      entry: (event) => ({ command: context.command(event) }),
      isOurs: (command) => isOurCommand(context, command),
      beside: { version: 1 },
    }),
  ],
  notes: ['based on the documentation of Cursor; not tested with the real program'],
};
