// Where Kilo is told of our MCP server: in its user's kilo.json, which it joins with a kilo.jsonc beside it.

import type { McpInstall } from '../contract.ts';
import { serverEntry } from '../mcp/server-entry.ts';
import { folder } from './install.ts';

export const mcp: McpInstall = {
  environment: ['XDG_CONFIG_HOME'],
  folder,
  files: (context) => [
    serverEntry(`${folder(context)}/kilo.json`, 'mcp', {
      type: 'local',
      command: [context.programPath],
      enabled: true,
    }),
  ],
  notes: [
    'Kilo loads it at its next start',
    'the "permission" settings of Kilo decide whether it asks before it calls a tool of a server',
  ],
};
