// `agtmux mcp install` as a person uses it: what is shown, asked and refused, what stands in the files of agents afterwards,
// and that what stands there really starts the server, in an environment as bare as agents give it.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createWorld, type Ran, type World } from '../../cli/kit.ts';

let world: World;

/** What users had before; every byte of it counts. */
const users: Readonly<Record<string, string>> = {
  '.claude.json': '{\n  "numStartups": 3,\n  "mcpServers": {}\n}\n',
  '.codex/config.toml': '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "o"',
  '.gemini/settings.json': '{"ui":{"theme":"dark"}}',
  '.copilot/mcp-config.json': '{ "mcpServers": { "one": { "command": "1" }, } }\n',
  '.config/opencode/opencode.json': '{\n\t// a note\n\t"model": "m"\n}\n',
};
const agentNames = ['claude', 'codex', 'copilot', 'gemini', 'opencode'];

const at = (below: string): string => join(world.directory, below);
const textOf = (below: string): string => readFileSync(at(below), 'utf8');
const launcher = (): string => join(world.stateDir, 'bin/agtmux-mcp');
const mcp = (...args: string[]): Promise<Ran> => world.agtmux('mcp', ...args);
/** It ends with 1 where no tmux runs, and says the same. */
const daemonPid = async (): Promise<number> =>
  (JSON.parse((await world.agtmux('status', '--json')).stdout) as { daemon: { pid: number } }).daemon.pid;
const held = (): Record<string, string> => Object.fromEntries(Object.keys(users).map((path) => [path, textOf(path)]));

beforeAll(() => {
  world = createWorld();
  mkdirSync(at('.claude'));
  for (const path of Object.keys(users)) mkdirSync(dirname(at(path)), { recursive: true });
});
afterAll(() => world.end());
beforeEach(() => {
  for (const [path, text] of Object.entries(users)) writeFileSync(at(path), text);
});

describe('agtmux mcp install', () => {
  it('shows the difference, and without a terminal and a yes writes nothing', async () => {
    const ran = await mcp('install', '--agent', 'codex');
    expect(ran.status).toBe(2);
    expect(ran.stdout).toContain(`+++ ${at('.codex/config.toml')}\n`);
    expect(ran.stdout).toContain(`+[mcp_servers.agtmux]\n+command = "${launcher()}"\n`);
    expect(ran.stderr).toMatch(/^agtmux: nothing was written: .*--yes \[E_USAGE\]\n$/);
    expect(await mcp('install', '--dry-run')).toMatchObject({ status: 0, stderr: '' });
    expect(held()).toEqual(users);
    expect(existsSync(dirname(launcher()))).toBe(false);
  });

  it('registers with every agent that is used, says so, and leaves without a trace', async () => {
    expect((await mcp('status')).stdout).toMatch(/^claude +absent$/m);
    const ran = await mcp('install', '--yes');
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    for (const path of Object.keys(users)) expect(ran.stdout).toContain(`written: ${at(path)}\n`);
    expect(ran.stdout).toContain('not in use on host, skipped: cline, cursor, grok, kilo, kimi, qwen');
    expect(ran.stdout).toContain('outside the sandbox of Codex');
    expect(JSON.parse(textOf('.claude.json'))).toMatchObject({ mcpServers: { agtmux: { command: launcher() } } });
    expect(textOf('.claude.json.agtmux-backup')).toBe(users['.claude.json']);
    expect(statSync(launcher()).mode & 0o111).toBe(0o111);
    const status = await world.json<{ agents: { agent: string; state: string }[]; program: object }>(
      ...['mcp', 'status', '--json'],
    );
    expect(status.program).toEqual({ path: launcher(), state: 'current' });
    expect(status.agents.filter(({ state }) => state === 'installed').map(({ agent }) => agent)).toEqual(agentNames);
    expect((await mcp('install', '--yes')).stdout).toContain('already installed: claude, codex');
    expect((await mcp('uninstall', '--yes')).status).toBe(0);
    expect(held()).toEqual(users);
    expect(readdirSync(world.directory).filter((name) => name.includes('backup'))).toEqual([]);
  });

  it('what is registered starts with next to no environment, and reaches the same daemon', async () => {
    expect((await mcp('install', '--yes', '--agent', 'claude')).status).toBe(0);
    const { mcpServers } = JSON.parse(textOf('.claude.json')) as { mcpServers: { agtmux: { command: string } } };
    const env = { HOME: world.directory, PATH: '/usr/bin:/bin' };
    const transport = new StdioClientTransport({ command: mcpServers.agtmux.command, env, stderr: 'inherit' });
    const client = new Client({ name: 'bare', version: '1' });
    await client.connect(transport);
    const before = await daemonPid();
    const { structuredContent } = await client.callTool({ name: 'shell_summary', arguments: {} });
    expect(structuredContent).toMatchObject({ result: 'Summary' });
    const environ = readFileSync(`/proc/${transport.pid}/environ`, 'utf8').split('\0');
    expect(environ).toContain(`AGTMUX_STATE_DIR=${world.stateDir}`);
    await client.close();
    expect(await daemonPid()).toBe(before);
  });

  it('the launcher says what to do when agtmux was moved away', async () => {
    expect((await mcp('install', '--yes', '--agent', 'claude')).status).toBe(0);
    const moved = join(world.directory, 'moved-launcher');
    writeFileSync(moved, readFileSync(launcher(), 'utf8').replace(/ program='?[^\n]*/, ' program=/nowhere/agtmux'), {
      mode: 0o755,
    });
    const ran = spawnSync(moved, [], { env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' });
    expect([ran.status, ran.stdout]).toEqual([127, '']);
    expect(ran.stderr).toContain('/nowhere/agtmux; run `agtmux mcp install` again');
  });

  it('an agent that is not used is registered when it is named, and unknown ones are refused', async () => {
    const ran = await mcp('install', '--yes', '--agent', 'cursor', '--json');
    expect(JSON.parse(ran.stdout)).toMatchObject({ action: 'install', written: expect.any(Array) });
    expect(JSON.parse(textOf('.cursor/mcp.json'))).toMatchObject({ mcpServers: { agtmux: { command: launcher() } } });
    expect((await mcp('uninstall', '--yes', '--agent', 'cursor')).status).toBe(0);
    expect(existsSync(at('.cursor'))).toBe(false);
    const unknown = await mcp('install', '--agent', 'nobody');
    expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringContaining('[E_FILTER]')]);
  });

  it('an entry that somebody else wrote, and a file that cannot be read, stop everything', async () => {
    writeFileSync(at('.gemini/settings.json'), '{ "mcpServers": { "agtmux": { "command": "mine" } } }');
    const taken = await mcp('install', '--yes');
    expect([taken.status, taken.stderr]).toEqual([2, expect.stringContaining('was not written by agtmux')]);
    writeFileSync(at('.gemini/settings.json'), '{ "mcpServers": ');
    const broken = await mcp('status', '--agent', 'gemini');
    expect([broken.status, broken.stdout]).toEqual([1, expect.stringMatching(/^gemini +broken/m)]);
    const { '.gemini/settings.json': _, ...others } = held();
    const { '.gemini/settings.json': __, ...wanted } = users;
    expect(others).toEqual(wanted);
  });
});
