// The words of `agtmux mcp`, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

const choice: OptionSpec = {
  name: 'agent',
  value: 'agent',
  isRepeatable: true,
  words: 'only this agent; all that are used here by default',
};
const yes: OptionSpec = { name: 'yes', short: 'y', words: 'do not ask' };

export function mcpCommand({ dryRun, json, color }: Record<'dryRun' | 'json' | 'color', OptionSpec>): CommandSpec {
  const change = [choice, dryRun, yes, json, color];
  return {
    name: 'mcp',
    words: 'the MCP server for agents: background shells, and a look at the other agents',
    fallback: 'serve',
    examples: [
      ['agtmux mcp install --dry-run', 'what would be added to whose files'],
      ['agtmux mcp install --agent claude', 'shows the difference, then asks'],
      ['agtmux mcp uninstall', 'leave every file as it was'],
      ['agtmux mcp --budget-s 20', 'what agents run; answers of shell_run come within 20 seconds'],
    ],
    commands: [
      {
        name: 'serve',
        words: 'speak MCP on standard input and output; agents run this',
        action: 'mcpServe',
        options: [
          {
            name: 'budget-s',
            value: 'seconds',
            words: 'how long a command may keep the agent waiting: 55 by default, at most 60',
          },
        ],
      },
      {
        name: 'install',
        words: 'register it with agents, behind what is yours',
        action: 'mcpInstall',
        options: change,
      },
      { name: 'uninstall', words: 'take it out again', action: 'mcpUninstall', options: change },
      { name: 'status', words: 'which agents have it', action: 'mcpStatus', options: [choice, json] },
    ],
  };
}
