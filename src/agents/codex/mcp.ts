// Where Codex is told of our MCP server: a table of its own in config.toml.

import { tomlTableFile } from '../config-text/toml-table.ts';
import type { McpInstall } from '../contract.ts';
import { isOurProgram, serverName } from '../mcp/server-entry.ts';
import { folder } from './install.ts';

export const mcp: McpInstall = {
  environment: ['CODEX_HOME'],
  folder,
  files: (context) => [
    tomlTableFile({
      path: `${folder(context)}/config.toml`,
      table: ['mcp_servers', serverName],
      value: { command: context.programPath },
      isOurs: isOurProgram,
    }),
  ],
  notes: [
    'Codex loads it at its next start, its shared server when that restarts',
    'its commands run outside the sandbox of Codex, which asks before each; `codex exec`, where nobody can be asked, refuses them',
  ],
};
