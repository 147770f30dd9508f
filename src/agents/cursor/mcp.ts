// Where Cursor is told of our MCP server: in its user's mcp.json.

import type { McpInstall } from '../contract.ts';
import { serverEntry } from '../mcp/server-entry.ts';
import { folder } from './install.ts';

export const mcp: McpInstall = {
  folder,
  files: (context) => [
    serverEntry(`${folder(context)}/mcp.json`, 'mcpServers', { command: context.programPath, args: [] }),
  ],
  notes: ['based on the documentation of Cursor; not tested with the real program'],
};
