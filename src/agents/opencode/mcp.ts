// Where OpenCode is told of our MCP server: in its user's opencode.json, which it joins with an opencode.jsonc beside it.

import type { McpInstall } from '../contract.ts';
import { serverEntry } from '../mcp/server-entry.ts';
import { folder } from './install.ts';

export const mcp: McpInstall = {
  environment: ['XDG_CONFIG_HOME'],
  folder,
  files: (context) => [
    serverEntry(`${folder(context)}/opencode.json`, 'mcp', {
      type: 'local',
      command: [context.programPath],
      enabled: true,
    }),
  ],
  notes: [
    'OpenCode loads it at its next start',
    'OpenCode does not ask before it calls a tool of a server unless you configure it: "permission": { "agtmux_shell_run": "ask" }',
  ],
};
