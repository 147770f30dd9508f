import { describe, expect, it } from 'vitest';
import { agents } from '../registry.ts';
import { mcpContext, mcpSuite } from './mcp.contract.ts';

for (const agent of agents) mcpSuite(agent);

const filesOf = (env: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    agents.flatMap(({ name, mcp }) =>
      mcp === undefined ? [] : [[name, mcp.files({ ...mcpContext, env }).map(({ path }) => path)]],
    ),
  );

const fileOf = (name: string) => {
  const [file] = agents.find((agent) => agent.name === name)?.mcp?.files(mcpContext) ?? [];
  if (file === undefined) throw new Error(`${name} takes no servers`);
  return file;
};

describe('where our MCP server is registered', () => {
  it('is the usual place of each agent', () => {
    expect(filesOf()).toMatchObject({
      claude: ['/home/user/.claude.json'],
      codex: ['/home/user/.codex/config.toml'],
      copilot: ['/home/user/.copilot/mcp-config.json'],
      cursor: ['/home/user/.cursor/mcp.json'],
      gemini: ['/home/user/.gemini/settings.json'],
      kilo: ['/home/user/.config/kilo/kilo.json'],
      opencode: ['/home/user/.config/opencode/opencode.json'],
    });
  });

  it('is another one where a variable says so, and not for a relative path', () => {
    const moved = { CLAUDE_CONFIG_DIR: '/c/', CODEX_HOME: '/x', COPILOT_HOME: '/p', XDG_CONFIG_HOME: '/g' };
    expect(filesOf({ ...moved, GEMINI_CLI_HOME: '/m' })).toMatchObject({
      claude: ['/c/.claude.json'],
      codex: ['/x/config.toml'],
      copilot: ['/p/mcp-config.json'],
      gemini: ['/m/.gemini/settings.json'],
      kilo: ['/g/kilo/kilo.json'],
      opencode: ['/g/opencode/opencode.json'],
    });
    expect(filesOf({ CLAUDE_CONFIG_DIR: 'here' }).claude).toEqual(['/home/user/.claude.json']);
  });
});

describe('an entry that its user or its agent has worked on', () => {
  it('keeps what was added to it, and counts as whole', () => {
    const file = fileOf('gemini');
    const text = `{ "mcpServers": { "agtmux": { "trust": true, "command": "${mcpContext.programPath}", "args": [] } } }`;
    expect(file.status(text)).toBe('installed');
    expect(file.install(text)).toEqual({ text });
  });

  it('in TOML goes with the tables that the agent put below it, and nothing else', () => {
    const file = fileOf('codex');
    const before = 'model = "x"\n\n[tui]\ntheme = "y"\n';
    const put = file.install(before);
    if (!('text' in put)) throw new Error(put.problem);
    const grown = `${put.text}\n[mcp_servers.agtmux.tools.shell_run]\napproval_mode = "approve"\n\n# mine\n[last]\na = 1\n`;
    expect(file.status(grown)).toBe('installed');
    expect(file.remove(grown)).toEqual({ text: `${before}\n# mine\n[last]\na = 1\n` });
    expect(file.remove('[mcp_servers.agtmux]\ncommand = "/b/agtmux-mcp"\n[last]\na = 1\n')).toEqual({
      text: '[last]\na = 1\n',
    });
  });

  it('is refused where nothing can be added, with the line or the name', () => {
    expect(fileOf('codex').install('mcp_servers = { z = { command = "c" } }\n')).toMatchObject({
      problem: expect.stringContaining('"mcp_servers"'),
    });
    expect(fileOf('codex').install('a = \n')).toMatchObject({ problem: expect.stringContaining('line 1') });
    expect(fileOf('claude').install('{\n  "mcpServers": []\n}')).toMatchObject({
      problem: expect.stringContaining('line 2: "mcpServers" is not an object'),
    });
    expect(fileOf('claude').install('{ "mcpServers": {}, "mcpServers": {} }')).toMatchObject({
      problem: expect.stringContaining('occurs twice'),
    });
  });
});
