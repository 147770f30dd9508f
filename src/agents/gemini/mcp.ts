// Where Gemini is told of our MCP server: among the servers in its user's settings.json.

import type { McpInstall } from '../contract.ts';
import { serverEntry } from '../mcp/server-entry.ts';
import { folder } from './install.ts';

export const mcp: McpInstall = {
  environment: ['GEMINI_CLI_HOME'],
  folder,
  files: (context) => [
    serverEntry(`${folder(context)}/settings.json`, 'mcpServers', { command: context.programPath, args: [] }),
  ],
  notes: ['Gemini loads it at its next start and asks before it runs a command with it'],
};
