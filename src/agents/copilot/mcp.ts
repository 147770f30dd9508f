// Where Copilot is told of our MCP server: in the file that is there for servers alone.

import type { McpInstall } from '../contract.ts';
import { serverEntry } from '../mcp/server-entry.ts';
import { folder } from './install.ts';

export const mcp: McpInstall = {
  environment: ['COPILOT_HOME'],
  folder,
  files: (context) => [
    serverEntry(`${folder(context)}/mcp-config.json`, 'mcpServers', {
      type: 'local',
      command: context.programPath,
      args: [],
      tools: ['*'],
    }),
  ],
  notes: ['Copilot loads it at its next start and asks before it runs a command with it'],
};
