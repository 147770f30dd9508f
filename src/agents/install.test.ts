import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Agent, InstallContext } from './contract.ts';
import { agents } from './registry.ts';

const contextOf =
  (env: Record<string, string> = {}, spoolDir = '/state/spool') =>
  (agent: Agent): InstallContext => ({
    home: '/home/u',
    env,
    hookPath: '/state/bin/agtmux-hook',
    spoolDir,
    command: (event) => `'/state/bin/agtmux-hook' ${agent.name} ${event}`,
  });

const pathsOf = (context: (agent: Agent) => InstallContext): Record<string, readonly string[]> =>
  Object.fromEntries(
    agents.map((agent) => [agent.name, agent.install?.files(context(agent)).map((file) => file.path) ?? []]),
  );

describe('where hooks are put', () => {
  it('is the usual place of each agent', () => {
    expect(pathsOf(contextOf())).toEqual({
      claude: ['/home/u/.claude/settings.json'],
      codex: ['/home/u/.codex/hooks.json', '/home/u/.codex/config.toml'],
      copilot: ['/home/u/.copilot/hooks/agtmux.json'],
      cursor: ['/home/u/.cursor/hooks.json'],
      gemini: [
        '/home/u/.gemini/extensions/agtmux/gemini-extension.json',
        '/home/u/.gemini/extensions/agtmux/hooks/hooks.json',
      ],
      kilo: ['/home/u/.config/kilo/plugin/agtmux.js'],
      opencode: ['/home/u/.config/opencode/plugin/agtmux.js'],
    });
  });

  it('is another one where a variable says so, and not for a relative path', () => {
    const moved = { CLAUDE_CONFIG_DIR: '/c/', CODEX_HOME: '/x', COPILOT_HOME: '/p', XDG_CONFIG_HOME: '/g' };
    expect(pathsOf(contextOf({ ...moved, GEMINI_CLI_HOME: '/m' }))).toMatchObject({
      claude: ['/c/settings.json'],
      codex: ['/x/hooks.json', '/x/config.toml'],
      copilot: ['/p/hooks/agtmux.json'],
      gemini: ['/m/.gemini/extensions/agtmux/gemini-extension.json', expect.any(String)],
      kilo: ['/g/kilo/plugin/agtmux.js'],
      opencode: ['/g/opencode/plugin/agtmux.js'],
    });
    expect(pathsOf(contextOf({ CLAUDE_CONFIG_DIR: 'here' })).claude).toEqual(['/home/u/.claude/settings.json']);
  });
});

describe.each(agents.map((agent) => [agent.name, agent] as const))('hooks of %s', (name, agent) => {
  const files = agent.install?.files(contextOf()(agent)) ?? [];

  it('put in, are whole; taken out, leave nothing', () => {
    for (const file of files) {
      expect(file.status(null)).toBe('absent');
      const done = file.install(null);
      const text = 'text' in done ? done.text : '';
      expect(file.status(text)).toBe('installed');
      expect(file.install(text)).toEqual({ text });
      expect(file.remove(text)).toEqual({ text: null });
      if (file.extra === undefined && !text.includes('"version": "1.0.0"')) expect(text).toContain(name);
    }
  });

  it('a file of our name that we did not write is left alone', () => {
    for (const file of files.filter((one) => one.isOwn)) {
      for (const answer of [file.install('{"mine": 1}'), file.remove('{"mine": 1}'), file.status('{"mine": 1}')])
        expect(answer).toMatchObject({ problem: expect.stringContaining(file.path) });
      expect(file.status('agtmux hooks install, agtmux-hook, "agtmux"')).toBe('partial');
    }
  });
});

describe('what the agents are told', () => {
  const textOf = (name: string, place = 0): string => {
    const agent = agents.find((one) => one.name === name);
    const done = agent?.install?.files(contextOf()(agent))[place]?.install(null);
    return done !== undefined && 'text' in done ? done.text : '';
  };

  it('claude: one entry an event, apart unless its order counts', () => {
    const { hooks } = JSON.parse(textOf('claude')) as { hooks: Record<string, [{ hooks: [Record<string, unknown>] }]> };
    expect(hooks.Stop).toEqual([
      { hooks: [{ type: 'command', command: "'/state/bin/agtmux-hook' claude Stop", timeout: 5, async: true }] },
    ]);
    const apart = Object.entries(hooks).filter(
      ([
        ,
        [
          {
            hooks: [handler],
          },
        ],
      ]) => handler.async === true,
    );
    expect(
      Object.keys(hooks)
        .filter((event) => !apart.some(([one]) => one === event))
        .sort(),
    ).toEqual(['PreToolUse', 'SessionEnd', 'SessionStart']);
  });

  it('codex: notify is no hook', () => {
    expect(Object.keys((JSON.parse(textOf('codex')) as { hooks: object }).hooks)).not.toContain('notify');
  });

  it('gemini and copilot count in their own units', () => {
    expect(textOf('gemini', 1)).toContain('"timeout": 5000');
    expect(JSON.parse(textOf('copilot'))).toMatchObject({ version: 1, hooks: { agentStop: [{ timeoutSec: 5 }] } });
  });

  it('cursor: a new file has a version', () => {
    expect(JSON.parse(textOf('cursor'))).toMatchObject({
      version: 1,
      hooks: { stop: [{ command: expect.any(String) }] },
    });
  });
});

describe('ADM3 the plugin of OpenCode', () => {
  it('writes wanted events once each into the spool, and never fails', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'agtmux-plugin-'));
    try {
      const spool = join(dir, 'the spool');
      const agent = agents.find((one) => one.name === 'opencode');
      const done = agent?.install?.files(contextOf({}, spool)(agent))[0]?.install(null);
      writeFileSync(join(dir, 'plugin.mjs'), done !== undefined && 'text' in done ? done.text : '');
      const { agtmux } = (await import(pathToFileURL(join(dir, 'plugin.mjs')).href)) as {
        agtmux: () => Promise<{ event: (input: unknown) => Promise<void> }>;
      };
      const [one, two] = [await agtmux(), await agtmux()];
      const event = { id: 'evt_1', type: 'session.idle', properties: { sessionID: 's', text: 'ä\n"' } };
      await one.event({ event });
      mkdirSync(spool);
      for (const input of [undefined, {}, { event: null }, { event: { type: 'message.part.delta' } }])
        await one.event(input).catch(() => expect.fail('it failed'));
      for (const plugin of [one, two]) await plugin.event({ event: { ...event, id: 'evt_2' } });
      await two.event({ event: { ...event, id: 'evt_3' } });
      const names = readdirSync(spool);
      expect(names).toHaveLength(2);
      for (const name of names) expect(name).toMatch(/^\d{13}-\d+-\d$/);
      const path = join(spool, names.sort()[0] ?? '');
      const times = names.map((name) => statSync(join(spool, name)).mtimeMs);
      expect(times[1]).toBeGreaterThanOrEqual((times[0] ?? 0) + 1);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const [head = '', ...rest] = readFileSync(path, 'utf8').split('\n');
      expect(head).toMatch(
        new RegExp(`^agtmux1 agent=opencode event=session.idle pane=\\S* socket=\\S* pid=${process.pid} ppid=\\d+ up=`),
      );
      if (process.platform === 'linux') expect(head).toContain(` up=${process.pid}:`);
      expect(JSON.parse(rest.join('\n'))).toEqual({ ...event, id: 'evt_2' });
      writeFileSync(join(spool, 'full'), '');
      await one.event({ event: { ...event, id: 'evt_4' } });
      expect(readdirSync(spool)).toHaveLength(3);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
