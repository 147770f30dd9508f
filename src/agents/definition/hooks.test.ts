// Hooks and settings out of a definition: what each event means, and where ours are put.

import { describe, expect, it } from 'vitest';
import { agentOf } from './load.ts';
import { readDefinition } from './read.ts';

const text = `
schema = 2
agent = "mine"
limits = ["a test"]
[identify]
commands = ["mine"]
native = "high"
[hooks]
file = "~/.mine/settings.json"
map = [
  { event = "Prompt", state = "running", prompt = "prompt" },
  { event = "Permission", state = "waiting_approval", unless = { tool_name = "Ask" } },
  { event = "Permission", state = "waiting_input" },
  { event = "Stop", state = "idle", reason = "interrupted", when = { why = "interrupt" } },
  { event = "Stop", state = "completed" },
  { event = "End", goodbye = true },
]
[mcp]
file = "~/.mine/config.toml"
at = "mcp_servers"
[acp]
command = ["mine", "acp"]
`;
const place = { path: 'mine.toml', taken: new Set<string>(), base: null };
const read = readDefinition(text, place);
if (!read.ok) throw new Error(read.failure.message);
const agent = agentOf(read.value);

const facts = (event: string, payload: Record<string, unknown>) =>
  agent.hooks?.read({ event, payload, time: 5 }).map(({ fact }) => fact);

describe('the hooks of a definition', () => {
  it('DEF1 mean what the first line that fits says', () => {
    expect(facts('Prompt', {})).toMatchObject([{ state: 'running', reason: 'turn_running' }]);
    expect(facts('Permission', { tool_name: 'Bash' })).toMatchObject([{ state: 'waiting_approval' }]);
    expect(facts('Permission', { tool_name: 'Ask' })).toMatchObject([{ state: 'waiting_input' }]);
    expect(facts('Stop', { why: 'interrupt' })).toMatchObject([{ kind: 'turn.ended' }, { reason: 'interrupted' }]);
    expect(facts('Stop', {})).toMatchObject([{ kind: 'turn.ended' }, { state: 'completed' }]);
    expect(facts('End', {})).toEqual([{ kind: 'runtime.goodbye' }]);
    expect([facts('Other', {}), facts('Stop', { why: { interrupt: 1 } })?.length]).toEqual([[], 2]);
    expect(agent.hooks?.prompt?.({ event: 'Prompt', payload: { prompt: 'fix it' }, time: 1 })).toBe('fix it');
    expect(agent.capabilities).toMatchObject({ event_driven: true, supports_waiting_approval: true });
  });

  it('DEF1 go with its MCP server into files of its own, below the home', () => {
    const context = { home: '/h', env: {}, command: (event: string) => `/x/agtmux-hook mine ${event}` };
    const files = agent.install?.files({ ...context, hookPath: '/x/agtmux-hook', spoolDir: '/s' });
    expect(files?.map(({ path }) => path)).toEqual(['/h/.mine/settings.json']);
    expect(files?.[0]?.install(null)).toMatchObject({ text: expect.stringContaining('agtmux-hook mine Permission') });
    const [server] = agent.mcp?.files({ home: '/h', env: {}, programPath: '/x/agtmux-mcp' }) ?? [];
    expect(server?.install(null)).toMatchObject({ text: expect.stringContaining('[mcp_servers.agtmux]') });
    expect(agent.sessions?.[0]?.driver).toBe('acp');
  });

  it.each([
    ['~/.mine/settings.json', '/etc/passwd.json'],
    ['~/.mine/settings.json', '~/.mine/../.bashrc.json'],
    ['~/.mine/settings.json', '~/.bashrc'],
    ['reason = "interrupted"', 'reason = "exited"'],
  ])(
    'DEF3 are refused where they name a file of others, or a reason that does not go with the state: %s',
    (from, to) => {
      const wrong = readDefinition(text.replace(from, to), place);
      expect(wrong.ok ? '' : wrong.failure.message).toMatch(/^mine\.toml:\d+: hooks\./);
    },
  );
});
