// Where Claude Code's hooks are put: one more entry in the user's settings.json for each event that the installed version
// knows. Claude Code itself rewrites that file, so nothing in it is relied on but our own entries.

import { jsonHooksFile } from '../config-text/json-hooks.ts';
import { folderOf, isOurCommand } from '../config-text/own-file.ts';
import type { HookInstall, InstallContext, InstallFile } from '../contract.ts';
import { fits, parseRange } from '../screen/versions.ts';
import { eventsSince21, hooks } from './hooks.ts';

/** Ours takes milliseconds; what takes this many seconds is given up by Claude Code. */
const timeoutSeconds = 5;

/**
 * From this version on, tried, the dialog is up while this hook runs, and whoever answers first counts: the hook may wait
 * for an answer that comes from elsewhere (ACT10). It gives up before this many seconds.
 */
const answeredSince = '2.1.325';
const answerSeconds = 660;

/**
 * Events that are waited for. A start and the first prompt, a tool call and its approval, the end of a conversation and
 * the next start come right behind each other: two programs started apart might write them down the wrong way round. And
 * what is started apart at the very end may never run.
 */
const waitedFor: ReadonlySet<string> = new Set(['SessionStart', 'PreToolUse', 'SessionEnd']);

/**
 * The first version that knows an event, by the lists inside the published packages. Up to 2.1.100 one name too many makes
 * a version skip the whole file, its user's own settings included. What is not named here is put in nowhere.
 */
const firstVersions: Readonly<Record<string, string>> = {
  PreToolUse: '0',
  PostToolUse: '0',
  Notification: '0',
  Stop: '0',
  SubagentStop: '1.0.41',
  PreCompact: '1.0.48',
  UserPromptSubmit: '1.0.53',
  SessionStart: '1.0.62',
  SessionEnd: '1.0.85',
  PermissionRequest: '2.0.45',
  PostToolUseFailure: '2.0.56',
  PostCompact: '2.1.76',
  StopFailure: '2.1.78',
  PermissionDenied: '2.1.88',
};

/** A version that is not known gets what the oldest one that was tried understands. */
const oldestTried = '1.0.128';

const allEvents: readonly string[] = [...hooks.events, ...eventsSince21];

function isSince(first: string, version: string): boolean {
  const range = parseRange(`>=${first}`);
  return range !== null && fits(range, version);
}

const eventsOf = (version: string): readonly string[] =>
  allEvents.filter((event) => isSince(firstVersions[event] ?? '', version));

function settingsFile(context: InstallContext, version: string): InstallFile {
  return jsonHooksFile({
    path: `${folderOf(context, 'CLAUDE_CONFIG_DIR', '.claude')}/settings.json`,
    events: eventsOf(version),
    entry: (event) => {
      if (event === 'PermissionRequest' && isSince(answeredSince, version)) {
        const command = context.command(`${event}:wait`);
        return { hooks: [{ type: 'command', command, timeout: answerSeconds }] };
      }
      const handler = { type: 'command', command: context.command(event), timeout: timeoutSeconds };
      return { hooks: [waitedFor.has(event) ? handler : { ...handler, async: true }] };
    },
    isOurs: (command) => isOurCommand(context, command),
  });
}

/** Without a version nobody can say that what is whole for some version is wrong. */
function fileForAny(context: InstallContext): InstallFile {
  const file = settingsFile(context, oldestTried);
  const others = [...Object.values(firstVersions), answeredSince].map((version) => settingsFile(context, version));
  return {
    ...file,
    status: (before) =>
      others.some((other) => other.status(before) === 'installed') ? 'installed' : file.status(before),
  };
}

function versionNotes(version: string | null): readonly string[] {
  const known = eventsOf(version ?? oldestTried);
  const unknown = allEvents.filter((event) => !known.includes(event)).join(', ');
  if (version === null) {
    return [
      `its version is not known: \`claude\` is not on the PATH of the daemon, or did not answer; ${unknown} are omitted, because a version that does not support one of them would skip your whole settings file; install again when \`claude\` is on the PATH`,
    ];
  }
  if (unknown === '') return [`version ${version} was found, which supports every event`];
  return [`version ${version} was found, which does not support ${unknown}: omitted; install again after an upgrade`];
}

export const install: HookInstall = {
  environment: ['CLAUDE_CONFIG_DIR'],
  folder: (context) => folderOf(context, 'CLAUDE_CONFIG_DIR', '.claude'),
  files: (context) => {
    const version = context.version ?? null;
    return [version === null ? fileForAny(context) : settingsFile(context, version)];
  },
  notes: ['running sessions may need /hooks or a restart to load them'],
  version: {
    // Its own installers put it into folders that a daemon or an ssh command often does not have on its PATH.
    argv: ['sh', '-c', 'PATH=$PATH:$HOME/.local/bin:$HOME/.claude/local; export PATH; exec claude --version'],
    read: (output) => /^(\d{1,6}\.\d{1,6}\.\d{1,6})(?:-\S{1,64})? \(Claude Code\)\s*$/m.exec(output)?.[1] ?? null,
    notes: versionNotes,
  },
};
