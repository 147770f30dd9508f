// Where Claude Code is told of our MCP server: among the servers of its user, in the file where it keeps them itself.

import { folderOf } from '../config-text/own-file.ts';
import type { InstallPlace, McpInstall } from '../contract.ts';
import { serverEntry } from '../mcp/server-entry.ts';

/** Beside its folder, not in it, unless a variable moves both. */
const fileOf = ({ home, env }: InstallPlace): string =>
  env.CLAUDE_CONFIG_DIR?.startsWith('/') === true
    ? `${folderOf({ home, env }, 'CLAUDE_CONFIG_DIR', '')}/.claude.json`
    : `${home}/.claude.json`;

export const mcp: McpInstall = {
  environment: ['CLAUDE_CONFIG_DIR'],
  folder: (place) => folderOf(place, 'CLAUDE_CONFIG_DIR', '.claude'),
  files: (context) => [
    serverEntry(fileOf(context), 'mcpServers', { type: 'stdio', command: context.programPath, args: [] }),
  ],
  notes: [
    'Claude Code loads it at its next start and asks before it runs a command with it',
    'a running session may overwrite that file with its own copy; if `agtmux mcp status` shows absent, install again',
  ],
};
