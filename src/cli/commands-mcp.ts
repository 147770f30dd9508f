// The words of `agtmux mcp`, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

const choice: OptionSpec = {
  name: 'agent',
  value: 'agent',
  isRepeatable: true,
  words: 'Only this agent (default: all that are in use here)',
};
const yes: OptionSpec = { name: 'yes', short: 'y', words: 'Skip the confirmation' };

export function mcpCommand({ dryRun, json, color }: Record<'dryRun' | 'json' | 'color', OptionSpec>): CommandSpec {
  const change = [choice, dryRun, yes, json, color];
  return {
    name: 'mcp',
    words: 'Run or register the MCP server, which gives agents background shells',
    fallback: 'serve',
    examples: [
      ['agtmux mcp install --dry-run', 'what would be added to which files'],
      ['agtmux mcp install --agent claude', 'shows the difference, then asks'],
      ['agtmux mcp uninstall', 'restore every file'],
      ['agtmux mcp --budget-s 20', 'the server; shell_run answers within 20 seconds'],
    ],
    commands: [
      {
        name: 'serve',
        words: 'Serve MCP on standard input and output; agents run this',
        action: 'mcpServe',
        options: [
          {
            name: 'budget-s',
            value: 'seconds',
            words: 'How long a command may block the agent (default: 55, at most 60)',
          },
        ],
      },
      {
        name: 'install',
        words: 'Register the server with agents, after your own entries',
        action: 'mcpInstall',
        options: change,
      },
      { name: 'uninstall', words: 'Remove the server from agents', action: 'mcpUninstall', options: change },
      { name: 'status', words: 'Show which agents have the server', action: 'mcpStatus', options: [choice, json] },
    ],
  };
}
